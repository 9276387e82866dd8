"""What an examination of a project file reports: findings, and the count-drop alarm."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from sciextract.store.maintenance.backup import Backup
from sciextract.store.sqlite import decoded

_SHOWN = 20


class Severity(StrEnum):
    """How bad a finding is."""

    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        check: A stable word for it.
        severity: How bad it is; an ``error`` means that something stored is wrong.
        message: What was found.
        hint: The next step, empty where there is none.
        documents: Numbers of the documents that it concerns.
    """

    check: str
    severity: Severity
    message: str
    hint: str = ""
    documents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of an examination.

    Attributes:
        path: The project.
        facts: Version, journal mode, sizes...: plain values by name.
        findings: What was looked at, in order.
        backups: Its backups, newest first.
    """

    path: Path
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    backups: tuple[Backup, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing stored is wrong."""
        return all(each.severity is not Severity.ERROR for each in self.findings)

    @property
    def damaged(self) -> bool:
        """Whether SQLite itself finds the file damaged, so that no query can be relied on."""
        return any(each.check == "file" for each in self._errors())

    def documents(self, *checks: str) -> list[int]:
        """Numbers of the documents that errors of certain checks concern, ascending."""
        numbers = {
            number for each in self._errors() if each.check in checks for number in each.documents
        }
        return sorted(numbers)

    @property
    def unclean(self) -> bool:
        """Whether a process ended without closing the project."""
        return any(
            each.check == "sessions" and each.severity is Severity.WARNING for each in self.findings
        )

    def wrong(self, check: str) -> bool:
        """Whether a check found an error."""
        return any(each.check == check for each in self._errors())

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; of many document numbers the first ones."""
        return {
            "path": str(self.path),
            "sound": self.sound,
            "damaged": self.damaged,
            "facts": dict(self.facts),
            "findings": [_plain(each) for each in self.findings],
            "backups": [
                {"path": str(each.path), "bytes": each.bytes, "at": each.at, "reason": each.reason}
                for each in self.backups
            ],
        }

    def _errors(self) -> list[Finding]:
        return [each for each in self.findings if each.severity is Severity.ERROR]


def _plain(finding: Finding) -> dict[str, Any]:
    shown = list(finding.documents[:_SHOWN])
    return asdict(finding) | {"documents": shown, "documents_count": len(finding.documents)}


_KEY = "counts"


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a project holds.

    Attributes:
        documents: Abstracts.
        items: Entities, relations and mentions of clusters, rejected ones too.
        decided: Those that a person decided.
        event: The newest event's number.
    """

    documents: int
    items: int
    decided: int
    event: int


def count(connection: sqlite3.Connection) -> Counts:
    """What is in the project now; from the derived rows, so that it is cheap."""
    documents, items, decided = connection.execute(
        "SELECT count(*), coalesce(sum(items), 0), coalesce(sum(decided), 0) FROM summary"
    ).fetchone()
    event = connection.execute("SELECT coalesce(max(id), 0) FROM event").fetchone()[0]
    return Counts(documents, items, decided, event)


def remember(connection: sqlite3.Connection) -> None:
    """Note the counts, inside the caller's transaction."""
    counts = json.dumps(asdict(count(connection)))
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, counts))


def drops(connection: sqlite3.Connection) -> list[str]:
    """What is fewer than at the last close although no event has happened since; empty when all is well."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    if row is None:
        return []
    with decoded(connection, "the counts of the last close"):
        then, now = Counts(**json.loads(row[0])), count(connection)
    if now.event > then.event:
        return []
    pairs = ((name, getattr(then, name), getattr(now, name)) for name in asdict(then))
    return [
        f"{name}: {before} at the last close, {after} now"
        for name, before, after in pairs
        if after < before
    ]
