"""Documents and annotations into the store: imports and model runs, in transactions of many documents."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import Annotations, Layer, State, new_id
from sciextract.documents.document import ADAPTER, AnnotatedDocument, ModelId
from sciextract.store import documents, events
from sciextract.store.actions.marks import finish
from sciextract.store.document_state import DocumentState, Stored
from sciextract.store.documents import decode_annotations, digest_of, encode_annotations
from sciextract.store.imports import ImportMerge
from sciextract.store.predictions import PredictionMerge
from sciextract.store.rows import Completeness, ProgressRow
from sciextract.store.sqlite import first_value, now
from sciextract.store.state_tables import load_rows

if TYPE_CHECKING:
    from sciextract.store.context import Context
    from sciextract.store.project import Project


_UNTOUCHED = Completeness.UNTOUCHED

BATCH = 500
"""Documents a transaction: a killed import loses at most so many, and they come again with the next one."""


@dataclass(slots=True)
class ImportCounts:
    """What an import did.

    Attributes:
        documents: Texts that the project did not have.
        known: Texts that it had already.
        items: Entities, relations and mentions that it added or decided.
        flagged: Documents whose annotations break a rule of the schema.
        against_decisions: Imported items that a person had rejected; they stay rejected.
    """

    documents: int = 0
    known: int = 0
    items: int = 0
    flagged: int = 0
    against_decisions: int = 0


class Import:
    """One import: one event, whatever the number of transactions.

    Args:
        project: The open project.
        source: ``import:FILE``.
        params: What the log says of it.
        done: Layers in which what is imported is complete; where nothing waits for a decision they are done.
    """

    def __init__(
        self,
        project: Project,
        source: str,
        params: Mapping[str, Any],
        done: Collection[Layer] = (),
    ) -> None:
        self._project = project
        self._source = source
        self._done = done
        self._params = params
        self._context: Context | None = None
        self.counts = ImportCounts()

    @property
    def event_id(self) -> int | None:
        """Its event, once something was added."""
        return None if self._context is None else self._context.event_id

    def add(self, items: Iterable[tuple[AnnotatedDocument, tuple[str, ...]]]) -> None:
        """Add documents with the schema's warnings about them, all or none of them.

        Raises:
            ProjectError: The file cannot be written; nothing of this batch is in it.
        """
        counts = replace(self.counts)
        context = self._context
        with self._project.writing() as connection:
            if context is None:
                author = self._project.author_id
                event_id = events.append(connection, author, "import", self._params)
                context = self._project.context(event_id, self._project.source_id(self._source))
            for document, warnings in items:
                self._one(connection, context, document, warnings, counts)
        self._context, self.counts = context, counts

    def _one(
        self,
        connection: sqlite3.Connection,
        context: Context,
        item: AnnotatedDocument,
        warnings: tuple[str, ...],
        counts: ImportCounts,
    ) -> None:
        stored = documents.find(connection, item.document)
        rows = load_rows(connection, stored.number) if stored else []
        stored = stored or documents.insert(connection, item.document)
        remarks = replace(item, warnings=(*item.warnings, *warnings))
        documents.add_record(connection, stored, remarks, context.source_id, context.event_id)
        doc = DocumentState(stored, rows)
        counts.known += doc.progress is not None
        counts.documents += doc.progress is None
        counts.flagged += bool(warnings)
        if doc.progress is None:
            doc.put(ProgressRow(flagged=bool(warnings), warned=len(warnings)))
        elif warnings and len(warnings) != doc.progress.warned:
            doc.put(replace(doc.progress, flagged=True, warned=len(warnings)))
        self._annotations(connection, context, doc, item.annotations, counts)
        finish(doc, context, self._done)
        self._project.save(doc, context)

    def _annotations(
        self,
        connection: sqlite3.Connection,
        context: Context,
        doc: DocumentState,
        annotations: Annotations,
        counts: ImportCounts,
    ) -> None:
        if not (annotations.entities or annotations.relations or annotations.clusters):
            return
        keep(connection, doc.stored, annotations, context)
        merge = ImportMerge(doc, context)
        before = context.items
        merge.merge(annotations)
        counts.items += context.items - before
        counts.against_decisions += merge.against_decisions


class Run:
    """One model run: one event, immutable sets of predictions, and the state refreshed from them.

    Args:
        project: The open project.
        model: The model.
        settings: Its thresholds, for the log.
        background: Whether the run itself acts, not the person.
        keep_suggestions: Whether undecided mentions that a person had suggested by another model stay.
    """

    def __init__(
        self,
        project: Project,
        model: ModelId,
        settings: Mapping[str, Any],
        *,
        background: bool = False,
        keep_suggestions: bool = False,
    ) -> None:
        self.id = new_id()
        self.documents = 0
        self._project = project
        self._model = model
        self._settings = settings
        self._background = background
        self._keep_suggestions = keep_suggestions
        self._context: Context | None = None

    @property
    def source(self) -> str:
        """The source of its items: ``model:NAME@HASH/run``, of an adapter ``model:NAME@HASH+adapter/N``."""
        return f"model:{self._model}/{self.id}"

    def add(
        self,
        predictions: Iterable[tuple[int, AnnotatedDocument]],
        shown: Mapping[int, Annotations] | None = None,
    ) -> None:
        """Put predictions of some documents (by number) into the project, all or none of them.

        Args:
            predictions: What is kept as what the model predicted.
            shown: By number what becomes undecided items, where that is something else.

        Raises:
            ProjectError: The file cannot be written; nothing of this batch is in it.
        """
        context, done = self._context, 0
        with self._project.writing() as connection:
            if context is None:
                context = self._begin(connection)
            names = self._project.sources.items()
            models = frozenset(
                number
                for number, name in names
                if name.startswith("model:") and ("/" in name or not self._keep_suggestions)
            )
            for number, predicted in predictions:
                doc = self._project.document_state(number)
                if self._model.variant and not _is_untouched(doc):
                    continue
                keep(connection, doc.stored, predicted.annotations, context)
                if doc.progress is None:
                    continue
                others = self._own_source(connection, number) if self._model.variant else {}
                merge = PredictionMerge(doc, context, context.source_id, models, others)
                merge.merge((shown or {}).get(number, predicted.annotations))
                self._project.save(doc, context)
                if self._model.variant:
                    _forget_earlier(connection, number, context.source_id)
                done += 1
        self._context = context
        self.documents += done

    def _own_source(self, connection: sqlite3.Connection, number: int) -> dict[str, int]:
        """The run in which the adapter's model had predicted a document itself, by what its items call their source."""
        model = replace(self._model, variant="")
        query = """SELECT a.source_id FROM annotation_set a JOIN run r ON r.source_id = a.source_id
            WHERE a.document_id = ? AND r.model_name = ? AND r.model_hash = ? ORDER BY a.id DESC LIMIT 1"""
        found = first_value(connection, query, number, model.name, model.hash)
        return {} if found is None else {f"model:{model}": found}

    def finish(self) -> None:
        """Note that the run came to its end."""
        if self._context is not None:
            with self._project.writing() as connection:
                connection.execute("UPDATE run SET finished = ? WHERE id = ?", (now(), self.id))

    def _begin(self, connection: sqlite3.Connection) -> Context:
        if self._model.variant:
            self.id = _next_number(connection, self._model.variant)
        source_id = self._project.source_id(self.source)
        author = source_id if self._background else self._project.author_id
        params = {"model": str(self._model), "run": self.id}
        event_id = events.append(connection, author, "predict", params)
        name, hash_ = self._model.name, self._model.hash + self._model.variant
        settings = json.dumps(dict(self._settings))
        connection.execute(
            "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
            (self.id, source_id, event_id, name, hash_, settings, now()),
        )
        return self._project.context(event_id, source_id)


