"""Two sources of an abstract side by side: what differs, and what is drawn of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from sciextract.documents.annotations import Cluster, Layer, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import RELATION_PREFIX, LabelSchema
from sciextract.metrics.differences import AnnotatedItem, Difference, DifferenceKind
from sciextract_app.shared import document_view
from sciextract_app.shared.document_view import title_end_of
from sciextract_app.shared.marks import ALL, NO_LETTER
from sciextract_app.shared.view_models import Mark, Passage, named


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
        disputed: Collection[Place] = (),
    ) -> Passage:
        """The text as one side has it.

        Args:
            is_mine: Which side.
            now: The present difference, which is brought into sight.
            focused: Fragments of the mentions that keys speak of.
            partners: Fragments of further mentions to be marked.
            disputed: Fragments of all mentions that wait for a decision between the sides; the others are drawn as settled.
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
                state=State.UNDECIDED if entity.fragments in disputed else State.ACCEPTED,
                score=None,
                cluster=homes[entity.id],
                focused=entity.fragments in focused,
                partner=entity.fragments in partners,
                last=fragment is entity.fragments[-1],
            )
            for entity in sorted(
                side.annotations.entities,
                key=lambda mention: (mention.span.char_start, -mention.span.char_end, mention.id),
            )
            for fragment in entity.fragments
        ]
        own, other = items_of(now, is_mine)
        item = own or other
        at = min((fragment[0] for fragment in item.fragments), default=None) if item else None
        edges = (at.char_start, at.char_end) if at else (0, 0)
        return Passage(side.document.text, title_end_of(side.document), tuple(marks), edges)

    def words(self, item: AnnotatedItem | None, layer: Layer) -> str:
        """What a side has, in one line: the type first, which is the last to be cut."""
        if item is None:
            return NOTHING
        text = self.mine.document.text
        strings = [named(" ".join(span.of(text) for span in place)) for place in item.fragments]
        if item.on:
            said = f"{item.label}: {named(item.value, 40)}" if item.value else item.label
            relation = item.on.partition(RELATION_PREFIX)[2]
            return f"{said} · {f' {relation} '.join(strings) or 'this abstract'}"
        if layer is Layer.ENTITIES:
            return f"{item.label} {strings[0]}"
        if layer is Layer.COREFERENCE:
            return f"{strings[1]} = {strings[0]}"
        arrow = " ── " if item.label in self._schema.symmetric_labels else " ─▶ "
        return f"{item.label}: {strings[0]}{arrow}{strings[1]}"

    def line(self, one: Difference, kind: str, focused: bool) -> DifferenceLine:
        """A difference in the list of them."""
        here, there = (self.words(item, one.layer) for item in (one.first, one.second))
        what = one.item if one.is_attribute else _LAYERS[one.layer]
        return DifferenceLine(f"{what}: {kind}", here, there, focused)

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
        if one.is_attribute:
            return "other value"
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
        names = [named(entity(mention).text_of(text), 24) for mention in cluster.mentions]
        return f"cluster {self._letters[is_mine][cluster.id]}: {', '.join(names)}"

    def count_relations(self, mention: AnnotatedItem, is_mine: bool) -> int:
        """How many relations a mention has on a side."""
        annotations = (self.mine if is_mine else self.theirs).annotations
        here = {e.id for e in annotations.entities if e.fragments == mention.fragments[0]}
        return sum(bool(here & {edge.head, edge.tail}) for edge in annotations.relations)


def items_of(
    one: Difference | None, is_mine: bool
) -> tuple[AnnotatedItem | None, AnnotatedItem | None]:
    """What a side has of a difference, and what the other one has."""
    if one is None:
        return None, None
    return (one.first, one.second) if is_mine else (one.second, one.first)


def find_cluster(item: AnnotatedItem, side: AnnotatedDocument) -> Cluster | None:
    """The cluster in which a side has the later mention of an item."""
    here = {one.id for one in side.annotations.entities if one.fragments == item.fragments[-1]}
    clusters = side.annotations.clusters
    return next((cluster for cluster in clusters if here & {*cluster.mentions}), None)


def letters_of(
    mine: AnnotatedDocument, theirs: AnnotatedDocument
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Letters of both sides' clusters; a cluster of the other side has the one with which it shares most."""

    def places(cluster: Cluster, side: AnnotatedDocument) -> list[Place]:
        return [side.annotations.entity(mention).fragments for mention in cluster.mentions]

    own = dict(zip([cluster.id for cluster in mine.annotations.clusters], ALL, strict=False))
    homes: defaultdict[Place, list[str]] = defaultdict(list)
    for cluster in mine.annotations.clusters:
        for place in places(cluster, mine):
            homes[place].append(own.get(cluster.id, NO_LETTER))
    free = iter(ALL[len(own) :])
    other: dict[str, str] = {}
    for cluster in theirs.annotations.clusters:
        shared = Counter(letter for place in places(cluster, theirs) for letter in homes[place])
        # A letter means one cluster on each side: the first that shares most has it.
        fitting = [letter for letter, _ in shared.most_common() if letter not in other.values()]
        other[cluster.id] = fitting[0] if fitting else next(free, NO_LETTER)
    return own, other


def source_words(source: str) -> str:
    """A source as people call it.

    >>> source_words("import:ben.sciextract"), source_words("model:sci@ef5c7146/01M7YEN41Y")
    ('ben.sciextract', 'model sci@ef5c7146')
    """
    kind, _, name = source.partition(":")
    return f"model {name.partition('/')[0]}" if kind == "model" else name
