"""Another project's documents and decisions into this one: how two annotators work without a server.

What decides is who has looked for what: in an abstract, for each type, a side has looked where it has finished that
type, and at the places that it has decided. What only they looked at is taken over, what only this project looked at
stays, and what both looked at is compared (:mod:`sciextract.workflows.disagreements`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from sciextract.documents.annotations import Layer, State
from sciextract.documents.schema import LabelSchema, match_names
from sciextract.store import documents, events
from sciextract.store.document_state import Context, DocumentState, decided, find_broken_rules
from sciextract.store.incoming import free_id, relation_by_original, same_relations
from sciextract.store.ingest import Batches, find_or_insert, keep_annotations
from sciextract.store.label_changes import relabelled
from sciextract.store.queries import copy_queue, present, queue_lengths, read_queue
from sciextract.store.rows import (
    BY_PERSONS,
    ClusterRow,
    Completeness,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
    covered_name,
    edited_from,
    from_values,
    original_of,
    rename_covered,
    to_values,
)
from sciextract.store.statistics import decisions_by_author
from sciextract.store.text_versions import REMOVE, Alignment, move_decisions, why_gone

if TYPE_CHECKING:
    from sciextract.store.project import Project


_Item = TypeVar("_Item", EntityRow, RelationRow)
_Kind = TypeVar("_Kind", EntityRow, RelationRow, ClusterRow, LinkRow)
_TWO = 2


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
    """

    documents: int = 0
    taken: int = 0
    compared: int = 0
    items: int = 0
    removed: int = 0


def foreign_documents(other: Project, schema: LabelSchema) -> Iterator[Foreign]:
    """All documents of the other project, one by one, with the names that its types have in a schema."""
    sources, theirs = other.sources, other.schema
    names = {
        EntityRow.TABLE: match_names(schema.entities, theirs.entities),
        RelationRow.TABLE: match_names(schema.relations, theirs.relations),
    }
    for number in other.numbers():
        doc = _renamed(other.document_state(number), names)
        if doc.progress is not None:
            records = tuple(documents.records(other.connection, number))
            yield Foreign(doc, sources, records)


def _renamed(doc: DocumentState, names: Mapping[str, Mapping[str, str]]) -> DocumentState:
    if not any(names.values()):
        return doc
    rows: list[EntityRow | RelationRow] = [*doc.entities, *doc.relations]
    for row in rows:
        values = to_values(row)
        if new := relabelled(values, names[row.TABLE]):
            doc.put(from_values(row.TABLE, values | new))
    if doc.progress is not None:
        covered = rename_covered(
            doc.progress.covered, names[EntityRow.TABLE], names[RelationRow.TABLE]
        )
        doc.put(replace(doc.progress, covered=tuple(sorted(covered))))
    return doc


@dataclass(eq=False)
class ProjectMerge(Batches):
    """One merge of another project.

    Attributes:
        other: The other project.
        source: It, as ``import:FILE``.
        counts: What it did so far.
    """

    other: Project
    source: str
    counts: MergeCounts = field(default_factory=MergeCounts, init=False)
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
        counts, to_compare, connection = replace(self.counts), [], self.project.connection
        with self.batch() as context:
            before = context.items
            for each in foreign:
                doc = find_or_insert(connection, each.doc.stored.document)
                if doc.progress is None:
                    gone = why_gone(connection, each.doc.stored.document.text_sha256)
                    if gone == REMOVE:
                        counts.removed += 1
                        continue
                    for newer in present(connection, (doc.number,)) if gone == "import" else ():
                        doc = self.project.document_state(newer)
                        each = _moved(each, doc, context)
                if self._add_one(context, doc, each, counts):
                    to_compare.append(doc.number)
            counts.items += context.items - before
        self.counts = counts
        return to_compare

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


def _moved(foreign: Foreign, here: DocumentState, context: Context) -> Foreign:
    """An earlier text, with what the other side decided about it moved to the present one."""
    doc = DocumentState(here.stored, ())
    move_decisions(foreign.doc, doc, Alignment(foreign.doc.text, doc.text), context)
    return replace(foreign, doc=doc)


