"""SQLite as the store uses it: connections, transactions, and values that SQLite cannot hold.

A connection knows whether its file is a project, what its file system can do, and when it was replaced.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from sciextract import __version__
from sciextract.errors import (
    NotAProjectError,
    ProjectDamagedError,
    ProjectError,
    ProjectReadOnlyError,
    ProjectVersionError,
    as_command,
)
from sciextract.store.filesystem import is_network, is_read_only_medium
from sciextract.store.sqlite_errors import (
    explain_error,
    missing,
    no_project_hint,
    overwritten,
    primary_code,
    problems,
    read_only,
    replaced,
    translated,
)
from sciextract.text.characters import visible


def first_value(connection: sqlite3.Connection, query: str, *params: object) -> Any:
    """The first column of a query's first row, ``None`` where it has no row."""
    row = connection.execute(query, params).fetchone()
    return None if row is None else row[0]


def storable(text: str) -> str:
    """A text for an index: U+FFFD for lone surrogates, which are not UTF-8."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def newer(path: Path, version: int) -> ProjectVersionError:
    """A newer sciextract made or converted the file."""
    return ProjectVersionError(
        f"{path} was made by a newer sciextract: it has project version {version}, SciExtract {__version__} has version {VERSION}",
        "open it with the SciExtract that wrote it: pip install --upgrade sciextract",
    )


def to_sql(text: str) -> str | bytes:
    """The string itself, or its bytes when UTF-8 has no place for it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_sql(value: str | bytes) -> str:
    """The string that :func:`to_sql` was given."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


APPLICATION_ID = int.from_bytes(b"SciX", "big")
VERSION = 3
OLDEST_VERSION = 2
"""Files from this version on are converted when they are opened (:mod:`sciextract.store.opening`)."""
BUSY_SECONDS = 30.0
_SILENT_SECONDS = 1.0
_CACHE_KILOBYTES = 64_000
_LOG_BYTES = 4 << 20
"""How far the write-ahead log grows before it is copied into the file, as SQLite's own 1,000 pages."""
_QUICK_BYTES = 32 << 20
"""Up to this size a file with a log that was left is checked at opening: about 3 ms for each MiB."""
SOUND_WAL = (3, 51, 3)
"""The first SQLite without the WAL-reset bug (sqlite.org/wal.html#walresetbug)."""
_RETRY_SECONDS = 0.01

Mode = Literal["write", "read", "immutable"]
FileId = tuple[int, int]
FileStamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FileState:
    """What the file itself holds without its write-ahead log.

    Attributes:
        project: The project's id.
        event: The number of its last event.
        hash: The hash of that event.
    """

    project: str
    event: int
    hash: str


class Connection(sqlite3.Connection):
    """Knows which file it has open: the path may come to name another one.

    Attributes:
        file: Device and inode of the file.
        project: The project that errors of statements name; ``None`` leaves them as SQLite says them.
        state: What the file held when it was last looked at, for connections that write through a log.
        stamp: Size and time of change of the file then.
        log_bytes: The size of the log when it was last copied into the file.
        busy_seconds: How long to wait for another process that writes.
        log: The path of the log.
    """

    file: FileId | None = None
    project: Path | None = None
    state: FileState | None = None
    stamp: FileStamp | None = None
    log_bytes: int = 0
    busy_seconds: float = 0.0
    log: str = ""

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        """Run a statement.

        Raises:
            ProjectError: It cannot be done, by a connection of an open project.
        """
        try:
            return super().execute(*statement)
        except sqlite3.IntegrityError:
            raise  # a rule of the tables: the caller knows what it means
        except sqlite3.DatabaseError as error:
            if self.project is None:
                raise
            raise explain_error(error, self.project) from error


def connect(path: Path, mode: Mode, busy_seconds: float | None = None) -> Connection:
    """A connection in autocommit mode; transactions are begun by hand.

    Args:
        path: The project.
        mode: ``immutable`` promises SQLite that nobody writes: for read-only media.
        busy_seconds: How long to wait for another process that writes.

    Raises:
        ProjectError: The file cannot be opened.
    """
    busy_seconds = BUSY_SECONDS if busy_seconds is None else busy_seconds
    with translated(path):
        file, _ = _status(path)  # before it is opened: should it be replaced now, that is noticed
        # "rw" for readers, too: a reader that may not write at all cannot clear the write-ahead log away
        # when it is the last to close.
        query = "mode=ro&immutable=1" if mode == "immutable" else "mode=rw"
        uri = f"file:{quote(str(path.resolve()))}?{query}"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, factory=Connection)
        connection.file, connection.log = file, f"{path}-wal"
        connection.busy_seconds = busy_seconds
        connection.execute(f"PRAGMA busy_timeout = {round(busy_seconds * 1000)}")
        # Off by default in SQLite, for every connection anew.
        connection.execute("PRAGMA foreign_keys = ON")
        # A file from elsewhere may hold views and triggers that call functions with side effects.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
        if mode == "read":
            connection.execute("PRAGMA query_only = ON")
        if mode == "write":
            # FULL also in WAL mode: an action that was acknowledged survives a power cut.
            connection.execute("PRAGMA synchronous = FULL")
            network = is_network(path)
            _set_journal(connection, "delete" if network else "wal", busy_seconds)
            # copy_log does it: while others checkpoint or write, it may meet SQLite's WAL-reset bug.
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            # A log that starts anew is cut, so that its size says how much is in it.
            connection.execute("PRAGMA journal_size_limit = 0")
            if not network:
                connection.stamp, connection.state = _status(path)[1], _read_state(connection)
                if has_log(path):  # else what this connection reads is what the file holds
                    connection.state = _state_of(path)
        return connection


