"""How far a person agrees with the other sources of one project: merged projects, imported files, models."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.agreement import AgreementReport, agreement
from sciextract.store.file.failures import translated
from sciextract.store.incoming.ingest import said_by
from sciextract.store.project import Project
from sciextract.workflows.disputed import decided_part

MOST = 300
"""Abstracts that are compared with a source: enough for narrow intervals, and soon done."""

_NO_DECISION = ("import", "merge project", "predict", "done", "completeness", "flag", "note")
"""Kinds of events that decide about no item."""


class Cancelled(Exception):
    """The person did not want to wait any longer."""


@dataclass(frozen=True, slots=True)
class Side:
    """A source that the abstracts can be compared with.

    Attributes:
        name: Such as ``import:maria.sciextract`` or ``model:sci@1f0c``.
        source_id: Its number.
        numbers: Abstracts that it has annotated and whose entities are done here, in an order by hash.
    """

    name: str
    source_id: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WithSource:
    """How far the current view agrees with one source.

    Attributes:
        name: The source.
        report: The figures, ``None`` where no abstract could be compared.
        comparable: Abstracts that both have; the report is about at most :data:`MOST` of them.
    """

    name: str
    report: AgreementReport | None
    comparable: int


def sides(project: Project) -> list[Side]:
    """All sources with abstracts to compare, the latest first."""
    with translated(project.path):
        rows = project.connection.execute(
            """SELECT DISTINCT s.name, s.id, d.id, d.sha256 FROM annotation_set a
            JOIN source s ON s.id = a.source_id JOIN document d ON d.id = a.document_id
            JOIN progress p ON p.document_id = d.id WHERE p.entities = 'done'"""
        ).fetchall()
    found: dict[tuple[int, str], list[tuple[str, int]]] = {}
    for name, source_id, number, sha in rows:
        found.setdefault((source_id, name), []).append((_drawn(sha), number))
    return [
        Side(name, source_id, tuple(number for _, number in sorted(numbers)))
        for (source_id, name), numbers in sorted(found.items(), reverse=True)
    ]


def agree_with(
    project: Project, side: Side, on_progress: Callable[[int, int], bool] = lambda done, of: True
) -> WithSource:
    """Compare what holds in the project with what a source said last.

    Of abstracts that came with a file, those are left out about which nobody has decided anything here: they
    would agree with themselves.

    Args:
        side: The source.
        on_progress: Told how many abstracts are read, of how many; gives whether to go on.

    Raises:
        Cancelled: ``on_progress`` said no.
    """
    wanted = side.numbers[:MOST]
    pairs = []
    for place, number in enumerate(wanted):
        if not on_progress(place, len(wanted)):
            raise Cancelled
        pairs.append(_pair(project, number, side))
    both = [pair for pair in pairs if pair is not None]
    if not both:
        return WithSource(side.name, None, 0)
    symmetric = project.schema.symmetric_labels
    report = agreement([mine for mine, _ in both], [theirs for _, theirs in both], symmetric)
    return WithSource(side.name, report, len(side.numbers))


def _pair(
    project: Project, number: int, side: Side
) -> tuple[AnnotatedDocument, AnnotatedDocument] | None:
    said = said_by(project.connection, number, side.source_id)
    if said is None or (side.name.startswith("import:") and not _worked_on(project, number)):
        return None
    mine = project.document(number)
    return mine, AnnotatedDocument(mine.document, decided_part(said))


def _worked_on(project: Project, number: int) -> bool:
    """Whether somebody has decided anything about an abstract here."""
    marks = ", ".join("?" * len(_NO_DECISION))
    with translated(project.path):
        row = project.connection.execute(
            f"""SELECT 1 FROM change c JOIN event e ON e.id = c.event_id
            WHERE c.document_id = ? AND e.kind NOT IN ({marks}) LIMIT 1""",
            (number, *_NO_DECISION),
        ).fetchone()
    return row is not None


def _drawn(sha256: str) -> str:
    """A place in an order that neither time nor content decides."""
    return hashlib.sha256(f"agreement {sha256}".encode()).hexdigest()
