"""How far the annotators of several projects agree, and a project with what other sources said in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema, match_names
from sciextract.errors import UsageError
from sciextract.metrics.agreement import agreement
from sciextract.metrics.report import AgreementReport
from sciextract.store import Project, label_changes
from sciextract.store.coverage import covered_view
from sciextract.store.document_state import annotated
from sciextract.store.events import MERGED
from sciextract.store.finished import document_before
from sciextract.store.ingest import latest_of_source
from sciextract.store.project_settings import read_annotations, read_covered
from sciextract.store.rows import ProgressRow, rename_covered
from sciextract.store.statistics import DECIDED
from sciextract.workflows.disagreements import decided_part


@dataclass(frozen=True, slots=True)
class Agreed:
    """How far two projects agree.

    Attributes:
        report: The figures.
        only_first: Texts that only the first project has finished, or in other types, or that came from the second.
        only_second: The same of the second one.
    """

    report: AgreementReport
    only_first: int
    only_second: int

    def to_json(self) -> dict[str, Any]:
        """The report of ``--json``."""
        own = {"only_first": self.only_first, "only_second": self.only_second}
        return self.report.to_json() | own


def agree(first: Project, second: Project) -> Agreed:
    """Compare the current views of two projects, in the types that both have looked for.

    Raises:
        UsageError: There is no text in which both have looked for a type.
    """
    mine, theirs = _find_covered(first, first.schema), _find_covered(second, first.schema)
    shared = {sha: mine[sha][1] & covered for sha, (_, covered) in theirs.items() if sha in mine}
    copied = _find_copied(first, second)
    both = {sha: covered for sha, covered in shared.items() if covered and sha not in copied}
    if not both:
        raise UsageError(
            f"{first.path} and {second.path} have no text in common in which both have finished the same types",
            "finish abstracts with D at the desk, or import annotated files with --done all",
        )
    names = _names_in(first.schema, second.schema)
    ours = [covered_view(first.document(mine[sha][0]), both[sha]) for sha in both]
    others = [
        covered_view(_renamed(second.document(theirs[sha][0]), names), both[sha]) for sha in both
    ]
    symmetric = first.schema.symmetric_labels | second.schema.symmetric_labels
    report = agreement(ours, others, symmetric)
    return Agreed(report, len(mine) - len(both), len(theirs) - len(both))


def _find_copied(*projects: Project) -> set[str]:
    """Texts in which all that one of two projects has is the work of the other's authors, which came by merging."""
    sides = []
    for project in projects:
        rows = project.connection.execute(
            f"""SELECT d.sha256, group_concat(DISTINCT e.author_id), min(e.kind = '{MERGED}') FROM ({DECIDED}) i
            JOIN event e ON e.id = i.event_id JOIN document d ON d.id = i.document_id GROUP BY d.id"""
        )
        names = project.sources
        sides.append(
            {
                sha: ({names[int(each)] for each in ids.split(",")}, merged)
                for sha, ids, merged in rows
            }
        )
    one, other = sides
    return {
        sha
        for sha in one.keys() & other.keys()
        if (one[sha][1] or other[sha][1]) and not one[sha][0].isdisjoint(other[sha][0])
    }


Names = tuple[dict[str, str], dict[str, str]]


def _names_in(schema: LabelSchema, other: LabelSchema) -> Names:
    """What the types of another schema are called in this one."""
    relations = match_names(schema.relations, other.relations)
    return match_names(schema.entities, other.entities), relations


def _renamed(document: AnnotatedDocument, names: Names) -> AnnotatedDocument:
    return replace(document, annotations=document.annotations.renamed(*names))


def _find_covered(project: Project, schema: LabelSchema) -> dict[str, tuple[int, frozenset[str]]]:
    """Numbers of the texts in which somebody has looked for a type, and those types by their names in a schema."""
    rows = project.connection.execute(
        """SELECT d.sha256, d.id, p.covered, p.coreference = 'done' FROM document d
        JOIN progress p ON p.document_id = d.id ORDER BY d.id"""
    )
    names, found = _names_in(schema, project.schema), {}
    for sha, number, body, with_clusters in rows:
        covered = frozenset(rename_covered(json.loads(body), *names))
        if with_clusters:
            covered |= {Layer.COREFERENCE.value}
        if covered:
            found[sha] = number, covered
    return found


