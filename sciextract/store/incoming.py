"""What sources say of a document into its state: imported annotations and a model's predictions; nothing decided is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Cluster,
    Entity,
    Layer,
    Relation,
    State,
    new_id,
)
from sciextract.store.coverage import Type, uncovered_types
from sciextract.store.document_state import Context, DocumentState
from sciextract.store.rows import (
    FIELDS,
    IN_VIEW,
    AttributeRow,
    ClusterRow,
    EntityRow,
    ItemRow,
    LinkRow,
    ProgressRow,
    RelationRow,
    edges_of,
    original_of,
)
from sciextract.store.sqlite import storable, to_sql

Pair = tuple[str, str]
Item = Entity | Relation | Cluster | Attribute
_OPEN = State.UNDECIDED

Mentions = dict[str, tuple[float | None, State]]
"""Score and state of the mentions of an imported cluster, by the entity's id in the project."""


def free_id(doc: DocumentState, wanted: str) -> str:
    """The id itself, or a fresh one when the document has an item of that id, or it cannot be kept."""
    lookups = (doc.entity, doc.relation, doc.cluster, doc.attribute)
    taken = any(look_up(wanted) for look_up in lookups)
    # Ids from files may be empty, or hold lone surrogates, which no TEXT column takes.
    usable = bool(wanted) and isinstance(to_sql(wanted), str)
    return wanted if usable and not taken else new_id()


def leaves_alone(doc: DocumentState, link: LinkRow) -> bool:
    """Whether a mention whose link is decided would be the only mention of its cluster without this link."""
    return is_awaited(doc, link) and len(doc.members(link.cluster_id)) == 2


def is_awaited(doc: DocumentState, link: LinkRow) -> bool:
    """Whether one other mention of the cluster is decided, which cannot stay there alone."""
    cluster = doc.cluster(link.cluster_id)
    by_import = cluster is not None and cluster.state is State.IMPORTED
    others = [other for other in doc.members(link.cluster_id) if other.key != link.key]
    return not by_import and sum(other.in_view for other in others) == 1


def same_relations(
    doc: DocumentState, ends: Pair, symmetric: bool, label: str | None = None
) -> list[RelationRow]:
    """Relations between two entities in that direction (either one, for symmetric types)."""
    return [
        row
        for row in doc.relations
        if ((row.head, row.tail) == ends or (symmetric and (row.tail, row.head) == ends))
        and label in (None, row.label)
    ]


def entity_by_original(doc: DocumentState, entity: Entity) -> EntityRow | None:
    """The mention that had this label and these fragments before a person edited it."""
    wanted = {"label": entity.label, "fragments": edges_of(entity.fragments)}
    return next((row for row in doc.all_entities if original_of(row) == wanted), None)


def relation_by_original(doc: DocumentState, ends: Pair, label: str) -> RelationRow | None:
    """The relation that was this one before a person edited it."""
    wanted = {"label": label, "head": ends[0], "tail": ends[1]}
    return next((row for row in doc.relations if original_of(row) == wanted), None)


_ROW_OF: dict[type[Item], Any] = {
    Entity: EntityRow,
    Relation: RelationRow,
    Attribute: AttributeRow,
    Cluster: ClusterRow,
}


@dataclass(eq=False)
class _SourceMerge:
    """What both merges share: the document, the event, and the ids that items have in the project."""

    _doc: DocumentState
    _context: Context
    _ids: dict[str, str] = field(default_factory=dict, init=False)

    def _source_of(self, item: Item) -> int:
        raise NotImplementedError

    def _add(self, item: Item, state: State, **here: str) -> str:
        """Add an incoming item as a row, with other values that it has here; gives its id. A cluster has no links yet."""
        kind = _ROW_OF[type(item)]
        said = {name: getattr(item, name) for name in FIELDS[kind.TABLE] if hasattr(item, name)}
        row_id, by = free_id(self._doc, item.id), self._source_of(item)
        said |= {"id": row_id, "state": state, "source_id": by} | here
        self._doc.put(kind(**said, event_id=self._context.event_id))
        self._context.items += not isinstance(item, Cluster)
        return row_id


