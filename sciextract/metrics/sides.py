"""One annotator's items of a document, as they are compared one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from sciextract.documents.annotations import Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.metrics.coreference import Partition, partition, without_singletons
from sciextract.metrics.scorable import Mention, mention_of


@dataclass(frozen=True, slots=True)
class Said:
    """What one annotator has.

    Attributes:
        id: Id of the entity or the relation; of a link its cluster's.
        label: Its label; empty for a link.
        entities: Ids of the entities: itself; head and tail; the earlier and the later mention.
        fragments: The character ranges of each.
        entity_labels: The label of each.
    """

    id: str
    label: str
    entities: tuple[str, ...]
    fragments: tuple[tuple[Span, ...], ...]
    entity_labels: tuple[str, ...]


class Item(NamedTuple):
    """An entity, relation or link. A symmetric relation has its mentions in text order."""

    mentions: tuple[Mention, ...]
    label: str
    symmetric: bool
    said: Said


class Side:
    """The items that one annotator has not rejected."""

    def __init__(self, document: AnnotatedDocument) -> None:
        """Look at one document."""
        annotations = document.annotations
        self._entities = {each.id: each for each in annotations.entities if _is_live(each)}
        self._relations = [each for each in annotations.relations if _is_live(each)]
        self._clusters = [each for each in annotations.clusters if _is_live(each)]

    def entities(self) -> Iterator[Item]:
        """The entities that have a type."""
        for entity in self._entities.values():
            if entity.label:
                said = _said(entity.id, entity.label, [entity])
                yield Item((mention_of(entity),), entity.label, False, said)

    def relations(self, symmetric_labels: frozenset[str]) -> Iterator[Item]:
        """The relations whose arguments are there."""
        for relation in self._relations:
            if relation.head in self._entities and relation.tail in self._entities:
                ends = [self._entities[relation.head], self._entities[relation.tail]]
                symmetric = relation.label in symmetric_labels
                mentions = [mention_of(end) for end in ends]
                ordered = tuple(sorted(mentions) if symmetric else mentions)
                said = _said(relation.id, relation.label, ends)
                yield Item(ordered, relation.label, symmetric, said)

    def partition(self) -> Partition:
        """The clusters of two and more mentions, as the coreference scores have them."""
        clusters = [frozenset(self._members(cluster)) for cluster in self._clusters]
        return without_singletons(partition(clusters))

    def links(self) -> Iterator[Item]:
        """Every mention of a cluster with the one before it."""
        members = [(cluster, self._members(cluster)) for cluster in self._clusters]
        for mentions in self.partition():
            for pair in pairwise(sorted(mentions)):
                cluster, home = next(each for each in members if each[1].keys() >= {*pair})
                said = _said(cluster.id, "", [home[mention] for mention in pair])
                yield Item(pair, "", True, said)

    def _members(self, cluster: Cluster) -> dict[Mention, Entity]:
        """The mentions of a cluster; of several entities in one place the first."""
        found: dict[Mention, Entity] = {}
        for entity_id in cluster.live_mentions:
            if entity_id in self._entities:
                entity = self._entities[entity_id]
                found.setdefault(mention_of(entity), entity)
        return found


def _is_live(item: Entity | Relation | Cluster) -> bool:
    return item.state is not State.REJECTED


def _said(item_id: str, label: str, entities: Sequence[Entity]) -> Said:
    return Said(
        item_id,
        label,
        tuple([entity.id for entity in entities]),
        tuple([entity.fragments for entity in entities]),
        tuple([entity.label for entity in entities]),
    )
