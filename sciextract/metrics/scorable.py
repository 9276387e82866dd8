"""What the scorer compares: the mentions, relations and clusters of one document as plain tuples."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from sciextract.documents.annotations import Annotations, Entity, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.tokens import TokenTable

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
        width: Width of a mention in tokens; the scorer asks the gold side only.
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
    annotations = document.annotations
    entities = {
        entity.id: ScoredEntity(mention_of(entity), entity.label)
        for entity in annotations.entities
        if entity.state is not State.REJECTED and (not only or entity.label in only)
    }
    return Scorable(
        document.document.doc_key,
        frozenset([entity for entity in entities.values() if entity.label]),
        frozenset(_relations(annotations, entities)),
        tuple(_clusters(annotations, entities)),
        TokenWidths(document.document.tokens),
    )


def mention_of(entity: Entity) -> Mention:
    """The flat character offsets of an entity's fragments."""
    if len(entity.fragments) == 1:
        return (entity.fragments[0].char_start, entity.fragments[0].char_end)
    return tuple([at for span in entity.fragments for at in (span.char_start, span.char_end)])


def _relations(annotations: Annotations, entities: dict[str, ScoredEntity]) -> list[ScoredRelation]:
    return [
        ScoredRelation(entities[relation.head], entities[relation.tail], relation.label)
        for relation in annotations.relations
        if relation.state is not State.REJECTED
        and relation.head in entities
        and relation.tail in entities
    ]


def _clusters(
    annotations: Annotations, entities: dict[str, ScoredEntity]
) -> list[frozenset[Mention]]:
    return [
        frozenset([entities[key].mention for key in cluster.live_mentions if key in entities])
        for cluster in annotations.clusters
        if cluster.state is not State.REJECTED
    ]
