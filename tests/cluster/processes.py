"""Which processes there are, told apart by their environment."""

from __future__ import annotations

from pathlib import Path


def processes_of(folder: Path) -> dict[int, bytes]:
    """Numbers and commands of the processes in whose environment a folder is named."""
    return {
        int(file.name): _content(file / "cmdline")
        for file in Path("/proc").glob("[0-9]*")
        if bytes(folder) in _content(file / "environ")
    }


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # the process has ended meanwhile, or is another user's
        return b""