@dataclass(eq=False)
class ImportMerge(_SourceMerge):
    """Merges one imported set of annotations into a document's state.

    An item that the project has already stays as it is; if it was undecided, the imported source decides
    it. What a person rejected or edited does not come back, and nothing comes that needs it. States of
    our own exports are kept.

    Args:
        doc: The document.
        context: The import.

    Attributes:
        against_decisions: Items that were left out because a person decided otherwise.
    """

    against_decisions: int = field(default=0, init=False)
    _claimed: dict[str, bool] = field(default_factory=dict, init=False)
    _made: set[str] = field(default_factory=set, init=False)

    def merge(self, annotations: Annotations) -> None:
        """Merge everything."""
        for entity in annotations.entities:
            self._merge_entity(entity)
        for relation in annotations.relations:
            if {relation.head, relation.tail} <= self._ids.keys():
                self._merge_relation(relation)
        for cluster in annotations.clusters:
            self._merge_cluster(cluster)
        self._ids[""] = ""
        for attribute in annotations.attributes:
            if attribute.target in self._ids:
                self._merge_attribute(attribute, self._ids[attribute.target])

    def _merge_attribute(self, attribute: Attribute, target: str) -> None:
        doc, value = self._doc, storable(attribute.value)
        rows = [row for row in doc.attributes_of(target) if row.label == attribute.label]
        same = [row for row in rows if row.value == value]
        item = doc.entity(target) or doc.relation(target)
        gone = item is not None and item.state is State.REJECTED is not attribute.state
        if same:
            self._decide(same[0], attribute)
        elif gone or any(row.in_view or original_of(row) == {"value": value} for row in rows):
            # A second value in one file is no decision against a person's; the document has a warning.
            of_file = any(row.event_id == self._context.event_id for row in rows)
            self.against_decisions += attribute.state in IN_VIEW and not of_file
            return
        else:
            for row in rows:  # of two proposals the file's stays
                if row.state is _OPEN and attribute.state is not State.REJECTED:
                    doc.drop(row)
            self._add(attribute, attribute.state, target=target, value=value)
        if attribute.state in IN_VIEW and item is not None and item.state is _OPEN:
            self._settle(item, State.IMPORTED, self._context.source_id)
            if isinstance(item, RelationRow):
                self._decide_mentions((item.head, item.tail))

    def _merge_entity(self, entity: Entity) -> None:
        rows = self._doc.on_fragments(entity.fragments)
        same = [row for row in rows if row.label == entity.label]
        if entity.state in IN_VIEW:
            # What a file has twice in its view is there twice: a row stands for one of them only.
            same = [row for row in same if not self._claimed.get(row.id)]
        same.sort(key=lambda row: (row.event_id, row.id))
        same.sort(key=lambda row: (row.id not in self._claimed, row.id != entity.id))
        if same:
            here = same[0].id
            self._decide(same[0], entity)
        elif edited := entity_by_original(self._doc, entity):
            here = edited.id
            self.against_decisions += entity.state in IN_VIEW
        else:
            here = self._add(entity, entity.state)
        self._ids[entity.id] = here
        self._claimed[here] = self._claimed.get(here, False) or entity.state in IN_VIEW

    def _merge_relation(self, relation: Relation) -> None:
        doc, label = self._doc, relation.label
        ends = (self._ids[relation.head], self._ids[relation.tail])
        exact = same_relations(doc, ends, symmetric=False, label=label)
        symmetric = label in self._context.schema.symmetric_labels
        # Of a symmetric type in either direction, unless both are imported: then the file has both.
        turned = [
            row
            for row in same_relations(doc, ends, symmetric, label)
            if not (row.in_view and relation.state in IN_VIEW)
        ]
        known = next(iter([*exact, *turned]), None)
        needs_mentions = relation.state is not State.REJECTED
        if known is not None:
            self._decide(known, relation)
            self._ids[relation.id] = known.id
        elif relation_by_original(doc, ends, label) or (
            needs_mentions and self._any_rejected(ends)
        ):
            self.against_decisions += relation.state in IN_VIEW
            return
        else:
            head, tail = ends
            self._ids[relation.id] = self._add(relation, relation.state, head=head, tail=tail)
        if (known is None or known.state is _OPEN) and relation.state in IN_VIEW:
            self._decide_mentions(ends)

    def _any_rejected(self, entity_ids: Collection[str]) -> bool:
        rows = [self._doc.entity(entity_id) for entity_id in entity_ids]
        return any(row is None or row.state is State.REJECTED for row in rows)

    def _decide_mentions(self, entity_ids: Collection[str]) -> None:
        """What takes part in something that is decided is decided itself."""
        for entity_id in entity_ids:
            row = self._doc.entity(entity_id)
            if row is not None and row.state is _OPEN:
                self._settle(row, State.IMPORTED, self._context.source_id)

    def _merge_cluster(self, cluster: Cluster) -> None:
        count = len(cluster.mentions)
        scores = cluster.mention_scores or (cluster.score,) * count
        states = cluster.mention_states or (cluster.state,) * count
        said = zip(cluster.mentions, scores, states, strict=True)
        mentions = {self._ids[m]: (score, state) for m, score, state in said if m in self._ids}
        home = self._find_home(mentions)
        if home is None:
            # Only a new cluster leaves mentions out: in one that is here already their links are counted below.
            mentions = self._leave_out_impossible(mentions)
            if len(mentions) < min(2, count):
                return
            home = self._find_home(mentions)
        if home is not None:
            self._decide_links(home, mentions)
        elif (state := _state_of_cluster(cluster, mentions)) is not None:
            home_id = self._add(cluster, state)
            self._made.add(home_id)
            by, event_id = self._source_of(cluster), self._context.event_id
            for mention, (score, its_state) in mentions.items():
                self._doc.put(LinkRow(home_id, mention, score, its_state, by, event_id))
                self._context.items += 1
            self._take_over(home_id, mentions)

    def _find_home(self, mentions: Mentions) -> ClusterRow | None:
        """The cluster that has, or once had, all these mentions: best one that still has them, and few more.

        Clusters of one file do not stand for each other, since gold may say that mentions overlap.
        """
        fit: dict[ClusterRow, tuple[int, int]] = {}
        for cluster in self._doc.clusters if mentions else ():
            if cluster.id in self._made:
                continue
            ever = {
                link.entity_id
                for link in self._doc.links
                if cluster.id in (link.cluster_id, original_of(link).get("cluster"))
            }
            if ever >= mentions.keys():
                fit[cluster] = len(self._find_living(cluster, mentions)), -len(ever)
        return max(fit, key=fit.__getitem__, default=None)

    def _find_living(self, cluster: ClusterRow, mentions: Mentions) -> set[str]:
        return mentions.keys() & {link.entity_id for link in self._doc.members(cluster.id)}

    def _decide_links(self, home: ClusterRow, mentions: Mentions) -> None:
        living = self._find_living(home, mentions)
        for mention, (_, state) in mentions.items():
            link = self._doc.link(home.id, mention)
            if mention not in living or link is None:
                self.against_decisions += state in IN_VIEW
            elif link.state is _OPEN and state in IN_VIEW:
                self._settle(link, state, link.source_id)
        if home.state is _OPEN and any(mentions[mention][1] in IN_VIEW for mention in living):
            self._doc.put(replace(home, state=State.IMPORTED, event_id=self._context.event_id))
        self._take_over(home.id, {mention: mentions[mention] for mention in living})

    def _leave_out_impossible(self, mentions: Mentions) -> Mentions:
        """Without rejected mentions, and without proposals for mentions that are in a cluster already."""
        possible = {}
        for mention, (score, state) in mentions.items():
            placed = any(link.state is not State.REJECTED for link in self._doc.links_of(mention))
            if self._any_rejected([mention]) and state is not State.REJECTED:
                self.against_decisions += state in IN_VIEW
            elif not (placed and state is _OPEN):
                possible[mention] = (score, state)
        return possible

    def _take_over(self, cluster_id: str, mentions: Mentions) -> None:
        """Mentions that the file puts into a cluster are decided; proposals of other clusters for them go."""
        decided = [mention for mention, (_, state) in mentions.items() if state in IN_VIEW]
        self._decide_mentions(decided)
        for mention in decided:
            for link in self._doc.links_of(mention):
                if link.cluster_id != cluster_id and not leaves_alone(self._doc, link):
                    self._doc.drop_proposals([link])

    def _decide(
        self, row: EntityRow | RelationRow | AttributeRow, incoming: Entity | Relation | Attribute
    ) -> None:
        if row.state is State.REJECTED:
            self.against_decisions += incoming.state in IN_VIEW
        if row.state is not _OPEN or incoming.state is _OPEN:
            return
        links = self._doc.links_of(row.id)
        rejected = incoming.state is State.REJECTED
        if rejected and any(leaves_alone(self._doc, link) for link in links):
            return  # a person decided a mention that would be alone in its cluster without this one
        self._settle(row, incoming.state, self._source_of(incoming))
        if rejected:
            for relation in self._doc.relations_of(row.id):
                if relation.state is _OPEN:
                    self._doc.drop(relation)
            self._doc.drop_proposals(links)

    def _settle(self, row: ItemRow, state: State, source_id: int) -> None:
        event_id = self._context.event_id
        self._doc.put(replace(row, state=state, source_id=source_id, event_id=event_id))
        self._context.items += 1

    def _source_of(self, item: Item) -> int:
        """The source that the item itself names, as our own exports do, else the import."""
        named = item.source.startswith(("model:", "person:", "import:"))
        return self._context.source_of(item.source) if named else self._context.source_id


