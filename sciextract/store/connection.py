"""Connections to a project file: durability, sharing, waiting, and what its header and clean-close mark say."""

from __future__ import annotations

import os
import socket
import sqlite3
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from sciextract.documents.annotations import new_id
from sciextract.errors import (
    NotAProjectError,
    ProjectDamagedError,
    ProjectError,
    ProjectMissingError,
    ProjectVersionError,
    as_command,
)
from sciextract.store.filesystem import is_network, is_read_only_medium
from sciextract.store.sqlite import damaged, now, primary_code, read_only, replaced, translated

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
    status = os.stat(path)
    key = (status.st_dev, status.st_ino)
    if key not in _kept:
        gone = [known for known, kept in _kept.items() if os.fstat(kept).st_nlink == 0]
        for known in gone:  # nobody else can open a deleted file, so its locks matter no more
            os.close(_kept.pop(known))
        _kept[key] = os.open(path, os.O_RDONLY)
    return _kept[key]


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
            logs = (_log_path(path, end) for end in ("-wal", "-shm"))
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
    """Whether a write-ahead log next to the file holds something that is not in the file yet."""
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
    """Leave no log next to a file that has taken the place of the connection's own.

    SQLite finds logs by their names and would bring this one into the other file. The connection continues
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
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _log_path(path: Path, end: str) -> Path:
    """A log's name: next to the file itself, also where the path is a link."""
    file = path.resolve()
    return file.with_name(file.name + end)


def _uri(path: Path, mode: Mode) -> str:
    # A reader that may not write at all cannot clear the write-ahead log away when it is the last to close.
    query = "mode=ro&immutable=1" if mode == "immutable" else "mode=rw"
    return f"file:{quote(str(path.resolve()))}?{query}"


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


def stale_sessions(connection: sqlite3.Connection) -> list[str]:
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


APPLICATION_ID = int.from_bytes(b"SciX", "big")
VERSION = 2
READABLE = 1
"""The oldest version whose tables can be read as they are."""
KEPT_ASIDE = ".before-restore"
"""How the name of a file ends that a restored backup has replaced."""
_MAGIC = b"SQLite format 3\x00"
_HEADER = struct.Struct(">16sH6xII28xi4xi20xI4x")
_BIG_PAGE = 65_536  # written as 1


@dataclass(frozen=True, slots=True)
class Header:
    """What the first 100 bytes say.

    Attributes:
        version: The version of the project's tables.
        bytes: The size that the file must have, 0 where the header does not tell.
    """

    magic: bytes
    version: int
    application: int
    bytes: int


def check_header(path: Path) -> int:
    """The version of the project's tables.

    Raises:
        ProjectMissingError: There is no such file.
        NotAProjectError: It is not an SQLite file, or one of another program.
        ProjectVersionError: A newer sciextract wrote it.
        ProjectDamagedError: It was cut off.
        ProjectReadOnlyError: It cannot be read.
    """
    header = read_header(path)
    if header.magic != _MAGIC:
        raise NotAProjectError(
            f"{path} is not an SQLite file, so it is not a project", _other_file(path)
        )
    if header.application != APPLICATION_ID:
        raise NotAProjectError(
            f"{path} is an SQLite file of another program", "name the project with --project"
        )
    if header.version > VERSION:
        raise newer(path, header.version)
    _check_size(path, header)
    return header.version


def newer(path: Path, version: int) -> ProjectVersionError:
    """A newer sciextract wrote the file."""
    return ProjectVersionError(
        f"{path} has the project version {version}, the newest known here is {VERSION}",
        "a newer sciextract wrote it: pip install --upgrade sciextract",
    )


def read_header(path: Path) -> Header:
    """The header, whatever it says.

    Raises:
        ProjectError: There is none, or it cannot be read.
    """
    start = _start(path)
    magic, page, changed, pages, version, application, valid = _HEADER.unpack(start)
    size = pages * (_BIG_PAGE if page == 1 else page) if changed == valid else 0
    return Header(magic, version, application, size)


def _start(path: Path) -> bytes:
    try:
        start = first_bytes(path, _HEADER.size)
    except FileNotFoundError:
        raise _missing(path) from None
    except IsADirectoryError:
        raise NotAProjectError(f"{path} is a folder, not a project file") from None
    except PermissionError:
        raise read_only(path) from None
    if len(start) < _HEADER.size:
        raise _too_short(path, start)
    return start


def _missing(path: Path) -> ProjectMissingError:
    problem = f"{path}: there is no such project"
    kept = sorted(path.parent.glob(f"{escape(path.name)}*{KEPT_ASIDE}"), key=os.path.getmtime)
    if not kept:
        return ProjectMissingError(problem, as_command("sciextract", "init", path))
    return ProjectMissingError(
        f"{problem}, but {kept[-1]} holds its state before a backup was restored",
        as_command("sciextract", "backup", "--restore", kept[-1], "--project", path),
    )


def _check_size(path: Path, header: Header) -> None:
    """A file that was cut off is found at once, unless a log next to it makes it whole."""
    logs = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    if path.stat().st_size < header.bytes and not any(log.exists() for log in logs):
        size = path.stat().st_size
        raise damaged(path, f"it has only {size:,} of {header.bytes:,} bytes")


def _too_short(path: Path, start: bytes) -> NotAProjectError | ProjectDamagedError:
    if start and _MAGIC.startswith(start[: len(_MAGIC)]):
        return damaged(path, f"it has only {len(start)} bytes")
    return NotAProjectError(
        f"{path} is not an SQLite file, so it is not a project", _other_file(path)
    )


def _other_file(path: Path) -> str:
    return f"to create a project from abstracts: sciextract init NEW.sciextract, then {as_command('import', path)}"


_REPORTED = 20


def problems(connection: sqlite3.Connection, *, quick: bool = False) -> list[str]:
    """What ``PRAGMA integrity_check`` (or ``quick_check``) reports; empty when the file is sound.

    Raises:
        sqlite3.OperationalError: The check was interrupted, or the file is busy.
    """
    pragma = "quick_check" if quick else "integrity_check"
    try:
        rows = connection.execute(f"PRAGMA {pragma}({_REPORTED})").fetchall()
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return [str(error)]
    lines = [line for (text,) in rows for line in str(text).splitlines()]
    return [line for line in lines if line != "ok" and not line.startswith("***")]


def is_sound(path: Path, *, quick: bool = False) -> bool:
    """Whether a file that nobody writes is a project without damage.

    Args:
        path: The file.
        quick: Leave out whether indexes agree with their tables, which takes most of the time.
    """
    try:
        check_header(path)
        with closing(connect(path, "immutable")) as connection:
            return not problems(connection, quick=quick)
    except (ProjectError, sqlite3.Error):
        return False
