"""Another project's documents and decisions into this one: how two annotators work without a server."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.store import documents, events
from sciextract.store.document_state import Context, DocumentState, annotated, find_broken_rules
from sciextract.store.incoming import free_id, same_relations
from sciextract.store.ingest import Batches, find_or_insert, keep_annotations
from sciextract.store.queries import copy_queue, present, queue_lengths, read_queue
from sciextract.store.rows import (
    ClusterRow,
    Completeness,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
)

if TYPE_CHECKING:
    from sciextract.store.project import Project


_Item = TypeVar("_Item", EntityRow, RelationRow)
_Kind = TypeVar("_Kind", EntityRow, RelationRow, ClusterRow, LinkRow)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A document of the other project.

    Attributes:
        item: The document with its current view.
        doc: All its rows, rejected and undecided ones too.
        sources: Names of the other project's sources.
        records: Its bibliographic records.
    """

    item: AnnotatedDocument
    doc: DocumentState
    sources: Mapping[int, str]
    records: tuple[documents.Record, ...]


@dataclass(slots=True)
class MergeCounts:
    """What a merge did.

    Attributes:
        documents: Texts that this project did not have.
        taken: Texts of both projects that nobody had worked on here: the other side's decisions hold.
        compared: Texts that both sides worked on: both stay, differences wait for adjudication.
        items: Items added or decided.
    """

    documents: int = 0
    taken: int = 0
    compared: int = 0
    items: int = 0


def foreign_documents(other: Project) -> Iterator[Foreign]:
    """All documents of the other project, one by one."""
    sources = other.sources
    for number in other.numbers():
        doc = other.document_state(number)
        if doc.progress is not None:
            records = tuple(documents.records(other.connection, number))
            yield Foreign(annotated(doc, sources), doc, sources, records)


@dataclass(eq=False)
class ProjectMerge(Batches):
    """One merge of another project.

    Attributes:
        source: The other one, as ``import:FILE``.
        counts: What it did so far.
    """

    source: str
    counts: MergeCounts = field(default_factory=MergeCounts, init=False)

    def begin(self, connection: sqlite3.Connection) -> Context:
        """Write the event."""
        author, params = self.project.author_id, {"source": self.source}
        event_id = events.append(connection, author, "merge project", params)
        return self.project.context(event_id, self.project.source_id(self.source))

    def add(self, foreign: list[Foreign]) -> list[int]:
        """Merge some documents, all or none of them; returns the numbers of those to compare.

        Raises:
            ProjectError: The file cannot be written; nothing of this batch is in it.
        """
        counts, to_compare = replace(self.counts), []
        with self.batch() as context:
            before = context.items
            for each in foreign:
                doc = find_or_insert(self.project.connection, each.item.document)
                if self._add_one(context, doc, each, counts):
                    to_compare.append(doc.number)
            counts.items += context.items - before
        self.counts = counts
        return to_compare

    def _add_one(
        self, context: Context, doc: DocumentState, foreign: Foreign, counts: MergeCounts
    ) -> bool:
        """Whether both sides have something to say, so that they have to be compared."""
        mine, theirs = doc.progress, foreign.doc.progress or ProgressRow()
        said = foreign.item.annotations
        keep_annotations(self.project, context, doc.number, said, foreign.records)
        if mine is not None and _is_begun(mine):
            counts.compared += 1
            return True
        if mine is not None and not (_is_begun(theirs) or said.entities):
            return False
        before, progress = context.items, theirs
        if mine is not None:
            flagged, note = mine.flagged or progress.flagged, mine.note or progress.note
            progress = replace(progress, flagged=flagged, note=note)
        doc.put(progress)
        _RowMerge(doc, context, foreign).merge()
        # What was imported here may not go together with the other side's decisions.
        symmetric = context.schema.symmetric_labels
        broken = find_broken_rules(doc, symmetric) if mine is not None else ()
        if any(not problem.by_import for problem in broken):
            context.items = before
            counts.compared += 1
            return True
        self.project.save(doc, context)
        counts.documents += mine is None
        counts.taken += mine is not None
        return False


@dataclass(eq=False)
class _RowMerge:
    """The other side's rows into a document that nobody has worked on here.

    What is undecided here goes, since the other side has decided; what was imported here stays, and takes
    the other side's decision about the same thing.
    """

    _doc: DocumentState
    _context: Context
    _foreign: Foreign
    _ids: dict[str, str] = field(default_factory=dict, init=False)

    def merge(self) -> None:
        """Merge everything."""
        self._drop_undecided()
        theirs = self._foreign.doc
        for entity in theirs.entities:
            twins = self._doc.on_fragments(entity.fragments)
            twin = next((row for row in twins if row.label == entity.label), None)
            self._ids[entity.id] = self._take(entity, twin)
        for relation in theirs.relations:
            ends = (self._ids[relation.head], self._ids[relation.tail])
            known = same_relations(self._doc, ends, symmetric=False, label=relation.label)
            self._take(replace(relation, head=ends[0], tail=ends[1]), known[0] if known else None)
        for cluster in theirs.clusters:
            self._take_cluster(cluster)

    def _take(self, row: _Item, twin: _Item | None) -> str:
        row = self._own(row)
        if twin is None:
            row = replace(row, id=free_id(self._doc, row.id))
        # The other side has not decided it, so that what is here needs no change.
        elif row.state in (State.IMPORTED, State.UNDECIDED):
            return twin.id
        else:
            row = replace(row, id=twin.id)
        self._doc.put(row)
        self._context.items += 1
        return row.id

    def _take_cluster(self, cluster: ClusterRow) -> None:
        links = [each for each in self._foreign.doc.links if each.cluster_id == cluster.id]
        mentions = {self._ids[each.entity_id] for each in links}
        for own in self._doc.clusters:
            if mentions <= {link.entity_id for link in self._doc.members(own.id)}:
                return
        row = self._own(replace(cluster, id=free_id(self._doc, cluster.id)))
        self._doc.put(row)
        for link in links:
            mention = self._ids[link.entity_id]
            self._doc.put(self._own(replace(link, cluster_id=row.id, entity_id=mention)))
            self._context.items += 1

    def _own(self, row: _Kind) -> _Kind:
        """The row under this event, with its source by this project's number."""
        source_id = self._context.source_of(self._foreign.sources[row.source_id])
        return replace(row, source_id=source_id, event_id=self._context.event_id)

    def _drop_undecided(self) -> None:
        doc = self._doc
        for link in doc.links:
            if link.state is State.UNDECIDED:
                doc.drop(link)
        for cluster in doc.clusters:
            if not any(link.cluster_id == cluster.id for link in doc.links):
                doc.drop(cluster)
        for relation in doc.relations:
            if relation.state is State.UNDECIDED:
                doc.drop(relation)
        for entity in doc.entities:
            needed = doc.relations_of(entity.id) or doc.links_of(entity.id)
            if entity.state is State.UNDECIDED and not needed:
                doc.drop(entity)


def _is_begun(progress: ProgressRow) -> bool:
    layers = (progress.entities, progress.relations, progress.coreference)
    return any(layer is not Completeness.UNTOUCHED for layer in layers)


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
