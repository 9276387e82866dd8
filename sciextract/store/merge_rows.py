"""What one project says of an abstract into another one's, row by row; :mod:`sciextract.store.merge` says by which rule."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sciextract.documents.annotations import Layer, State
from sciextract.store import documents
from sciextract.store.document_state import Context, DocumentState
from sciextract.store.incoming import free_id, relation_by_original, same_relations
from sciextract.store.rows import (
    BY_PERSONS,
    AttributeRow,
    ClusterRow,
    Completeness,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
    attribute_name,
    covered_name,
    edited_from,
    original_of,
)

_Item = TypeVar("_Item", EntityRow, RelationRow, AttributeRow)
_Kind = TypeVar("_Kind", EntityRow, RelationRow, ClusterRow, LinkRow, AttributeRow)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A document of the other project, with this project's names of types.

    Attributes:
        doc: All its rows, rejected and undecided ones too.
        sources: Names of the other project's sources.
        records: Its bibliographic records.
    """

    doc: DocumentState
    sources: Mapping[int, str]
    records: tuple[documents.Record, ...]

    @property
    def progress(self) -> ProgressRow:
        """How far the other side has come with it."""
        return self.doc.progress or ProgressRow()


def with_remarks(mine: ProgressRow, theirs: ProgressRow) -> ProgressRow:
    """With flag and note of the other side, which is no decision about items."""
    # A flag that an import set for its warnings came here with the same import, and may be cleared by now.
    flagged = mine.flagged or (theirs.flagged and not 0 < theirs.warned == mine.warned)
    notes = [mine.note, theirs.note]
    if mine.note in theirs.note or theirs.note in mine.note:
        notes = [max(notes, key=len)]
    return replace(mine, flagged=flagged, note="; ".join(notes))


_ORDER = list(Completeness)
_REJECTED = State.REJECTED


