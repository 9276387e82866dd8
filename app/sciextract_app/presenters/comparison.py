"""The view of a model and a person side by side: keys go in, values to show come out; nothing is changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sciextract.documents.annotations import Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.metrics.differences import AnnotatedItem, Difference, Side, differences
from sciextract.store import DocumentState, EntityRow, LinkRow, Project, RelationRow, review
from sciextract.store.ingest import annotations_of_source
from sciextract.store.sqlite import translated
from sciextract.store.views import WITH_UNDECIDED, annotated
from sciextract_app.presenters import two_sides
from sciextract_app.presenters.actions import keymap, plain
from sciextract_app.presenters.two_sides import (
    HERE,
    DifferenceLine,
    Place,
    SideView,
    TwoSides,
    letters_of,
    passage_of,
)
from sciextract_app.presenters.view_models import Feedback, Hint, Mode, Passage, problem

Row = EntityRow | RelationRow | LinkRow


class ItemOutcome(StrEnum):
    """What became of an item."""

    KEPT = "kept"
    EDITED = "edited"
    REJECTED = "rejected"
    LEFT_OUT = "left out"
    ADDED = "added"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """A model and a person about one abstract.

    Attributes:
        mine: What holds now, with what is undecided.
        theirs: What the model said.
        changed: Where the two differ, in text order, with what became of it.
        counts: Items of all layers by what became of them.
    """

    mine: AnnotatedDocument
    theirs: AnnotatedDocument
    changed: tuple[tuple[Difference, ItemOutcome], ...]
    counts: Mapping[tuple[Layer, ItemOutcome], int]


def compare_items(
    document: DocumentState,
    theirs: AnnotatedDocument,
    sources: Mapping[int, str],
    symmetric: frozenset[str],
) -> ModelComparison:
    """Compare a document with what a model said about it.

    Args:
        document: The document.
        theirs: The same text with the model's items.
        sources: Names of all sources by number.
        symmetric: Relation labels without direction.
    """
    mine = annotated(document, sources, WITH_UNDECIDED)
    found = differences([mine], [theirs], symmetric)
    changed = tuple((each, _outcome(document, each)) for each in found)
    counts = Counter((each.layer, outcome) for each, outcome in changed)
    counts.update(_unchanged(document, mine, found, symmetric))
    return ModelComparison(mine, theirs, changed, counts)


def _outcome(document: DocumentState, one: Difference) -> ItemOutcome:
    if one.first is None:
        gone = one.second is not None and _is_rejected(document, one.layer, one.second)
        return ItemOutcome.REJECTED if gone else ItemOutcome.LEFT_OUT
    if _is_undecided(document, one.layer, one.first):
        return ItemOutcome.UNDECIDED
    return ItemOutcome.ADDED if one.second is None else ItemOutcome.EDITED


def _unchanged(
    document: DocumentState,
    mine: AnnotatedDocument,
    found: Sequence[Difference],
    symmetric: frozenset[str],
) -> Iterator[tuple[Layer, ItemOutcome]]:
    """Items that both have: kept, or not decided yet."""
    differing = {(each.layer, each.first) for each in found if each.first is not None}
    side = Side(mine)
    layers = (
        (Layer.ENTITIES, side.entities()),
        (Layer.RELATIONS, side.relations(symmetric)),
        (Layer.COREFERENCE, side.links()),
    )
    for layer, items in layers:
        for said in {item.annotated for item in items}:
            if (layer, said) not in differing:
                waits = _is_undecided(document, layer, said)
                yield layer, ItemOutcome.UNDECIDED if waits else ItemOutcome.KEPT


def _is_undecided(document: DocumentState, layer: Layer, said: AnnotatedItem) -> bool:
    return any(row.state is State.UNDECIDED for row in _rows(document, layer, said))


def _rows(document: DocumentState, layer: Layer, said: AnnotatedItem) -> list[Row]:
    """The row of an item of the project; of a link both mentions' places in the cluster."""
    found: list[Row | None] = []
    match layer:
        case Layer.ENTITIES:
            found = [document.entity(said.id)]
        case Layer.RELATIONS:
            found = [document.relation(said.id)]
        case Layer.COREFERENCE:
            found = [document.link(said.id, each) for each in said.entities]
    return [row for row in found if row is not None]


def _is_rejected(document: DocumentState, layer: Layer, said: AnnotatedItem) -> bool:
    """Whether the project has the same item as one that a person rejected."""
    if layer is Layer.ENTITIES:
        twins = [row for row in document.on_fragments(said.fragments[0]) if row.label == said.label]
        return any(row.state is State.REJECTED for row in twins)
    heads, tails = ({row.id for row in document.on_fragments(each)} for each in said.fragments)
    if layer is Layer.COREFERENCE:
        return any(row.state is State.REJECTED for row in document.links if row.entity_id in tails)
    same = [row for row in document.relations if row.head in heads and row.tail in tails]
    return any(row.state is State.REJECTED and row.label == said.label for row in same)


LEAVE = "leave"
_STATES = {
    ItemOutcome.KEPT: State.ACCEPTED,
    ItemOutcome.EDITED: State.EDITED,
    ItemOutcome.REJECTED: State.REJECTED,
    ItemOutcome.LEFT_OUT: State.REJECTED,
    ItemOutcome.UNDECIDED: State.UNDECIDED,
}
_STEPS = {"next-undecided": 1, "next-item": 1, "previous-undecided": -1, "previous-item": -1}
_PASSED_ON = frozenset({"guideline", "help", "palette", "quit"})


