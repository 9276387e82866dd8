"""Adapters of a project: trained on what its people have decided, they suggest for abstracts that nobody has touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from sciextract.documents.document import AnnotatedDocument
from sciextract.learning.adapter import Adapter, learn
from sciextract.retraining.snapshot.documents import TrainingDocument
from sciextract.retraining.snapshot.gathering import training_document
from sciextract.store import documents
from sciextract.store.ingest import Run
from sciextract.store.queries import known_documents, recently_decided

if TYPE_CHECKING:
    from sciextract.learning.states import EncoderStates
    from sciextract.store import Project

MOST_FINISHED = 200
"""Abstracts that an adapter is trained on at most: those that were decided last."""

_BATCH = 8


@dataclass(frozen=True, slots=True)
class SuggestedByAdapter:
    """What an adapter put into a project.

    Attributes:
        source: ``model:NAME@HASH+adapter/N``; empty when there was nothing to do.
        documents: Abstracts with new suggestions.
    """

    source: str
    documents: int


def finished_abstracts(project: Project, most: int = MOST_FINISHED) -> list[TrainingDocument]:
    """The abstracts with decisions, in the order in which they came into the project.

    Items that nobody decided, and layers that are not done, say nothing; so do labels that the schema lacks now.

    Args:
        project: The open project.
        most: Only so many, those that were decided last.
    """
    return [
        training_document(project, number)
        for number in sorted(recently_decided(project.connection, most))
    ]


def learn_from_project(
    project: Project, states: EncoderStates, most: int = MOST_FINISHED
) -> Adapter:
    """Train an adapter on the decisions in a project; the project is only read.

    The result depends on the decisions, the schema and the encoder alone, so that what a killed process was
    learning is learned again by the next one.
    """
    return learn(finished_abstracts(project, most), project.schema, states)


def untouched(project: Project) -> list[int]:
    """Numbers of the abstracts that nobody has decided anything about, in the order in which they came."""
    known = known_documents(project.connection)
    return [each.number for each in known if not each.decided and not each.done]


def suggest_with(
    project: Project,
    adapter: Adapter,
    numbers: Iterable[int] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> SuggestedByAdapter:
    """Put an adapter's predictions into abstracts that nobody has touched, as one model run.

    The run is one event; it is kept out of the person's own undo. Earlier adapters' predictions about the same
    abstracts are replaced and leave no trace but their event, so that the file does not grow with every run.
    What a person has decided stays as it is: an abstract that is decided meanwhile is passed over.

    Args:
        project: Open for writing.
        adapter: The trained adapter.
        numbers: The abstracts, those that are wanted first at the beginning; all untouched ones when ``None``. A
            number is asked for only when its turn comes: an iterator that ends stops the run.
        on_progress: Called with the abstracts done so far.

    Raises:
        ProjectError: The project cannot be written; what was predicted before is in it, whole abstracts only.
    """
    run = Run(project, adapter.model, {"finished": adapter.finished}, background=True)
    left = iter(untouched(project) if numbers is None else numbers)
    while batch := list(islice(left, _BATCH)):
        run.add([(number, _predicted(project, adapter, number)) for number in batch])
        if on_progress:
            on_progress(run.documents)
    run.finish()
    return SuggestedByAdapter(run.source if run.documents else "", run.documents)


def _predicted(project: Project, adapter: Adapter, number: int) -> AnnotatedDocument:
    return adapter.predict(documents.load(project.connection, number).document)
