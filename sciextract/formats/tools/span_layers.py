"""Annotations as character spans with links between them: what annotation tools can hold, and what they cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from sciextract.documents.annotations import Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import OutputError
from sciextract.formats.base import shown
from sciextract.formats.live import live
from sciextract.formats.tools.imported import COREFERENCE


@dataclass(slots=True)
class SpanLayers:
    """Items that contiguous spans and binary relations can hold; rejected items are left out.

    Attributes:
        entities: Entities of one fragment.
        relations: Head, tail and label of relations, and of the links between consecutive mentions of
            clusters, which are labelled ``COREF``.
        undecided: Whether all items are a model's, and nobody has looked at any.
        losses: What does not fit, by kind.
    """

    entities: list[Entity] = field(default_factory=list)
    relations: list[tuple[Entity, Entity, str]] = field(default_factory=list)
    undecided: bool = False
    losses: Counter[str] = field(default_factory=Counter)


def span_layers(
    annotated: AnnotatedDocument, *, untyped: bool = True, repeated: bool = True
) -> SpanLayers:
    """The document's annotations as spans and links.

    Args:
        annotated: The document.
        untyped: Whether the format holds entities without a type.
        repeated: Whether the format tells two entities of the same span and type apart.

    Raises:
        OutputError: An entity is not a range of the document's text.
    """
    builder = _Builder(annotated, untyped, repeated)
    annotations = annotated.annotations
    for entity in live(annotations.entities):
        builder.add_entity(entity)
    for relation in live(annotations.relations):
        builder.add_relation(relation)
    for cluster in live(annotations.clusters):
        builder.add_cluster(cluster)
    builder.layers.undecided = _is_undecided(annotated)
    return builder.layers


class _Builder:
    def __init__(self, annotated: AnnotatedDocument, untyped: bool, repeated: bool) -> None:
        self.layers = SpanLayers()
        self._losses = self.layers.losses
        self._document = annotated.document
        self._untyped = untyped
        self._repeated = repeated
        entities = annotated.annotations.entities
        self._rejected = {each.id for each in entities if each.state is State.REJECTED}
        self._kept: dict[str, Entity] = {}
        self._equal: dict[tuple[object, ...], Entity] = {}
        self._mentioned: set[str] = set()

    def add_entity(self, entity: Entity) -> None:
        for fragment in entity.fragments:
            if not 0 <= fragment.char_start < fragment.char_end <= len(self._document.text):
                raise _outside(entity, self._document.doc_key, len(self._document.text))
        if len(entity.fragments) > 1:
            self._losses["discontinuous entity"] += 1
        elif not entity.label and not self._untyped:
            self._losses["entity without a type"] += 1
        else:
            self._keep(entity)

    def add_relation(self, relation: Relation) -> None:
        if relation.head in self._rejected or relation.tail in self._rejected:
            return
        head, tail = self._kept.get(relation.head), self._kept.get(relation.tail)
        if head is None or tail is None:
            self._losses["relation of an entity that does not fit"] += 1
        elif relation.label == COREFERENCE:
            self._losses[f"relation {COREFERENCE}, which stands for coreference"] += 1
        else:
            self.layers.relations.append((head, tail, relation.label))

    def add_cluster(self, cluster: Cluster) -> None:
        wanted = [each for each in cluster.live_mentions if each not in self._rejected]
        mentions = list({each.id: each for each in self._mentions(wanted)}.values())
        if len(mentions) > 1:
            self._mentioned.update(mention.id for mention in mentions)
            self.layers.relations += [(*pair, COREFERENCE) for pair in pairwise(mentions)]
        elif wanted:
            self._losses["cluster of fewer than two mentions"] += 1

    def _keep(self, entity: Entity) -> None:
        key = (entity.span, entity.label)
        if key in self._equal and not self._repeated:
            self._losses["second entity in the same place"] += 1
            self._kept[entity.id] = self._equal[key]
            return
        self._equal[key] = self._kept[entity.id] = entity
        self.layers.entities.append(entity)

    def _mentions(self, wanted: list[str]) -> Iterator[Entity]:
        for entity_id in wanted:
            entity = self._kept.get(entity_id)
            if entity is None:
                self._losses["mention of an entity that does not fit"] += 1
            elif entity.id in self._mentioned:
                self._losses["mention of a second cluster"] += 1
            else:
                yield entity


def _is_undecided(annotated: AnnotatedDocument) -> bool:
    found = annotated.annotations
    items: list[Entity | Relation | Cluster] = [*found.entities, *found.relations, *found.clusters]
    return {item.state for item in items} == {State.UNDECIDED}


def _outside(entity: Entity, doc_key: str, length: int) -> OutputError:
    span = entity.span
    return OutputError(
        f"doc_key {shown(doc_key)}: entity {entity.id}: the range [{span.char_start}, {span.char_end}) "
        f"is no part of the text, which has {length} characters"
    )