def agree_when_merged(project: Project, numbers: Collection[int]) -> AgreementReport | None:
    """How far the project and those merged into it agreed before the merge, of which differences are decided since.

    Args:
        numbers: The abstracts to look at; each is compared with the first project that was merged.

    Returns:
        The figures; ``None`` where no abstract was annotated on both sides.
    """
    query = """SELECT a.document_id, a.event_id, a.body FROM annotation_set a JOIN event e ON e.id = a.event_id
        WHERE e.kind = 'merge project' ORDER BY a.document_id, a.id DESC"""
    # Of several rows of a document the last one stays, which is the earliest.
    first = {row[0]: row for row in project.connection.execute(query) if row[0] in numbers}
    mine, theirs = [], []
    for number, event_id, body in first.values():
        before, looked_for = document_before(project, number, event_id)
        covered = read_covered(project.connection, body)
        both = looked_for if covered is None else looked_for & covered
        if both:
            other = AnnotatedDocument(
                before.document, decided_part(read_annotations(project.connection, body))
            )
            mine.append(covered_view(before, both))
            theirs.append(covered_view(other, both))
    return agreement(mine, theirs, project.schema.symmetric_labels) if mine else None


# Abstracts that are compared with a source: enough for narrow intervals, and soon done.
MOST = 300

# Kinds of events that decide about no item.
_NO_DECISION = (
    *("import", "merge project", "predict", "done", "completeness", "flag", "note"),
    *label_changes.KINDS,
)


class Cancelled(Exception):
    """The person did not want to wait any longer."""


@dataclass(frozen=True, slots=True)
class ComparableSource:
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


def sides(project: Project) -> list[ComparableSource]:
    """All sources with abstracts to compare, the latest first."""
    rows = project.connection.execute(
        """SELECT DISTINCT s.name, s.id, d.id, d.sha256 FROM annotation_set a
        JOIN source s ON s.id = a.source_id JOIN document d ON d.id = a.document_id
        JOIN progress p ON p.document_id = d.id WHERE p.entities = 'done'"""
    ).fetchall()
    by_name: dict[tuple[int, str], list[tuple[str, int]]] = {}
    for name, source_id, number, sha in rows:
        # An order that neither time nor content decides, so that the first MOST are a fair sample.
        place = hashlib.sha256(f"agreement {sha}".encode()).hexdigest()
        by_name.setdefault((source_id, name), []).append((place, number))
    return [
        ComparableSource(name, source_id, tuple(number for _, number in sorted(numbers)))
        for (source_id, name), numbers in sorted(by_name.items(), reverse=True)
    ]


def agree_with(
    project: Project,
    side: ComparableSource,
    on_progress: Callable[[int, int], bool] = lambda done, of: True,
) -> WithSource:
    """Compare what holds in the project with the latest annotations of a source.

    Of abstracts that came with a file, those are left out about which nobody has decided anything here: they
    would agree with themselves.

    Args:
        side: The source.
        on_progress: Called with how many abstracts are read, of how many; gives whether to continue.

    Raises:
        Cancelled: ``on_progress`` said no.
    """
    wanted, numbers = side.numbers[:MOST], ", ".join("?" * len(_NO_DECISION))
    decided = f"""SELECT 1 FROM change c JOIN event e ON e.id = c.event_id
        WHERE c.document_id = ? AND e.kind NOT IN ({numbers}) LIMIT 1"""
    mine, theirs = [], []
    for place, number in enumerate(wanted):
        if not on_progress(place, len(wanted)):
            raise Cancelled
        found = latest_of_source(project.connection, number, side.source_id)
        if found is None:
            continue
        if side.name.startswith("import:"):
            rows = project.connection.execute(decided, (number, *_NO_DECISION))
            if rows.fetchone() is None:
                continue
        doc = project.document_state(number)
        both = (doc.progress or ProgressRow()).looked_for
        both = both if found[1] is None else both & found[1]
        if both:
            here = annotated(doc, project.sources)
            mine.append(covered_view(here, both))
            theirs.append(covered_view(replace(here, annotations=decided_part(found[0])), both))
    if not mine:
        return WithSource(side.name, None, 0)
    symmetric = project.schema.symmetric_labels
    report = agreement(mine, theirs, symmetric)
    return WithSource(side.name, report, len(side.numbers))
