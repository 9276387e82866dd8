"""Items of one imported document: entities of several fragments, relations, clusters that list their mentions.

Ids depend on what the items say only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.ids import stable_id
from sciextract.documents.spans import Span

UNLABELLED = "relation"
"""The label of relations that have none in their file."""


class CorpusItems:
    """Entities, relations and clusters in the order in which they are added.

    Equal entities are kept apart, since other items of the file may mean one of them; a relation or
    cluster that is there already is not added again.

    Args:
        doc_key: The document's key, part of every id.
        provenance: The source of all items.
        state: The state of all items.
        owner: Part of every id where several sources annotate one document.
    """

    _SECOND: ClassVar[int] = 2
    """What the id of the second of equal items ends with."""

    def __init__(
        self, doc_key: str, provenance: str, state: State = State.IMPORTED, owner: str = ""
    ) -> None:
        self._doc_key = doc_key
        self._provenance = provenance
        self._state = state
        self._owner = owner
        self._equal: Counter[tuple[object, ...]] = Counter()
        self._entities: dict[str, Entity] = {}
        self._on: defaultdict[Span, list[Entity]] = defaultdict(list)
        self._relations: dict[str, Relation] = {}
        self._clusters: dict[str, Cluster] = {}

    @property
    def entities(self) -> list[Entity]:
        """All entities so far."""
        return list(self._entities.values())

    @property
    def spans(self) -> list[Span]:
        """The ranges of all entities, from their first to their last character."""
        return [entity.span for entity in self._entities.values()]

    def entity(self, fragments: Sequence[Span], label: str, score: float | None = None) -> Entity:
        """Add an entity; ``fragments`` are ascending."""
        edges = [edge for span in fragments for edge in (span.char_start, span.char_end)]
        item_id = self._own_id("entity", *edges, label)
        made = Entity(item_id, tuple(fragments), label, score, self._state, self._provenance)
        self._entities[item_id] = made
        if len(fragments) == 1:
            self._on[fragments[0]].append(made)
        return made

    def mention(self, span: Span, label: str) -> Entity:
        """The entity on a span that a cluster or relation means; made without a type where there is none.

        Args:
            span: Its range.
            label: Its type (empty if it has none), which decides where several entities lie on the span.
        """
        found = self._on[span]
        for entity in found:
            if entity.label == label:
                return entity
        return found[0] if found else self.entity([span], "")

    def relation(self, head: Entity, tail: Entity, label: str, score: float | None) -> Relation:
        """Add a relation."""
        ends = (head.id, tail.id, label)
        return self._relation(self._id("relation", *ends), ends, score)

    def cluster(self, mentions: Iterable[Entity], score: float | None) -> Cluster:
        """Add a cluster; its mentions are put in text order, each once."""
        unique = {mention.id: mention for mention in mentions}
        ids = sorted(unique, key=lambda each: (unique[each].fragments, each))
        return self._cluster(ids, score)

    def annotations(self) -> Annotations:
        """All that was added."""
        return Annotations(
            tuple(self._entities.values()),
            tuple(self._relations.values()),
            tuple(self._clusters.values()),
        )

    def _relation(self, item_id: str, ends: tuple[str, str, str], score: float | None) -> Relation:
        made = Relation(item_id, *ends, score, self._state, self._provenance)
        return self._relations.setdefault(item_id, made)

    def _cluster(self, mentions: Sequence[str], score: float | None) -> Cluster:
        """Add a cluster of mentions (ids) in this order."""
        item_id = self._id("cluster", *mentions)
        made = Cluster(item_id, tuple(mentions), score, self._state, self._provenance)
        return self._clusters.setdefault(item_id, made)

    def _id(self, kind: str, *parts: object) -> str:
        """An id that equal items share."""
        owner = (self._owner,) if self._owner else ()
        return stable_id(kind, self._doc_key, *parts, *owner)

    def _own_id(self, kind: str, *parts: object) -> str:
        """An id that equal items do not share: from the second on it ends with a number."""
        before = self._equal[kind, *parts]
        self._equal[kind, *parts] += 1
        owner = (self._owner,) if self._owner else ()
        number = (before - 1 + self._SECOND,) if before else ()
        return stable_id(kind, self._doc_key, *parts, *owner, *number)


def warnings_of(remarks: Mapping[str, int]) -> tuple[str, ...]:
    """One warning a kind, with how often it occurred."""
    return tuple(
        [f"{kind} ({'once' if n == 1 else f'{n} times'})" for kind, n in remarks.items() if n]
    )
