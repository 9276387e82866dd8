"""The doctor: looks at everything in a project file, mends what can be mended, saves what can be read.

:func:`examine` changes nothing. :func:`repair` and :func:`background_check` live beside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sciextract.errors import ProjectDamagedError
from sciextract.store.file import header
from sciextract.store.file.connection import connect, has_log, mode_for
from sciextract.store.file.failures import WRONG_VALUES
from sciextract.store.file.filesystem import free_bytes, is_network
from sciextract.store.file.header import check_header
from sciextract.store.health import checks
from sciextract.store.health.background import BackgroundCheck, background_check
from sciextract.store.health.backup import folder_of, list_backups
from sciextract.store.health.findings import Finding, Findings, Severity
from sciextract.store.health.repair import Repaired, repair

__all__ = [
    "BackgroundCheck",
    "Finding",
    "Findings",
    "Repaired",
    "Severity",
    "background_check",
    "examine",
    "repair",
]

_Check = Callable[[sqlite3.Connection], Iterable[Finding]]


def examine(path: str | Path, progress: checks.Progress | None = None) -> Findings:
    """Look at everything in a project file; nothing is changed.

    Args:
        path: The project.
        progress: Told how many documents were looked at, and how many there are.

    Raises:
        ProjectMissingError: There is no such file.
        NotAProjectError: It is no project.
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
        hint = "sciextract doctor --repair saves what can be read"
        yield Finding("file", Severity.ERROR, str(error), hint)


def _checked(
    connection: sqlite3.Connection, version: int, progress: checks.Progress | None
) -> Iterator[Finding]:
    """All checks; a file of an earlier version, or a damaged one, is not looked into further."""
    whole = list(checks.file(connection))
    yield from whole
    if any(each.severity is Severity.ERROR for each in whole):
        return
    made = list(checks.structure(connection))
    yield from made
    if any(each.severity is Severity.ERROR for each in made):
        return  # a view in a table's place may never come to an end
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
        message = "the project can only be read here"
        yield Finding("place", Severity.NOTE, message, "copy it to a place where you may write")
    if facts["free_bytes"] < 2 * facts["bytes"]:
        message = f"{facts['free_bytes']:,} bytes are free, a backup needs {facts['bytes']:,}"
        yield Finding("room", Severity.WARNING, message, "make room on the disk")
    if has_log(file):
        message = f"{file.name}-wal holds actions that belong to the file"
        yield Finding("place", Severity.NOTE, message, "move or copy both files together")
    yield _backups(file)


def _backups(file: Path) -> Finding:
    found = list_backups(file)
    if not found:
        return Finding(
            *("backups", Severity.NOTE, "there is no backup", "sciextract backup makes one")
        )
    message = f"{len(found)} backups, the newest of {found[0].at}"
    return Finding("backups", Severity.GOOD, message, str(folder_of(file)))
