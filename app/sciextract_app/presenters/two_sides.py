"""View models of two sources side by side, as frozen values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sciextract.documents.annotations import Cluster, Entity, Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span
from sciextract.metrics.differences import AnnotatedItem, Difference, DifferenceKind
from sciextract.store import DocumentState
from sciextract.text.english import counted
from sciextract.workflows.adjudicate import Verdict
from sciextract_app.presenters import document_view
from sciextract_app.presenters.adjudication_documents import ComparedAbstract, OpenDifference
from sciextract_app.presenters.document_view import ALL, NO_LETTER
from sciextract_app.presenters.panes import EMPTY, title_end_of
from sciextract_app.presenters.view_models import Mark, Passage, named


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


Letters = Mapping[str, str]
"""The letter of each cluster."""
Place = tuple[Span, ...]


def passage_of(
    side: AnnotatedDocument,
    schema: LabelSchema,
    letters: Letters,
    *,
    focused: Collection[Place] = (),
    partners: Collection[Place] = (),
    at: Span | None = None,
    states: Mapping[str, State] | None = None,
) -> Passage:
    """The text as one side has it.

    Args:
        side: The document with this side's items.
        schema: The label schema that holds now.
        letters: Of its clusters.
        focused: Fragments of the mentions that keys speak of.
        partners: Fragments of further mentions to be marked.
        at: What is brought into sight where no mention is in focus.
        states: What to show as decided about each entity instead of its own state.
    """
    homes: defaultdict[str, str] = defaultdict(str)
    for cluster in side.annotations.clusters:
        for mention in cluster.mentions:
            homes[mention] += letters.get(cluster.id, NO_LETTER)
    marks = [
        mark
        for entity in sorted(side.annotations.entities, key=_in_text_order)
        for mark in _marks(entity, schema, homes[entity.id], focused, partners, states or {})
    ]
    edges = (at.char_start, at.char_end) if at else (0, 0)
    text = side.document.text
    return Passage(text, title_end_of(side.document), tuple(marks), edges)


def _marks(
    entity: Entity,
    schema: LabelSchema,
    cluster: str,
    focused: Collection[Place],
    partners: Collection[Place],
    states: Mapping[str, State],
) -> Iterator[Mark]:
    for fragment in entity.fragments:
        yield Mark(
            char_start=fragment.char_start,
            char_end=fragment.char_end,
            item_id=entity.id,
            key=document_view.letter(schema, entity.label),
            label=entity.label,
            state=states.get(entity.id, entity.state),
            score=entity.score,
            cluster=cluster,
            focused=entity.fragments in focused,
            partner=entity.fragments in partners,
            last=fragment is entity.fragments[-1],
        )


def letters_of(mine: AnnotatedDocument, theirs: AnnotatedDocument) -> tuple[Letters, Letters]:
    """Letters of both sides' clusters; a cluster of the other side has the one with which it shares most."""
    own = dict(zip([each.id for each in mine.annotations.clusters], ALL, strict=False))
    homes: defaultdict[Place, list[str]] = defaultdict(list)
    for cluster in mine.annotations.clusters:
        for place in _places(cluster, mine):
            homes[place].append(own.get(cluster.id, NO_LETTER))
    free = iter(ALL[len(own) :])
    other: dict[str, str] = {}
    for cluster in theirs.annotations.clusters:
        shared = Counter(each for place in _places(cluster, theirs) for each in homes[place])
        fitting = [each for each, _ in shared.most_common() if each not in other.values()]
        other[cluster.id] = fitting[0] if fitting else next(free, NO_LETTER)
    return own, other


def _places(cluster: Cluster, side: AnnotatedDocument) -> list[Place]:
    return [side.annotations.entity(each).fragments for each in cluster.mentions]


def _in_text_order(entity: Entity) -> tuple[int, int, str]:
    return entity.span.char_start, -entity.span.char_end, entity.id