def _set_journal(connection: sqlite3.Connection, wanted: str, seconds: float) -> None:
    """Change the journal mode. For this alone SQLite does not wait for other processes by itself."""
    end = time.monotonic() + seconds
    while True:
        try:
            if first_value(connection, "PRAGMA journal_mode") != wanted:
                connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()
        except sqlite3.OperationalError as error:
            if time.monotonic() >= end or primary_code(error) != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def check_project(path: Path) -> int:
    """Refuse what is not a project that this version reads.

    The file is asked through SQLite, never through a descriptor of its own: closing one would drop the locks
    that SQLite holds on the file in this process (sqlite.org/howtocorrupt.html, section 2.2).

    Returns:
        Its version, which may be an earlier one.

    Raises:
        ProjectMissingError: There is no such file.
        NotAProjectError: It is not an SQLite file, or one of another program.
        ProjectVersionError: A newer sciextract made it, or one from before the first release.
        ProjectDamagedError: It was cut off, or its log belongs to another file.
        ProjectReadOnlyError: It cannot be read.
    """
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            raise NotAProjectError(f"{path} is a folder, not a project file")
    except PermissionError:
        raise read_only(path) from None
    except OSError:
        raise missing(path) from None
    mode = mode_for(path)
    log_was_left = mode == "write" and has_log(path)
    with (
        translated(path),
        closing(connect(path, "read" if mode == "write" else mode)) as connection,
    ):
        if log_was_left:  # before closing: the last connection copies the log into the file
            _refuse_foreign_log(connection, path)
        application = first_value(connection, "PRAGMA application_id")
        version = first_value(connection, "PRAGMA user_version")
    if application != APPLICATION_ID:
        problem = f"{path} is not a project: it is empty, or an SQLite file of another program"
        raise NotAProjectError(problem, no_project_hint(path))
    if version > VERSION:
        raise newer(path, version)
    if version < OLDEST_VERSION:
        raise ProjectVersionError(
            f"{path} has project version {version}; SciExtract {__version__} reads versions {OLDEST_VERSION} to {VERSION}",
            "export it with the SciExtract that wrote it, and import that into a new project",
        )
    return int(version)


def is_project(path: Path) -> bool:
    """Whether a file says that it is a project, of whatever version; nothing is locked or written."""
    try:
        with translated(path), closing(connect(path, "immutable")) as connection:
            return bool(first_value(connection, "PRAGMA application_id") == APPLICATION_ID)
    except ProjectError:
        return False


def mode_for(path: Path) -> Mode:
    """How the file can be opened: writable, readable, or readable on a medium that nobody writes."""
    fixed = is_read_only_medium(path)
    folder_takes_files = os.access(path.resolve().parent, os.W_OK) and not fixed
    if folder_takes_files and os.access(path, os.W_OK):
        return "write"
    # An immutable file is read without its write-ahead log, so it must have none that holds anything.
    # Readers of a WAL file need a place for its index; where there is none, nobody is writing either.
    if has_log(path) or not (fixed or (not folder_takes_files and _is_wal(path))):
        return "read"
    return "immutable"


def _is_wal(path: Path) -> bool:
    """Whether a file is written through a write-ahead log; one that cannot be opened without its index is."""
    try:
        with translated(path), closing(connect(path, "read")) as connection:
            return bool(first_value(connection, "PRAGMA journal_mode") == "wal")
    except ProjectReadOnlyError:
        return True


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
        _begin(connection, path)
        try:
            yield
            # As late as possible: what is committed into a file without a name would be lost with it.
            if is_replaced(connection, path):
                raise replaced(path)
            if is_overwritten(connection, path):
                raise overwritten(path)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if connection.state is not None:
            _copy_long_log(connection, path)


