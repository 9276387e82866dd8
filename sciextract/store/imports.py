"""Imported annotations into a document's state: nothing is refused, nothing decided is changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.store.context import Context
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import IN_VIEW, ClusterRow, EntityRow, LinkRow, RelationRow, original_of
from sciextract.store.sqlite import to_sql

Pair = tuple[str, str]
_TWO = 2


def free_id(doc: DocumentState, wanted: str, context: Context) -> str:
    """The id itself, or a fresh one when the document has an item of that id, or it cannot be kept."""
    taken = doc.entity(wanted) or doc.relation(wanted) or doc.cluster(wanted)
    usable = bool(wanted) and isinstance(to_sql(wanted), str)
    return wanted if usable and not taken else context.fresh_id()


def add_entity(
    doc: DocumentState, entity: Entity, state: State, source_id: int, context: Context
) -> EntityRow:
    """Add an incoming entity as a row."""
    row = EntityRow(
        id=free_id(doc, entity.id, context),
        fragments=entity.fragments,
        label=entity.label,
        score=entity.score,
        state=state,
        source_id=source_id,
        event_id=context.event_id,
        alternatives=entity.alternatives,
    )
    doc.put(row)
    context.items += 1
    return row


def add_relation(
    doc: DocumentState,
    relation: Relation,
    ends: Pair,
    state: State,
    source_id: int,
    context: Context,
) -> RelationRow:
    """Add an incoming relation between two entities of the project as a row."""
    row = RelationRow(
        id=free_id(doc, relation.id, context),
        head=ends[0],
        tail=ends[1],
        label=relation.label,
        score=relation.score,
        state=state,
        source_id=source_id,
        event_id=context.event_id,
        alternatives=relation.alternatives,
    )
    doc.put(row)
    context.items += 1
    return row


def add_cluster(
    doc: DocumentState, cluster: Cluster, state: State, source_id: int, context: Context
) -> ClusterRow:
    """Add an incoming cluster as a row, still without links."""
    row = ClusterRow(
        free_id(doc, cluster.id, context), cluster.score, state, source_id, context.event_id
    )
    doc.put(row)
    return row


def add_link(
    doc: DocumentState,
    cluster_id: str,
    mention: str,
    score: float | None,
    like: ClusterRow,
    context: Context,
) -> None:
    """Add a mention to a cluster, in the cluster's own state and from its source."""
    doc.put(LinkRow(cluster_id, mention, score, like.state, like.source_id, context.event_id))
    context.items += 1


def leaves_alone(doc: DocumentState, link: LinkRow) -> bool:
    """Whether a mention whose link is decided would be the only mention of its cluster without this link."""
    return is_awaited(doc, link) and len(doc.members(link.cluster_id)) == _TWO


def is_awaited(doc: DocumentState, link: LinkRow) -> bool:
    """Whether one other mention of the cluster is decided, which cannot stay there alone."""
    cluster = doc.cluster(link.cluster_id)
    by_import = cluster is not None and cluster.state is State.IMPORTED
    others = [each for each in doc.members(link.cluster_id) if each.key != link.key]
    return not by_import and sum(each.in_view for each in others) == 1


def same_relations(
    doc: DocumentState, ends: Pair, symmetric: bool, label: str | None = None
) -> list[RelationRow]:
    """Relations between two entities in that direction (either one, for symmetric types)."""
    return [
        each
        for each in doc.relations
        if ((each.head, each.tail) == ends or (symmetric and (each.tail, each.head) == ends))
        and label in (None, each.label)
    ]


def entity_by_original(rows: Iterable[EntityRow], entity: Entity) -> EntityRow | None:
    """The row that had this label and these fragments before a person edited it."""
    fragments = [[each.char_start, each.char_end] for each in entity.fragments]
    wanted = {"label": entity.label, "fragments": fragments}
    return next((row for row in rows if original_of(row) == wanted), None)


def relation_by_original(doc: DocumentState, ends: Pair, label: str) -> RelationRow | None:
    """The relation that was this one before a person edited it."""
    wanted = {"label": label, "head": ends[0], "tail": ends[1]}
    return next((row for row in doc.relations if original_of(row) == wanted), None)


_OPEN = State.UNDECIDED

Mentions = dict[str, tuple[float | None, State]]
"""Score and state of the mentions of an imported cluster, by the entity's id in the project."""