NOTHING = "nothing"
ONLY_HERE, ONLY_THERE, OTHER_CLUSTER = "only here", "only there", "other cluster"
_LAYERS = {Layer.ENTITIES: "mention", Layer.RELATIONS: "relation", Layer.COREFERENCE: "same thing"}


def layer_word(difference: Difference) -> str:
    """What kind of item it is about."""
    return _LAYERS[difference.layer]


def kind_words(difference: Difference, mine: AnnotatedDocument, theirs: AnnotatedDocument) -> str:
    """How the two sides differ."""
    first, second = difference.first, difference.second
    if difference.layer is Layer.COREFERENCE:
        return _link_kind(difference, mine, theirs)
    if first is None or second is None:
        return ONLY_THERE if first is None else ONLY_HERE
    parts = [] if first.label == second.label else ["type"]
    if difference.kind is DifferenceKind.OTHER_BOUNDARIES:
        parts.insert(0, "edges" if difference.layer is Layer.ENTITIES else "mentions")
    elif difference.layer is Layer.RELATIONS and first.fragments != second.fragments:
        parts.insert(0, "direction")
    return f"other {' and '.join(parts)}"


def _link_kind(difference: Difference, mine: AnnotatedDocument, theirs: AnnotatedDocument) -> str:
    """Elsewhere, if the later mention has another company on the side that does not have the link."""
    said, other, only = difference.first, theirs, ONLY_HERE
    if said is None:
        said, other, only = difference.second, mine, ONLY_THERE
    return OTHER_CLUSTER if said and company(said, other) is not None else only


def company(said: AnnotatedItem, side: AnnotatedDocument) -> Cluster | None:
    """The cluster in which a side has the later mention of a link."""
    here = {each.id for each in side.annotations.entities if each.fragments == said.fragments[-1]}
    clusters = side.annotations.clusters
    return next((each for each in clusters if here & {*each.mentions}), None)


def item_words(
    said: AnnotatedItem | None, layer: Layer, text: str, symmetric: Collection[str] = ()
) -> str:
    """What a side has, in one line."""
    if said is None:
        return NOTHING
    strings = [named(" ".join(span.of(text) for span in each)) for each in said.fragments]
    if layer is Layer.ENTITIES:
        return f"{strings[0]} {said.label}"
    if layer is Layer.COREFERENCE:
        return f"{strings[1]} = {strings[0]}"
    arrow = "──" if said.label in symmetric else "─▶"
    return f"{strings[0]} {said.label} {arrow} {strings[1]}"


def cluster_words(cluster: Cluster, letter: str, side: AnnotatedDocument) -> str:
    """A cluster with all its mentions."""
    text = side.document.text
    names = [named(side.annotations.entity(each).text_of(text), 24) for each in cluster.mentions]
    return f"cluster {letter}: {', '.join(names)}"


def source_words(source: str) -> str:
    """A source as people call it.

    >>> source_words("import:ben.sciextract"), source_words("model:sci@ef5c7146/01M7YEN41Y")
    ('ben.sciextract', 'model sci@ef5c7146')
    """
    kind, _, name = source.partition(":")
    return f"model {name.partition('/')[0]}" if kind == "model" else name


HERE = "here: the annotations of this project"


def sides_of(
    abstract: ComparedAbstract | None, now: OpenDifference | None, on: Verdict, schema: LabelSchema
) -> tuple[SideView, SideView]:
    """What holds here, and what the other side has.

    Args:
        abstract: The open abstract, ``None`` for none.
        now: The present difference, ``None`` when nothing waits.
        on: The side that keys speak of.
        schema: The label schema that holds now.
    """
    both = now.both if now else next(iter(abstract.compared if abstract else ()), None)
    if abstract is None or both is None:
        return SideView(HERE, EMPTY), SideView("", EMPTY)
    letters = letters_of(both.mine, both.theirs)
    names = (HERE, source_words(both.source))
    if now is None:
        mine = passage_of(both.mine, schema, letters[0])
        theirs = passage_of(both.theirs, schema, letters[1])
        return SideView(names[0], mine), SideView(names[1], theirs)
    drawn = _Drawn(abstract.document, now, schema, letters)
    mine_shown = drawn.side(names[0], "mine", on == "mine")
    return mine_shown, drawn.side(names[1], "theirs", on == "theirs")


