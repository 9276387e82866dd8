"""The doctor: looks at everything in a project file, mends what can be mended, saves what can be read.

:func:`examine` changes nothing, :func:`repair` mends, :func:`background_check` looks at the pages while a person works.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import new_id
from sciextract.errors import ProjectDamagedError, ProjectError
from sciextract.store import connection as header
from sciextract.store import connection as session
from sciextract.store import state_tables
from sciextract.store.connection import (
    Mode,
    check_header,
    connect,
    has_log,
    mode_for,
    problems,
    settle,
    transaction,
)
from sciextract.store.filesystem import free_bytes, is_network
from sciextract.store.maintenance import checks, rebuild
from sciextract.store.maintenance.backup import folder_of, list_backups, newest_sound, restore
from sciextract.store.maintenance.findings import Finding, Findings, Severity
from sciextract.store.maintenance.salvage import Salvaged, salvage
from sciextract.store.opening import open_project
from sciextract.store.sqlite import WRONG_VALUES, read_only

if TYPE_CHECKING:
    from sciextract.store.project import Project


class BackgroundCheck:
    """A check that runs.

    Attributes:
        problems: What SQLite found once :attr:`done`; empty when the file is sound.
        failed: Why the check itself could not be done, empty where it could.
    """

    def __init__(self, path: Path, mode: Mode, marks: list[str]) -> None:
        self.problems: tuple[str, ...] = ()
        self.failed = ""
        self._path = path
        self._mode: Mode = mode
        self._marks = marks
        self._cancelled = Event()
        self._connection: sqlite3.Connection | None = None
        self._thread = Thread(target=self._run, name="sciextract-check", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether the check has come to its end."""
        return not self._thread.is_alive()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; says whether it came within so many seconds."""
        self._thread.join(seconds)
        return self.done

    def cancel(self) -> None:
        """End the check before its end, as when the project is closed; the marks stay."""
        self._cancelled.set()
        while not self.wait(0.01):
            if self._connection is not None:
                with suppress(sqlite3.ProgrammingError):  # closed just now
                    self._connection.interrupt()

    def _run(self) -> None:
        try:
            self._check()
            if not self.problems and not self._cancelled.is_set() and self._mode == "write":
                self._forget()
        except (ProjectError, sqlite3.Error) as error:
            self.failed = str(error)

    def _check(self) -> None:
        mode: Mode = "read" if self._mode == "write" else self._mode
        with closing(connect(self._path, mode)) as connection:
            self._connection = connection
            if not self._cancelled.is_set():
                self.problems = tuple(problems(connection, quick=True))

    def _forget(self) -> None:
        with (
            closing(connect(self._path, "write")) as connection,
            transaction(connection, self._path),
        ):
            session.forget(connection, self._marks)


def background_check(project: Project) -> BackgroundCheck | None:
    """Check a project that a process did not close; its marks are forgotten when it is sound.

    Returns:
        The running check, ``None`` when the project was closed cleanly.
    """
    if not project.unclean:
        return None
    return BackgroundCheck(project.path, project.mode, list(project.unclean))


_INDEXES = "FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did.

    Attributes:
        before: What the examination found.
        after: What it finds now.
        kept: Where the file as it was is now: a backup; ``None`` when nothing had to be changed.
        rebuilt: Documents whose state was taken from the log.
        counted: Documents whose counts were made anew.
        indexed: Whether the search indexes were made anew.
        forgotten: Marks of processes that had not closed the project.
        salvaged: What a damaged file still gave, in a new project next to it.
        sound_backup: For a damaged file its newest backup that is sound.
    """

    before: Findings
    after: Findings
    kept: Path | None = None
    rebuilt: tuple[int, ...] = ()
    counted: tuple[int, ...] = ()
    indexed: bool = False
    forgotten: int = 0
    salvaged: Salvaged | None = None
    sound_backup: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "kept": None if self.kept is None else str(self.kept),
            "rebuilt": len(self.rebuilt),
            "counted": len(self.counted),
            "indexed": self.indexed,
            "forgotten": self.forgotten,
            "salvaged": None if self.salvaged is None else self.salvaged.to_json(),
            "sound_backup": None if self.sound_backup is None else str(self.sound_backup),
        }


