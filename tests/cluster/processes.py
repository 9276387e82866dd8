"""Which processes there are, told apart by their environment."""

from __future__ import annotations

from pathlib import Path


def processes_of(folder: Path) -> dict[int, bytes]:
    """Numbers and commands of the processes in whose environment a folder is named."""
    return {
        int(each.name): _content(each / "cmdline")
        for each in Path("/proc").glob("[0-9]*")
        if bytes(folder) in _content(each / "environ")
    }


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # the process has ended meanwhile, or is another user's
        return b""