def _with_remarks(mine: ProgressRow, theirs: ProgressRow) -> ProgressRow:
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
        progress, theirs = self._doc.progress, self._foreign.progress
        mine = progress or ProgressRow()
        self._known = mine.looked_for
        self._new = {
            layer
            for layer in Layer
            if progress is None or (_is_begun(theirs, layer) and not _is_begun(mine, layer))
        }
        finished = {
            layer
            for layer in Layer
            if getattr(mine, layer) is not Completeness.DONE is getattr(theirs, layer)
        }
        self._drop_undecided(self._new | finished)
        for entity in self._foreign.doc.entities:
            self._merge_entity(entity)
        for relation in self._foreign.doc.relations:
            self._merge_relation(relation)
        for cluster in self._foreign.doc.clusters:
            self._merge_cluster(cluster)
        self._merge_progress(progress)

    def _merge_progress(self, mine: ProgressRow | None) -> None:
        theirs = self._foreign.progress
        if mine is not None:
            states = {layer: (getattr(mine, layer), getattr(theirs, layer)) for layer in Layer}
            layers = {layer.value: max(both, key=_ORDER.index) for layer, both in states.items()}
            covered = tuple(sorted({*mine.covered, *theirs.covered}))
            theirs = replace(_with_remarks(mine, theirs), **layers, covered=covered)
        if theirs != mine:
            self._doc.put(theirs)

    def _merge_entity(self, row: EntityRow) -> None:
        rows = [
            each for each in self._doc.on_fragments(row.fragments) if each.id not in self._taken
        ]
        same = [each for each in rows if each.label == row.label]
        same.sort(key=lambda each: (each.state is _REJECTED) != (row.state is _REJECTED))
        twin = same[0] if same else self._find_edited(row)
        # One place has one type: what is here under another one is compared, not joined by a second.
        has_rival = any(each.in_view and each is not twin for each in rows)
        if self._is_free(row, twin, Layer.ENTITIES) and not has_rival:
            self._ids[row.id] = self._take(row, twin)
            if row.state is _REJECTED:
                self._drop_suggestions_on(self._ids[row.id])
        elif twin is not None:
            self._ids[row.id] = twin.id

    def _find_edited(self, row: EntityRow) -> EntityRow | None:
        """What is here as it was there before an edit, or was here before one what it is there."""
        was, now = original_of(row), json.loads(edited_from(replace(row, was=None)))
        for each in self._doc.all_entities:
            if original_of(each) == now or (
                was and json.loads(edited_from(replace(each, was=None))) == was
            ):
                return each
        return None

    def _merge_relation(self, row: RelationRow) -> None:
        if not {row.head, row.tail} <= self._ids.keys():
            return
        doc, was = self._doc, original_of(row)
        row = replace(row, head=self._ids[row.head], tail=self._ids[row.tail])
        if was:
            was |= {end: self._ids.get(was[end], was[end]) for end in ("head", "tail")}
            row = replace(row, was=json.dumps(was))
        ends, symmetric = (row.head, row.tail), row.label in self._context.schema.symmetric_labels
        rows = [each for each in same_relations(doc, ends, symmetric) if each.id not in self._taken]
        twins = [each for each in rows if each.label == row.label]
        if was:
            twins += same_relations(
                doc, (was["head"], was["tail"]), symmetric=False, label=was["label"]
            )
        twin = twins[0] if twins else relation_by_original(doc, ends, row.label)
        has_rival = any(each.in_view and each is not twin for each in rows)
        stands = row.state is _REJECTED or all(self._carries(end, row) for end in ends)
        if stands and self._is_free(row, twin, Layer.RELATIONS) and not has_rival:
            self._take(row, twin)

    def _carries(self, entity_id: str, row: RelationRow | LinkRow) -> bool:
        """Whether a mention here is at least as certain as what the other side has on it."""
        mention = self._doc.entity(entity_id)
        return mention is not None and (mention.in_view or mention.state is row.state)

    def _is_free(self, row: _Item, twin: _Item | None, layer: Layer) -> bool:
        """Whether the other side has something there that nobody has looked at here."""
        if row.state is State.UNDECIDED:
            return twin is None and layer in self._new
        if row.state is State.IMPORTED and twin is not None:
            return False
        decided_here = twin is not None and twin.state in BY_PERSONS
        return not decided_here and covered_name(layer, row.label) not in self._known

    def _take(self, row: _Item, twin: _Item | None) -> str:
        own = replace(self._own(row), id=free_id(self._doc, row.id) if twin is None else twin.id)
        self._doc.put(own)
        self._taken.add(own.id)
        self._context.items += 1
        return own.id

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
            each
            for mention in links
            for each in doc.links_of(mention)
            if each.cluster_id not in self._taken
        ]
        homes = {each.cluster_id for each in here if each.state is not _REJECTED}
        decided_here = any(each.state in BY_PERSONS for each in here)
        if Layer.COREFERENCE in self._known or decided_here or len(homes) > 1:
            return
        live = sum(link.state is not _REJECTED for link in links.values())
        if not homes and live < (1 if cluster.state is State.IMPORTED else _TWO):
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
        source_id, event_id = (
            self._context.source_of(self._foreign.sources[row.source_id]),
            self._context.event_id,
        )
        if row.state in BY_PERSONS:
            event_id = self._authors.get(row.event_id, event_id)
        return replace(row, source_id=source_id, event_id=event_id)

    def _drop_undecided(self, layers: Collection[Layer]) -> None:
        """Drop what waits here in layers that the other side has worked on: what is right of it comes from there."""
        doc = self._doc
        if Layer.COREFERENCE in layers:
            self._drop_links(doc.links)
        if Layer.RELATIONS in layers:
            self._drop_relations(doc.relations)
        for entity in doc.entities if Layer.ENTITIES in layers else ():
            needed = doc.relations_of(entity.id) or doc.links_of(entity.id)
            if entity.state is State.UNDECIDED and not needed:
                doc.drop(entity)

    def _drop_suggestions_on(self, entity_id: str) -> None:
        self._drop_links(self._doc.links_of(entity_id))
        self._drop_relations(self._doc.relations_of(entity_id))

    def _drop_relations(self, relations: Iterable[RelationRow]) -> None:
        for relation in relations:
            if relation.state is State.UNDECIDED:
                self._doc.drop(relation)

    def _drop_links(self, links: Iterable[LinkRow]) -> None:
        """Drop undecided links, and clusters that are left without one, or with one undecided."""
        doc = self._doc
        for link in links:
            if link.state is State.UNDECIDED:
                doc.drop(link)
        for cluster in doc.clusters:
            left = [link for link in doc.links if link.cluster_id == cluster.id]
            if len(left) == 1 and left[0].state is State.UNDECIDED:
                doc.drop(left.pop())
            if not left:
                doc.drop(cluster)


