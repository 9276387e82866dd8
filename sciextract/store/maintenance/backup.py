"""Dated backups next to the project, through SQLite's backup API."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from glob import escape
from pathlib import Path

from sciextract import atomic
from sciextract.errors import (
    NotAProjectError,
    ProjectBusyError,
    ProjectDamagedError,
    ProjectError,
    ProjectFullError,
    ProjectMissingError,
)
from sciextract.store.filesystem import free_bytes
from sciextract.store.sqlite import (
    check_project,
    connect,
    has_log,
    settle,
    snapshot,
)
from sciextract.store.sqlite_errors import KEPT_ASIDE, damaged, problems, translated

KEPT = 10
MANUAL = "asked for"
"""The reason of the backups that a person asks for; those made on their own push none of them out."""
_PAGES_A_STEP = 4_096
_STALE_SECONDS = 3_600
_STAMP = "%Y-%m-%dT%H-%M-%S.%f"
_OWN_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}_(?!.*(?:-wal|-shm|-journal))")


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
    """Where a project's backups lie: a folder next to it."""
    return project.with_name(project.name + "-backups")


def make_backup(connection: sqlite3.Connection, project: Path, reason: str) -> Backup:
    """Copy the project, whole and consistent, while others may go on writing.

    The newest ten that a person asked for (:data:`MANUAL`) are kept, and the newest ten of all others.
    The copy of a damaged project pushes no other one out.

    Raises:
        ProjectFullError: There is not enough room; nothing was written.
    """
    folder = folder_of(project)
    with translated(project):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        size = pages * connection.execute("PRAGMA page_size").fetchone()[0]
    free = free_bytes(project.resolve().parent)
    if free < size:
        raise ProjectFullError(
            f"{project}: a backup needs {size:,} bytes, {free:,} are free; nothing was changed",
            f"free some space, or remove old backups in {folder}",
        )
    folder.mkdir(mode=0o700, exist_ok=True)  # names and sizes of backups are nobody else's business
    atomic.remove_leftovers(folder, older_than=_STALE_SECONDS)
    target = new_name(project, reason)
    copy_project(connection, project, target)
    superseded = [file for file in _files(folder) if _is_manual(file) == _is_manual(target)][:-KEPT]
    # A damaged project is copied like any other, and ten such copies would push out the last sound one.
    if superseded and is_sound(target, quick=True):
        for old in superseded:
            old.unlink(missing_ok=True)
    return Backup(target, target.stat().st_size, _word(reason))


def new_name(project: Path, reason: str) -> Path:
    """A free name for a backup; it sorts behind all others, even when the clock went backwards."""
    folder = folder_of(project)
    now = datetime.now(UTC)
    # Names are the order of backups; clocks of machines that share a folder differ.
    earlier = [file.name.split("_")[0] for file in _files(folder)[-1:]]
    if earlier and earlier[0] >= now.strftime(_STAMP)[:-3]:
        now = datetime.strptime(f"{earlier[0]}000", _STAMP) + timedelta(milliseconds=1)
    name = f"{now.strftime(_STAMP)[:-3]}_{_word(reason)}{project.suffix or '.sciextract'}"
    return _free_name(folder / name)


def list_backups(project: Path) -> list[Backup]:
    """The backups of a project, newest first."""
    files = reversed(_files(folder_of(project)))
    return [Backup(file, file.stat().st_size, _reason(file)) for file in files]


def newest_sound(project: Path) -> Backup | None:
    """The newest backup of a project that SQLite finds sound."""
    return next((backup for backup in list_backups(project) if is_sound(backup.path)), None)


def is_sound(path: Path, *, quick: bool = False) -> bool:
    """Whether a file that nobody writes is a project without damage.

    Args:
        path: The file.
        quick: Leave out whether indexes agree with their tables, which takes most of the time.
    """
    try:
        check_project(path)
        with closing(connect(path, "immutable")) as connection:
            return not problems(connection, quick=quick)
    except (ProjectError, sqlite3.Error):
        return False


def save_copy(connection: sqlite3.Connection, project: Path) -> Path:
    """Save what a connection still reads as a project of its own next to the one whose place was taken.

    Returns:
        The new project.

    Raises:
        ProjectError: It cannot be written.
    """
    target = _free_name(project.with_name(f"{project.stem}.replaced{project.suffix}"))
    copy_project(connection, project, target)
    return target


def copy_project(connection: sqlite3.Connection, project: Path, target: Path) -> None:
    """Write a project into a new file.

    Raises:
        ProjectError: The project cannot be read, or the copy not be written.
    """
    with atomic.replacing(target, durable=True) as copy:
        _copy(connection, project, copy)


