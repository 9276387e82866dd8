"""One decision for many items: identical strings, and everything above a score."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sciextract.documents.annotations import ALL_LAYERS, Layer, State
from sciextract.documents.spans import Span
from sciextract.errors import ActionRefusedError
from sciextract.store import events
from sciextract.store.actions import guard
from sciextract.store.actions.coreference import accept_link
from sciextract.store.actions.entities import (
    accept_entity,
    add_entity,
    reject_entity,
    set_entity_label,
)
from sciextract.store.actions.relations import accept_relation
from sciextract.store.context import Context, Outcome
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import Completeness, EntityRow

if TYPE_CHECKING:
    from sciextract.store.project import Project


def label_identical(doc: DocumentState, context: Context, surface: str, label: str) -> None:
    """Every occurrence of a string is an entity of this type.

    Undecided entities on it are accepted with the type; where there is none, one is added. What a person
    or an import has decided stays, rejections too, and so do occurrences inside of other entities.
    """
    if _is_done(doc, Layer.ENTITIES):
        return
    for span in occurrences(doc, surface):
        on_span = doc.on_fragments((span,))
        undecided = [row for row in on_span if row.state is State.UNDECIDED]
        rejected = any(row.state is State.REJECTED and row.label == label for row in on_span)
        if rejected or any(row.in_view for row in on_span):
            continue
        if undecided:
            best = min(undecided, key=lambda row: row.label != label)
            set_entity_label(doc, context, best.id, label)
        elif not any(_overlaps(row, span) for row in doc.entities):
            add_entity(doc, context, (span,), label)


def reject_identical(doc: DocumentState, context: Context, surface: str, label: str) -> None:
    """No undecided entity of this type on this string is right."""
    if _is_done(doc, Layer.ENTITIES):
        return
    for row in doc.entities:
        same = row.label == label and row.surface(doc.text) == surface
        if same and row.state is State.UNDECIDED:
            reject_entity(doc, context, row.id)


def accept_above(
    doc: DocumentState, context: Context, score: float, layers: Collection[Layer] = ALL_LAYERS
) -> None:
    """Accept every undecided item with at least this score; arguments are accepted with their relation."""
    if Layer.ENTITIES in layers:
        for entity in doc.entities:
            if _open(entity.state, entity.score, score):
                accept_entity(doc, context, entity.id)
    if Layer.RELATIONS in layers:
        for relation in doc.relations:
            if _open(relation.state, relation.score, score):
                accept_relation(doc, context, relation.id)
    if Layer.COREFERENCE in layers:
        for link in doc.links:
            current = doc.link(*link.key)
            if current is not None and _open(current.state, current.score, score):
                accept_link(doc, context, current)


def occurrences(doc: DocumentState, surface: str) -> Iterator[Span]:
    """Where a string stands in the text with whole tokens under it."""
    start = doc.text.find(surface) if surface else -1
    while start >= 0:
        span = Span(start, start + len(surface))
        if doc.stored.document.tokens.aligned(span) is not None:
            yield span
        start = doc.text.find(surface, start + 1)


def _open(state: State, found: float | None, least: float) -> bool:
    return state is State.UNDECIDED and found is not None and found >= least


def _overlaps(row: EntityRow, span: Span) -> bool:
    return row.state is not State.REJECTED and any(span.overlaps(each) for each in row.fragments)


def _is_done(doc: DocumentState, layer: Layer) -> bool:
    return doc.progress is None or getattr(doc.progress, layer) is Completeness.DONE


KIND = "all identical in the project"
AT_A_TIME = 4
"""Documents a transaction: a key that decides something waits for it, so it is short."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about a mention.

    Attributes:
        text: Its string.
        label: Its type.
        rejected: Whether it is none.
    """

    text: str
    label: str
    rejected: bool

    def spread(self, doc: DocumentState, context: Context) -> None:
        """Decide the same for all identical strings of a document."""
        work = reject_identical if self.rejected else label_identical
        work(doc, context, self.text, self.label)


@dataclass(frozen=True, slots=True)
class Count:
    """What spreading a decision would change, as far as it has been looked at.

    Attributes:
        decided: The decision.
        looked: Documents that were looked at.
        total: Documents that have the string.
        numbers: Those of them that would change.
        items: Items that would change.
    """

    decided: Decided
    looked: int
    total: int
    numbers: tuple[int, ...] = ()
    items: int = 0


def decided_about(project: Project, number: int, entity_id: str) -> Decided:
    """What holds for a mention now.

    Raises:
        ActionRefusedError: It is not there (any more).
    """
    doc = project.document_state(number)
    row = guard.entity_of(doc, entity_id)
    return Decided(row.surface(doc.text), row.label, row.state == "rejected")


def counting(project: Project, number: int, entity_id: str) -> Iterator[Count]:
    """Look at one document after the other; nothing is written. The last count is the whole one.

    Raises:
        ActionRefusedError: The mention is not there (any more).
        KeyError: The document is not.
    """
    decided = decided_about(project, number, entity_id)
    wanted = project.documents_with(decided.text)
    context = Context(0, project.author_id, project.schema, lambda name: 0)
    counts: list[int] = []
    yield Count(decided, 0, len(wanted))
    for looked, each in enumerate(wanted, start=1):
        doc = project.document_state(each)
        decided.spread(doc, context)
        if doc.changes():
            counts.append(each)
        last = looked == len(wanted)
        yield Count(decided, looked, len(wanted), tuple(counts) if last else (), context.items)


def spreading(project: Project, number: int, entity_id: str, count: Count) -> Iterator[Outcome]:
    """Do what was counted; gives what is done so far after every few documents.

    A dated backup comes first.

    Raises:
        ActionRefusedError: Something else has been decided about the mention since it was counted, or what was
            done already has been taken back; then the rest is not done.
        ProjectError: The project cannot be written; what was done before is in it.
    """
    if decided_about(project, number, entity_id) != count.decided:
        raise ActionRefusedError(
            f"{count.decided.text!r} has changed since this was counted", "count it again"
        )
    project.backup(KIND)
    done = Outcome(None, 0, 0)
    for start in range(0, len(count.numbers), AT_A_TIME):
        done = _some(project, count.decided, count.numbers[start : start + AT_A_TIME], done)
        yield done


def _some(project: Project, decided: Decided, numbers: tuple[int, ...], done: Outcome) -> Outcome:
    """Some more documents in one transaction."""
    try:
        with project.writing() as connection:
            event_id = done.event_id or events.append(
                connection, project.author_id, KIND, asdict(decided)
            )
            if _taken_back(connection, event_id):
                raise ActionRefusedError("it was undone in the meantime, so the rest is skipped")
            context = project.context(event_id)
            changed = sum(_one(project, number, decided, context) for number in numbers)
            if not changed and done.event_id is None:
                raise _NothingChanged
    except _NothingChanged:
        return done
    return Outcome(event_id, done.documents + changed, done.items + context.items)


def _one(project: Project, number: int, decided: Decided, context: Context) -> bool:
    doc = project.document_state(number)
    if doc.progress is None:
        return False
    decided.spread(doc, context)
    return project.save(doc, context)


def _taken_back(connection: sqlite3.Connection, event_id: int) -> bool:
    """Whether somebody has turned the event around, be it once or to and fro."""
    query = "SELECT 1 FROM event WHERE target = ? LIMIT 1"
    return connection.execute(query, (event_id,)).fetchone() is not None


class _NothingChanged(Exception):
    """The event would be one that changes nothing."""
