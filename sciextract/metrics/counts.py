"""What the scorer compares, as plain tuples, and the counts of precision and recall, which add up over documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from sciextract.documents.annotations import Entity, State
from sciextract.documents.document import AnnotatedDocument, TokenTable

#: ``(start, end)`` of each fragment in turn, flat. Equal mentions have equal fragments.
Mention: TypeAlias = tuple[int, ...]


class ScoredEntity(NamedTuple):
    """A mention with its type."""

    mention: Mention
    label: str


class ScoredRelation(NamedTuple):
    """A directed pair of entities with its type."""

    head: ScoredEntity
    tail: ScoredEntity
    label: str


def extent(mention: Mention) -> int:
    """Width of a mention from its first to its last offset, in the unit of its offsets.

    >>> extent((3, 5)), extent((3, 5, 8, 9))
    (2, 6)
    """
    return mention[-1] - mention[0]


class TokenWidths:
    """Width in tokens of mentions that are given in characters.

    A mention is as wide as the tokens it touches from its first to its last character, so that
    predictions made with other tokens are measured by those of the gold document.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, tokens: TokenTable) -> None:
        """Measure with the tokens of one document."""
        self._starts = [span.char_start for span in tokens.spans]
        self._ends = [span.char_end for span in tokens.spans]

    def __call__(self, mention: Mention) -> int:
        """The number of tokens under the mention; 0 when it touches none."""
        # Tokens that end where the mention begins are not under it.
        first = bisect_right(self._ends, mention[0])
        return max(0, bisect_left(self._starts, mention[-1]) - first)


@dataclass(frozen=True, slots=True)
class Scorable:
    """One document's annotations, each item once.

    Gold and predicted must use the same unit: characters (:func:`scorable`), or the token indices of
    one token table (ends exclusive), for which the default ``width`` is right.

    Attributes:
        doc_key: The document's name.
        entities: Mentions with a type. Mentions without one only take part in relations and clusters.
        relations: Directed relations with the types of their arguments.
        clusters: Coreference clusters, singletons included.
        width: Width of a mention in tokens; the scorer uses that of the gold side only.
    """

    doc_key: str
    entities: frozenset[ScoredEntity] = frozenset()
    relations: frozenset[ScoredRelation] = frozenset()
    clusters: tuple[frozenset[Mention], ...] = ()
    width: Callable[[Mention], int] = field(default=extent, compare=False, repr=False)


def scorable(document: AnnotatedDocument, only: Collection[str] = ()) -> Scorable:
    """The annotations of a document as the scorer compares them, in characters.

    Rejected items are left out, and with a rejected entity its relations and its place in clusters; so are
    entities of other labels than ``only``, if it names some.
    """
    text, annotations = document.document, document.annotations
    entities = {
        entity.id: ScoredEntity(mention_of(entity), entity.label)
        for entity in annotations.entities
        if entity.state is not State.REJECTED and (not only or entity.label in only)
    }
    relations = [
        ScoredRelation(entities[each.head], entities[each.tail], each.label)
        for each in annotations.relations
        if each.state is not State.REJECTED and each.head in entities and each.tail in entities
    ]
    clusters = [
        frozenset([entities[key].mention for key in cluster.live_mentions if key in entities])
        for cluster in annotations.clusters
        if cluster.state is not State.REJECTED
    ]
    typed, widths = [each for each in entities.values() if each.label], TokenWidths(text.tokens)
    return Scorable(text.doc_key, frozenset(typed), frozenset(relations), tuple(clusters), widths)


def mention_of(entity: Entity) -> Mention:
    """The flat character offsets of an entity's fragments."""
    if len(entity.fragments) == 1:  # nearly all of them, and this is called for every item
        return (entity.fragments[0].char_start, entity.fragments[0].char_end)
    return tuple([at for span in entity.fragments for at in (span.char_start, span.char_end)])


class Tally(NamedTuple):
    """What precision and recall divide, for one document or for the sum of many.

    Set comparisons have equal numerators; coreference metrics need not.

    Attributes:
        precision_hits: Numerator of precision.
        predicted: Denominator of precision.
        recall_hits: Numerator of recall.
        gold: Denominator of recall.
    """

    precision_hits: float
    predicted: float
    recall_hits: float
    gold: float

    @property
    def precision(self) -> float:
        """Precision, 0 to 100; 0 when nothing was predicted."""
        return _percent(self.precision_hits, self.predicted)

    @property
    def recall(self) -> float:
        """Recall, 0 to 100; 0 when there is no gold."""
        return _percent(self.recall_hits, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 100; 0 when both are."""
        precision, recall = self.precision, self.recall
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def plus(self, other: Tally) -> Tally:
        """Both tallies together."""
        return Tally(*[mine + theirs for mine, theirs in zip(self, other, strict=True)])


NOTHING = Tally(0, 0, 0, 0)


class HasLabel(Protocol):
    """Something hashable that has a label."""

    @property
    def label(self) -> str:
        """Its type."""


def compare(gold: AbstractSet[object], predicted: AbstractSet[object]) -> Tally:
    """Tally of two sets: what is in both is correct.

    >>> compare({"a", "b"}, {"b", "c", "d"})
    Tally(precision_hits=1, predicted=3, recall_hits=1, gold=2)
    """
    correct = len(gold & predicted)
    return Tally(correct, len(predicted), correct, len(gold))


def compare_by_label(
    gold: AbstractSet[HasLabel], predicted: AbstractSet[HasLabel]
) -> dict[str, Tally]:
    """Tallies of two sets of labelled items, for every label that occurs in either."""
    wanted, found, correct = (
        Counter([item.label for item in items]) for items in (gold, predicted, gold & predicted)
    )
    return {
        label: Tally(correct[label], found[label], correct[label], wanted[label])
        for label in wanted | found
    }


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0
