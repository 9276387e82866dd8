"""Two annotators without a server: merge their projects, measure how far they agree, list what to decide."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sciextract.errors import ProjectError, SchemaError, UsageError
from sciextract.metrics.agreement import AgreementReport, agreement
from sciextract.store import open_project
from sciextract.store.content.label_schemas import with_labels
from sciextract.store.file.failures import translated
from sciextract.store.incoming.belongings import bring_queues
from sciextract.store.incoming.ingest import BATCH
from sciextract.store.incoming.joining import Join, MergeCounts, foreign_documents
from sciextract.store.project import Project
from sciextract.store.state.rows import Completeness
from sciextract.workflows.adjudicate import refresh_disagreements
from sciextract.workflows.decisions import Decisions
from sciextract.workflows.models.carrying import carry_choice


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did.

    Attributes:
        counts: Documents and items.
        disagreements: Differences that wait for a decision, over all documents that both sides worked on.
        queues: Names under which saved queues of the other project were added.
        model: What became of its choice of a model, in a sentence; empty where there was nothing to take over.
    """

    counts: MergeCounts
    disagreements: int
    queues: tuple[str, ...] = ()
    model: str = ""

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return {
            "documents": self.counts.documents,
            "taken": self.counts.taken,
            "compared": self.counts.compared,
            "items": self.counts.items,
            "disagreements": self.disagreements,
            "queues": list(self.queues),
            "model": self.model,
        }


def merge_projects(project: Project, other: Path, *, add_labels: bool = False) -> MergeReport:
    """Bring another project's documents and decisions into this one, by the hash of the texts.

    Its saved queues come along, and its choice of a model where this project has none of its own.
    Doing it again changes nothing. What was decided here stays; where both sides worked on a text, the
    other side's annotations are kept beside, and the differences wait for ``adjudicate``.

    Raises:
        SchemaError: The other schema has labels that this one lacks.
        ProjectError: Both are the same file, or one of them cannot be used.
    """
    if other.exists() and project.path.samefile(other):
        raise ProjectError(f"{other} is the project itself", "name another project to merge")
    with open_project(other, read=True) as theirs:
        _join_schemas(project, theirs, add_labels)
        if project.numbers():
            project.backup("before merge")
        source = f"import:{other.name}"
        join, disagreements, decisions = Join(project, source), 0, Decisions(project)
        documents = foreign_documents(theirs)
        while batch := list(islice(documents, BATCH)):
            for number in join.add(batch):
                disagreements += refresh_disagreements(project, number, decisions)
        queues = tuple(bring_queues(project, theirs, other.stem))
        model = carry_choice(project, theirs)
    return MergeReport(join.counts, disagreements, queues, model)


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
        return {
            **self.report.to_json(),
            "only_first": self.only_first,
            "only_second": self.only_second,
        }


def agree(first: Project, second: Project, *, done_only: bool = False) -> Agreed:
    """Compare the current views of two projects, on the texts that both have worked on.

    Args:
        done_only: Compare only texts whose entities both sides have marked as done.

    Raises:
        UsageError: There is no such text.
    """
    mine, theirs = _worked(first, done_only), _worked(second, done_only)
    shared = [sha for sha in mine if sha in theirs]
    if not shared:
        which = "marked as done" if done_only else "annotated"
        raise UsageError(
            f"{first.path} and {second.path} have no text in common that both have {which}",
            "both annotators must have worked on the same abstracts",
        )
    report = agreement(
        [first.document(mine[sha]) for sha in shared],
        [second.document(theirs[sha]) for sha in shared],
        first.schema.symmetric_labels | second.schema.symmetric_labels,
    )
    return Agreed(report, len(mine) - len(shared), len(theirs) - len(shared))


def _join_schemas(project: Project, theirs: Project, add_labels: bool) -> None:
    mine, other = project.schema, theirs.schema
    wider = with_labels(mine, list(other.entity_labels), list(other.relation_labels))
    lacking = [
        *(label for label in other.entity_labels if label not in mine.entity_labels),
        *(label for label in other.relation_labels if label not in mine.relation_labels),
    ]
    if lacking and not add_labels:
        raise SchemaError(
            f"{theirs.path} has labels that {project.path} lacks: {', '.join(lacking)}; nothing was merged",
            "the same command with --add-labels adds them to this project's schema",
        )
    if lacking:
        project.set_schema(wider)


def _worked(project: Project, done_only: bool) -> dict[str, int]:
    """Hash and number of the texts that have annotations or were worked on."""
    done = f"p.entities = '{Completeness.DONE}'"
    touched = f"""(p.entities <> '{Completeness.UNTOUCHED}' OR EXISTS (
        SELECT 1 FROM tally t WHERE t.document_id = d.id AND t.state IN ('imported', 'accepted', 'edited', 'added')))"""
    with translated(project.path):
        rows = project.connection.execute(
            f"""SELECT d.sha256, d.id FROM document d JOIN progress p ON p.document_id = d.id
            WHERE {done if done_only else touched} ORDER BY d.id"""
        )
        return dict(rows.fetchall())
