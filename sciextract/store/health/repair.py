"""Mending a project: state from the log, counts and indexes from the state, and what a damaged file still gives."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciextract.documents.ids import new_id
from sciextract.errors import ProjectError
from sciextract.store.file import session
from sciextract.store.file.connection import connect, settle
from sciextract.store.file.failures import read_only
from sciextract.store.health.backup import newest_sound, restore
from sciextract.store.health.findings import Findings
from sciextract.store.health.integrity import problems
from sciextract.store.health.salvage import Salvaged, salvage
from sciextract.store.log import rebuild
from sciextract.store.opening import open_project
from sciextract.store.state import summary

if TYPE_CHECKING:
    from sciextract.store.project import Project

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
        salvaged: What a damaged file still gave, in a new project beside it.
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
    from sciextract.store.health.doctor import examine

    file = Path(path)
    before = examine(file)
    if not before.damaged:
        return _mend(file, author, before)
    kept = _with_new_indexes(file)
    if kept is not None:
        mended = _mend(file, author, examine(file))
        return Repaired(
            *(before, mended.after, kept, mended.rebuilt, mended.counted),
            *(mended.indexed, mended.forgotten),
        )
    backup = newest_sound(file)
    sound = None if backup is None else backup.path
    return Repaired(before, before, salvaged=salvage(file, author), sound_backup=sound)


def _mend(file: Path, author: str | None, before: Findings) -> Repaired:
    from sciextract.store.health.doctor import examine

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
        summary.refresh(project.connection, project.draft(number))


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
