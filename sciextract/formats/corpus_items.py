"""Items of a document of a corpus format: several fragments, and clusters that list their mentions.

Ids depend on what the items say only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.ids import stable_id
from sciextract.documents.spans import Span


def live_mentions(cluster: Cluster) -> list[str]:
    """The mentions (ids) of a cluster to be written: all but those whose membership was rejected."""
    states = cluster.mention_states or (cluster.state,) * len(cluster.mentions)
    return [
        mention
        for mention, state in zip(cluster.mentions, states, strict=True)
        if state is not State.REJECTED
    ]


class CorpusItems:
    """Entities, relations and clusters in the order in which they are added.

    Equal entities are kept apart, since other items of the file may mean one of them; a relation or
    cluster that is there already is not added again.
    """

    def __init__(self, doc_key: str, provenance: str) -> None:
        """Items of the document ``doc_key``, with ``provenance`` as their source."""
        self._doc_key = doc_key
        self._provenance = provenance
        self._entities: dict[str, Entity] = {}
        self._on: defaultdict[Span, list[Entity]] = defaultdict(list)
        self._relations: dict[str, Relation] = {}
        self._clusters: dict[str, Cluster] = {}

    @property
    def spans(self) -> list[Span]:
        """The ranges of all entities, from their first to their last character."""
        return [entity.span for entity in self._entities.values()]

    def entity(self, fragments: Sequence[Span], label: str, score: float | None = None) -> Entity:
        """Add an entity; ``fragments`` are ascending."""
        edges = [edge for span in fragments for edge in (span.char_start, span.char_end)]
        item_id = stable_id("entity", self._doc_key, *edges, label)
        ordinal = 1
        while item_id in self._entities:
            ordinal += 1
            item_id = stable_id("entity", self._doc_key, *edges, label, ordinal)
        made = Entity(item_id, tuple(fragments), label, score, State.IMPORTED, self._provenance)
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
        item_id = stable_id("relation", self._doc_key, *ends)
        made = Relation(item_id, *ends, score, State.IMPORTED, self._provenance)
        return self._relations.setdefault(item_id, made)

    def cluster(self, mentions: Iterable[Entity], score: float | None) -> Cluster:
        """Add a cluster; its mentions are put in text order, each once."""
        unique = {mention.id: mention for mention in mentions}
        ids = tuple(sorted(unique, key=lambda each: (unique[each].fragments, each)))
        item_id = stable_id("cluster", self._doc_key, *ids)
        made = Cluster(item_id, ids, score, State.IMPORTED, self._provenance)
        return self._clusters.setdefault(item_id, made)

    def annotations(self) -> Annotations:
        """All that was added."""
        return Annotations(
            tuple(self._entities.values()),
            tuple(self._relations.values()),
            tuple(self._clusters.values()),
        )
