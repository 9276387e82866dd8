"""A model's predictions into a document's state: only what nobody has decided is refreshed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sciextract.documents.annotations import Annotations, Cluster, Entity, Layer, Relation, State
from sciextract.store.context import Context
from sciextract.store.document_state import DocumentState
from sciextract.store.imports import (
    add_cluster,
    add_entity,
    add_relation,
    entity_by_original,
    is_awaited,
    leaves_alone,
    relation_by_original,
    same_relations,
)
from sciextract.store.rows import Completeness, EntityRow, LinkRow, ProgressRow, RelationRow

_TWO = 2
_DONE = Completeness.DONE
Scores = dict[str, float | None]


class PredictionMerge:
    """Merges one model's predictions into a document's state.

    Undecided items of models that this one does not repeat go; those that it repeats get its score. Undecided
    items that a person suggested from a file stay.
    What a person accepted, rejected, edited or added stays, and so does what was imported; a prediction
    that contradicts it is left out. A layer that is done stays as it is.

    Args:
        doc: The document.
        context: The run.
        source_id: The model's run.
        models: The sources that are models' runs.
        others: By the name that items carry, another source that they get; the run's where theirs is not here.
    """

    def __init__(
        self,
        doc: DocumentState,
        context: Context,
        source_id: int,
        models: frozenset[int],
        others: Mapping[str, int] | None = None,
    ) -> None:
        self._doc = doc
        self._context = context
        self._source_id = source_id
        self._models = models
        self._others = others or {}
        self._progress = doc.progress or ProgressRow()
        self._open = {layer for layer in Layer if getattr(self._progress, layer) is not _DONE}
        self._ids: dict[str, str] = {}
        self._repeated: set[tuple[str, ...]] = set()

    def merge(self, annotations: Annotations) -> None:
        """Merge everything, then take out what was not repeated."""
        for entity in annotations.entities:
            self._entity(entity)
        for relation in annotations.relations:
            self._relation(relation)
        for cluster in annotations.clusters:
            self._cluster(cluster)
        self._drop_outdated()

    def _entity(self, entity: Entity) -> None:
        twins = self._doc.on_fragments(entity.fragments)
        twins.sort(key=lambda row: row.state is State.REJECTED)
        same = next((row for row in twins if row.label == entity.label), None)
        edited = entity_by_original(self._doc.edited, entity)
        decided = next((row for row in twins if row.in_view), None)
        known = same or edited or decided
        if known is not None:
            self._keep(entity, known)
        elif Layer.ENTITIES in self._open:
            self._drop_unlabelled(twins)
            source_id = self._source_of(entity)
            row = add_entity(self._doc, entity, State.UNDECIDED, source_id, self._context)
            self._ids[entity.id] = row.id
            self._repeated.add(("entity", row.id))

    def _drop_unlabelled(self, twins: list[EntityRow]) -> None:
        """A mention that was suggested without a label gives way to one with a label on the same characters."""
        for twin in twins:
            free = not self._doc.relations_of(twin.id) and not self._doc.links_of(twin.id)
            if twin.state is State.UNDECIDED and not twin.label and free:
                self._doc.drop(twin)

    def _keep(self, entity: Entity, known: EntityRow) -> None:
        """Refresh an undecided row; stand back from a decided one. A rejected one takes no relations."""
        if known.state is State.UNDECIDED and Layer.ENTITIES in self._open:
            self._refresh(known, entity)
        if known.state is not State.REJECTED:
            self._ids[entity.id] = known.id

    def _relation(self, relation: Relation) -> None:
        if relation.head not in self._ids or relation.tail not in self._ids:
            return
        ends = (self._ids[relation.head], self._ids[relation.tail])
        if ends[0] == ends[1] or Layer.RELATIONS not in self._open:
            return
        symmetric = relation.label in self._context.schema.symmetric_labels
        same = same_relations(self._doc, ends, symmetric, relation.label)
        others = same_relations(self._doc, ends, symmetric)
        decided = [row for row in others if row.in_view]
        if same and same[0].state is State.UNDECIDED:
            self._refresh(same[0], relation)
        elif not (same or decided or relation_by_original(self._doc, ends, relation.label)):
            row = add_relation(
                self._doc,
                relation,
                ends,
                State.UNDECIDED,
                self._source_of(relation),
                self._context,
            )
            self._repeated.add(("relation", row.id))

    def _refresh(self, row: EntityRow | RelationRow, prediction: Entity | Relation) -> None:
        """Give an undecided item the score of this run."""
        self._doc.put(
            replace(
                row,
                score=prediction.score,
                alternatives=prediction.alternatives,
                source_id=self._source_of(prediction),
                event_id=self._context.event_id,
            )
        )
        self._repeated.add((row.TABLE, row.id))

    def _cluster(self, cluster: Cluster) -> None:
        if Layer.COREFERENCE not in self._open:
            return
        scores = dict(zip(cluster.mentions, cluster.mention_scores, strict=False))
        known: Scores = {self._ids[m]: scores.get(m) for m in cluster.mentions if m in self._ids}
        mentions = self._possible(known)
        home = self._home(mentions)
        free = {m: score for m, score in mentions.items() if self._is_free(m, home)}
        settled = home is not None and any(link.in_view for link in self._doc.members(home))
        if len(free) < (1 if settled else _TWO):
            return
        if home is None:
            home = add_cluster(
                self._doc, cluster, State.UNDECIDED, self._source_of(cluster), self._context
            ).id
        self._repeated.add(("home", home))
        for mention, score in free.items():
            self._link(home, mention, score, self._source_of(cluster))

    def _possible(self, mentions: Scores) -> Scores:
        """Without mentions that have a place by this run, and without pairs that a person took apart."""
        possible: Scores = {}
        apart: set[str] = set()
        for mention, score in mentions.items():
            left = self._left(mention)
            if ("placed", mention) not in self._repeated and not left & apart:
                possible[mention] = score
            apart |= left
        return possible

    def _left(self, mention: str) -> set[str]:
        """Clusters that were taken apart with this mention in them."""
        links = [each for each in self._doc.links_of(mention) if each.state is State.REJECTED]
        clusters = [self._doc.cluster(link.cluster_id) for link in links]
        return {each.id for each in clusters if each is not None and each.state is State.REJECTED}

    def _home(self, mentions: Scores) -> str | None:
        """The cluster that takes the mentions: a decided one first, else an undecided one of one of them."""
        links = [link for mention in mentions for link in self._doc.links_of(mention)]
        decided = [link.cluster_id for link in links if link.in_view]
        open_ = [link.cluster_id for link in links if link.state is State.UNDECIDED]
        free = [each for each in open_ if ("home", each) not in self._repeated]
        return next(iter([*decided, *free]), None)

    def _is_free(self, mention: str, home: str | None) -> bool:
        """Whether nobody has decided where the mention belongs, or that it does not belong there."""
        for link in self._doc.links_of(mention):
            proposed = link.state is State.UNDECIDED and link.cluster_id != home
            if link.in_view or (proposed and is_awaited(self._doc, link)):
                return False
        known = None if home is None else self._doc.link(home, mention)
        return known is None or known.state is State.UNDECIDED

    def _source_of(self, item: Entity | Relation | Cluster) -> int:
        return self._others.get(item.source, self._source_id)

    def _link(self, cluster_id: str, mention: str, score: float | None, source_id: int) -> None:
        known = self._doc.link(cluster_id, mention)
        link = LinkRow(
            cluster_id,
            mention,
            score,
            State.UNDECIDED,
            source_id=source_id,
            event_id=self._context.event_id,
        )
        self._doc.put(link)
        self._context.items += known is None
        self._repeated |= {("link", *link.key), ("placed", mention)}

    def _drop_outdated(self) -> None:
        """Undecided items that the model no longer predicts; entities stay that something still needs."""
        doc = self._doc
        if Layer.COREFERENCE in self._open:
            self._drop_links()
        if Layer.RELATIONS in self._open:
            for relation in doc.relations:
                if self._is_outdated(relation, ("relation", relation.id)):
                    doc.drop(relation)
        if Layer.ENTITIES in self._open:
            for entity in doc.entities:
                needed = doc.relations_of(entity.id) or doc.links_of(entity.id)
                if self._is_outdated(entity, ("entity", entity.id)) and not needed:
                    doc.drop(entity)

    def _drop_links(self) -> None:
        for link in self._doc.links:
            outdated = self._is_outdated(link, ("link", *link.key))
            if outdated and not leaves_alone(self._doc, link):
                self._doc.drop(link)
        kept = {link.cluster_id for link in self._doc.links}
        for cluster in self._doc.clusters:
            if cluster.state is State.UNDECIDED and cluster.id not in kept:
                self._doc.drop(cluster)

    def _is_outdated(self, row: EntityRow | RelationRow | LinkRow, item: tuple[str, ...]) -> bool:
        by_model = row.source_id in self._models
        return by_model and row.state is State.UNDECIDED and item not in self._repeated
