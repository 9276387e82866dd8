"""The clean-close mark: a process that writes leaves a row, and takes it away when it closes.

A row of a process that is gone means an unclean close: the file is checked in the background then.
"""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Iterator

from sciextract.documents.ids import new_id
from sciextract.store.log.clock import now

_LARGEST = 2**31 - 1


def begin(connection: sqlite3.Connection) -> str:
    """Leave the mark of this process, inside the caller's transaction; returns its id."""
    session = new_id()
    connection.execute(
        "INSERT INTO session VALUES (?, ?, ?, ?)",
        (session, os.getpid(), socket.gethostname(), now()),
    )
    return session


def end(connection: sqlite3.Connection, session: str) -> None:
    """Take the mark away."""
    connection.execute("DELETE FROM session WHERE id = ?", (session,))


def left_behind(connection: sqlite3.Connection) -> list[str]:
    """Marks of processes of this machine that are gone without closing the project."""
    return list(_dead(connection))


def forget(connection: sqlite3.Connection, sessions: list[str]) -> None:
    """Take marks away that were left behind, once the file was found sound."""
    connection.executemany("DELETE FROM session WHERE id = ?", [(each,) for each in sessions])


def _dead(connection: sqlite3.Connection) -> Iterator[str]:
    host = socket.gethostname()
    for session, pid, its_host in connection.execute("SELECT id, pid, host FROM session"):
        if its_host == host and not _is_alive(pid):
            yield session


def _is_alive(pid: object) -> bool:
    if not isinstance(pid, int) or not 0 < pid <= _LARGEST:  # no process writes such a mark
        return False
    if os.name == "nt":  # sending signal 0 would end the process there
        return pid == os.getpid()
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
