"""Dated backups beside the project, through SQLite's backup API."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sciextract.documents.ids import new_id
from sciextract.errors import (
    NotAProjectError,
    ProjectBusyError,
    ProjectDamagedError,
    ProjectFullError,
    ProjectMissingError,
)
from sciextract.store.file.connection import connect, has_log, is_wal, settle, snapshot
from sciextract.store.file.failures import translated
from sciextract.store.file.filesystem import free_bytes, sync_folder
from sciextract.store.file.header import check_header
from sciextract.store.health.integrity import is_sound

KEPT = 10
_PAGES_A_STEP = 4_096
_PARTIAL = ".partial"
_STALE_SECONDS = 3_600
_STAMP = "%Y-%m-%dT%H-%M-%S.%f"
_OWN_NAME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}_(?!.*(?:\.partial|-wal|-shm|-journal))"
)


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup.

    Attributes:
        path: The file: a whole project of its own.
        bytes: Its size.
        reason: Why it was made.
    """

    path: Path
    bytes: int
    reason: str

    @property
    def at(self) -> str:
        """When it was made: UTC, as in its name."""
        return self.path.name.split("_")[0]


def folder_of(project: Path) -> Path:
    """Where a project's backups lie: a folder beside it."""
    return project.with_name(project.name + "-backups")


def make_backup(connection: sqlite3.Connection, project: Path, reason: str) -> Backup:
    """Copy the project, whole and consistent, while others may go on writing; keep the newest ten.

    The copy of a damaged project pushes no other one out.

    Raises:
        ProjectFullError: There is not enough room; nothing was written.
    """
    folder = folder_of(project)
    with translated(project):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        size = pages * connection.execute("PRAGMA page_size").fetchone()[0]
    _check_room(project, size)
    folder.mkdir(exist_ok=True)
    _clear_partial(folder)
    target = new_name(project, reason)
    _copy(connection, project, target)
    superseded = _files(folder)[:-KEPT]
    if superseded and is_sound(target, quick=True):
        for old in superseded:
            old.unlink(missing_ok=True)
    return Backup(target, target.stat().st_size, _word(reason))


def new_name(project: Path, reason: str) -> Path:
    """A free name for a backup; it sorts behind all others, even when the clock went backwards."""
    folder = folder_of(project)
    now = datetime.now(UTC)
    earlier = [each.name.split("_")[0] for each in _files(folder)[-1:]]
    if earlier and earlier[0] >= now.strftime(_STAMP)[:-3]:
        now = datetime.strptime(f"{earlier[0]}000", _STAMP) + timedelta(milliseconds=1)
    name = f"{now.strftime(_STAMP)[:-3]}_{_word(reason)}{project.suffix or '.sciextract'}"
    return _free_name(folder / name)


def list_backups(project: Path) -> list[Backup]:
    """The backups of a project, newest first."""
    files = reversed(_files(folder_of(project)))
    return [Backup(each, each.stat().st_size, _reason(each)) for each in files]


def newest_sound(project: Path) -> Backup | None:
    """The newest backup of a project that SQLite finds sound."""
    return next((each for each in list_backups(project) if is_sound(each.path)), None)


def restore(backup: Path, project: Path) -> Path | None:
    """Put a backup in the project's place; the present file is kept under another name.

    Returns:
        Where the present file is now, ``None`` when there was none.

    Raises:
        ProjectMissingError: There is no such backup.
        ProjectError: The backup is no project, or the project is open elsewhere.
    """
    if not backup.exists():
        raise ProjectMissingError(
            f"{backup}: there is no such backup", "sciextract backup --list shows them"
        )
    check_header(backup)
    if project.exists():
        _clear_log(project)
    kept = _free_name(project.with_name(f"{project.name}.before-restore"))  # no second project here
    moved = _move(project, kept)
    source = connect(backup, "read")
    try:
        _copy(source, backup, project)
    except BaseException:
        _move(kept, project)
        raise
    finally:
        source.close()
    return kept if moved else None


def _clear_log(project: Path) -> None:
    """Bring a log that a killed process left into the file; a damaged file keeps it.

    Raises:
        ProjectBusyError: Another process has the project open.
    """
    with suppress(ProjectDamagedError, NotAProjectError), translated(project):
        connection = connect(project, "write")
        try:
            settle(connection)
            connection.execute("SELECT 1 FROM meta").fetchone()
        finally:
            connection.close()
        if has_log(project) or is_wal(project):
            raise ProjectBusyError(
                f"{project} is open in another sciextract", "close it there, then restore again"
            )


def _move(project: Path, target: Path) -> bool:
    """Rename a project with what lies beside it; says whether there was one."""
    for end in ("-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.replace(project.with_name(project.name + end), target.with_name(target.name + end))
    with suppress(FileNotFoundError):
        os.replace(project, target)
        return True
    return False


def _copy(connection: sqlite3.Connection, project: Path, target: Path) -> None:
    """Write beside the target first, so that a backup by its name is always whole."""
    partial = target.with_name(f"{target.name}.{new_id()}{_PARTIAL}")
    try:
        with translated(project):
            copy = sqlite3.connect(partial)
            try:
                with snapshot(connection):  # else every write of another process starts it anew
                    connection.execute("SELECT 1 FROM meta").fetchone()
                    connection.backup(copy, pages=_PAGES_A_STEP)
                copy.execute("PRAGMA journal_mode = DELETE")
                copy.execute("DELETE FROM session")
                copy.commit()
            finally:
                copy.close()
        os.replace(partial, target)
        sync_folder(target.parent)
    finally:
        partial.unlink(missing_ok=True)


def _check_room(project: Path, size: int) -> None:
    free = free_bytes(project.resolve().parent)
    if free < size:
        raise ProjectFullError(
            f"{project}: a backup needs {size:,} bytes, {free:,} are free; nothing was changed",
            f"make room, or remove old backups in {folder_of(project)}",
        )


def _files(folder: Path) -> list[Path]:
    """Whole backups, oldest first; nothing else that lies there."""
    return sorted(each for each in folder.glob("*_*") if _OWN_NAME.match(each.name))


def _clear_partial(folder: Path) -> None:
    """Remove what killed backups left; one that another process is writing now is younger."""
    for partial in folder.glob(f"*{_PARTIAL}*"):
        with suppress(OSError):
            if time.time() - partial.stat().st_mtime > _STALE_SECONDS:
                partial.unlink()


def _word(reason: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in reason).split()) or "backup"


def _reason(path: Path) -> str:
    return path.stem.partition("_")[2]


def _free_name(path: Path) -> Path:
    free, count = path, 1
    while free.exists():
        count += 1
        free = path.with_name(f"{path.stem}-{count}{path.suffix}")
    return free
