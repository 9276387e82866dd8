"""The first bytes of a file that SQLite may have open in this process.

When a process closes any descriptor of a file, POSIX takes away all locks that the process holds on it,
SQLite's included (sqlite.org/howtocorrupt.html, section 2.2): another process that closes the project at that
moment then believes to be the last, removes the log, and what is committed next is lost. So a descriptor
that was opened here stays open until the process ends: one for each file that was looked at.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

_kept: dict[tuple[int, int], int] = {}
_lock = threading.Lock()


def first_bytes(path: Path, count: int) -> bytes:
    """At most ``count`` bytes from the start of a file.

    Raises:
        OSError: It cannot be read.
    """
    if os.name == "nt":  # locks are not lost there, and open files cannot be replaced
        with open(path, "rb") as stream:
            return stream.read(count)
    if path.is_dir():
        raise IsADirectoryError(str(path))
    with _lock:
        return os.pread(_descriptor(path), count, 0)


def _descriptor(path: Path) -> int:
    found = os.stat(path)
    key = (found.st_dev, found.st_ino)
    if key not in _kept:
        _kept[key] = os.open(path, os.O_RDONLY)
    return _kept[key]
