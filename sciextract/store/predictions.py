"""A model's predictions into a document's state: only what nobody has decided is refreshed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sciextract.documents.annotations import Annotations, Cluster, Entity, Layer, Relation, State
from sciextract.store.document_state import Context, DocumentState
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
Scores = dict[str, float | None]


@dataclass(eq=False)
class PredictionMerge:
    """Merges one model's predictions into a document's state.

    Undecided items of models that this one does not repeat go; those that it repeats get its score. Undecided
    items that a person suggested from a file stay.
    What a person accepted, rejected, edited or added stays, and so does what was imported; a prediction
    that contradicts it is left out. A layer that is done stays as it is.

    Args:
        doc: The document.
        context: The run.
        models: The sources that are models' runs.
        others: By the name that items carry, another source that they get; the run's where theirs is not here.
    """

    _doc: DocumentState
    _context: Context
    _models: frozenset[int]
    _others: Mapping[str, int]
    _open: set[Layer] = field(default_factory=set, init=False)
    _ids: dict[str, str] = field(default_factory=dict, init=False)
    _repeated: set[tuple[str, ...]] = field(default_factory=set, init=False)

    def merge(self, annotations: Annotations) -> None:
        """Merge everything, then take out what was not repeated."""
        progress, done = self._doc.progress or ProgressRow(), Completeness.DONE
        self._open = {layer for layer in Layer if getattr(progress, layer) is not done}
        for entity in annotations.entities:
            self._merge_entity(entity)
        if Layer.RELATIONS in self._open:
            for relation in annotations.relations:
                if {relation.head, relation.tail} <= self._ids.keys():
                    self._merge_relation(relation)
        if Layer.COREFERENCE in self._open:
            for cluster in annotations.clusters:
                self._merge_cluster(cluster)
        self._drop_outdated()

    def _merge_entity(self, entity: Entity) -> None:
        doc, is_open = self._doc, Layer.ENTITIES in self._open
        twins = doc.on_fragments(entity.fragments)
        # Rejected ones last: the same mention may have been rejected and added again.
        twins.sort(key=lambda row: row.state is State.REJECTED)
        same = next((row for row in twins if row.label == entity.label), None)
        edited = entity_by_original(doc.edited, entity)
        known = same or edited or next((row for row in twins if row.in_view), None)
        if known is not None:
            if known.state is State.UNDECIDED and is_open:
                self._refresh(known, entity)
            if known.state is not State.REJECTED:  # a rejected mention takes no relations
                self._ids[entity.id] = known.id
        elif is_open:
            for twin in twins:
                # A mention that was suggested without a label gives way to one with a label on the same characters.
                free = not doc.relations_of(twin.id) and not doc.links_of(twin.id)
                if twin.state is State.UNDECIDED and not twin.label and free:
                    doc.drop(twin)
            source_id = self._source_of(entity)
            row = add_entity(doc, entity, State.UNDECIDED, source_id, self._context)
            self._ids[entity.id] = row.id
            self._repeated.add(("entity", row.id))

    def _merge_relation(self, relation: Relation) -> None:
        ends = (self._ids[relation.head], self._ids[relation.tail])
        if ends[0] == ends[1]:  # two predicted mentions that stand for one mention here
            return
        doc, label = self._doc, relation.label
        symmetric = label in self._context.schema.symmetric_labels
        same = same_relations(doc, ends, symmetric, label)
        decided = any(row.in_view for row in same_relations(doc, ends, symmetric))
        if same and same[0].state is State.UNDECIDED:
            self._refresh(same[0], relation)
        elif not (same or decided or relation_by_original(doc, ends, label)):
            source_id = self._source_of(relation)
            row = add_relation(doc, relation, ends, State.UNDECIDED, source_id, self._context)
            self._repeated.add(("relation", row.id))

    def _refresh(self, row: EntityRow | RelationRow, prediction: Entity | Relation) -> None:
        """Give an undecided item the score of this run."""
        by, event_id = self._source_of(prediction), self._context.event_id
        score, more = prediction.score, prediction.alternatives
        row = replace(row, score=score, alternatives=more, source_id=by, event_id=event_id)
        self._doc.put(row)
        self._repeated.add((row.TABLE, row.id))

    def _merge_cluster(self, cluster: Cluster) -> None:
        scores = dict(zip(cluster.mentions, cluster.mention_scores, strict=False))
        known: Scores = {self._ids[m]: scores.get(m) for m in cluster.mentions if m in self._ids}
        mentions = self._leave_out_impossible(known)
        home = self._find_home(mentions)
        free = {m: score for m, score in mentions.items() if self._is_free(m, home)}
        # One mention may join a cluster that a person has worked on; a new one needs two.
        settled = home is not None and any(link.in_view for link in self._doc.members(home))
        if len(free) < (1 if settled else _TWO):
            return
        source_id, event_id = self._source_of(cluster), self._context.event_id
        if home is None:
            home = add_cluster(self._doc, cluster, State.UNDECIDED, source_id, self._context).id
        self._repeated.add(("home", home))
        for mention, score in free.items():
            self._context.items += self._doc.link(home, mention) is None
            link = LinkRow(home, mention, score, State.UNDECIDED, source_id, event_id)
            self._doc.put(link)
            self._repeated |= {("link", *link.key), ("placed", mention)}

    def _leave_out_impossible(self, mentions: Scores) -> Scores:
        """Without mentions that have a place by this run, and without pairs that a person took apart."""
        possible: Scores = {}
        apart: set[str] = set()
        for mention, score in mentions.items():
            links = [each for each in self._doc.links_of(mention) if each.state is State.REJECTED]
            clusters = [self._doc.cluster(link.cluster_id) for link in links]
            left = {each.id for each in clusters if each and each.state is State.REJECTED}
            if ("placed", mention) not in self._repeated and not left & apart:
                possible[mention] = score
            apart |= left
        return possible

    def _find_home(self, mentions: Scores) -> str | None:
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
        return self._others.get(item.source, self._context.source_id)

    def _drop_outdated(self) -> None:
        """Undecided items that the model no longer predicts; entities stay that something still needs."""
        doc = self._doc
        if Layer.COREFERENCE in self._open:
            for link in doc.links:
                outdated = self._is_outdated(link, ("link", *link.key))
                if outdated and not leaves_alone(doc, link):
                    doc.drop(link)
            kept = {link.cluster_id for link in doc.links}
            for cluster in doc.clusters:
                if cluster.state is State.UNDECIDED and cluster.id not in kept:
                    doc.drop(cluster)
        if Layer.RELATIONS in self._open:
            for relation in doc.relations:
                if self._is_outdated(relation, ("relation", relation.id)):
                    doc.drop(relation)
        if Layer.ENTITIES in self._open:
            for entity in doc.entities:  # last: relations and links that went need none any more
                needed = doc.relations_of(entity.id) or doc.links_of(entity.id)
                if self._is_outdated(entity, ("entity", entity.id)) and not needed:
                    doc.drop(entity)

    def _is_outdated(self, row: EntityRow | RelationRow | LinkRow, item: tuple[str, ...]) -> bool:
        by_model = row.source_id in self._models
        return by_model and row.state is State.UNDECIDED and item not in self._repeated
