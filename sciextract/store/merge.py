"""Another project's documents and decisions into this one: how two annotators work without a server.

What decides is who has looked for what: in an abstract, for each type, a side has looked where it has finished that
type, and at the places that it has decided. What only they looked at is taken over, what only this project looked at
stays, and what both looked at is compared (:mod:`sciextract.workflows.disagreements`).
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from sciextract.documents.annotations import Layer, State
from sciextract.documents.schema import LabelSchema, match_names
from sciextract.store import documents, events
from sciextract.store.document_state import Context, DocumentState, decided, find_broken_rules
from sciextract.store.incoming import free_id, relation_by_original, same_relations
from sciextract.store.ingest import Batches, find_or_insert, keep_annotations
from sciextract.store.known_texts import KnownTexts
from sciextract.store.label_changes import renamed
from sciextract.store.queries import present
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
    content_of,
    covered_name,
    original_of,
    rename_covered,
)
from sciextract.store.sqlite import from_sql
from sciextract.store.statistics import decisions_by_author
from sciextract.store.text_versions import (
    REMOVE,
    Alignment,
    move_decisions,
    removed_numbers,
    why_gone,
)

if TYPE_CHECKING:
    from sciextract.store.project import Project


_Item = TypeVar("_Item", EntityRow, RelationRow, AttributeRow)
_Kind = TypeVar("_Kind", EntityRow, RelationRow, ClusterRow, LinkRow, AttributeRow)
_ORDER = list(Completeness)
_REJECTED = State.REJECTED


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


@dataclass(slots=True)
class MergeCounts:
    """What a merge did.

    Attributes:
        documents: Texts that this project did not have.
        taken: Texts of both projects for which something was taken over that only the other side had looked at.
        compared: Texts of which both sides worked on the same layer: differences wait for adjudication.
        items: Items added or decided.
        removed: Texts that were removed here: they stay out.
        returned: Of the new texts, those with the key of an abstract that was removed here with another text.
        joined: Texts of papers that are here with another text, which stays.
        moved: What became of decisions about these: see :func:`~sciextract.store.text_versions.move_decisions`.
    """

    documents: int = 0
    taken: int = 0
    compared: int = 0
    items: int = 0
    removed: int = 0
    returned: int = 0
    joined: int = 0
    moved: Counter[str] = field(default_factory=Counter)


def foreign_documents(other: Project, schema: LabelSchema) -> Iterator[Foreign]:
    """All documents of the other project, one by one, with the names that its types have in a schema."""
    sources, theirs = other.sources, other.schema
    names = {
        EntityRow.TABLE: match_names(schema.entities, theirs.entities),
        RelationRow.TABLE: match_names(schema.relations, theirs.relations),
        AttributeRow.TABLE: match_names(schema.attributes, theirs.attributes),
    }
    for number in other.numbers():
        doc = _rename(other.document_state(number), names)
        if doc.progress is not None:
            records = tuple(documents.records(other.connection, number))
            yield Foreign(doc, sources, records)


def _rename(doc: DocumentState, names: Mapping[str, Mapping[str, str]]) -> DocumentState:
    if not any(names.values()):
        return doc
    for row in [*doc.items_of(Layer.ENTITIES, Layer.RELATIONS)]:
        doc.put(renamed(row, names[row.TABLE]))
    if doc.progress is not None:
        covered = rename_covered(doc.progress.covered, *names.values())
        doc.put(replace(doc.progress, covered=tuple(sorted(covered))))
    return doc


@dataclass(eq=False)
class ProjectMerge(Batches):
    """One merge of another project.

    Attributes:
        other: The other project.
        source: It, as ``import:FILE``.
        counts: What it did so far.
        joined: By the hashes of texts of papers that are here with another one, the numbers of those.
    """

    other: Project
    source: str
    counts: MergeCounts = field(default_factory=MergeCounts, init=False)
    joined: dict[str, int] = field(default_factory=dict, init=False)
    _authors: dict[int, int] = field(default_factory=dict, init=False)

    def begin(self, connection: sqlite3.Connection) -> Context:
        """Write the event, and before it one for each author, which that author's items carry."""
        theirs, own = self.other.connection, {}
        for row in decisions_by_author(theirs):
            params = {"source": self.source} | asdict(row)
            author_id = self.project.source_id(params.pop("author"))
            own[row.author] = events.append(connection, author_id, events.MERGED, params)
        query = "SELECT e.id, s.name FROM event e JOIN source s ON s.id = e.author_id"
        self._authors = {
            event: own[author] for event, author in theirs.execute(query) if author in own
        }
        author, params = self.project.author_id, {"source": self.source}
        event_id = events.append(connection, author, "merge project", params)
        return self.project.context(event_id, self.project.source_id(self.source))

    def add(self, foreign: list[Foreign]) -> list[int]:
        """Merge some documents, all or none of them; returns the numbers of those to compare.

        Raises:
            ProjectError: The file cannot be written; nothing of this batch is in it.
        """
        counts, to_compare = deepcopy(self.counts), []
        with self.batch() as context:
            before = context.items
            for document in foreign:
                here = self._find_here(document, context, counts)
                if here is not None and self._add_one(context, *here, counts):
                    to_compare.append(here[0].number)
            counts.items += context.items - before
        self.counts = counts
        return to_compare

    @cached_property
    def _known(self) -> KnownTexts:
        """The papers that were here, and were removed, before the merge."""
        connection, known = self.project.connection, documents.known_papers
        removed = known(connection, removed_numbers(connection))
        return KnownTexts(self.project, self.source, known(connection), removed)

    @cached_property
    def _removed_keys(self) -> set[str]:
        """The keys of the abstracts that were removed before the merge."""
        gone = set(removed_numbers(self.project.connection))
        rows = self.project.connection.execute("SELECT id, doc_key FROM document")
        return {from_sql(key) for number, key in rows if number in gone}

    def _find_here(
        self, foreign: Foreign, context: Context, counts: MergeCounts
    ) -> tuple[DocumentState, Foreign] | None:
        """Where a document belongs, with what was decided about it at its places there; ``None`` for nowhere."""
        connection, document = self.project.connection, foreign.doc.stored.document
        stored = documents.find(connection, document)
        if stored is None:
            number = self._known.find_version(document)
            gone = REMOVE if number is None and self._known.was_removed(document) else None
        else:
            gone = why_gone(connection, document.text_sha256)
            newer = present(connection, (stored.number,)) if gone == "import" else ()
            number = next(iter(newer), None)
        if gone == REMOVE:
            counts.removed += 1
            return None
        if number is not None:
            here = self.project.document_state(number)
            alignment = Alignment(document.text, here.text)
            if stored is not None or alignment.is_alike:
                doc = DocumentState(here.stored, ())
                counts.moved += move_decisions(foreign.doc, doc, alignment, context)
                counts.joined += 1
                self.joined[document.text_sha256] = number
                return here, replace(foreign, doc=doc)
        counts.returned += stored is None and document.doc_key in self._removed_keys
        return find_or_insert(connection, document), foreign

    def _add_one(
        self, context: Context, doc: DocumentState, foreign: Foreign, counts: MergeCounts
    ) -> bool:
        """Whether both sides have something to say, so that they have to be compared."""
        mine, theirs, items = doc.progress, foreign.progress, context.items
        said = decided(foreign.doc, foreign.sources).annotations
        keep_annotations(
            self.project, context, doc.number, said, foreign.records, theirs.looked_for
        )
        _RowMerge(doc, context, foreign, self._authors).merge()
        if mine is None:
            counts.documents += self.project.save(doc, context)
            return False
        both = any(_is_begun(mine, layer) and _is_begun(theirs, layer) for layer in Layer)
        broken = find_broken_rules(doc, context.schema.symmetric_labels)
        if any(not problem.by_import for problem in broken):
            # What is here does not go together with the other side's decisions: all of them wait.
            doc, context.items, both = DocumentState.of(doc.stored, doc.before), items, True
            doc.put(_with_remarks(mine, theirs))
        counts.taken += self.project.save(doc, context)
        counts.compared += both
        return both


@dataclass(eq=False)
class _RowMerge:
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
            if here is None or (_is_begun(theirs, layer) and not _is_begun(mine, layer)):
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
            theirs = replace(_with_remarks(mine, theirs), **layers, covered=covered)
        if theirs != here:
            self._doc.put(theirs)

    def _merge_entity(self, row: EntityRow) -> None:
        doc, was, now = self._doc, original_of(row), content_of(row)
        edited = [
            entity
            for entity in doc.all_entities
            if original_of(entity) == now or (was and content_of(entity) == was)
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


def _is_begun(progress: ProgressRow, layer: Layer) -> bool:
    """Whether somebody has worked on a layer."""
    return getattr(progress, layer) is not Completeness.UNTOUCHED


def _with_remarks(mine: ProgressRow, theirs: ProgressRow) -> ProgressRow:
    """With flag and note of the other side, which is no decision about items."""
    # A flag that an import set for its warnings came here with the same import, and may be cleared by now.
    flagged = mine.flagged or (theirs.flagged and not 0 < theirs.warned == mine.warned)
    notes = [mine.note, theirs.note]
    if mine.note in theirs.note or theirs.note in mine.note:
        notes = [max(notes, key=len)]
    return replace(mine, flagged=flagged, note="; ".join(notes))
