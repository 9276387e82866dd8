"""Another project's documents and decisions into this one: how two annotators work without a server."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.store import documents, events
from sciextract.store.context import Context
from sciextract.store.document_state import DocumentState
from sciextract.store.imports import free_id, same_relations
from sciextract.store.ingest import keep
from sciextract.store.queries import copy_queue, present, queue_lengths, read_queue
from sciextract.store.row_rules import problems
from sciextract.store.rows import (
    ClusterRow,
    Completeness,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
)
from sciextract.store.sqlite import to_sql, translated
from sciextract.store.state_tables import load_rows
from sciextract.store.views import annotated

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
        progress: Its completeness, flag and note.
        records: Its bibliographic records.
    """

    item: AnnotatedDocument
    doc: DocumentState
    sources: Mapping[int, str]
    progress: ProgressRow
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
    with translated(other.path):
        sources = other.sources
    for number in other.numbers():
        doc = other.document_state(number)
        if doc.progress is not None:
            with translated(other.path):
                records = tuple(documents.records(other.connection, number))
            yield Foreign(annotated(doc, sources), doc, sources, doc.progress, records)


class Join:
    """One merge: one event.

    Args:
        project: This project.
        source: The other one, as ``import:FILE``.
    """

    def __init__(self, project: Project, source: str) -> None:
        self._project = project
        self._source = source
        self._context: Context | None = None
        self.counts = MergeCounts()

    def add(self, foreign: list[Foreign]) -> list[int]:
        """Merge some documents, all or none of them; returns the numbers of those to compare.

        Raises:
            ProjectError: The file cannot be written; nothing of this batch is in it.
        """
        counts, context, both = replace(self.counts), self._context, []
        with self._project.writing() as connection:
            if context is None:
                author = self._project.author_id
                event_id = events.append(
                    connection, author, "merge project", {"source": self._source}
                )
                context = self._project.context(event_id, self._project.source_id(self._source))
            before = context.items
            for each in foreign:
                number = self._one(connection, context, each, counts)
                both += [] if number is None else [number]
            counts.items += context.items - before
        self._context, self.counts = context, counts
        return both

    def _one(
        self,
        connection: sqlite3.Connection,
        context: Context,
        foreign: Foreign,
        counts: MergeCounts,
    ) -> int | None:
        stored = documents.find(connection, foreign.item.document)
        rows = load_rows(connection, stored.number) if stored else []
        stored = stored or documents.insert(connection, foreign.item.document)
        self._records(connection, context, stored.number, foreign)
        keep(connection, stored, foreign.item.annotations, context)
        doc = DocumentState(stored, rows)
        mine = doc.progress
        if mine is not None and _worked_on(mine):
            counts.compared += 1
            return stored.number
        if mine is not None and not _has_content(foreign):
            return None
        before = context.items
        doc.put(_joined(mine, foreign.progress))
        _RowMerge(doc, context, foreign).merge()
        if mine is not None and _contradicts(doc, context):
            context.items = before
            counts.compared += 1
            return stored.number
        counts.documents += mine is None
        counts.taken += mine is not None
        self._project.save(doc, context)
        return None

    def _records(
        self, connection: sqlite3.Connection, context: Context, number: int, foreign: Foreign
    ) -> None:
        for record in foreign.records:
            source_id = context.source_of(record.source)
            values = (json.dumps(dict(record.fields)), json.dumps(list(record.warnings)))
            connection.execute(
                "INSERT OR IGNORE INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?)",
                (number, source_id, context.event_id, to_sql(record.doc_key), *values),
            )


class _RowMerge:
    """The other side's rows into a document that nobody has worked on here.

    What is undecided here goes, since the other side has decided; what was imported here stays, and takes
    the other side's decision about the same thing.
    """

    def __init__(self, doc: DocumentState, context: Context, foreign: Foreign) -> None:
        self._doc = doc
        self._context = context
        self._foreign = foreign
        self._ids: dict[str, str] = {}

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
            self._cluster(cluster)

    def _take(self, row: _Item, twin: _Item | None) -> str:
        row = self._own(row)
        if twin is None:
            row = replace(row, id=free_id(self._doc, row.id, self._context))
        elif row.state in (State.IMPORTED, State.UNDECIDED):
            return twin.id
        else:
            row = replace(row, id=twin.id)
        self._doc.put(row)
        self._context.items += 1
        return row.id

    def _cluster(self, cluster: ClusterRow) -> None:
        links = [each for each in self._foreign.doc.links if each.cluster_id == cluster.id]
        mentions = {self._ids[each.entity_id] for each in links}
        if any(mentions <= self._members(own) for own in self._doc.clusters):
            return
        row = self._own(replace(cluster, id=free_id(self._doc, cluster.id, self._context)))
        self._doc.put(row)
        for link in links:
            mention = self._ids[link.entity_id]
            self._doc.put(self._own(replace(link, cluster_id=row.id, entity_id=mention)))
            self._context.items += 1

    def _members(self, cluster: ClusterRow) -> set[str]:
        return {link.entity_id for link in self._doc.members(cluster.id)}

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


def _contradicts(doc: DocumentState, context: Context) -> bool:
    """Whether the other side's decisions and what was imported here do not go together."""
    broken = problems(doc, context.schema.symmetric_labels)
    return any(not problem.by_import for problem in broken)


def _has_content(foreign: Foreign) -> bool:
    return _worked_on(foreign.progress) or bool(foreign.item.annotations.entities)


def _worked_on(progress: ProgressRow) -> bool:
    layers = (progress.entities, progress.relations, progress.coreference)
    return any(layer is not Completeness.UNTOUCHED for layer in layers)


def _joined(mine: ProgressRow | None, theirs: ProgressRow) -> ProgressRow:
    if mine is None:
        return theirs
    return replace(theirs, flagged=mine.flagged or theirs.flagged, note=mine.note or theirs.note)


_CHUNK = 500
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
    for name in queue_lengths(other):
        queue = read_queue(other, name)
        if queue is not None:
            numbers = _here(project, other, queue.numbers)
            kept.append(copy_queue(project, replace(queue, numbers=numbers), origin))
    return [name for name in kept if name]


def _here(project: Project, other: Project, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Numbers that documents of the other project have in this one, in the same order."""
    with translated(other.path):
        texts: dict[int, str] = dict(_mapped(other.connection, _TEXTS, numbers))
    with translated(project.path):
        own: dict[str, int] = dict(_mapped(project.connection, _NUMBERS, tuple(texts.values())))
        found = (own[texts[each]] for each in numbers if texts.get(each) in own)
        return present(project.connection, tuple(dict.fromkeys(found)))


def _mapped(
    connection: sqlite3.Connection, query: str, keys: tuple[object, ...]
) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(keys), _CHUNK):
        yield from connection.execute(query, (json.dumps(keys[start : start + _CHUNK]),)).fetchall()