def _state_of_cluster(cluster: Cluster, mentions: Mentions) -> State | None:
    """The state of a new cluster, after its mentions; ``None`` when it says nothing any more.

    One mention alone is a cluster only where the file has it so.
    """
    states = [state for _, state in mentions.values()]
    decided = sum(state in IN_VIEW for state in states)
    if decided >= 2:
        return cluster.state if cluster.state in IN_VIEW else State.IMPORTED
    if decided:
        whole = len(mentions) == len(cluster.mentions)
        return State.IMPORTED if whole or states.count(_OPEN) else None
    if states.count(_OPEN) >= 2:
        return _OPEN
    return State.REJECTED if states and _OPEN not in states else None


Scores = dict[str, float | None]


@dataclass(eq=False)
class PredictionMerge(_SourceMerge):
    """Merges one model's predictions into a document's state.

    Undecided items of models that this one does not repeat go; those that it repeats get its score. Undecided
    items that a person suggested from a file stay.
    What a person accepted, rejected, edited or added stays, and so does what was imported; a prediction
    that contradicts it is left out. A layer that is done stays as it is, but for types that nobody has looked for in it.

    Args:
        doc: The document.
        context: The run.
        models: The sources that are models' runs.
        others: By the name that items carry, another source that they get; the run's where theirs is not here.
    """

    _models: frozenset[int]
    _others: Mapping[str, int]
    _open: set[Layer] = field(default_factory=set, init=False)
    _late: frozenset[Type] = field(default=frozenset(), init=False)
    _repeated: set[tuple[str, ...]] = field(default_factory=set, init=False)

    def merge(self, annotations: Annotations) -> None:
        """Merge everything, then take out what was not repeated."""
        progress = self._doc.progress or ProgressRow()
        self._open = set(Layer).difference(progress.done)
        self._late = uncovered_types(progress, self._context.schema)
        if self._late and progress.is_finished(self._context.schema):
            self._open.clear()  # it is looked through once more for these alone
        for entity in annotations.entities:
            self._merge_entity(entity)
        for relation in annotations.relations:
            is_open = self._is_open(Layer.RELATIONS, relation.label)
            if is_open and {relation.head, relation.tail} <= self._ids.keys():
                self._merge_relation(relation)
        if self._is_open(Layer.COREFERENCE):
            for cluster in annotations.clusters:
                self._merge_cluster(cluster)
        self._ids[""] = ""
        for attribute in annotations.attributes:
            if attribute.target in self._ids:
                self._merge_attribute(attribute, self._ids[attribute.target])
        self._drop_outdated()

    def _merge_attribute(self, attribute: Attribute, target: str) -> None:
        doc = self._doc
        rows = [row for row in doc.attributes_of(target) if row.label == attribute.label]
        decided = any(row.state is not _OPEN for row in rows)
        layer = Layer.RELATIONS if doc.relation(target) else Layer.ENTITIES
        if decided or layer not in self._open:
            return
        for row in rows:
            doc.drop(row)
        value = storable(attribute.value)
        self._repeated.add(("attribute", self._add(attribute, _OPEN, target=target, value=value)))

    def _merge_entity(self, entity: Entity) -> None:
        doc, is_open = self._doc, self._is_open(Layer.ENTITIES, entity.label)
        twins = doc.on_fragments(entity.fragments)
        # Rejected ones last: the same mention may have been rejected and added again.
        twins.sort(key=lambda row: row.state is State.REJECTED)
        same = next((row for row in twins if row.label == entity.label), None)
        edited = entity_by_original(doc, entity)
        known = same or edited or next((row for row in twins if row.in_view), None)
        if known is not None:
            if known.state is State.UNDECIDED and is_open:
                self._refresh(known, entity)
            if known.state is not State.REJECTED:  # a rejected mention takes no relations
                self._ids[entity.id] = known.id
        elif is_open:
            for twin in twins:
                # A mention that was suggested without a label gives way to one with a label on the same characters.
                unlabelled = twin.state is State.UNDECIDED and not twin.label
                if unlabelled and not doc.is_needed(twin):
                    doc.drop(twin)
            self._ids[entity.id] = self._add(entity, _OPEN)
            self._repeated.add(("entity", self._ids[entity.id]))

    def _merge_relation(self, relation: Relation) -> None:
        ends = (self._ids[relation.head], self._ids[relation.tail])
        if ends[0] == ends[1]:  # two predicted mentions that stand for one mention here
            return
        doc, label = self._doc, relation.label
        symmetric = label in self._context.schema.symmetric_labels
        same = same_relations(doc, ends, symmetric, label)
        decided = any(row.in_view for row in same_relations(doc, ends, symmetric))
        if same and same[0].state is not State.REJECTED:
            self._ids[relation.id] = same[0].id
        if same and same[0].state is State.UNDECIDED:
            self._refresh(same[0], relation)
        elif not (same or decided or relation_by_original(doc, ends, label)):
            self._ids[relation.id] = self._add(relation, _OPEN, head=ends[0], tail=ends[1])
            self._repeated.add(("relation", self._ids[relation.id]))

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
        if len(free) < (1 if settled else 2):
            return
        source_id, event_id = self._source_of(cluster), self._context.event_id
        if home is None:
            home = self._add(cluster, _OPEN)
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
            links = [link for link in self._doc.links_of(mention) if link.state is State.REJECTED]
            clusters = [self._doc.cluster(link.cluster_id) for link in links]
            left = {row.id for row in clusters if row and row.state is State.REJECTED}
            if ("placed", mention) not in self._repeated and not left & apart:
                possible[mention] = score
            apart |= left
        return possible

    def _find_home(self, mentions: Scores) -> str | None:
        """The cluster that takes the mentions: a decided one first, else an undecided one of one of them."""
        links = [link for mention in mentions for link in self._doc.links_of(mention)]
        decided = [link.cluster_id for link in links if link.in_view]
        open_ = [link.cluster_id for link in links if link.state is State.UNDECIDED]
        free = [mention for mention in open_ if ("home", mention) not in self._repeated]
        return next(iter([*decided, *free]), None)

    def _is_free(self, mention: str, home: str | None) -> bool:
        """Whether nobody has decided where the mention belongs, or that it does not belong there."""
        for link in self._doc.links_of(mention):
            proposed = link.state is State.UNDECIDED and link.cluster_id != home
            if link.in_view or (proposed and is_awaited(self._doc, link)):
                return False
        known = None if home is None else self._doc.link(home, mention)
        return known is None or known.state is State.UNDECIDED

    def _source_of(self, item: Item) -> int:
        return self._others.get(item.source, self._context.source_id)

    def _drop_outdated(self) -> None:
        """Undecided items that the model no longer predicts; entities stay that something still needs."""
        doc = self._doc
        for attribute in doc.attributes:
            layer = doc.layer_of(attribute)
            if layer in self._open and self._is_outdated(attribute, layer):
                doc.drop(attribute)
        for link in doc.links:
            outdated = self._is_outdated(link, Layer.COREFERENCE)
            if outdated and not leaves_alone(doc, link):
                doc.drop(link)
        for relation in doc.relations:
            if self._is_outdated(relation, Layer.RELATIONS):
                doc.drop(relation)
        for entity in doc.entities:  # last: relations and links that went need none any more
            if self._is_outdated(entity, Layer.ENTITIES) and not doc.is_needed(entity):
                doc.drop(entity)

    def _is_outdated(self, row: ItemRow, layer: Layer) -> bool:
        waits = row.source_id in self._models and row.state is State.UNDECIDED
        is_repeated = (row.TABLE, *row.key) in self._repeated
        return waits and not is_repeated and self._is_open(layer, getattr(row, "label", ""))

    def _is_open(self, layer: Layer, label: str = "") -> bool:
        return layer in self._open or (layer, label) in self._late