def lines_of(
    abstract: ComparedAbstract | None, now: OpenDifference | None, schema: LabelSchema
) -> tuple[DifferenceLine, ...]:
    """All differences of the abstract."""
    if abstract is None:
        return ()
    return tuple(_line(each, each is now, schema) for each in abstract.waiting)


def _line(waiting: OpenDifference, focused: bool, schema: LabelSchema) -> DifferenceLine:
    one, both = waiting.dispute.difference, waiting.both
    kind = f"{layer_word(one)}: {kind_words(one, both.mine, both.theirs)}"
    said = [
        item_words(each, one.layer, both.mine.document.text, schema.symmetric_labels)
        for each in (one.first, one.second)
    ]
    return DifferenceLine(kind, said[0], said[1], focused)


class _Drawn:
    """The present difference, drawn on either side."""

    def __init__(
        self,
        document: DocumentState,
        now: OpenDifference,
        schema: LabelSchema,
        letters: tuple[Letters, Letters],
    ) -> None:
        self._document = document
        self._now = now
        self._schema = schema
        self._letters = dict(zip(("mine", "theirs"), letters, strict=True))

    def side(self, name: str, whose: Verdict, focused: bool) -> SideView:
        """One side: its own mentions of the difference are marked, else those of the other side."""
        one, both = self._now.dispute.difference, self._now.both
        document = both.mine if whose == "mine" else both.theirs
        said, other = (one.first, one.second) if whose == "mine" else (one.second, one.first)
        places = said.fragments if said else ()
        elsewhere = other.fragments if other and not said else ()
        passage = passage_of(
            document,
            self._schema,
            self._letters[whose],
            focused=places if focused else (),
            partners=elsewhere if focused else (*places, *elsewhere),
            at=_first(places or elsewhere),
        )
        return SideView(name, passage, tuple(self._summary(whose, said, other, document)), focused)

    def _summary(
        self,
        whose: Verdict,
        said: AnnotatedItem | None,
        other: AnnotatedItem | None,
        document: AnnotatedDocument,
    ) -> Iterator[str]:
        one, text = self._now.dispute.difference, document.document.text
        words = item_words(said, one.layer, text, self._schema.symmetric_labels)
        if said is None and other is not None and whose == "mine":
            words += self._why_nothing(other, one.layer)
        yield words
        known = said or other
        if known is not None:
            yield self._around(known, one.layer, whose, document)

    def _why_nothing(self, other: AnnotatedItem, layer: Layer) -> str:
        """Whether a person rejected here what the other side has, or nobody decided it."""
        if layer is not Layer.ENTITIES:
            return ""
        rows = self._document.on_fragments(other.fragments[0])
        states = [row.state for row in rows if row.label == other.label]
        if State.UNDECIDED in states:
            return ": undecided here"
        return ": rejected here" if State.REJECTED in states else ""

    def _around(
        self, known: AnnotatedItem, layer: Layer, whose: Verdict, document: AnnotatedDocument
    ) -> str:
        """What hangs on a mention; the cluster of a link."""
        cluster = company(known, document)
        letters = self._letters[whose]
        found = f"{cluster_words(cluster, letters[cluster.id], document)}" if cluster else ""
        if layer is Layer.COREFERENCE:
            return found or "in no cluster"
        if layer is Layer.RELATIONS:
            return ""
        here = {e.id for e in document.annotations.entities if e.fragments == known.fragments[0]}
        relations = [r for r in document.annotations.relations if here & {r.head, r.tail}]
        along = f"with {counted(len(relations), 'relation')}" if relations else ""
        return "; ".join(filter(None, (along, found)))


def _first(places: tuple[tuple[Span, ...], ...]) -> Span | None:
    """The first of the mentions in the text."""
    return min((place[0] for place in places), default=None)
