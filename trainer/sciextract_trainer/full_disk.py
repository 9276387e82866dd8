"""A full disk is said with what to do, and leaves no half-written file behind."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError

from sciextract.errors import NO_ROOM, OutputError

_CANNOT_GROW = {**NO_ROOM, errno.EROFS: "the file system is read-only"}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write beside ``path``, which takes its place when the block is done.

    Raises:
        OutputError: The disk is full; ``path`` is as it was before.
    """
    temporary = path.with_name(f"{path.stem}.part{path.suffix}")
    try:
        with explained(path):
            yield temporary
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns a full disk into an error that says how to go on.

    Raises:
        OutputError: The disk is full while something is written to ``path``.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        if reason := _reason(error):
            raise OutputError(
                f"{path} cannot be written: {reason}",
                "make room, then give the same command again: what was finished is kept",
            ) from error
        raise


def _reason(error: Exception) -> str:
    """Why nothing more can be written; empty for another error. Safetensors tells its number in words only."""
    if isinstance(error, OSError):
        return _CANNOT_GROW.get(error.errno or 0, "")
    told = [words for number, words in _CANNOT_GROW.items() if f"os error {number})" in str(error)]
    return told[0] if told else ""