def repair(path: str | Path, author: str | None = None) -> Repaired:
    """Mend a project; nothing is ever deleted but stale marks of processes.

    A sound file is backed up, then documents that differ from the log are rebuilt from it, counts and
    search indexes from the state. A damaged one is left as it is: where new indexes mend it, a mended copy
    takes its place and it is kept under another name; else what can be read goes into a new project.

    Raises:
        ProjectError: It cannot be read, or not be written.
    """
    file = Path(path)
    before = examine(file)
    if not before.damaged:
        return _mend(file, author, before)
    kept = _with_new_indexes(file)
    if kept is not None:
        mended = _mend(file, author, examine(file))
        return replace(mended, before=before, kept=kept)
    backup = newest_sound(file)
    sound = None if backup is None else backup.path
    return Repaired(before, before, salvaged=salvage(file, author), sound_backup=sound)


def _mend(file: Path, author: str | None, before: Findings) -> Repaired:
    if before.sound and not before.unclean:
        return Repaired(before, before)
    with open_project(file, author) as project:
        if project.mode != "write":
            raise read_only(file)
        kept = project.backup("before repair").path
        rebuilt = tuple(_rebuilt(project, before.documents("log", "mentions")))
        counted = tuple(sorted({*before.documents("summary")} - {*rebuilt}))
        with project.writing() as connection:
            _count(project, counted)
            if before.wrong("words"):
                _index(connection)
            session.forget(connection, project.unclean)
            forgotten = len(project.unclean)
    after = examine(file)
    return Repaired(before, after, kept, rebuilt, counted, before.wrong("words"), forgotten)


def _rebuilt(project: Project, numbers: Iterable[int]) -> Iterator[int]:
    """Documents one by one; a log that contradicts itself leaves the state as it is."""
    for number in numbers:
        try:
            rebuild.rebuild(project, [number])
        except (KeyError, ValueError, sqlite3.IntegrityError):
            continue
        yield number


def _count(project: Project, numbers: Iterable[int]) -> None:
    for number in numbers:
        state_tables.refresh(project.connection, project.document_state(number))


def _index(connection: sqlite3.Connection) -> None:
    for name in ("document_words", "surface_words"):
        connection.execute(f"INSERT INTO {name}({name}) VALUES('rebuild')")


def _with_new_indexes(file: Path) -> Path | None:
    """Put a copy with new indexes in the place of a damaged file, if its tables are sound.

    Returns:
        Where the damaged file is now, ``None`` when new indexes do not help.
    """
    copy = file.with_name(f".{file.name}.{new_id()}.repair")
    try:
        for end in ("", "-wal"):
            if file.with_name(file.name + end).exists():
                shutil.copyfile(file.with_name(file.name + end), copy.with_name(copy.name + end))
        return restore(copy, file) if _indexed_anew(copy) else None
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            copy.with_name(copy.name + end).unlink(missing_ok=True)


def _indexed_anew(copy: Path) -> bool:
    """Drop all indexes without reading them and make them anew; says whether that gave a sound file."""
    try:
        with closing(connect(copy, "write")) as connection:
            statements = connection.execute(f"SELECT sql {_INDEXES}").fetchall()
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(f"DELETE {_INDEXES}")
        with closing(connect(copy, "write")) as connection:
            connection.execute("VACUUM")  # the pages of the dropped indexes belong to nothing
            for (statement,) in statements:
                connection.execute(statement)
            settle(connection)
            return not problems(connection)
    except (ProjectError, sqlite3.Error):
        return False


_Check = Callable[[sqlite3.Connection], Iterable[Finding]]