@dataclass(eq=False)
class RowMerge:
    """The other side's rows into a document: what this side has not looked at, and they have."""

    _doc: DocumentState
    _context: Context
    _foreign: Foreign
    _authors: Mapping[int, int]
    _ids: dict[str, str] = field(default_factory=dict, init=False)
    _new: set[Layer] = field(default_factory=set, init=False)
    _known: frozenset[str] = field(default=frozenset(), init=False)
    _taken: set[str] = field(default_factory=set, init=False)

    def merge(self) -> None:
        """Merge everything."""
        here, theirs = self._doc.progress, self._foreign.progress
        mine = here or ProgressRow()
        self._known = mine.looked_for
        finished = set()
        for layer in Layer:
            if here is None or (is_begun(theirs, layer) and not is_begun(mine, layer)):
                self._new.add(layer)
            if getattr(mine, layer) is not Completeness.DONE is getattr(theirs, layer):
                finished.add(layer)
        self._drop_undecided(self._new | finished)
        for entity in self._foreign.doc.entities:
            self._merge_entity(entity)
        for relation in self._foreign.doc.relations:
            if {relation.head, relation.tail} <= self._ids.keys():
                self._merge_relation(relation)
        for cluster in self._foreign.doc.clusters:
            self._merge_cluster(cluster)
        self._ids[""] = ""
        for attribute in self._foreign.doc.attributes:
            if attribute.target in self._ids:
                self._merge_attribute(attribute)
        if here is not None:
            states = {layer: (getattr(mine, layer), getattr(theirs, layer)) for layer in Layer}
            layers = {layer.value: max(both, key=_ORDER.index) for layer, both in states.items()}
            covered = tuple(sorted({*mine.covered, *theirs.covered}))
            theirs = replace(with_remarks(mine, theirs), **layers, covered=covered)
        if theirs != here:
            self._doc.put(theirs)

    def _merge_entity(self, row: EntityRow) -> None:
        doc, was, now = self._doc, original_of(row), _plain(row)
        edited = [
            entity
            for entity in doc.all_entities
            if original_of(entity) == now or (was and _plain(entity) == was)
        ]
        known = self._merge_item(row, doc.on_fragments(row.fragments), edited, Layer.ENTITIES)
        if known is None:
            return
        self._ids[row.id] = known
        if known in self._taken and row.state is _REJECTED:
            doc.drop_proposals(doc.links_of(known))
            self._drop_relations(doc.relations_of(known))

    def _merge_relation(self, row: RelationRow) -> None:
        doc, was = self._doc, original_of(row)
        ends = self._ids[row.head], self._ids[row.tail]
        row = replace(row, head=ends[0], tail=ends[1])
        before = relation_by_original(doc, ends, row.label)
        edited = [before] if before else []
        if was:
            was |= {end: self._ids.get(was[end], was[end]) for end in ("head", "tail")}
            row = replace(row, was=json.dumps(was))
            edited += same_relations(doc, (was["head"], was["tail"]), False, was["label"])
        if row.state is _REJECTED or all(self._carries(end, row) for end in ends):
            symmetric = row.label in self._context.schema.symmetric_labels
            there = same_relations(doc, ends, symmetric)
            known = self._merge_item(row, there, edited, Layer.RELATIONS)
            if known is not None:
                self._ids[row.id] = known

    def _merge_attribute(self, row: AttributeRow) -> None:
        doc, layer = self._doc, self._foreign.doc.layer_of(row)
        row = replace(row, target=self._ids[row.target])
        there = [own for own in doc.attributes_of(row.target) if own.label == row.label]
        if row.state is _REJECTED or not row.target or self._carries(row.target, row):
            self._merge_item(row, there, (), layer)

    def _merge_item(
        self, row: _Item, there: Iterable[_Item], edited: Iterable[_Item], layer: Layer
    ) -> str | None:
        """Take an item over unless somebody has looked at it here; gives its id here, where it has one.

        Args:
            row: The other side's item.
            there: What is here at its place.
            edited: What was edited from it, or it from that.
            layer: Its layer.
        """
        there = [own for own in there if own.id not in self._taken]
        twins: list[_Item] = [known for known in there if known.label == row.label]
        twins.sort(key=lambda own: (own.state is _REJECTED) != (row.state is _REJECTED))
        twin = next(iter([*twins, *edited]), None)
        # One place has one type: what is here under another one is compared, not joined by a second.
        looked = any(own.in_view and own is not twin for own in there)
        if row.state is State.UNDECIDED:
            looked |= twin is not None or layer not in self._new
        else:
            names = {covered_name(layer, row.label)}
            if isinstance(row, AttributeRow):
                # One that mentions have as well is finished with them, which says nothing of relations.
                related = self._doc.relation(row.target)
                names = {covered_name(layer, related.label)} if related else set()
                names.add(attribute_name(row.label))
            looked |= names <= self._known
            if twin is not None:
                looked |= twin.state in BY_PERSONS or row.state is State.IMPORTED
        if looked:
            return None if twin is None else twin.id
        own = replace(self._own(row), id=twin.id if twin else free_id(self._doc, row.id))
        self._doc.put(own)
        self._taken.add(own.id)
        self._context.items += 1
        return own.id

    def _carries(self, item_id: str, row: RelationRow | LinkRow | AttributeRow) -> bool:
        """Whether an item here is at least as certain as what the other side has on it."""
        item = self._doc.entity(item_id) or self._doc.relation(item_id)
        return item is not None and (item.in_view or item.state is row.state)

    def _merge_cluster(self, cluster: ClusterRow) -> None:
        """A cluster comes as a whole: where anybody has decided a link of its mentions here, it is compared."""
        doc, is_new = self._doc, Layer.COREFERENCE in self._new
        links = {
            self._ids[link.entity_id]: link
            for link in self._foreign.doc.links
            if link.cluster_id == cluster.id
            and link.entity_id in self._ids
            and (is_new or link.state is not State.UNDECIDED)
            and (link.state is _REJECTED or self._carries(self._ids[link.entity_id], link))
        }
        here = [
            link
            for mention in links
            for link in doc.links_of(mention)
            if link.cluster_id not in self._taken
        ]
        homes = {link.cluster_id for link in here if link.state is not _REJECTED}
        decided_here = any(link.state in BY_PERSONS for link in here)
        if Layer.COREFERENCE in self._known or decided_here or len(homes) > 1:
            return
        live = sum(link.state is not _REJECTED for link in links.values())
        if not homes and live < (1 if cluster.state is State.IMPORTED else 2):
            return
        home = homes.pop() if homes else free_id(doc, cluster.id)
        if doc.cluster(home) is None or cluster.state in BY_PERSONS:
            doc.put(replace(self._own(cluster), id=home))
        for mention, link in links.items():
            if link.state in BY_PERSONS or doc.link(home, mention) is None:
                doc.put(self._own(replace(link, cluster_id=home, entity_id=mention)))
                self._context.items += 1
        self._taken.add(home)

    def _own(self, row: _Kind) -> _Kind:
        """The row with its source by this project's number, under this event or the one of its author."""
        source_id = self._context.source_of(self._foreign.sources[row.source_id])
        author = self._authors.get(row.event_id) if row.state in BY_PERSONS else None
        return replace(row, source_id=source_id, event_id=author or self._context.event_id)

    def _drop_undecided(self, layers: Collection[Layer]) -> None:
        """Drop what waits here in layers that the other side has worked on: what is right of it comes from there."""
        doc = self._doc
        if Layer.COREFERENCE in layers:
            doc.drop_proposals(doc.links)
        if Layer.RELATIONS in layers:
            self._drop_relations(doc.relations)
        for entity in doc.entities if Layer.ENTITIES in layers else ():
            if entity.state is State.UNDECIDED and not doc.is_needed(entity):
                doc.drop(entity)

    def _drop_relations(self, relations: Iterable[RelationRow]) -> None:
        for relation in relations:
            if relation.state is State.UNDECIDED:
                self._doc.drop(relation)


def _plain(row: EntityRow) -> dict[str, Any]:
    """Label and fragments, in the form of :func:`original_of`."""
    found: dict[str, Any] = json.loads(edited_from(replace(row, was=None)))
    return found


def is_begun(progress: ProgressRow, layer: Layer) -> bool:
    """Whether somebody has worked on a layer."""
    return getattr(progress, layer) is not Completeness.UNTOUCHED
