"""What the scorer compares, as plain tuples, and the counts of precision and recall, which add up over documents.

Of coreference MUC, B3, CEAFe and LEA, from the overlaps of a document's clusters, as in the CoNLL-2012 reference scorer
(Pradhan et al. 2014, "Scoring Coreference Partitions of Predicted Mentions: A Reference Implementation").
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import comb
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.annotations import NOT_REJECTED, Entity
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
    text, found = document.document, document.annotations.in_states(NOT_REJECTED)
    entities = {
        entity.id: ScoredEntity(mention_of(entity), entity.label)
        for entity in found.entities
        if not only or entity.label in only
    }
    relations = [
        ScoredRelation(entities[relation.head], entities[relation.tail], relation.label)
        for relation in found.relations
        if relation.head in entities and relation.tail in entities
    ]
    clusters = [
        frozenset([entities[key].mention for key in cluster.mentions if key in entities])
        for cluster in found.clusters
    ]
    typed = frozenset([entity for entity in entities.values() if entity.label])
    widths = TokenWidths(text.tokens)
    return Scorable(text.doc_key, typed, frozenset(relations), tuple(clusters), widths)


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


Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def best_assignment(weights: Floats) -> tuple[Indices, Indices]:
    """Pair rows with columns, each at most once, so that the sum of their weights is greatest.

    Shortest augmenting paths after Jonker and Volgenant 1987, in the form of Crouse 2016 ("On
    implementing 2D rectangular assignment algorithms"): O(rows^2 * columns), rows <= columns.

    Args:
        weights: Finite numbers, *Shape:* (rows, columns).

    Returns:
        Row indices, ascending, and their columns; ``min(rows, columns)`` of each.
    """
    rows, columns = weights.shape
    if rows > columns:
        column_of, row_of = best_assignment(weights.T)
        order = np.argsort(row_of)
        return row_of[order], column_of[order]
    # The search minimises costs: the greatest weight costs nothing. Column 0 stands for the row that is placed.
    costs = weights.max(initial=0.0) - weights
    row_price, column_price = np.zeros(rows), np.zeros(columns + 1)
    row_in = np.full(columns + 1, -1)
    for row in range(rows):
        row_in[0], column = row, 0
        shortest, parent = np.full(columns + 1, np.inf), np.zeros(columns + 1, dtype=np.intp)
        done = np.zeros(columns + 1, dtype=bool)
        while row_in[column] != -1:
            done[column] = True
            through = costs[row_in[column]] - row_price[row_in[column]] - column_price[1:]
            better = np.flatnonzero(~done[1:] & (through < shortest[1:])) + 1
            shortest[better], parent[better] = through[better - 1], column
            left = np.where(done, np.inf, shortest)
            nearest = int(left[1:].argmin()) + 1
            # Prices move so that all reduced costs stay non-negative, and become zero along the path.
            step = left[nearest]
            row_price[row_in[done]] += step
            column_price[done] -= step
            shortest -= step
            column = nearest
        while column:  # every row on the path to the free column moves to its new one
            row_in[column] = row_in[parent[column]]
            column = int(parent[column])
    taken = np.flatnonzero(row_in[1:] != -1)
    order = np.argsort(row_in[1:][taken])
    return np.arange(rows), taken[order]


def best_total(weights: Mapping[tuple[int, int], float]) -> float:
    """The greatest sum of the weights of pairs, of which no two share their first or their second index."""
    rows = {g: index for index, g in enumerate(dict.fromkeys([g for g, _ in weights]))}
    columns = {p: index for index, p in enumerate(dict.fromkeys([p for _, p in weights]))}
    if len(rows) == len(columns) == len(weights):
        # No index occurs twice, as in most abstracts: nothing is to be assigned.
        return sum(weights.values(), 0.0)
    table = np.zeros((len(rows), len(columns)))
    for (g, p), value in weights.items():
        table[rows[g], columns[p]] = value
    return float(table[best_assignment(table)].sum())


Partition = tuple[frozenset[Mention], ...]


def partition(clusters: Iterable[frozenset[Mention]]) -> Partition:
    """Clusters without shared mentions: each mention stays in the first that has it, in text order.

    The reference scorer does the same with repeated mentions.
    """
    taken: set[Mention] = set()
    result = []
    # In text order, so that the result does not depend on the order of the input.
    for cluster in sorted(map(sorted, clusters)):
        own = frozenset(cluster) - taken
        taken |= own
        result.append(own)
    return tuple([cluster for cluster in result if cluster])


def without_singletons(clusters: Partition) -> Partition:
    """The clusters of two and more mentions."""
    return tuple([cluster for cluster in clusters if len(cluster) > 1])


@dataclass(frozen=True, slots=True)
class Overlap:
    """How two partitions of mentions share them.

    Attributes:
        gold_sizes: Mentions of each gold cluster.
        predicted_sizes: Mentions of each predicted cluster.
        common: Shared mentions of gold cluster ``g`` and predicted cluster ``p`` under ``(g, p)``; only
            pairs that share one are listed.
    """

    gold_sizes: tuple[int, ...]
    predicted_sizes: tuple[int, ...]
    common: dict[tuple[int, int], int]

    @classmethod
    def of(cls, gold: Partition, predicted: Partition) -> Overlap:
        """The overlap of two partitions (see :func:`partition`)."""
        home = {mention: index for index, cluster in enumerate(gold) for mention in cluster}
        common: Counter[tuple[int, int]] = Counter()
        for index, cluster in enumerate(predicted):
            common.update([(home[mention], index) for mention in cluster if mention in home])
        return cls(tuple(map(len, gold)), tuple(map(len, predicted)), dict(common))


def muc(overlap: Overlap) -> Tally:
    """Links kept of those that a spanning tree of each cluster has (Vilain et al. 1995)."""
    links = sum(overlap.common.values()) - len(overlap.common)
    found, wanted = overlap.predicted_sizes, overlap.gold_sizes
    return Tally(links, sum(found) - len(found), links, sum(wanted) - len(wanted))


def b_cubed(overlap: Overlap) -> Tally:
    """Per mention the share of its cluster that is right, summed (Bagga and Baldwin 1998)."""
    gold, predicted, common = overlap.gold_sizes, overlap.predicted_sizes, overlap.common
    precise = sum([shared * shared / predicted[p] for (_, p), shared in common.items()])
    complete = sum([shared * shared / gold[g] for (g, _), shared in common.items()])
    return Tally(precise, sum(predicted), complete, sum(gold))


def ceaf_e(overlap: Overlap) -> Tally:
    """Similarity of clusters aligned one to one, phi 4 (Luo 2005, "On Coreference Resolution
    Performance Metrics", section 3): twice the shared mentions over the sum of both sizes.
    """
    similarity = {
        (g, p): 2 * shared / (overlap.gold_sizes[g] + overlap.predicted_sizes[p])
        for (g, p), shared in overlap.common.items()
    }
    total = best_total(similarity)
    return Tally(total, len(overlap.predicted_sizes), total, len(overlap.gold_sizes))


def lea(overlap: Overlap) -> Tally:
    """Per cluster its size times the share of its links that are right (Moosavi and Strube 2016,
    "Which Coreference Evaluation Metric Do You Trust?"). A singleton's one link leads to itself and is
    right when the other side has the same singleton.
    """
    gold, predicted, common = overlap.gold_sizes, overlap.predicted_sizes, overlap.common
    shares = common.items()
    precise = sum([_resolved(shared, predicted[p], gold[g]) for (g, p), shared in shares])
    complete = sum([_resolved(shared, gold[g], predicted[p]) for (g, p), shared in shares])
    return Tally(precise, sum(predicted), complete, sum(gold))


def _resolved(shared: int, size: int, other_size: int) -> float:
    # As in the reference scorer of LEA: a singleton has one link, to itself.
    if size == 1:
        return float(other_size == 1)
    return size * comb(shared, 2) / comb(size, 2)
