"""Entities, relations and coreference clusters, with scores, states and sources, and the ranges that they stand on.

Starts of ranges are inclusive, ends exclusive, always.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, TypeVar


class Span(NamedTuple):
    """A range of Unicode code points of a document's text.

    >>> Span(0, 5).of("graph theory")
    'graph'
    """

    char_start: int
    char_end: int

    def of(self, text: str) -> str:
        """The characters of ``text`` that the span covers."""
        return text[self.char_start : self.char_end]

    def overlaps(self, other: Span) -> bool:
        """Whether both spans share at least one character."""
        return self.char_start < other.char_end and other.char_start < self.char_end

    def contains(self, other: Span) -> bool:
        """Whether ``other`` lies inside this span (or equals it)."""
        return self.char_start <= other.char_start and other.char_end <= self.char_end


@dataclass(frozen=True, slots=True, order=True)
class TokenRange:
    """A range of document token indices.

    >>> len(TokenRange(2, 5))
    3
    """

    token_start: int
    token_end: int

    def __len__(self) -> int:
        return self.token_end - self.token_start

    def contains(self, other: TokenRange) -> bool:
        """Whether ``other`` lies inside this range (or equals it)."""
        return self.token_start <= other.token_start and other.token_end <= self.token_end


class Layer(StrEnum):
    """A kind of annotation, the completeness of which is tracked by itself; in the order in which they are decided."""

    ENTITIES = "entities"
    RELATIONS = "relations"
    COREFERENCE = "coreference"

    @property
    def task(self) -> str:
        """What models and their scores call it: ``entity``, ``relation``, ``coreference``."""
        return _TASKS[self]

    @property
    def item(self) -> str:
        """What one of its items is called: ``entity``, ``relation``, ``link``."""
        return "link" if self is Layer.COREFERENCE else self.task


_TASKS = dict(zip(Layer, ("entity", "relation", "coreference"), strict=True))
ALL_LAYERS = frozenset(Layer)


class Completeness(StrEnum):
    """How far a person has come with a layer of an abstract."""

    UNTOUCHED = "untouched"
    IN_PROGRESS = "in progress"
    DONE = "done"


class State(StrEnum):
    """What has been decided about an item."""

    UNDECIDED = "undecided"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EDITED = "edited"
    ADDED = "added"
    IMPORTED = "imported"


NOT_REJECTED = frozenset(State) - {State.REJECTED}
"""States of the items that plain gold consists of, and that are written where a format has no states."""


class LabelScore(NamedTuple):
    """A label and its probability (0 to 1)."""

    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Entity:
    """A typed mention of one or more fragments. Nesting and overlap are allowed.

    Attributes:
        id: A ULID, unique in its document and never reused.
        fragments: Character ranges, ascending, at least one.
        label: Entity type; empty for a coreference mention that has no type.
        score: Probability of the label, ``None`` for items no model made.
        alternatives: Other labels the model considered, best first.
    """

    id: str
    fragments: tuple[Span, ...]
    label: str
    score: float | None = None
    state: State = State.UNDECIDED
    source: str = ""
    alternatives: tuple[LabelScore, ...] = ()

    @property
    def span(self) -> Span:
        """The range from the first character of the first to the last of the last fragment."""
        return Span(self.fragments[0].char_start, self.fragments[-1].char_end)

    def text_of(self, text: str) -> str:
        """The mention's string, fragments joined by one space."""
        return " ".join(fragment.of(text) for fragment in self.fragments)


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed, directed pair of entities (ids). Symmetric types keep the direction they were made with."""

    id: str
    head: str
    tail: str
    label: str
    score: float | None = None
    state: State = State.UNDECIDED
    source: str = ""
    alternatives: tuple[LabelScore, ...] = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Entities (ids, in text order) that mean the same thing.

    Attributes:
        mention_scores: Per mention the probability of its best link into the cluster, aligned with
            ``mentions``, ``None`` where a person put it there; empty for clusters no model made.
        mention_states: Per mention what has been decided about it, aligned with ``mentions``; empty when
            each has the cluster's own state.
    """

    id: str
    mentions: tuple[str, ...]
    score: float | None = None
    state: State = State.UNDECIDED
    source: str = ""
    mention_scores: tuple[float | None, ...] = ()
    mention_states: tuple[State, ...] = ()

    @property
    def live_mentions(self) -> list[str]:
        """The mentions (ids) that nobody has removed from it."""
        states = self.mention_states or (self.state,) * len(self.mentions)
        pairs = zip(self.mentions, states, strict=True)
        return [mention for mention, state in pairs if state is not State.REJECTED]

    def only(self, wanted: Container[str]) -> Cluster:
        """The cluster with some of its mentions, each with its score and state."""
        rows = [row for row, mention in enumerate(self.mentions) if mention in wanted]
        if len(rows) == len(self.mentions):  # nearly always, and this is called for every cluster
            return self
        return replace(
            self,
            mentions=tuple(self.mentions[row] for row in rows),
            mention_scores=tuple(self.mention_scores[row] for row in rows if self.mention_scores),
            mention_states=tuple(self.mention_states[row] for row in rows if self.mention_states),
        )


@dataclass(frozen=True, slots=True)
class Attribute:
    """What is said of a mention or a relation, or, without a target, of the abstract: that it is negated, its design.

    Attributes:
        target: Id of the entity or relation, empty for the abstract.
        label: Attribute type.
        value: One of the type's values or a person's words; empty for a flag, which says all by being there.
        alternatives: Other values that the model considered, best first.
    """

    id: str
    target: str
    label: str
    value: str = ""
    score: float | None = None
    state: State = State.UNDECIDED
    source: str = ""
    alternatives: tuple[LabelScore, ...] = ()


