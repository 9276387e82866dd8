"""A document's state as an action sees it, with a record of what it changes; the rules that its rows keep; and who acts, under which event.

What others read of it is an annotated document: the current view, with or without what is undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Self, TypeVar, cast

from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Cluster,
    Entity,
    Layer,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ActionRefusedError
from sciextract.store.documents import Stored
from sciextract.store.events import Change, change_of
from sciextract.store.rows import (
    IN_VIEW,
    ROW_TYPES,
    AttributeRow,
    ClusterRow,
    EntityRow,
    ItemRow,
    Key,
    LinkRow,
    ProgressRow,
    RelationRow,
    Row,
    from_values,
    to_values,
    type_of_row,
)

_Kind = TypeVar("_Kind", EntityRow, RelationRow, ClusterRow, LinkRow, AttributeRow)
Tables = dict[str, dict[Key, Row]]
"""State rows by table and key."""
_ORDER = tuple(ROW_TYPES)
_TABLE_OF = {
    Layer.ENTITIES: EntityRow.TABLE,
    Layer.RELATIONS: RelationRow.TABLE,
    Layer.COREFERENCE: LinkRow.TABLE,
}
_LAYER_OF = {table: layer for layer, table in _TABLE_OF.items()}


class DocumentState:
    """The state rows of one document, changed in memory.

    Args:
        stored: The document.
        rows: Its state rows; without a :class:`ProgressRow` the document is not in the project.

    Attributes:
        before: The rows at the start, by table and key; never changed.
    """

    def __init__(self, stored: Stored, rows: Iterable[Row]) -> None:
        tables: Tables = {name: {} for name in ROW_TYPES}
        for row in rows:
            tables[row.TABLE][row.key] = row
        self.stored, self.before, self._rows = stored, tables, _copy(tables)

    @classmethod
    def of(cls, stored: Stored, tables: Tables) -> Self:
        """The state that begins with rows by table and key, which it leaves as they are."""
        # Copied row by row only once: __init__ would sort rows into tables that are there already.
        state = cls(stored, ())
        state.before, state._rows = tables, _copy(tables)
        return state

    def as_saved(self) -> Tables:
        """The rows as they are now, by table and key."""
        return _copy(self._rows)

    @property
    def number(self) -> int:
        """The document's number."""
        return self.stored.number

    @property
    def text(self) -> str:
        """The document's text."""
        return self.stored.document.text

    @property
    def progress(self) -> ProgressRow | None:
        """Completeness, flag and note; ``None`` when the document is not in the project."""
        return cast("ProgressRow | None", self._rows[ProgressRow.TABLE].get(()))

    @property
    def entities(self) -> list[EntityRow]:
        """All entities, rejected ones too, in text order."""
        return sorted(self._of(EntityRow), key=in_text_order)

    @property
    def all_entities(self) -> Iterator[EntityRow]:
        """The same in no order: sorting takes longer than most who ask for them."""
        return self._of(EntityRow)

    @property
    def edited(self) -> list[EntityRow]:
        """Entities that were something else before a person edited them."""
        return [mention for mention in self._of(EntityRow) if mention.was is not None]

    @property
    def relations(self) -> list[RelationRow]:
        """All relations, rejected ones too."""
        return list(self._of(RelationRow))

    @property
    def clusters(self) -> list[ClusterRow]:
        """All clusters."""
        return list(self._of(ClusterRow))

    @property
    def links(self) -> list[LinkRow]:
        """All links, rejected ones too."""
        return list(self._of(LinkRow))

    @property
    def attributes(self) -> list[AttributeRow]:
        """All attributes, rejected ones too."""
        return list(self._of(AttributeRow))

    def attribute(self, attribute_id: str) -> AttributeRow | None:
        """The attribute of that id."""
        return cast("AttributeRow | None", self._rows[AttributeRow.TABLE].get((attribute_id,)))

    def attributes_of(self, target: str) -> list[AttributeRow]:
        """All attributes of an entity or a relation, or, without an id, of the abstract."""
        return [row for row in self._of(AttributeRow) if row.target == target]

    def layer_of(self, row: ItemRow) -> Layer:
        """The layer that an item is decided with: an attribute with its own item, the abstract's with the entities."""
        if isinstance(row, AttributeRow):
            return Layer.RELATIONS if self.relation(row.target) else Layer.ENTITIES
        return _LAYER_OF[row.TABLE]

    def now(self, row: ItemRow) -> ItemRow | None:
        """What an item is by now; ``None`` where it is gone."""
        return cast("ItemRow | None", self._rows[row.TABLE].get(row.key))

    def standing_on(self, table: str, key: Key) -> list[ItemRow]:
        """What cannot be there without a row: relations and places in clusters of a mention, what is said of both."""
        if table == ClusterRow.TABLE:
            return [link for link in self._of(LinkRow) if (link.cluster_id,) == key]
        if table not in (EntityRow.TABLE, RelationRow.TABLE):
            return []
        upon: list[ItemRow] = [*self.attributes_of(*key)]
        if table == EntityRow.TABLE:
            upon += (*self.relations_of(*key), *self.links_of(*key))
        return upon

    def is_needed(self, entity: EntityRow) -> bool:
        """Whether a mention takes part in a relation or has a place in a cluster, even a rejected one."""
        return bool(self.relations_of(entity.id) or self.links_of(entity.id))

    def entity(self, entity_id: str) -> EntityRow | None:
        """The entity of that id."""
        return cast("EntityRow | None", self._rows[EntityRow.TABLE].get((entity_id,)))

    def relation(self, relation_id: str) -> RelationRow | None:
        """The relation of that id."""
        return cast("RelationRow | None", self._rows[RelationRow.TABLE].get((relation_id,)))

    def cluster(self, cluster_id: str) -> ClusterRow | None:
        """The cluster of that id."""
        return cast("ClusterRow | None", self._rows[ClusterRow.TABLE].get((cluster_id,)))

    def link(self, cluster_id: str, entity_id: str) -> LinkRow | None:
        """The link of that mention to that cluster."""
        return cast("LinkRow | None", self._rows[LinkRow.TABLE].get((cluster_id, entity_id)))

    def on_fragments(self, fragments: tuple[Span, ...]) -> list[EntityRow]:
        """All entities on exactly these fragments."""
        return [mention for mention in self._of(EntityRow) if mention.fragments == fragments]

    def relations_of(self, entity_id: str) -> list[RelationRow]:
        """All relations that an entity is an argument of."""
        return [row for row in self._of(RelationRow) if entity_id in (row.head, row.tail)]

    def links_of(self, entity_id: str) -> list[LinkRow]:
        """All links of a mention."""
        return [link for link in self._of(LinkRow) if link.entity_id == entity_id]

    def members(self, cluster_id: str) -> list[LinkRow]:
        """A cluster's links that are not rejected, in text order of their mentions."""
        own = (link for link in self._of(LinkRow) if link.cluster_id == cluster_id)
        links = [link for link in own if link.state is not State.REJECTED]
        # A link whose mention is gone stands in damaged files only.
        mentions = {link.entity_id: self.entity(link.entity_id) for link in links}
        places = {key: in_text_order(row) if row else (0, 0, key) for key, row in mentions.items()}
        return sorted(links, key=lambda link: places[link.entity_id])

    def items_of(self, *layers: Layer) -> Iterator[ItemRow]:
        """All items of some layers, rejected ones too, in no order; of all layers without arguments."""
        for layer in layers or _TABLE_OF:
            yield from cast("Collection[ItemRow]", self._rows[_TABLE_OF[layer]].values())
        for attribute in self._of(AttributeRow):
            if not layers or self.layer_of(attribute) in layers:
                yield attribute

    def count_undecided(self, *layers: Layer, labels: Collection[str] = ()) -> int:
        """How many items of some layers, or of some types of theirs, wait for a decision."""
        return sum(
            row.state is State.UNDECIDED and (not labels or type_of_row(row) in labels)
            for row in self.items_of(*layers)
        )

    def put(self, row: Row) -> None:
        """Insert a row, or replace the one in its place."""
        self._rows[row.TABLE][row.key] = row

    def drop(self, row: Row) -> None:
        """Take a row out, what is said of it, and a cluster that no link speaks of any more, not even a rejected one."""
        self._remove(row)
        if isinstance(row, LinkRow):
            key = (row.cluster_id,)
            if not self.standing_on(ClusterRow.TABLE, key):
                self._rows[ClusterRow.TABLE].pop(key, None)

    def drop_proposals(self, links: Iterable[LinkRow]) -> None:
        """Take undecided links out, and a cluster that is left with one undecided mention."""
        for link in links:
            if link.state is State.UNDECIDED:
                self.drop(link)
                left = self.members(link.cluster_id)
                if len(left) == 1 and left[0].state is State.UNDECIDED:
                    self.drop(left[0])

    def _remove(self, row: Row) -> None:
        self._rows[row.TABLE].pop(row.key, None)
        if isinstance(row, EntityRow | RelationRow):
            for attribute in self.attributes_of(row.id):
                self._remove(attribute)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Several changes, all of them or, where one is refused, none."""
        before = _copy(self._rows)
        try:
            yield
        except BaseException:
            self._rows = before
            raise

    def turn(self, changes: Iterable[Change]) -> None:
        """Make changes that the log knows, such as those that take an event back."""
        for change in changes:
            row = self._rows[change.table].get(change.key)
            if change.after is None and row is not None:
                # Alone: the log says itself what goes with it, or stands on something else from now on.
                self._rows[row.TABLE].pop(row.key)
            elif change.after is not None:
                values = to_values(row) if row is not None and change.before is not None else {}
                self.put(from_values(change.table, values | change.after))

    def changes(self) -> list[Change]:
        """What differs from the start, in an order in which every row finds the rows it needs."""
        changes = []
        for table, key in sorted(_find_differing(self.before, self._rows)):
            change = change_of(self.before[table].get(key), self._rows[table].get(key))
            if change is not None:
                # Rows that come: parents first. Rows that go: children first.
                place = _ORDER.index(table)
                changes.append((place if change.after is not None else -place, change))
        changes.sort(key=itemgetter(0))
        return [change for _, change in changes]

    def _of(self, kind: type[_Kind]) -> Iterator[_Kind]:
        return iter(cast("Collection[_Kind]", self._rows[kind.TABLE].values()))


def _find_differing(before: Tables, after: Tables) -> Iterator[tuple[str, Key]]:
    """Where another row is now, or none."""
    for table, rows in after.items():
        old = before[table]
        # Identity, not equality: rows are frozen, and most of a long document is untouched.
        yield from ((table, key) for key, row in rows.items() if old.get(key) is not row)
        yield from ((table, key) for key in old if key not in rows)


def _copy(tables: Tables) -> Tables:
    return {name: dict(rows) for name, rows in tables.items()}


def in_text_order(entity: EntityRow) -> tuple[int, int, str]:
    """A sort key: by start, longer ones first, then by id."""
    return entity.char_start, -entity.char_end, entity.id


@dataclass(slots=True)
class Context:
    """The frame of one action.

    Attributes:
        event_id: Its event.
        source_id: Who acts.
        schema: The project's label schema.
        warnings: What the person should know although the action was done.
        items: How many items it changed.
        source_of: The number of a source by name, given now if it has none.
    """

    event_id: int
    source_id: int
    schema: LabelSchema
    source_of: Callable[[str], int]
    warnings: list[str] = field(default_factory=list)
    items: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action did.

    Attributes:
        event_id: Its event, ``None`` when nothing had to be changed.
        documents: How many documents it changed.
        items: How many items it decided, made or removed, those that went along included.
        warnings: What the person should know.
    """

    event_id: int | None
    documents: int
    items: int
    warnings: tuple[str, ...] = ()