def _is_begun(progress: ProgressRow, layer: Layer) -> bool:
    return getattr(progress, layer) is not Completeness.UNTOUCHED


_TEXTS = "SELECT d.id, d.sha256 FROM json_each(?) j JOIN document d ON d.id = j.value"
_NUMBERS = "SELECT d.sha256, d.id FROM json_each(?) j JOIN document d ON d.sha256 = j.value"


def bring_queues(project: Project, other: Project, origin: str) -> list[str]:
    """Bring the saved queues of another project, by the hashes of their texts; what is not here is left out.

    A queue that is here already is not doubled; one whose name another queue has gets ``origin`` behind it.

    Args:
        project: Open for writing; has the other's documents already.
        other: The other project.
        origin: What it is called.

    Returns:
        The names under which queues were added.

    Raises:
        ProjectError: One of the files cannot be used.
    """
    kept = []
    # Numbers of documents differ between projects, hashes of texts do not.
    for name in queue_lengths(other):
        queue = read_queue(other, name)
        if queue is None:
            continue
        wanted = (json.dumps(queue.numbers),)
        texts: dict[int, str] = dict(other.connection.execute(_TEXTS, wanted))
        hashes = (json.dumps([*texts.values()]),)
        own: dict[str, int] = dict(project.connection.execute(_NUMBERS, hashes))
        found = (own[texts[each]] for each in queue.numbers if texts.get(each) in own)
        numbers = present(project.connection, tuple(dict.fromkeys(found)))
        kept.append(copy_queue(project, replace(queue, numbers=numbers), origin))
    return [name for name in kept if name]
