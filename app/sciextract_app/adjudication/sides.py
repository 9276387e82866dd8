"""Two sources of an abstract side by side: what differs, what is drawn of it, and the view of a model and a person."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from sciextract.documents.annotations import Cluster, Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span
from sciextract.metrics.differences import (
    AnnotatedItem,
    Difference,
    DifferenceKind,
    Side,
    differences,
)
from sciextract.store import DocumentState, Project, review
from sciextract.store.ingest import annotations_of_source
from sciextract.store.sqlite import translated
from sciextract.store.views import WITH_UNDECIDED, annotated
from sciextract_app.shared import document_view
from sciextract_app.shared.actions import keymap, plain
from sciextract_app.shared.document_view import ALL, NO_LETTER, Item, title_end_of
from sciextract_app.shared.view_models import Feedback, Hint, Mark, Mode, Passage, named, problem


@dataclass(frozen=True, slots=True)
class SideView:
    """One of the two.

    Attributes:
        name: The source.
        passage: The text with what this side has.
        summary: What it has for the present difference, in a line or two.
        focused: Whether it is the side that keys speak of.
    """

    name: str
    passage: Passage
    summary: tuple[str, ...] = ()
    focused: bool = False


@dataclass(frozen=True, slots=True)
class DifferenceLine:
    """One difference of the abstract.

    Attributes:
        kind: How they differ, in words.
        here: What holds here.
        there: What the other side has.
        focused: Whether it is the present one.
    """

    kind: str
    here: str
    there: str
    focused: bool = False


@dataclass(frozen=True, slots=True)
class TwoSides:
    """Everything that is drawn.

    Attributes:
        title: Where this is: the project, and what it is held against.
        counts: How many differences, in parts; those that find no room are left out, the last ones first.
        here: What holds in the project.
        there: What the other side has.
        lines: All differences of the abstract.
    """

    title: str
    counts: tuple[str, ...]
    here: SideView
    there: SideView
    lines: tuple[DifferenceLine, ...] = ()


HERE = "here: the annotations of this project"
NOTHING = "nothing"
_LAYERS = {Layer.ENTITIES: "mention", Layer.RELATIONS: "relation", Layer.COREFERENCE: "same thing"}
Place = tuple[Span, ...]


class SideDrawing:
    """What is drawn of an abstract as two sides have it.

    Args:
        mine: As the project has it.
        theirs: As the other side has it.
        schema: The label schema that holds now.
    """

    def __init__(
        self, mine: AnnotatedDocument, theirs: AnnotatedDocument, schema: LabelSchema
    ) -> None:
        self.mine = mine
        self.theirs = theirs
        self._schema = schema

    @cached_property
    def _letters(self) -> dict[bool, Mapping[str, str]]:
        """The letters of both sides' clusters, mine under ``True``."""
        return dict(zip((True, False), letters_of(self.mine, self.theirs), strict=True))

    def passage(
        self,
        is_mine: bool,
        now: Difference | None = None,
        focused: Collection[Place] = (),
        partners: Collection[Place] = (),
        states: Mapping[str, State] | None = None,
    ) -> Passage:
        """The text as one side has it.

        Args:
            is_mine: Which side.
            now: The present difference, which is brought into sight.
            focused: Fragments of the mentions that keys speak of.
            partners: Fragments of further mentions to be marked.
            states: What to show as decided about each entity instead of its own state.
        """
        side = self.mine if is_mine else self.theirs
        homes: defaultdict[str, str] = defaultdict(str)
        for cluster in side.annotations.clusters:
            for mention in cluster.mentions:
                homes[mention] += self._letters[is_mine].get(cluster.id, NO_LETTER)
        marks = [
            Mark(
                char_start=fragment.char_start,
                char_end=fragment.char_end,
                item_id=entity.id,
                key=document_view.letter(self._schema, entity.label),
                label=entity.label,
                state=(states or {}).get(entity.id, entity.state),
                score=entity.score,
                cluster=homes[entity.id],
                focused=entity.fragments in focused,
                partner=entity.fragments in partners,
                last=fragment is entity.fragments[-1],
            )
            for entity in sorted(
                side.annotations.entities,
                key=lambda each: (each.span.char_start, -each.span.char_end, each.id),
            )
            for fragment in entity.fragments
        ]
        own, other = items_of(now, is_mine)
        item = own or other
        at = min((each[0] for each in item.fragments), default=None) if item else None
        edges = (at.char_start, at.char_end) if at else (0, 0)
        return Passage(side.document.text, title_end_of(side.document), tuple(marks), edges)

    def words(self, item: AnnotatedItem | None, layer: Layer) -> str:
        """What a side has, in one line."""
        if item is None:
            return NOTHING
        text = self.mine.document.text
        strings = [named(" ".join(span.of(text) for span in each)) for each in item.fragments]
        if layer is Layer.ENTITIES:
            return f"{strings[0]} {item.label}"
        if layer is Layer.COREFERENCE:
            return f"{strings[1]} = {strings[0]}"
        arrow = "──" if item.label in self._schema.symmetric_labels else "─▶"
        return f"{strings[0]} {item.label} {arrow} {strings[1]}"

    def line(self, one: Difference, kind: str, focused: bool) -> DifferenceLine:
        """A difference in the list of them."""
        here, there = (self.words(each, one.layer) for each in (one.first, one.second))
        return DifferenceLine(f"{_LAYERS[one.layer]}: {kind}", here, there, focused)

    def kind(self, one: Difference) -> str:
        """How the two sides differ."""
        first, second = one.first, one.second
        if one.layer is Layer.COREFERENCE:
            # The later mention may be in another cluster on the side that does not have the link.
            item, other = (first, self.theirs) if first else (second, self.mine)
            if item and find_cluster(item, other) is not None:
                return "other cluster"
        if first is None or second is None:
            return "only there" if first is None else "only here"
        parts = [] if first.label == second.label else ["type"]
        if one.kind is DifferenceKind.OTHER_BOUNDARIES:
            parts.insert(0, "edges" if one.layer is Layer.ENTITIES else "mentions")
        elif one.layer is Layer.RELATIONS and first.fragments != second.fragments:
            parts.insert(0, "direction")
        return f"other {' and '.join(parts)}"

    def cluster_words(self, item: AnnotatedItem, is_mine: bool) -> str:
        """The cluster in which a side has the later mention of an item; empty for none."""
        side = self.mine if is_mine else self.theirs
        cluster = find_cluster(item, side)
        if cluster is None:
            return ""
        text, entity = side.document.text, side.annotations.entity
        names = [named(entity(each).text_of(text), 24) for each in cluster.mentions]
        return f"cluster {self._letters[is_mine][cluster.id]}: {', '.join(names)}"

    def count_relations(self, mention: AnnotatedItem, is_mine: bool) -> int:
        """How many relations a mention has on a side."""
        annotations = (self.mine if is_mine else self.theirs).annotations
        here = {e.id for e in annotations.entities if e.fragments == mention.fragments[0]}
        return sum(bool(here & {each.head, each.tail}) for each in annotations.relations)


