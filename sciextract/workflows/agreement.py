"""Two annotators without a server: merge their projects, measure how far they agree, list what to decide."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ProjectError, SchemaError, UsageError
from sciextract.metrics.agreement import agreement
from sciextract.metrics.report import AgreementReport
from sciextract.store import Completeness, Project, label_changes, open_project
from sciextract.store.finished import document_before
from sciextract.store.ingest import BATCH, annotations_of_source
from sciextract.store.merge import MergeCounts, ProjectMerge, bring_queues, foreign_documents
from sciextract.store.project_settings import read_annotations, with_labels
from sciextract.workflows.adjudicate import refresh_disagreements
from sciextract.workflows.disagreements import Decisions, decided_part


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did.

    Attributes:
        counts: Documents and items.
        disagreements: Differences that wait for a decision, over all documents that both sides worked on.
        queues: Names under which saved queues of the other project were added.
    """

    counts: MergeCounts
    disagreements: int
    queues: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        found = {"disagreements": self.disagreements, "queues": list(self.queues)}
        return asdict(self.counts) | found


def merge_projects(project: Project, other: Path, *, add_labels: bool = False) -> MergeReport:
    """Bring another project's documents and decisions into this one, by the hash of the texts.

    Its saved queues come along.
    Doing it again changes nothing. What was decided here stays; where both sides worked on a text, the
    other side's annotations are kept beside, and the differences wait for ``adjudicate``.

    Raises:
        SchemaError: The other schema has labels that this one lacks.
        ProjectError: Both are the same file, or one of them cannot be used.
    """
    # By file, not by name: a link or another spelling of the path is the same project.
    if other.exists() and project.path.samefile(other):
        raise ProjectError(f"{other} is the project itself", "name another project to merge")
    with open_project(other, read=True) as theirs:
        mine, other_schema = project.schema, theirs.schema
        lacking = [
            *(label for label in other_schema.entity_labels if label not in mine.entity_labels),
            *(label for label in other_schema.relation_labels if label not in mine.relation_labels),
        ]
        if lacking and not add_labels:
            raise SchemaError(
                f"{theirs.path} has labels that {project.path} lacks: {', '.join(lacking)}; nothing was merged",
                "the same command with --add-labels adds them to this project's schema",
            )
        if lacking:
            labels = (list(other_schema.entity_labels), list(other_schema.relation_labels))
            project.set_schema(with_labels(mine, *labels))
        if project.numbers():
            project.backup("before merge")
        source = f"import:{other.name}"
        join, disagreements, decisions = ProjectMerge(project, source), 0, Decisions(project)
        # In batches: each is one transaction, so that others can write in between and memory stays constant.
        documents = foreign_documents(theirs)
        while batch := list(islice(documents, BATCH)):
            for number in join.add(batch):
                disagreements += refresh_disagreements(project, number, decisions)
        queues = tuple(bring_queues(project, theirs, other.stem))
    return MergeReport(join.counts, disagreements, queues)


@dataclass(frozen=True, slots=True)
class Agreed:
    """How far two projects agree.

    Attributes:
        report: The figures.
        only_first: Texts that only the first project has worked on.
        only_second: Texts that only the second one has worked on.
    """

    report: AgreementReport
    only_first: int
    only_second: int

    def to_json(self) -> dict[str, Any]:
        """The report of ``--json``."""
        own = {"only_first": self.only_first, "only_second": self.only_second}
        return self.report.to_json() | own


def agree(first: Project, second: Project, *, done_only: bool = False) -> Agreed:
    """Compare the current views of two projects, on the texts that both have worked on.

    Args:
        done_only: Compare only texts whose entities both sides have marked as done.

    Raises:
        UsageError: There is no such text.
    """
    mine, theirs = _find_worked(first, done_only), _find_worked(second, done_only)
    shared = [sha for sha in mine if sha in theirs]
    if not shared:
        which = "marked as done" if done_only else "annotated"
        raise UsageError(
            f"{first.path} and {second.path} have no text in common that both have {which}",
            "both annotators must have worked on the same abstracts",
        )
    ours = [first.document(mine[sha]) for sha in shared]
    others = [second.document(theirs[sha]) for sha in shared]
    symmetric = first.schema.symmetric_labels | second.schema.symmetric_labels
    report = agreement(ours, others, symmetric)
    return Agreed(report, len(mine) - len(shared), len(theirs) - len(shared))


def _find_worked(project: Project, done_only: bool) -> dict[str, int]:
    """Hash and number of the texts that have annotations or were worked on."""
    done = f"p.entities = '{Completeness.DONE}'"
    touched = f"""(p.entities <> '{Completeness.UNTOUCHED}' OR EXISTS (
        SELECT 1 FROM tally t WHERE t.document_id = d.id AND t.state IN ('imported', 'accepted', 'edited', 'added')))"""
    rows = project.connection.execute(
        f"""SELECT d.sha256, d.id FROM document d JOIN progress p ON p.document_id = d.id
        WHERE {done if done_only else touched} ORDER BY d.id"""
    )
    return dict(rows.fetchall())


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
        before = document_before(project, number, event_id)
        other = decided_part(read_annotations(project.connection, body))
        if before.annotations.entities and other.entities:
            mine.append(before)
            theirs.append(AnnotatedDocument(before.document, other))
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
        annotations = annotations_of_source(project.connection, number, side.source_id)
        if annotations is None:
            continue
        if side.name.startswith("import:"):
            rows = project.connection.execute(decided, (number, *_NO_DECISION))
            if rows.fetchone() is None:
                continue
        mine.append(project.document(number))
        theirs.append(AnnotatedDocument(mine[-1].document, decided_part(annotations)))
    if not mine:
        return WithSource(side.name, None, 0)
    symmetric = project.schema.symmetric_labels
    report = agreement(mine, theirs, symmetric)
    return WithSource(side.name, report, len(side.numbers))
