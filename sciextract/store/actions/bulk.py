"""Decisions about more than one item: whole layers and abstracts, identical strings, everything above a score."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from sciextract.documents.annotations import ALL_LAYERS, Layer, State
from sciextract.documents.spans import Span
from sciextract.errors import ActionRefusedError
from sciextract.store import events
from sciextract.store.actions import guard
from sciextract.store.actions.coreference import accept_link, reject_link
from sciextract.store.actions.entities import (
    accept_entity,
    add_entity,
    reject_entity,
    set_entity_label,
)
from sciextract.store.actions.relations import accept_relation, reject_relation
from sciextract.store.document_state import Context, DocumentState, NothingChanged, Outcome
from sciextract.store.rows import Completeness, EntityRow, LinkRow, ProgressRow, RelationRow
from sciextract.store.sqlite import first_value

if TYPE_CHECKING:
    from sciextract.store.project import Project

Undecided = Literal["refuse", "accept", "reject"]
KIND = "all identical in the project"
AT_A_TIME = 4
"""Documents a transaction: a key that decides something waits for it, so it is short."""


def mark_done(
    doc: DocumentState, context: Context, layers: Collection[Layer], undecided: Undecided = "refuse"
) -> None:
    """Nothing is left to do in these layers.

    Args:
        undecided: What becomes of items that nobody has decided.

    Raises:
        ActionRefusedError: There are such items and they are to be refused; says how many.
    """
    waiting = doc.count_undecided(*layers) if layers else 0
    if waiting and undecided == "refuse":
        raise ActionRefusedError(
            f"{waiting} items are still undecided", "decide them, or accept or reject all of them"
        )
    _decide_undecided(doc, context, layers, accept=undecided == "accept")
    set_completeness(doc, context, layers, Completeness.DONE)


def accept_above(
    doc: DocumentState, context: Context, score: float, layers: Collection[Layer] = ALL_LAYERS
) -> None:
    """Accept every undecided item with at least this score; arguments are accepted with their relation."""
    _decide_undecided(doc, context, layers, accept=True, least=score)


def _decide_undecided(
    doc: DocumentState,
    context: Context,
    layers: Collection[Layer],
    *,
    accept: bool,
    least: float | None = None,
) -> None:
    """Accept or reject what is undecided, perhaps only what has at least a score."""

    def waits(row: EntityRow | RelationRow | LinkRow) -> bool:
        enough = least is None or (row.score is not None and row.score >= least)
        return row.state is State.UNDECIDED and enough

    # Each item is looked at as it is by then: a decision takes others along, and may remove them.
    if Layer.ENTITIES in layers:
        for entity in doc.entities:
            if waits(entity):
                (accept_entity if accept else reject_entity)(doc, context, entity.id)
    if Layer.RELATIONS in layers:
        for relation in doc.relations:
            now = doc.relation(relation.id)
            if now is not None and waits(now):
                (accept_relation if accept else reject_relation)(doc, context, now.id)
    if Layer.COREFERENCE in layers:
        for link in doc.links:
            link_now = doc.link(*link.key)
            if link_now is not None and waits(link_now):
                (accept_link if accept else reject_link)(doc, context, link_now)


def finish(doc: DocumentState, context: Context, layers: Collection[Layer]) -> None:
    """Mark those of the layers as done in which nothing waits for a decision; the others stay as they are."""
    finished = [layer for layer in layers if not doc.count_undecided(layer)]
    if finished:
        set_completeness(doc, context, finished, Completeness.DONE)


def set_completeness(
    doc: DocumentState, context: Context, layers: Collection[Layer], completeness: Completeness
) -> None:
    """How far these layers are; items stay as they are."""
    progress = doc.progress or ProgressRow()
    changed = {layer.value: completeness for layer in layers}
    doc.put(replace(progress, **changed))  # type: ignore[arg-type]
    context.items += 1


def flag(doc: DocumentState, context: Context, flagged: bool) -> None:
    """Set or clear the abstract's flag."""
    doc.put(replace(doc.progress or ProgressRow(), flagged=flagged))
    context.items += 1


def note(doc: DocumentState, context: Context, text: str) -> None:
    """Replace the abstract's note; empty text removes it."""
    # Terminals can paste lone surrogates, which a TEXT column does not take.
    safe = text.encode("utf-8", "replace").decode("utf-8")
    doc.put(replace(doc.progress or ProgressRow(), note=safe))
    context.items += 1