def existing(row: _Kind | None, kind: str, item_id: str) -> _Kind:
    """The row of a document.

    Raises:
        ActionRefusedError: There is none (any more).
    """
    if row is None:
        problem = f"the {kind} {item_id} is not in this abstract (any more)"
        hint = "it may have been changed in another window or by another person"
        raise ActionRefusedError(problem, hint)
    return row


class NothingChanged(Exception):
    """An action found nothing to do: its transaction is rolled back, so that no empty event is left."""


Place = tuple[str, Key]
_Item = TypeVar("_Item", EntityRow, RelationRow, LinkRow, AttributeRow)


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that is broken.

    Attributes:
        what: The rule in words.
        places: Rows that have to do with it, by table and key, or by table and the beginning of the key.
        by_import: Whether imports may bring it about.
    """

    what: str
    places: frozenset[Place]
    by_import: bool = False

    def concerns(self, table: str, key: Key) -> bool:
        """Whether a row has to do with it."""
        return any(table == name and key[: len(start)] == start for name, start in self.places)


def find_broken_rules(doc: DocumentState, symmetric: frozenset[str]) -> set[Problem]:
    """What in a document breaks a rule.

    Args:
        doc: The document.
        symmetric: Labels of the relations without direction.
    """
    found = set()
    for relation in doc.relations:
        if not all(_carries(doc.entity(end), relation) for end in (relation.head, relation.tail)):
            place = (relation.TABLE, relation.key)
            found.add(Problem("a relation needs both its mentions", frozenset({place})))
    members: Counter[str] = Counter()
    for link in doc.links:
        members[link.cluster_id] += link.state is not State.REJECTED
        if doc.cluster(link.cluster_id) is None or not _carries(doc.entity(link.entity_id), link):
            place = (link.TABLE, link.key)
            found.add(Problem("a cluster needs its mentions", frozenset({place})))
    for cluster in doc.clusters:
        if cluster.state is not State.IMPORTED and members[cluster.id] == 1:
            places = frozenset({(cluster.TABLE, cluster.key), (LinkRow.TABLE, cluster.key)})
            found.add(Problem("a cluster needs two mentions", places))

    for attribute in doc.attributes:
        if attribute.target and not _carries(
            doc.entity(attribute.target) or doc.relation(attribute.target), attribute
        ):
            place = (attribute.TABLE, attribute.key)
            found.add(Problem("an attribute needs its item", frozenset({place})))

    def content_of(relation: RelationRow) -> object:
        both = (relation.head, relation.tail)
        return relation.label, frozenset(both) if relation.label in symmetric else both

    found.update(_find_twins("a mention belongs to one cluster", doc.links, lambda l: l.entity_id))
    found.update(
        _find_twins("the same mention is there", doc.all_entities, lambda e: (e.label, e.fragments))
    )
    found.update(_find_twins("the same relation is there", doc.relations, content_of))
    found.update(
        _find_twins("an attribute has one value", doc.attributes, lambda a: (a.target, a.label))
    )
    return found


def _carries(
    entity: EntityRow | RelationRow | None, item: RelationRow | LinkRow | AttributeRow
) -> bool:
    """Whether an item is there, and no less certain than what stands on it."""
    if entity is None or item.state is State.REJECTED:
        return entity is not None
    # An undecided item may stand on an undecided mention, a decided one may not.
    return entity.in_view or (not item.in_view and entity.state is State.UNDECIDED)


def _find_twins(
    what: str, rows: Iterable[_Item], content_of: Callable[[_Item], object]
) -> Iterator[Problem]:
    """Rows that say the same, rejected ones left out; nearly always there are none."""
    by_content: dict[object, list[Place]] = {}
    for row in rows:
        if row.state is not State.REJECTED:
            by_content.setdefault(content_of(row), []).append((row.TABLE, row.key))
    # Files may say things twice, and imports take them as they are.
    for places in by_content.values():
        if len(places) > 1:
            yield Problem(what, frozenset(places), by_import=True)


WITH_UNDECIDED = IN_VIEW | {State.UNDECIDED}
DECIDED = IN_VIEW | {State.REJECTED}
EVERYTHING = frozenset(State)


def annotated(
    doc: DocumentState, sources: Mapping[int, str], states: frozenset[State] = IN_VIEW
) -> AnnotatedDocument:
    """A document with those of its items that have one of ``states``.

    Relations and mentions whose entity is left out are left out, too; so are clusters with fewer than two
    mentions, unless they were imported so. A rejected link makes no mention, whatever the states.
    """
    return _view(doc, sources, states, states - {State.REJECTED})


def decided(doc: DocumentState, sources: Mapping[int, str]) -> AnnotatedDocument:
    """A document with what persons decided, rejected places in clusters, too, and what files said."""
    return whole(doc, sources, DECIDED)


def whole(
    doc: DocumentState, sources: Mapping[int, str], states: frozenset[State] = EVERYTHING
) -> AnnotatedDocument:
    """A document with all its items of some states, rejected places in clusters, too, which :func:`annotated` never shows."""
    return _view(doc, sources, states, states)


def _view(
    doc: DocumentState,
    sources: Mapping[int, str],
    states: frozenset[State],
    link_states: frozenset[State],
) -> AnnotatedDocument:
    entities = tuple(
        Entity(e.id, e.fragments, e.label, e.score, e.state, sources[e.source_id], e.alternatives)
        for e in doc.entities
        if e.state in states
    )
    place = {entity.id: number for number, entity in enumerate(entities)}
    relations = [
        Relation(
            *(row.id, row.head, row.tail, row.label, row.score, row.state),
            source=sources[row.source_id],
            alternatives=row.alternatives,
        )
        for row in doc.relations
        if row.state in states and row.head in place and row.tail in place
    ]
    relations.sort(key=lambda row: (place[row.head], place[row.tail], row.label, row.id))
    members: dict[str, list[LinkRow]] = {}
    for link in doc.links:
        if link.state in link_states and link.entity_id in place:
            members.setdefault(link.cluster_id, []).append(link)
    clusters = []
    # A file may say that one mention alone is a cluster, a model may not.
    for row in doc.clusters:
        links = sorted(members.get(row.id, []), key=lambda link: place[link.entity_id])
        by_import = row.state is State.IMPORTED and any(link.in_view for link in links)
        if len(links) >= (1 if by_import or State.REJECTED in link_states else 2):
            clusters.append(_to_cluster(row, links, sources))
    clusters.sort(key=lambda cluster: (place[cluster.mentions[0]], cluster.id))
    kept = {"", *place, *(relation.id for relation in relations)}
    attributes = tuple(
        Attribute(
            *(row.id, row.target, row.label, row.value, row.score, row.state),
            source=sources[row.source_id],
            alternatives=row.alternatives,
        )
        for row in sorted(doc.attributes, key=lambda row: (row.target, row.label, row.id))
        if row.state in states and row.target in kept
    )
    annotations = Annotations(entities, tuple(relations), tuple(clusters), attributes=attributes)
    return AnnotatedDocument(doc.stored.document, annotations)


def is_done(doc: DocumentState, schema: LabelSchema) -> bool | None:
    """Whether a person has finished what they began: the abstract is done, and nothing waits in a layer that is."""
    progress = doc.progress or ProgressRow()
    if progress.is_untouched:
        return None
    return progress.is_finished(schema) and not doc.count_undecided(*progress.done)


def _to_cluster(row: ClusterRow, members: list[LinkRow], sources: Mapping[int, str]) -> Cluster:
    states = {link.state for link in members}
    scores = tuple(link.score for link in members)
    return Cluster(
        id=row.id,
        mentions=tuple(link.entity_id for link in members),
        score=row.score,
        state=row.state,
        source=sources[row.source_id],
        mention_scores=() if {*scores} == {row.score} == {None} else scores,
        mention_states=() if states == {row.state} else tuple(link.state for link in members),
    )