class ImportMerge:
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

    def __init__(self, doc: DocumentState, context: Context) -> None:
        self._doc = doc
        self._context = context
        self._ids: dict[str, str] = {}
        self._claimed: dict[str, bool] = {}
        self._made: set[str] = set()
        self.against_decisions = 0

    def merge(self, annotations: Annotations) -> None:
        """Merge everything."""
        for entity in annotations.entities:
            self._entity(entity)
        for relation in annotations.relations:
            if {relation.head, relation.tail} <= self._ids.keys():
                self._relation(relation)
        for cluster in annotations.clusters:
            self._cluster(cluster)

    def _entity(self, entity: Entity) -> None:
        row = self._twin(entity)
        if row is not None:
            self._decide(row, entity)
        elif row := entity_by_original(self._doc.edited, entity):
            self.against_decisions += entity.state in IN_VIEW
        else:
            source_id = self._source(entity)
            row = add_entity(self._doc, entity, entity.state, source_id, self._context)
        self._ids[entity.id] = row.id
        self._claimed[row.id] = self._claimed.get(row.id, False) or entity.state in IN_VIEW

    def _twin(self, entity: Entity) -> EntityRow | None:
        """The row that says the same. What a file has twice in its view is there twice."""
        rows = self._doc.on_fragments(entity.fragments)
        same = [row for row in rows if row.label == entity.label]
        if entity.state in IN_VIEW:
            same = [row for row in same if not self._claimed.get(row.id)]
        same.sort(key=lambda row: (row.event_id, row.id))
        same.sort(key=lambda row: (row.id not in self._claimed, row.id != entity.id))
        return same[0] if same else None

    def _relation(self, relation: Relation) -> None:
        ends = (self._ids[relation.head], self._ids[relation.tail])
        known = self._same(relation, ends)
        if known is not None:
            self._decide(known, relation)
        elif self._contradicts(relation, ends):
            self.against_decisions += relation.state in IN_VIEW
            return
        else:
            source_id = self._source(relation)
            add_relation(self._doc, relation, ends, relation.state, source_id, self._context)
        if (known is None or known.state is _OPEN) and relation.state in IN_VIEW:
            self._need(ends)

    def _same(self, relation: Relation, ends: tuple[str, str]) -> RelationRow | None:
        """The row that says the same; of a symmetric type in either direction, unless both are imported."""
        exact = same_relations(self._doc, ends, symmetric=False, label=relation.label)
        symmetric = relation.label in self._context.schema.symmetric_labels
        turned = [
            row
            for row in same_relations(self._doc, ends, symmetric, relation.label)
            if not (row.in_view and relation.state in IN_VIEW)
        ]
        return next(iter([*exact, *turned]), None)

    def _contradicts(self, relation: Relation, ends: tuple[str, str]) -> bool:
        """Whether a person edited this relation, or rejected a mention that it needs."""
        edited = relation_by_original(self._doc, ends, relation.label) is not None
        needs = relation.state is not State.REJECTED
        return edited or (needs and self._any_rejected(ends))

    def _any_rejected(self, entity_ids: Collection[str]) -> bool:
        rows = [self._doc.entity(each) for each in entity_ids]
        return any(row is None or row.state is State.REJECTED for row in rows)

    def _need(self, entity_ids: Collection[str]) -> None:
        """What takes part in something that is decided is decided itself."""
        for entity_id in entity_ids:
            row = self._doc.entity(entity_id)
            if row is not None and row.state is _OPEN:
                self._settle(row, State.IMPORTED, self._context.source_id)

    def _cluster(self, cluster: Cluster) -> None:
        mentions = self._mentions(cluster)
        home = self._home(mentions)
        if home is None:
            mentions = self._possible(mentions)
            if len(mentions) < min(_TWO, len(cluster.mentions)):
                return
            home = self._home(mentions)
        if home is not None:
            self._decide_links(home, mentions)
        elif (state := _state_of(cluster, mentions)) is not None:
            self._new_cluster(cluster, state, mentions)

    def _new_cluster(self, cluster: Cluster, state: State, mentions: Mentions) -> None:
        row = add_cluster(self._doc, cluster, state, self._source(cluster), self._context)
        self._made.add(row.id)
        for mention, (score, its_state) in mentions.items():
            like = replace(row, state=its_state)
            add_link(self._doc, row.id, mention, score, like, self._context)
        self._take_over(row.id, mentions)

    def _mentions(self, cluster: Cluster) -> Mentions:
        count = len(cluster.mentions)
        scores = cluster.mention_scores or (cluster.score,) * count
        states = cluster.mention_states or (cluster.state,) * count
        all_mentions = zip(cluster.mentions, scores, states, strict=True)
        return {self._ids[m]: (score, state) for m, score, state in all_mentions if m in self._ids}

    def _home(self, mentions: Mentions) -> ClusterRow | None:
        """The cluster that has, or once had, all these mentions: best one that still has them, and few more.

        Clusters of one file do not stand for each other, since gold may say that mentions overlap.
        """
        ever = {each: self._ever(each) for each in self._doc.clusters if each.id not in self._made}
        holding = [
            each for each, entities in ever.items() if mentions and entities >= mentions.keys()
        ]
        fit = {each: (len(self._living(each, mentions)), -len(ever[each])) for each in holding}
        return max(holding, key=fit.__getitem__, default=None)

    def _ever(self, cluster: ClusterRow) -> set[str]:
        return {
            link.entity_id
            for link in self._doc.links
            if cluster.id in (link.cluster_id, original_of(link).get("cluster"))
        }

    def _living(self, cluster: ClusterRow, mentions: Mentions) -> set[str]:
        return mentions.keys() & {link.entity_id for link in self._doc.members(cluster.id)}

    def _decide_links(self, home: ClusterRow, mentions: Mentions) -> None:
        living = self._living(home, mentions)
        for mention, (_, state) in mentions.items():
            link = self._doc.link(home.id, mention)
            if mention not in living or link is None:
                self.against_decisions += state in IN_VIEW
            elif link.state is _OPEN and state in IN_VIEW:
                self._settle(link, state, link.source_id)
        if home.state is _OPEN and any(mentions[each][1] in IN_VIEW for each in living):
            self._doc.put(replace(home, state=State.IMPORTED, event_id=self._context.event_id))
        self._take_over(home.id, {each: mentions[each] for each in living})

    def _possible(self, mentions: Mentions) -> Mentions:
        """Without rejected mentions, and without proposals for mentions that are in a cluster already."""
        possible = {}
        for mention, (score, state) in mentions.items():
            placed = any(each.state is not State.REJECTED for each in self._doc.links_of(mention))
            if self._any_rejected([mention]) and state is not State.REJECTED:
                self.against_decisions += state in IN_VIEW
            elif not (placed and state is _OPEN):
                possible[mention] = (score, state)
        return possible

    def _take_over(self, cluster_id: str, mentions: Mentions) -> None:
        """Mentions that the file puts into a cluster are decided; proposals of other clusters for them go."""
        decided = [each for each, (_, state) in mentions.items() if state in IN_VIEW]
        self._need(decided)
        for mention in decided:
            for link in self._doc.links_of(mention):
                other = link.state is _OPEN and link.cluster_id != cluster_id
                if other and not leaves_alone(self._doc, link):
                    self._drop_proposal(link)

    def _drop_proposal(self, link: LinkRow) -> None:
        self._doc.drop(link)
        cluster, rest = self._doc.cluster(link.cluster_id), self._doc.members(link.cluster_id)
        if len(rest) == 1 and rest[0].state is _OPEN:
            self._doc.drop(rest[0])
        if cluster is not None and not any(e.cluster_id == cluster.id for e in self._doc.links):
            self._doc.drop(cluster)

    def _decide(self, row: EntityRow | RelationRow, incoming: Entity | Relation) -> None:
        if row.state is _OPEN and incoming.state is not _OPEN:
            if incoming.state is State.REJECTED and self._is_needed(row.id):
                return
            self._settle(row, incoming.state, self._source(incoming))
            if incoming.state is State.REJECTED:
                self._drop_what_needs(row.id)
        elif row.state is State.REJECTED:
            self.against_decisions += incoming.state in IN_VIEW

    def _is_needed(self, entity_id: str) -> bool:
        """Whether a person decided a mention that would be alone without this one."""
        return any(leaves_alone(self._doc, link) for link in self._doc.links_of(entity_id))

    def _drop_what_needs(self, entity_id: str) -> None:
        """Proposals about a mention that the file has as rejected."""
        for relation in self._doc.relations_of(entity_id):
            if relation.state is _OPEN:
                self._doc.drop(relation)
        for link in self._doc.links_of(entity_id):
            if link.state is _OPEN:
                self._drop_proposal(link)

    def _settle(self, row: EntityRow | RelationRow | LinkRow, state: State, source_id: int) -> None:
        event_id = self._context.event_id
        self._doc.put(replace(row, state=state, source_id=source_id, event_id=event_id))
        self._context.items += 1

    def _source(self, item: Entity | Relation | Cluster) -> int:
        """The source that the item itself names, as our own exports do, else the import."""
        named = item.source.startswith(("model:", "person:", "import:"))
        return self._context.source_of(item.source) if named else self._context.source_id


def _state_of(cluster: Cluster, mentions: Mentions) -> State | None:
    """The state of a new cluster, after its mentions; ``None`` when it says nothing any more.

    One mention alone is a cluster only where the file has it so.
    """
    states = [state for _, state in mentions.values()]
    decided = sum(state in IN_VIEW for state in states)
    if decided >= _TWO:
        return cluster.state if cluster.state in IN_VIEW else State.IMPORTED
    if decided:
        whole = len(mentions) == len(cluster.mentions)
        return State.IMPORTED if whole or states.count(_OPEN) else None
    if states.count(_OPEN) >= _TWO:
        return _OPEN
    return State.REJECTED if states and _OPEN not in states else None