def label_identical(doc: DocumentState, context: Context, surface: str, label: str) -> None:
    """Every occurrence of a string is an entity of this type.

    Undecided entities on it are accepted with the type; where there is none, one is added. What a person
    or an import has decided stays, rejections too, and so do occurrences inside of other entities.
    """
    for span in find_occurrences(doc, surface):
        on_span = doc.on_fragments((span,))
        undecided = [row for row in on_span if row.state is State.UNDECIDED]
        rejected = any(row.state is State.REJECTED and row.label == label for row in on_span)
        if rejected or any(row.in_view for row in on_span):
            continue
        # An entity that was just added stands in the way of the next occurrence, so rows are read each time.
        taken = (
            span.overlaps(fragment)
            for row in doc.all_entities
            if row.state is not State.REJECTED
            for fragment in row.fragments
        )
        if undecided:
            # One that has the label already is accepted instead of edited: it counts as right.
            best = min(undecided, key=lambda row: row.label != label)
            set_entity_label(doc, context, best.id, label)
        elif not any(taken):
            add_entity(doc, context, (span,), label)


def find_occurrences(doc: DocumentState, surface: str) -> Iterator[Span]:
    """Where a string stands in the text with whole tokens under it."""
    start = doc.text.find(surface) if surface else -1
    while start >= 0:
        span = Span(start, start + len(surface))
        if doc.stored.document.tokens.aligned(span) is not None:
            yield span
        start = doc.text.find(surface, start + 1)


@dataclass(frozen=True, slots=True)
class MentionDecision:
    """What was decided about a mention.

    Attributes:
        text: Its string.
        label: Its type.
        rejected: Whether it is none.
    """

    text: str
    label: str
    rejected: bool

    def apply(self, doc: DocumentState, context: Context) -> None:
        """Decide the same for all identical strings of a document, unless its entities are done."""
        if doc.progress is not None and doc.progress.entities is not Completeness.DONE:
            if not self.rejected:
                label_identical(doc, context, self.text, self.label)
                return
            for row in doc.entities:
                same = row.label == self.label and row.surface(doc.text) == self.text
                if same and row.state is State.UNDECIDED:
                    reject_entity(doc, context, row.id)


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

    decided: MentionDecision
    looked: int
    total: int
    numbers: tuple[int, ...] = ()
    items: int = 0


def decision_about(project: Project, number: int, entity_id: str) -> MentionDecision:
    """What holds for a mention now.

    Raises:
        ActionRefusedError: It is not there (any more).
    """
    doc = project.document_state(number)
    row = guard.entity_of(doc, entity_id)
    return MentionDecision(row.surface(doc.text), row.label, row.state is State.REJECTED)


def counting(project: Project, number: int, entity_id: str) -> Iterator[Count]:
    """Look at one document after the other; nothing is written. The last count is the whole one.

    Raises:
        ActionRefusedError: The mention is not there (any more).
        KeyError: The document is not.
    """
    decided = decision_about(project, number, entity_id)
    wanted = project.documents_with(decided.text)
    context = Context(0, project.author_id, project.schema, lambda name: 0)
    counts: list[int] = []
    yield Count(decided, 0, len(wanted))
    for looked, each in enumerate(wanted, start=1):
        doc = project.document_state(each)
        decided.apply(doc, context)
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
    if decision_about(project, number, entity_id) != count.decided:
        raise ActionRefusedError(
            f"{count.decided.text!r} has changed since this was counted", "count it again"
        )
    project.backup(KIND)
    done = Outcome(None, 0, 0)
    for start in range(0, len(count.numbers), AT_A_TIME):
        done = _spread(project, count.decided, count.numbers[start : start + AT_A_TIME], done)
        yield done


def _spread(
    project: Project, decided: MentionDecision, numbers: tuple[int, ...], done: Outcome
) -> Outcome:
    """Some more documents in one transaction, under the event of the first ones."""
    try:
        with project.writing() as connection:
            event_id = done.event_id or events.append(
                connection, project.author_id, KIND, asdict(decided)
            )
            if first_value(connection, "SELECT 1 FROM event WHERE target = ? LIMIT 1", event_id):
                raise ActionRefusedError("it was undone in the meantime, so the rest is skipped")
            context = project.context(event_id)
            changed = sum(project.work_on(each, decided.apply, context) for each in numbers)
            if not changed and done.event_id is None:
                raise NothingChanged
    except NothingChanged:
        return done
    return Outcome(event_id, done.documents + changed, done.items + context.items)