def restore(backup: Path, project: Path) -> Path | None:
    """Put a backup in the project's place; the present file is kept under another name.

    The copy is made and checked next to the project and then takes its name in one step: whenever the process
    is killed, the name belongs to a whole file, the present one or the copy.

    Returns:
        Where the present file is now, ``None`` when there was none.

    Raises:
        ProjectMissingError: There is no such backup.
        ProjectDamagedError: The backup is damaged.
        ProjectError: The backup is not a project or the project itself, or the project is open elsewhere.
    """
    if not backup.exists():
        raise ProjectMissingError(
            f"{backup}: there is no such backup", "sciextract backup --list shows them"
        )
    check_project(backup)
    # Replacing a link by a file would leave the old project where others look for it.
    place = project.resolve() if project.is_symlink() else project  # a link stays one
    if place.exists():
        if place.samefile(backup):
            raise ProjectError(
                f"{backup} is the project {project} itself; nothing was changed",
                "sciextract backup --list shows the backups",
            )
        _clear_log(project)
    clear_killed(place)
    with closing(connect(backup, "read")) as source, atomic.replacing(place, durable=True) as copy:
        _copy(source, backup, copy)
        with closing(connect(copy, "immutable")) as made:
            if damage := problems(made):
                raise damaged(backup, damage[0])
        kept = _keep_aside(place)
        if kept:
            # The copy was made for its owner alone (see _copy).
            shutil.copymode(kept, copy)
    return kept


def _clear_log(project: Path) -> None:
    """Checkpoint a stale write-ahead log; a damaged file keeps it.

    Raises:
        ProjectBusyError: Another process has the project open.
    """
    with suppress(ProjectDamagedError, NotAProjectError), translated(project):
        connection = connect(project, "write")
        try:
            alone = settle(connection)
            connection.execute("SELECT 1 FROM meta").fetchone()
        finally:
            connection.close()
        if has_log(project) or not alone:
            raise ProjectBusyError(
                f"{project} is open in another sciextract", "close it there, then restore again"
            )


def _keep_aside(project: Path) -> Path | None:
    """Give the present file, if there is one, a second name next to the first one.

    A log that it still needs goes with it: SQLite would take it for the log of the file that comes.
    """
    kept = _free_name(project.with_name(project.name + KEPT_ASIDE))  # no second project here
    there = project.exists()
    if there:
        try:
            os.link(project, kept)
        except FileExistsError:
            raise
        except OSError:  # file systems of memory sticks know no links
            with open(project, "rb") as source, open(kept, "xb") as copy:
                shutil.copyfileobj(source, copy)
                copy.flush()
                os.fsync(copy.fileno())
    for end in ("-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.replace(project.with_name(project.name + end), kept.with_name(kept.name + end))
    return kept if there else None


def clear_killed(project: Path) -> dict[Path, bool]:
    """Remove what killed restores left: parts of copies, and second names of the present file.

    Returns:
        The parts, and whether each was removed: a restore that still runs may be writing what is younger than
        an hour.
    """
    project = project.resolve()
    found = atomic.remove_leftovers(project.parent, older_than=_STALE_SECONDS, of=project)
    for kept in project.parent.glob(f"{escape(project.name)}*{KEPT_ASIDE}"):
        if project.exists() and kept.samefile(project):
            kept.unlink()
    return found


def _copy(connection: sqlite3.Connection, project: Path, copy: Path) -> None:
    """Write a whole copy of a project into a new file."""
    copy.touch(mode=0o600)  # whoever may not read the project may not read its copy either
    with translated(project):
        target = sqlite3.connect(copy)
        try:
            with snapshot(connection):  # else every write of another process starts it anew
                connection.execute("SELECT 1 FROM meta").fetchone()
                connection.backup(target, pages=_PAGES_A_STEP)
            target.execute("PRAGMA journal_mode = DELETE")
        finally:
            target.close()
    with suppress(FileNotFoundError):  # a project that was moved away has no mode to copy
        shutil.copymode(project, copy)


def _files(folder: Path) -> list[Path]:
    """Whole backups, oldest first; nothing else that lies there."""
    return sorted(file for file in folder.glob("*_*") if _OWN_NAME.match(file.name))


def _word(reason: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in reason).split()) or "backup"


def _reason(path: Path) -> str:
    return path.stem.partition("_")[2]


def _is_manual(path: Path) -> bool:
    return _reason(path) == _word(MANUAL)


def _free_name(path: Path) -> Path:
    free, count = path, 1
    while free.exists():
        count += 1
        free = path.with_name(f"{path.stem}-{count}{path.suffix}")
    return free