def items_of(
    one: Difference | None, is_mine: bool
) -> tuple[AnnotatedItem | None, AnnotatedItem | None]:
    """What a side has of a difference, and what the other one has."""
    if one is None:
        return None, None
    return (one.first, one.second) if is_mine else (one.second, one.first)


def find_cluster(item: AnnotatedItem, side: AnnotatedDocument) -> Cluster | None:
    """The cluster in which a side has the later mention of an item."""
    here = {each.id for each in side.annotations.entities if each.fragments == item.fragments[-1]}
    clusters = side.annotations.clusters
    return next((each for each in clusters if here & {*each.mentions}), None)


def letters_of(
    mine: AnnotatedDocument, theirs: AnnotatedDocument
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Letters of both sides' clusters; a cluster of the other side has the one with which it shares most."""

    def places(cluster: Cluster, side: AnnotatedDocument) -> list[Place]:
        return [side.annotations.entity(each).fragments for each in cluster.mentions]

    own = dict(zip([each.id for each in mine.annotations.clusters], ALL, strict=False))
    homes: defaultdict[Place, list[str]] = defaultdict(list)
    for cluster in mine.annotations.clusters:
        for place in places(cluster, mine):
            homes[place].append(own.get(cluster.id, NO_LETTER))
    free = iter(ALL[len(own) :])
    other: dict[str, str] = {}
    for cluster in theirs.annotations.clusters:
        shared = Counter(each for place in places(cluster, theirs) for each in homes[place])
        # A letter means one cluster on each side: the first that shares most has it.
        fitting = [each for each, _ in shared.most_common() if each not in other.values()]
        other[cluster.id] = fitting[0] if fitting else next(free, NO_LETTER)
    return own, other


def source_words(source: str) -> str:
    """A source as people call it.

    >>> source_words("import:ben.sciextract"), source_words("model:sci@ef5c7146/01M7YEN41Y")
    ('ben.sciextract', 'model sci@ef5c7146')
    """
    kind, _, name = source.partition(":")
    return f"model {name.partition('/')[0]}" if kind == "model" else name


class ItemOutcome(StrEnum):
    """What became of an item."""

    KEPT = "kept"
    EDITED = "edited"
    REJECTED = "rejected"
    LEFT_OUT = "left out"
    ADDED = "added"
    UNDECIDED = "undecided"


Changed = Sequence[tuple[Difference, ItemOutcome]]
_STATES = {
    ItemOutcome.KEPT: State.ACCEPTED,
    ItemOutcome.EDITED: State.EDITED,
    ItemOutcome.REJECTED: State.REJECTED,
    ItemOutcome.LEFT_OUT: State.REJECTED,
    ItemOutcome.UNDECIDED: State.UNDECIDED,
}


def compare_items(
    document: DocumentState,
    mine: AnnotatedDocument,
    theirs: AnnotatedDocument,
    symmetric: frozenset[str],
) -> tuple[Changed, Counter[ItemOutcome]]:
    """Compare a document with what a model said about it.

    Args:
        document: The document.
        mine: The document with what holds now, and with what is undecided.
        theirs: The same text with the model's items.
        symmetric: Relation labels without direction.

    Returns:
        Where the two differ, in text order, with what became of it; and the items of all layers by what
        became of them.
    """
    found = differences([mine], [theirs], symmetric)
    changed = [(each, _outcome_of(document, each)) for each in found]
    counts = Counter(outcome for _, outcome in changed)
    # Of what differs the outcome is counted above.
    differing = {(each.layer, each.first) for each in found}
    side = Side(mine)
    layers: tuple[tuple[Layer, Iterable[AnnotatedItem]], ...] = (
        (Layer.ENTITIES, {each.annotated for each in side.entities()}),
        (Layer.RELATIONS, {each.annotated for each in side.relations(symmetric)}),
        (Layer.COREFERENCE, {each.annotated for each in side.links()}),
    )
    for layer, items in layers:
        for item in items:  # what both have is kept, or not decided yet
            if (layer, item) not in differing:
                waits = _is_undecided(document, layer, item)
                counts[ItemOutcome.UNDECIDED if waits else ItemOutcome.KEPT] += 1
    return changed, counts


def _outcome_of(document: DocumentState, one: Difference) -> ItemOutcome:
    if one.first is not None:
        if _is_undecided(document, one.layer, one.first):
            return ItemOutcome.UNDECIDED
        return ItemOutcome.ADDED if one.second is None else ItemOutcome.EDITED
    item = one.second
    if item is None:
        return ItemOutcome.LEFT_OUT
    # The project may have the same item as one that a person rejected.
    mentions = [document.on_fragments(each) for each in item.fragments]
    heads, tails = {row.id for row in mentions[0]}, {row.id for row in mentions[-1]}
    match one.layer:
        case Layer.ENTITIES:
            states = [row.state for row in mentions[0] if row.label == item.label]
        case Layer.COREFERENCE:
            states = [row.state for row in document.links if row.entity_id in tails]
        case Layer.RELATIONS:
            same = [row for row in document.relations if row.head in heads and row.tail in tails]
            states = [row.state for row in same if row.label == item.label]
    return ItemOutcome.REJECTED if State.REJECTED in states else ItemOutcome.LEFT_OUT


def _is_undecided(document: DocumentState, layer: Layer, item: AnnotatedItem) -> bool:
    """Whether an item of the project waits; of a link both mentions' places in the cluster count."""
    match layer:
        case Layer.ENTITIES:
            rows: list[Item | None] = [document.entity(item.id)]
        case Layer.RELATIONS:
            rows = [document.relation(item.id)]
        case Layer.COREFERENCE:
            rows = [document.link(item.id, each) for each in item.entities]
    return any(row is not None and row.state is State.UNDECIDED for row in rows)


_STEPS = {"next-undecided": 1, "next-item": 1, "previous-undecided": -1, "previous-item": -1}
_PASSED_ON = frozenset({"guideline", "help", "palette", "quit"})


class SideBySide:
    """The predictions of a model for an abstract and its current annotations; nothing is changed.

    Args:
        project: The open project.
        document: The abstract.
        theirs: It with what the model said.
        model: The model's run.
        keys: Keys by action id that replace the default ones.
    """

    mode = Mode.REVIEW

    def __init__(
        self,
        project: Project,
        document: DocumentState,
        theirs: AnnotatedDocument,
        model: str,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        schema = project.schema
        mine = annotated(document, project.sources, WITH_UNDECIDED)
        self.number = document.number
        self._name = source_words(model)
        self._title = f"{project.path.name} ⇄ {self._name}"
        self._drawing = SideDrawing(mine, theirs, schema)
        self._changed, self._counts = compare_items(document, mine, theirs, schema.symmetric_labels)
        self._keys = keymap(keys)
        self._at = 0

    def press(self, key: str) -> Feedback:
        """Walk through the differences, or leave."""
        found = plain(key)
        action = self._keys.get(found)
        wanted = action.id if action else ""
        if found == "escape" or wanted == "compare":
            return Feedback(request="leave")
        if action is not None and action.request in _PASSED_ON:
            return Feedback(request=action.request)
        if wanted not in _STEPS:
            return problem(f"{key} does nothing in this view; d or Esc goes back to the desk")
        if self._changed:
            self._at = (self._at + _STEPS[wanted]) % len(self._changed)
        return Feedback()

    def view(self) -> TwoSides:
        """Everything that is drawn."""
        lines = []
        for place, (one, outcome) in enumerate(self._changed):
            edited = outcome is ItemOutcome.EDITED
            kind = f"{outcome}, {self._drawing.kind(one)}" if edited else str(outcome)
            lines.append(self._drawing.line(one, kind, place == self._at))
        counts = tuple(f"{self._counts[each]} {each}" for each in ItemOutcome if self._counts[each])
        return TwoSides(self._title, counts, self._side(True), self._side(False), tuple(lines))

    def footer(self) -> tuple[Hint, ...]:
        """Keys that mean something now."""
        some = len(self._changed) > 1
        return Hint("Tab", "next", some), Hint("Shift+Tab", "back", some), Hint("d Esc", "desk")

    def _side(self, is_mine: bool) -> SideView:
        one, outcome = self._changed[self._at] if self._changed else (None, "")
        own, _ = items_of(one, is_mine)
        # Mentions that only this side has so: their brackets are reversed.
        entities = (each for each, _ in self._changed if each.layer is Layer.ENTITIES)
        differing = {item.fragments[0] for each in entities if (item := items_of(each, is_mine)[0])}
        summary: tuple[str, ...] = ("no difference",)
        if one is not None:
            is_link = own is not None and one.layer is Layer.COREFERENCE
            more = self._drawing.cluster_words(own, is_mine) if own and is_link else ""
            summary = self._drawing.words(own, one.layer), more or (outcome if is_mine else "")
        passage = self._drawing.passage(
            is_mine,
            one,
            focused=own.fragments if own else (),
            partners=differing,
            states=None if is_mine else self._states(),
        )
        return SideView(HERE if is_mine else self._name, passage, summary)

    def _states(self) -> dict[str, State]:
        """What became of each of the model's mentions."""
        undecided = {
            each.fragments
            for each in self._drawing.mine.annotations.entities
            if each.state is State.UNDECIDED
        }
        found = {
            each.id: State.UNDECIDED if each.fragments in undecided else State.ACCEPTED
            for each in self._drawing.theirs.annotations.entities
        }
        for each, outcome in self._changed:
            if each.layer is Layer.ENTITIES and each.second is not None:
                found[each.second.id] = _STATES[outcome]
        return found


def compare(
    project: Project, number: int, keys: Mapping[str, str] | None = None
) -> SideBySide | None:
    """The newest model run on an abstract and the current annotations; ``None`` when no model has seen it."""
    with translated(project.path):
        newest = review.newest_prediction(project.connection, number)
        said = annotations_of_source(project.connection, number, newest[1]) if newest else None
        sources = project.sources
    if newest is None or said is None:
        return None
    document = project.document_state(number)
    theirs = AnnotatedDocument(document.stored.document, said)
    return SideBySide(project, document, theirs, sources[newest[1]], keys)