def _next_number(connection: sqlite3.Connection, variant: str) -> str:
    """The number of the next adapter's run; two desks get different ones, because it is given while writing."""
    query = "SELECT count(*) FROM run WHERE substr(model_hash, -length(?)) = ?"
    return str(first_value(connection, query, variant, variant) + 1)


def _is_untouched(doc: DocumentState) -> bool:
    """Whether nobody has decided anything about a document."""
    progress = doc.progress
    if progress is None or any(getattr(progress, each) is not _UNTOUCHED for each in Layer):
        return False
    states = {row.state for rows in (doc.all_entities, doc.relations, doc.links) for row in rows}
    return states <= {State.UNDECIDED}


_OF_ADAPTERS = f"model:*{ADAPTER}/*"


def _forget_earlier(connection: sqlite3.Connection, number: int, source_id: int) -> None:
    """Remove what earlier adapters predicted about a document that nobody has touched since."""
    connection.execute(
        """DELETE FROM annotation_set WHERE document_id = ? AND source_id <> ?
        AND source_id IN (SELECT id FROM source WHERE name GLOB ?)""",
        (number, source_id, _OF_ADAPTERS),
    )
    events.join_last(connection, number, _OF_ADAPTERS)


def keep(
    connection: sqlite3.Connection, stored: Stored, annotations: Annotations, context: Context
) -> None:
    """Keep the annotations of a document by a source unchanged; equal ones are kept once."""
    body = encode_annotations(annotations)
    connection.execute(
        "INSERT OR IGNORE INTO annotation_set VALUES (NULL, ?, ?, ?, ?, ?)",
        (stored.number, context.source_id, context.event_id, digest_of(body), body),
    )


def annotations_of_source(
    connection: sqlite3.Connection, number: int, source_id: int
) -> Annotations | None:
    """The latest annotations of a document by a source."""
    query = """SELECT body FROM annotation_set WHERE document_id = ? AND source_id = ?
        ORDER BY id DESC LIMIT 1"""
    body = first_value(connection, query, number, source_id)
    return body and _decoded(body)


@lru_cache(maxsize=16)
def _decoded(body: bytes) -> Annotations:
    """What a desk compares after every key is decoded once."""
    return decode_annotations(body)


def need_prediction(connection: sqlite3.Connection, model: ModelId) -> list[int]:
    """Numbers of the documents that this model has not predicted and that are not done in every layer.

    A run that was undone does not count.
    """
    rows = connection.execute(
        f"""SELECT p.document_id FROM progress p
        WHERE NOT (p.entities = 'done' AND p.relations = 'done' AND p.coreference = 'done')
          AND NOT EXISTS (SELECT 1 FROM annotation_set a JOIN run r ON r.source_id = a.source_id
                          JOIN event e ON e.id = a.event_id
                          WHERE a.document_id = p.document_id AND r.model_name = ? AND r.model_hash = ?
                            AND NOT {events.UNDONE})
        ORDER BY p.document_id""",
        (model.name, model.hash),
    )
    return [row[0] for row in rows]