def examine(path: str | Path, progress: checks.Progress | None = None) -> Findings:
    """Look at everything in a project file; nothing is changed.

    Args:
        path: The project.
        progress: Called with how many documents were looked at, and how many there are.

    Raises:
        ProjectMissingError: There is no such file.
        NotAProjectError: It is not a project.
        ProjectVersionError: A newer sciextract wrote it.
        ProjectReadOnlyError: It cannot be read.
    """
    file = Path(path)
    facts: dict[str, Any] = {}
    findings = [*_inside(file, facts, progress), *_around(file, facts)]
    return Findings(file, facts, tuple(findings), tuple(list_backups(file)))


def _inside(
    file: Path, facts: dict[str, Any], progress: checks.Progress | None
) -> Iterator[Finding]:
    try:
        facts["version"] = check_header(file)
        facts["mode"] = mode_for(file)
        with closing(connect(file, facts["mode"] if facts["mode"] != "write" else "read")) as found:
            facts["journal_mode"] = found.execute("PRAGMA journal_mode").fetchone()[0]
            yield from _checked(found, facts["version"], progress)
    except (ProjectDamagedError, sqlite3.DatabaseError) as error:
        hint = "to recover what can be read: sciextract doctor --repair"
        yield Finding("file", Severity.ERROR, str(error), hint)


def _checked(
    connection: sqlite3.Connection, version: int, progress: checks.Progress | None
) -> Iterator[Finding]:
    """All checks; a file of an earlier version, or a damaged one, is not looked into further.

    A view in a table's place may never come to an end.
    """
    for basic in (checks.file, checks.structure):
        first = list(basic(connection))
        yield from first
        if any(each.severity is Severity.ERROR for each in first):
            return
    if version < header.VERSION:
        message = f"project version {version}; opening it makes it version {header.VERSION}"
        yield Finding("version", Severity.NOTE, message, "a backup is made first")
        return
    for name, check in _CHECKS.items():
        yield from _tried(name, check, connection)
    yield from checks.all_documents(connection, progress)


_CHECKS: dict[str, _Check] = {
    "types": checks.types,
    "references": checks.references,
    "events": checks.log,
    "sessions": checks.sessions,
    "schema": checks.schema,
    "counts": checks.counts,
    "words": checks.words,
}


def _tried(name: str, check: _Check, connection: sqlite3.Connection) -> Iterator[Finding]:
    try:
        yield from list(check(connection))
    except sqlite3.OperationalError as error:
        yield Finding(name, Severity.NOTE, f"not looked at: {error}")
    except (ProjectDamagedError, *WRONG_VALUES) as error:
        yield Finding(name, Severity.ERROR, str(error), checks.FROM_BACKUP)


def _around(file: Path, facts: dict[str, Any]) -> Iterator[Finding]:
    """The file's surroundings: file system, room, backups."""
    facts["bytes"], facts["free_bytes"] = file.stat().st_size, free_bytes(file.resolve().parent)
    facts["network"] = is_network(file)
    if facts["network"]:
        message = (
            "the project lies on a network file system: it is slower, and safe with one writer"
        )
        yield Finding("place", Severity.NOTE, message, "copy it to a local disk to work faster")
    if facts.get("mode", "write") != "write":
        message = "the project is read-only here"
        yield Finding("place", Severity.NOTE, message, "copy it to a writable folder")
    if facts["free_bytes"] < 2 * facts["bytes"]:
        message = f"{facts['free_bytes']:,} bytes are free, a backup needs {facts['bytes']:,}"
        yield Finding("room", Severity.WARNING, message, "free some disk space")
    if has_log(file):
        message = f"{file.name}-wal holds actions that belong to the file"
        yield Finding("place", Severity.NOTE, message, "move or copy both files together")
    yield _backups(file)


def _backups(file: Path) -> Finding:
    backups = list_backups(file)
    if not backups:
        return Finding(
            "backups", Severity.NOTE, "there is no backup", "sciextract backup makes one"
        )
    message = f"{len(backups)} backups, the newest of {backups[0].at}"
    return Finding("backups", Severity.GOOD, message, str(folder_of(file)))