def _begin(connection: Connection, path: Path) -> None:
    """Begin to write. Having to wait for another process is logged after a second."""
    words = "%s: waiting for another process that writes to the project"
    say = logging.getLogger("sciextract").warning  # without a set-up it prints to standard error
    waits = threading.Timer(_SILENT_SECONDS, say, (words, visible(str(path))))
    waits.daemon = True
    if connection.busy_seconds > _SILENT_SECONDS:
        waits.start()
    try:
        connection.execute("BEGIN IMMEDIATE")
    finally:
        waits.cancel()


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Several queries that see the same state of the file, whatever other processes write meanwhile."""
    # A transaction that writes sees one state already, and SQLite nests none.
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
    return connection.file != _status(path)[0]


def is_overwritten(connection: Connection, path: Path) -> bool:
    """Whether the file was written past SQLite: by ``cp``, ``rsync --inplace`` or a sync client.

    Such a copy keeps the inode. What the file held when it was last looked at must still be in it: only the
    log is copied into it, by :func:`_copy_long_log` under the write lock, so that inside of a transaction the file
    stands still. Without a log SQLite notices by itself that others wrote.
    """
    stamp = _status(path)[1]
    if connection.state is None or stamp == connection.stamp:
        return False
    if not connection.in_transaction:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except (sqlite3.Error, ProjectError):
            return True  # whatever it is by now: this connection cannot write there
        try:
            return is_overwritten(connection, path)
        finally:
            connection.execute("ROLLBACK")
    state = _state_of(path, connection.state)
    if state is None:
        return True
    connection.stamp, connection.state = stamp, state
    return False


def _status(path: Path) -> tuple[FileId | None, FileStamp | None]:
    """Which file a path names now, and its size and time of change."""
    try:
        status = os.stat(path)
    except OSError:
        return None, None
    return (status.st_dev, status.st_ino), (status.st_size, status.st_mtime_ns)


def _state_of(path: Path, earlier: FileState | None = None) -> FileState | None:
    """What a file holds without its log; ``None`` where it cannot be read or holds ``earlier`` no more."""
    try:
        with closing(connect(path, "immutable")) as file:
            state = _read_state(file)
            if earlier is not None and state is not None:
                kept = first_value(file, "SELECT hash FROM event WHERE id = ?", earlier.event)
                if (state.project, kept) != (earlier.project, earlier.hash):
                    return None
            return state
    except (sqlite3.Error, ProjectError):
        return None


def _read_state(connection: sqlite3.Connection) -> FileState | None:
    """What a connection reads; ``None`` where that is no project."""
    try:
        project = first_value(connection, "SELECT value FROM meta WHERE key = 'project'")
        last = connection.execute("SELECT id, hash FROM event ORDER BY id DESC LIMIT 1").fetchone()
        return FileState(project, *last)
    except (sqlite3.Error, TypeError):
        return None


def _copy_long_log(connection: Connection, path: Path) -> None:
    """Copy a log that has become long into the file, while this connection keeps all others from writing.

    SQLite before 3.51.3 can damage a file when one connection starts its log anew while another one copies it
    (:data:`SOUND_WAL`). Under the write lock nobody can; a second connection copies, since one that
    holds the lock cannot.
    """
    with suppress(sqlite3.Error, ProjectError, OSError):
        size = os.stat(connection.log).st_size
        if size < connection.log_bytes:  # it was started anew
            connection.log_bytes = 0
        if size - connection.log_bytes < _LOG_BYTES:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            if is_replaced(connection, path) or is_overwritten(connection, path):
                return
            with closing(connect(path, "write")) as copier:
                copier.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            connection.log_bytes = size
            connection.stamp, connection.state = _status(path)[1], _state_of(path)
        finally:
            connection.execute("ROLLBACK")


def _refuse_foreign_log(connection: Connection, path: Path) -> None:
    """Set a log aside that was left beside a file and belongs to another one, or to an earlier state of this one.

    Raises:
        ProjectDamagedError: There was such a log; the file without it is sound.
    """
    state = _state_of(path)
    if state is None:
        return
    try:
        project = first_value(connection, "SELECT value FROM meta WHERE key = 'project'")
        known = first_value(connection, "SELECT hash FROM event WHERE id = ?", state.event)
        fits = (project, known) == (state.project, state.hash)
        if fits and path.stat().st_size <= _QUICK_BYTES:
            fits = not problems(connection, quick=True)
    except sqlite3.Error:
        fits = False
    if fits:
        return
    with closing(connect(path, "immutable")) as alone:
        if problems(alone, quick=True):
            return
    raise ProjectDamagedError(
        f"{path.name}-wal does not fit {path}; it was set aside as {set_log_aside(path)}",
        f"open the project again; what it lacks may be in a backup: {as_command('sciextract', 'backup', '--list', '--project', path)}",
    )


def set_log_aside(path: Path) -> Path | None:
    """Keep a log from being copied into a file that it does not belong to.

    Returns:
        Where the log is now: beside the file that it belongs to, SQLite reads it. ``None`` where it was empty.
    """
    log = path.with_name(path.name + "-wal")
    if not has_log(path):
        return None
    kept = path.with_name(f"{path.stem}.aside-{time.time_ns()}{path.suffix}-wal")
    shutil.copy2(log, kept)
    os.truncate(log, 0)  # SQLite would copy it when the last connection closes
    return kept


def settle(connection: sqlite3.Connection) -> bool:
    """Leave one whole file behind, which also readers without write access can open.

    Another process that has the project open stands in the way; then the last one to close does it.

    Returns:
        Whether it was done.
    """
    # Closing must not wait half a minute for a reader that stays, and what cannot be done now is no error.
    if isinstance(connection, Connection):
        connection.project = None
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.OperationalError):
        # Copies the log as well, and only when nobody else has the file open.
        return bool(first_value(connection, "PRAGMA journal_mode = DELETE") == "delete")
    return False
