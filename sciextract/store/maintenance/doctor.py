"""The doctor: looks at everything in a project file, and mends what can be mended.

:func:`examine` changes nothing, :func:`repair` mends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sciextract.errors import ProjectDamagedError
from sciextract.store import state_tables
from sciextract.store.filesystem import free_bytes, is_network
from sciextract.store.maintenance import checks
from sciextract.store.maintenance.backup import Backup, folder_of, list_backups, newest_sound
from sciextract.store.maintenance.checks import CheckResult, Severity
from sciextract.store.opening import open_project
from sciextract.store.sqlite import SOUND_WAL, VERSION, check_project, connect, has_log, mode_for
from sciextract.store.sqlite_errors import WRONG_VALUES, read_only

_SHOWN = 20
_Check = Callable[[sqlite3.Connection], Iterable[CheckResult]]
_CHECKS: dict[str, _Check] = {
    "references": checks.check_references,
    "events": checks.check_log,
    "schema": checks.check_schema,
    "words": checks.check_words,
}


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found in a project file and around it.

    Attributes:
        path: The project.
        facts: Version, journal mode, sizes...: plain values by name.
        findings: What was looked at, in order.
        backups: Its backups, newest first.
    """

    path: Path
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[CheckResult, ...] = ()
    backups: tuple[Backup, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing stored is wrong."""
        return not self.errors()

    @property
    def damaged(self) -> bool:
        """Whether SQLite itself finds the file damaged, so that no query can be relied on."""
        return bool(self.errors("file"))

    def errors(self, *names: str) -> list[CheckResult]:
        """The errors of certain checks; of all without names."""
        return [
            finding
            for finding in self.findings
            if finding.severity is Severity.ERROR and (not names or finding.check in names)
        ]

    def documents(self, *names: str) -> list[int]:
        """Numbers of the documents that errors of certain checks concern, ascending."""
        return sorted({number for finding in self.errors(*names) for number in finding.documents})

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; of many document numbers the first ones."""
        results = [
            asdict(found)
            | {"documents": list(found.documents[:_SHOWN]), "documents_count": len(found.documents)}
            for found in self.findings
        ]
        backups = [
            {"path": str(kept.path), "bytes": kept.bytes, "at": kept.at, "reason": kept.reason}
            for kept in self.backups
        ]
        plain = {"path": str(self.path), "sound": self.sound, "damaged": self.damaged}
        return {**plain, "facts": dict(self.facts), "findings": results, "backups": backups}


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
        sound_backup: For a damaged file its newest backup that is sound.
    """

    before: Examination
    after: Examination
    kept: Path | None = None
    rebuilt: tuple[int, ...] = ()
    counted: tuple[int, ...] = ()
    indexed: bool = False
    sound_backup: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        counts = {"rebuilt": len(self.rebuilt), "counted": len(self.counted)}
        kept, sound = (path and str(path) for path in (self.kept, self.sound_backup))
        examined = {"before": self.before.to_json(), "after": self.after.to_json()}
        return {**examined, "kept": kept, **counts, "indexed": self.indexed, "sound_backup": sound}


def repair(path: str | Path, author: str | None = None) -> Repaired:
    """Mend a project; nothing is ever deleted.

    The file is backed up, then documents that differ from the log are rebuilt from it, counts and search
    indexes from the state. Where SQLite finds the file itself damaged it is left as it is, and its newest
    sound backup is named: nothing that is read from broken pages can be relied on.

    Raises:
        ProjectError: It cannot be read, or not be written.
    """
    file = Path(path)
    before = examine(file)
    if before.damaged:
        backup = newest_sound(file)
        return Repaired(before, before, sound_backup=None if backup is None else backup.path)
    if before.sound:
        return Repaired(before, before)
    rebuilt: list[int] = []
    with open_project(file, author) as project:
        if project.mode != "write":
            raise read_only(file)
        kept = project.backup("before repair").path
        for number in before.documents("log", "mentions"):
            # A log that contradicts itself leaves the state as it is.
            with suppress(KeyError, ValueError, sqlite3.IntegrityError):
                state_tables.rebuild(project, [number])
                rebuilt.append(number)
        counted = tuple(sorted({*before.documents("summary")} - {*rebuilt}))
        indexed = bool(before.errors("words"))
        with project.writing() as connection:
            for number in counted:
                state_tables.refresh(connection, project.document_state(number))
            for name in checks.INDEXES if indexed else ():
                connection.execute(f"INSERT INTO {name}({name}) VALUES('rebuild')")
    return Repaired(before, examine(file), kept, tuple(rebuilt), counted, indexed)


def examine(path: str | Path, progress: checks.Progress | None = None) -> Examination:
    """Look at everything in a project file; nothing is changed.

    Args:
        path: The project.
        progress: Called with how many documents were looked at, and how many there are.

    Raises:
        ProjectMissingError: There is no such file.
        NotAProjectError: It is not a project.
        ProjectVersionError: A SciExtract with other tables wrote it.
        ProjectReadOnlyError: It cannot be read.
    """
    file = Path(path)
    facts: dict[str, Any] = {}
    results: list[CheckResult] = []
    try:
        facts["version"], facts["mode"] = check_project(file), mode_for(file)
        with closing(connect(file, facts["mode"] if facts["mode"] != "write" else "read")) as found:
            facts["journal_mode"] = found.execute("PRAGMA journal_mode").fetchone()[0]
            if facts["version"] == VERSION:
                results += _check_inside(found, progress)
            else:
                results += checks.check_file(found)
                message = f"project version {facts['version']}: opening it converts it to {VERSION}, after a backup"
                results.append(CheckResult("version", Severity.NOTE, message))
    except (ProjectDamagedError, sqlite3.DatabaseError) as error:
        hint = "to find the newest sound backup: sciextract doctor --repair"
        results.append(CheckResult("file", Severity.ERROR, str(error), hint))
    results += _check_around(file, facts)
    return Examination(file, facts, tuple(results), tuple(list_backups(file)))


def _check_inside(
    connection: sqlite3.Connection, progress: checks.Progress | None
) -> Iterator[CheckResult]:
    """All checks; a damaged file is not looked into further: a view in a table's place may never end."""
    for basic in (checks.check_file, checks.check_structure):
        first = list(basic(connection))
        yield from first
        if any(finding.severity is Severity.ERROR for finding in first):
            return
    for name, check in _CHECKS.items():
        try:
            yield from list(check(connection))
        except sqlite3.OperationalError as error:
            yield CheckResult(name, Severity.NOTE, f"not looked at: {error}")
        except (ProjectDamagedError, *WRONG_VALUES) as error:
            yield CheckResult(name, Severity.ERROR, str(error), checks.FROM_BACKUP)
    yield from checks.check_documents(connection, progress)


def _check_around(file: Path, facts: dict[str, Any]) -> Iterator[CheckResult]:
    """The file's surroundings: file system, room, backups."""
    facts["bytes"], facts["free_bytes"] = file.stat().st_size, free_bytes(file.resolve().parent)
    facts["network"] = is_network(file)
    if facts["network"]:
        message = (
            "the project lies on a network file system: it is slower, and safe with one writer"
        )
        yield CheckResult("place", Severity.NOTE, message, "copy it to a local disk to work faster")
    if facts.get("mode", "write") != "write":
        message = "the project is read-only here"
        yield CheckResult("place", Severity.NOTE, message, "copy it to a writable folder")
    if sqlite3.sqlite_version_info < SOUND_WAL and not facts["network"]:
        facts["sqlite"] = sqlite3.sqlite_version
        message = f"SQLite {sqlite3.sqlite_version} has the WAL-reset bug (fixed in {'.'.join(map(str, SOUND_WAL))}); sciextract avoids it, other programs that write to the file may not"
        hint = "do not write to the project with other programs while it is open here"
        yield CheckResult("sqlite", Severity.NOTE, message, hint)
    if facts["free_bytes"] < 2 * facts["bytes"]:
        message = f"{facts['free_bytes']:,} bytes are free, a backup needs {facts['bytes']:,}"
        yield CheckResult("room", Severity.WARNING, message, "free some disk space")
    if has_log(file):
        message = f"{file.name}-wal holds actions that belong to the file"
        yield CheckResult("place", Severity.NOTE, message, "move or copy both files together")
    backups = list_backups(file)
    if backups:
        message = f"{len(backups)} backups, the newest of {backups[0].at} UTC"
        yield CheckResult("backups", Severity.GOOD, message, str(folder_of(file)))
    else:
        hint = "sciextract backup makes one"
        yield CheckResult("backups", Severity.NOTE, "there is no backup", hint)