@dataclass(frozen=True, slots=True)
class SpanCandidate:
    """A span the model considered, with its best labels, down to a low score."""

    span: Span
    labels: tuple[LabelScore, ...]


@dataclass(frozen=True, slots=True)
class PairCandidate:
    """A directed pair of spans the model considered as a relation, with its best labels."""

    head: Span
    tail: Span
    labels: tuple[LabelScore, ...]


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """A mention and an earlier one, with the probability that both mean the same."""

    mention: Span
    antecedent: Span
    score: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything a model considered in one document, for review and active learning."""

    spans: tuple[SpanCandidate, ...] = ()
    pairs: tuple[PairCandidate, ...] = ()
    links: tuple[LinkCandidate, ...] = ()

    def ranges(self) -> Iterator[Span]:
        """All spans that were considered."""
        yield from (candidate.span for candidate in self.spans)
        for pair in self.pairs:
            yield from (pair.head, pair.tail)
        for link in self.links:
            yield from (link.mention, link.antecedent)


@dataclass(frozen=True, slots=True)
class Annotations:
    """One source's annotations of one document."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    candidates: Candidates | None = None
    attributes: tuple[Attribute, ...] = ()
    _by_id: dict[str, Entity] = field(default_factory=dict, init=False, repr=False, compare=False)

    def entity(self, entity_id: str) -> Entity:
        """The entity of that id.

        Raises:
            KeyError: No entity has that id.
        """
        if not self._by_id:
            self._by_id.update({entity.id: entity for entity in self.entities})
        return self._by_id[entity_id]

    def renamed(self, *names: Mapping[str, str]) -> Annotations:
        """The same with new labels by old ones, also among alternatives and candidates; all change at once.

        Args:
            names: Those of entities, of relations and, where some have others, of attributes.
        """
        if not any(names):
            return self
        entities, relations, attributes = (*names, {})[:3]
        considered = self.candidates
        if considered is not None:
            spans = _relabel_candidates(considered.spans, entities)
            pairs = _relabel_candidates(considered.pairs, relations)
            considered = replace(considered, spans=spans, pairs=pairs)
        said_now = (
            replace(said, label=attributes.get(said.label, said.label)) for said in self.attributes
        )
        return replace(
            self,
            entities=tuple(_relabel(entity, entities) for entity in self.entities),
            relations=tuple(_relabel(relation, relations) for relation in self.relations),
            candidates=considered,
            attributes=tuple(said_now),
        )

    def in_states(self, states: Container[State]) -> Annotations:
        """The items of some states; what is left out takes the relations and mentions of such entities with it."""
        in_state = replace(
            self,
            relations=tuple(relation for relation in self.relations if relation.state in states),
            clusters=tuple(
                cluster.only(cluster.live_mentions)
                for cluster in self.clusters
                if cluster.state in states
            ),
            attributes=tuple(
                attribute for attribute in self.attributes if attribute.state in states
            ),
        )
        left_out = {entity.id for entity in self.entities if entity.state not in states}
        # What names an entity that is not there stays: writers count it.
        named = {entity.id for entity in self.entities}
        named.update(*((link.head, link.tail) for link in self.relations))
        named.update(*(cluster.mentions for cluster in self.clusters))
        return in_state.among(named - left_out)

    def among(self, kept: Container[str]) -> Annotations:
        """The items that need no other entities (ids); clusters are left with such mentions, perhaps with one or none."""
        entities = tuple(entity for entity in self.entities if entity.id in kept)
        relations = tuple(
            relation
            for relation in self.relations
            if relation.head in kept and relation.tail in kept
        )
        targets = {"", *(item.id for items in (entities, relations) for item in items)}
        return replace(
            self,
            entities=entities,
            relations=relations,
            clusters=tuple(cluster.only(kept) for cluster in self.clusters),
            attributes=tuple(
                attribute for attribute in self.attributes if attribute.target in targets
            ),
        )


_Labelled = TypeVar("_Labelled", Entity, Relation)
_Considered = TypeVar("_Considered", SpanCandidate, PairCandidate)


def _relabel_candidates(
    given: Iterable[_Considered], names: Mapping[str, str]
) -> tuple[_Considered, ...]:
    return tuple(replace(old, labels=_rename_labels(old.labels, names)) for old in given)


def _relabel(item: _Labelled, names: Mapping[str, str]) -> _Labelled:
    label = names.get(item.label, item.label)
    return replace(item, label=label, alternatives=_rename_labels(item.alternatives, names))


def _rename_labels(given: Iterable[LabelScore], names: Mapping[str, str]) -> tuple[LabelScore, ...]:
    return tuple(LabelScore(names.get(old.label, old.label), old.score) for old in given)


_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_id() -> str:
    """A fresh ULID: 48 bits of milliseconds, 80 random bits; sorts by time of making."""
    milliseconds = int(time.time() * 1000) & ((1 << 48) - 1)
    return _encode(milliseconds << 80 | int.from_bytes(os.urandom(10), "big"))


def stable_id(*parts: object) -> str:
    """An id of ULID shape that depends on ``parts`` only, so that equal runs print equal ids.

    >>> stable_id("doc", 1) == stable_id("doc", 1) != stable_id("doc", 2)
    True
    """
    joined = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(joined, digest_size=16).digest()
    return _encode(int.from_bytes(digest, "big"))


def _encode(number: int) -> str:
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