class Comparison:
    """The predictions of a model for an abstract and its current annotations.

    Args:
        project: The open project.
        number: The abstract.
        model: The model's run.
        found: What became of what it said.
        keys: Keys by action id that replace the default ones.
    """

    mode = Mode.REVIEW

    def __init__(
        self,
        project: Project,
        number: int,
        model: str,
        found: ModelComparison,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        self.number = number
        self._title = f"{project.path.name} ⇄ {two_sides.source_words(model)}"
        self._name = two_sides.source_words(model)
        self._schema = project.schema
        self._found = found
        self._letters = letters_of(found.mine, found.theirs)
        self._keys = keymap(keys)
        self._at = 0

    @property
    def now(self) -> tuple[Difference, ItemOutcome] | None:
        """The present difference, ``None`` when the two agree."""
        return self._found.changed[self._at] if self._found.changed else None

    def press(self, key: str) -> Feedback:
        """Walk through the differences, or leave."""
        found = plain(key)
        action = self._keys.get(found)
        wanted = action.id if action else ""
        if found == "escape" or wanted == "compare":
            return Feedback(request=LEAVE)
        if action is not None and action.request in _PASSED_ON:
            return Feedback(request=action.request)
        if wanted not in _STEPS:
            return problem(f"{key} does nothing in this view; d or Esc goes back to the desk")
        if self._found.changed:
            self._at = (self._at + _STEPS[wanted]) % len(self._found.changed)
        return Feedback()

    def view(self) -> TwoSides:
        """Everything that is drawn."""
        lines = tuple(
            self._line(each, outcome, place == self._at)
            for place, (each, outcome) in enumerate(self._found.changed)
        )
        sides = (
            SideView(HERE, self._passage(mine=True), self._summary(mine=True)),
            SideView(self._name, self._passage(mine=False), self._summary(mine=False)),
        )
        return TwoSides(self._title, self._counts(), *sides, lines)

    def footer(self) -> tuple[Hint, ...]:
        """Keys that mean something now."""
        some = len(self._found.changed) > 1
        return Hint("Tab", "next", some), Hint("Shift+Tab", "back", some), Hint("d Esc", "desk")

    def _counts(self) -> tuple[str, ...]:
        """How much became what, over all layers."""
        totals = {
            outcome: sum(
                count for (_, each), count in self._found.counts.items() if each is outcome
            )
            for outcome in ItemOutcome
        }
        return tuple(f"{count} {outcome}" for outcome, count in totals.items() if count)

    def _line(self, one: Difference, outcome: ItemOutcome, focused: bool) -> DifferenceLine:
        kind = f"{two_sides.layer_word(one)}: {outcome}"
        if outcome is ItemOutcome.EDITED:
            kind = f"{kind}, {two_sides.kind_words(one, self._found.mine, self._found.theirs)}"
        words = [self._words(one, side) for side in (True, False)]
        return DifferenceLine(kind, words[0], words[1], focused)

    def _words(self, one: Difference, mine: bool) -> str:
        text = self._found.mine.document.text
        said = one.first if mine else one.second
        return two_sides.item_words(said, one.layer, text, self._schema.symmetric_labels)

    def _summary(self, *, mine: bool) -> tuple[str, ...]:
        if self.now is None:
            return ("no difference",)
        one, outcome = self.now
        side = self._found.mine if mine else self._found.theirs
        said = one.first if mine else one.second
        cluster = two_sides.company(said, side) if said and one.layer is Layer.COREFERENCE else None
        letters = self._letters[0 if mine else 1]
        more = two_sides.cluster_words(cluster, letters[cluster.id], side) if cluster else ""
        return (self._words(one, mine), more or (str(outcome) if mine else ""))

    def _passage(self, *, mine: bool) -> Passage:
        side = self._found.mine if mine else self._found.theirs
        focused: tuple[Place, ...] = ()
        at: Span | None = None
        if self.now is not None:
            one = self.now[0]
            said, other = (one.first, one.second) if mine else (one.second, one.first)
            focused = said.fragments if said else ()
            places = focused or (other.fragments if other else ())
            at = min((each[0] for each in places), default=None)
        return passage_of(
            side,
            self._schema,
            self._letters[0 if mine else 1],
            focused=focused,
            partners=self._differing(mine),
            at=at,
            states=None if mine else self._states(side),
        )

    def _differing(self, mine: bool) -> set[Place]:
        """Mentions that only this side has so: their brackets are reversed."""
        entities = (each for each, _ in self._found.changed if each.layer is Layer.ENTITIES)
        said = (each.first if mine else each.second for each in entities)
        return {each.fragments[0] for each in said if each is not None}

    def _states(self, side: AnnotatedDocument) -> dict[str, State]:
        """What became of each of the model's mentions."""
        undecided = {
            each.fragments
            for each in self._found.mine.annotations.entities
            if each.state is State.UNDECIDED
        }
        found = {
            each.id: State.UNDECIDED if each.fragments in undecided else State.ACCEPTED
            for each in side.annotations.entities
        }
        for each, outcome in self._found.changed:
            if each.layer is Layer.ENTITIES and each.second is not None:
                found[each.second.id] = _STATES[outcome]
        return found


def compare(
    project: Project, number: int, keys: Mapping[str, str] | None = None
) -> Comparison | None:
    """The newest model run on an abstract and the current annotations; ``None`` when no model has seen it."""
    with translated(project.path):
        newest = review.newest_prediction(project.connection, number)
        said = annotations_of_source(project.connection, number, newest[1]) if newest else None
        sources = project.sources
    if newest is None or said is None:
        return None
    document = project.document_state(number)
    theirs = AnnotatedDocument(document.stored.document, said)
    found = compare_items(document, theirs, sources, project.schema.symmetric_labels)
    return Comparison(project, number, sources[newest[1]], found, keys)
