"""Connections to a project file: how durable, how shared, how long to wait."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from sciextract.store.file.failures import primary_code, replaced, translated
from sciextract.store.file.filesystem import is_network, is_read_only_medium
from sciextract.store.file.peek import first_bytes

Mode = Literal["write", "read", "immutable"]
FileId = tuple[int, int]
BUSY_SECONDS = 30.0
_CACHE_KILOBYTES = 64_000
_RETRY_SECONDS = 0.01
_JOURNAL_BYTE, _WAL = 18, b"\x02"  # sqlite.org/fileformat.html, "file format version numbers"


class Connection(sqlite3.Connection):
    """Knows which file it has open: the path may come to name another one.

    Attributes:
        file: Device and inode of the file.
        logs: Those of its write-ahead log and of the log's index, by path.
    """

    file: FileId | None = None
    logs: Mapping[Path, FileId | None] = {}


def connect(path: Path, mode: Mode, busy_seconds: float = BUSY_SECONDS) -> Connection:
    """A connection in autocommit mode; transactions are begun by hand.

    Args:
        path: The project.
        mode: ``immutable`` promises SQLite that nobody writes: for read-only media.
        busy_seconds: How long to wait for another process that writes.

    Raises:
        ProjectError: The file cannot be opened.
    """
    with translated(path):
        file = _file_id(path)  # before it is opened: should it be replaced now, that is noticed
        connection = sqlite3.connect(
            _uri(path, mode), uri=True, isolation_level=None, factory=Connection
        )
        connection.file = file
        connection.execute(f"PRAGMA busy_timeout = {round(busy_seconds * 1000)}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
        if mode == "read":
            connection.execute("PRAGMA query_only = ON")
        if mode == "write":
            connection.execute("PRAGMA synchronous = FULL")
            _set_journal(connection, "DELETE" if is_network(path) else "WAL", busy_seconds)
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # makes the log
            logs = (_beside(path, end) for end in ("-wal", "-shm"))
            connection.logs = {log: _file_id(log) for log in logs}
        return connection


def mode_for(path: Path) -> Mode:
    """How the file can be opened: writable, readable, or readable on a medium that nobody writes."""
    fixed = is_read_only_medium(path)
    folder_takes_files = os.access(path.resolve().parent, os.W_OK) and not fixed
    if folder_takes_files and os.access(path, os.W_OK):
        return "write"
    # An immutable file is read without its write-ahead log, so it must have none that holds anything.
    # Readers of a WAL file need a place for its index; where there is none, nobody is writing either.
    immutable = fixed or (is_wal(path) and not folder_takes_files)
    return "immutable" if immutable and not has_log(path) else "read"


def is_wal(path: Path) -> bool:
    """Whether the file's header says that it is written through a write-ahead log."""
    return first_bytes(path, _JOURNAL_BYTE + 1)[_JOURNAL_BYTE:] == _WAL


def has_log(path: Path) -> bool:
    """Whether a write-ahead log beside the file holds something that is not in the file yet."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


@contextmanager
def transaction(connection: Connection, path: Path) -> Iterator[None]:
    """One write transaction: waits its turn, all or nothing.

    Raises:
        ProjectReplacedError: The path names another file by now; nothing was changed.
        ProjectError: The file cannot be written; nothing was changed.
    """
    with translated(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if is_replaced(connection, path):
                raise replaced(path)
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Several queries that see the same state of the file, whatever other processes write meanwhile."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def is_replaced(connection: Connection, path: Path) -> bool:
    """Whether the path names another file than the one that the connection has open, or none."""
    return connection.file != _file_id(path)


def part_with(connection: Connection) -> None:
    """Leave no log beside a file that has taken the place of the connection's own.

    SQLite finds logs by their names and would bring this one into the other file. The connection goes on
    reading its own file, which has no name any more.
    """
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for log, file in connection.logs.items():
        if file is not None and file == _file_id(log):
            log.unlink(missing_ok=True)


def settle(connection: sqlite3.Connection) -> None:
    """Leave one whole file behind, which also readers without write access can open.

    Another process that has the project open stands in the way; then the last one to close does it.
    """
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()


def _set_journal(connection: sqlite3.Connection, wanted: str, seconds: float) -> None:
    """Change the journal mode; here SQLite does not wait for other processes by itself."""
    end = time.monotonic() + seconds
    while not _set(connection, wanted, last_try=time.monotonic() >= end):
        time.sleep(_RETRY_SECONDS)


def _set(connection: sqlite3.Connection, wanted: str, *, last_try: bool) -> bool:
    try:
        current = str(connection.execute("PRAGMA journal_mode").fetchone()[0]).upper()
        if current != wanted:
            connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()
    except sqlite3.OperationalError as error:
        if last_try or primary_code(error) != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _file_id(path: Path) -> FileId | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _beside(path: Path, end: str) -> Path:
    """A log's name: beside the file itself, also where the path is a link."""
    file = path.resolve()
    return file.with_name(file.name + end)


def _uri(path: Path, mode: Mode) -> str:
    # A reader that may not write at all cannot clear the write-ahead log away when it is the last to close.
    query = "mode=ro&immutable=1" if mode == "immutable" else "mode=rw"
    return f"file:{quote(str(path.resolve()))}?{query}"
