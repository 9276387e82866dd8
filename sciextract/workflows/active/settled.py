"""What of an abstract a person has answered already, so that a model's doubts about it count no longer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sciextract.documents.annotations import State
from sciextract.documents.spans import Span
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import Completeness, EntityRow
from sciextract.workflows.active.decisions import Decision, Task


@dataclass(frozen=True, slots=True)
class Settled:
    """Answered questions.

    Attributes:
        tasks: Tasks whose layer is done.
        places: Task and place of single questions.
        rejected: Spans that are no mentions: nothing about them is open.
    """

    tasks: frozenset[Task]
    places: frozenset[tuple[Task, tuple[Span, ...]]]
    rejected: frozenset[Span]

    def is_open(self, task: Task, place: tuple[Span, ...]) -> bool:
        """Whether a question still waits for its answer."""
        known = task in self.tasks or (task, place) in self.places
        return not known and self.rejected.isdisjoint(place)

    def left(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        """The decisions that are still open."""
        return (each for each in decisions if self.is_open(each.task, each.place))


def settled(draft: Draft) -> Settled:
    """What has been answered in an abstract: imported and decided items, and layers that are done."""
    entities = {each.id: each for each in draft.all_entities}
    decided = [each for each in entities.values() if each.state is not State.UNDECIDED]
    places = {(Task.ENTITY, each.fragments) for each in decided}
    for relation in draft.relations:
        if relation.state is not State.UNDECIDED and {relation.head, relation.tail} <= set(
            entities
        ):
            places.add((Task.RELATION, _pair(entities[relation.head], entities[relation.tail])))
    for link in draft.links:
        if link.state is not State.UNDECIDED and link.entity_id in entities:
            places.add((Task.COREFERENCE, entities[link.entity_id].fragments))
    rejected = {span for each in decided if each.state is State.REJECTED for span in each.fragments}
    return Settled(frozenset(_done(draft)), frozenset(places), frozenset(rejected))


def _done(draft: Draft) -> Iterator[Task]:
    progress = draft.progress
    if progress is not None:
        layers = (progress.entities, progress.relations, progress.coreference)
        yield from (
            task for task, layer in zip(Task, layers, strict=True) if layer is Completeness.DONE
        )


def _pair(head: EntityRow, tail: EntityRow) -> tuple[Span, ...]:
    first, second = sorted((head, tail), key=lambda each: (each.char_start, each.char_end))
    return (*first.fragments, *second.fragments)
