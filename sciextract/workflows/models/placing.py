"""Folders and lines that appear whole or not at all, also when two processes write or one is killed."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sciextract.documents.annotations import new_id
from sciextract.errors import OutputError, no_room

_NEW, _GONE = ".new", ".gone"
_TRIES = 3
_STALE_SECONDS = 24 * 3600


def put_folder(files: Iterable[Path], target: Path, is_whole: Callable[[Path], bool]) -> None:
    """Copy files into a folder that appears under its name when it is complete.

    A folder of that name that is not whole is replaced. Of two processes that put the same one wins.

    Args:
        files: What to copy.
        target: The folder to make; its parent is made if it is missing.
        is_whole: Says of a folder whether it is what it should be.

    Raises:
        OutputError: No room, or read-only; nothing is left behind.
    """
    from sciextract.store.filesystem import sync_folder

    with written(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target.parent)
        fresh = target.with_name(f".{target.name}.{new_id()}{_NEW}")
        try:
            fresh.mkdir()
            for file in files:
                _copy(file, fresh / file.name)
            sync_folder(fresh)
            _swap(fresh, target, is_whole)
            sync_folder(target.parent)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def append_line(file: Path, line: str) -> None:
    """Add a line to a file in one write, behind whatever a killed process has left there.

    Raises:
        OutputError: No room, or read-only.
    """
    with written(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab+") as stream:
            torn = stream.seek(0, os.SEEK_END) and not _ends_whole(stream)
            stream.write((b"\n" if torn else b"") + line.encode("utf-8") + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


@contextmanager
def written(
    place: Path, hint: str = "set SCIEXTRACT_HOME to a folder that can be written"
) -> Iterator[None]:
    """Turns operating system errors into an :class:`OutputError` that names the place.

    Args:
        place: The file or folder that is written.
        hint: The next step when it cannot be.

    Raises:
        OutputError: The block raised an ``OSError``.
    """
    try:
        yield
    except OSError as error:
        if reason := no_room(error):
            problem = f"{place}: {reason}; nothing was changed"
            raise OutputError(problem, "make room and give the command again") from error
        raise OutputError(f"{place}: cannot be written: {error.strerror or error}", hint) from error


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as plain, target.open("xb") as copy:
        shutil.copyfileobj(plain, copy, 1 << 20)
        copy.flush()
        os.fsync(copy.fileno())


def _swap(fresh: Path, target: Path, is_whole: Callable[[Path], bool]) -> None:
    """Give the fresh folder its name, unless another process has just put the same there."""
    for _ in range(_TRIES):
        try:
            os.rename(fresh, target)
        except OSError:
            if is_whole(target):
                return
            if not target.exists():
                raise
        else:
            return
        gone = target.with_name(f".{target.name}.{new_id()}{_GONE}")
        with suppress(FileNotFoundError):  # another process repairs it, too
            os.rename(target, gone)
        shutil.rmtree(gone, ignore_errors=True)
    os.rename(fresh, target)


def _sweep(folder: Path) -> None:
    """Remove what killed processes have left, once nobody can be at work on it any more."""
    with suppress(OSError):
        for each in folder.iterdir():
            left = each.name.startswith(".") and each.name.endswith((_NEW, _GONE))
            if left and time.time() - each.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(each, ignore_errors=True)


def _ends_whole(stream: BinaryIO) -> bool:
    stream.seek(-1, os.SEEK_END)
    return stream.read(1) == b"\n"
