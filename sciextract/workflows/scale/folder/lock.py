"""One run in a folder at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sciextract.errors import OutputError
from sciextract.workflows.scale.durable import disk_errors

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other runs out; the system lifts the lock when this process ends, however it does.

    Raises:
        OutputError: Another run writes there, or the folder cannot be written.
    """
    path = folder / LOCK
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        raise OutputError(
            f"{folder}: another run writes here (process {owner or 'unknown'})",
            "wait for it, stop it, or choose another folder",
        ) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be locked: {error.strerror}") from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
