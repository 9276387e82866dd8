"""The one way into a document: imports, model runs and merges write here, in transactions of many documents."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import Annotations, Layer, State, new_id
from sciextract.documents.document import ADAPTER, AnnotatedDocument, Document, ModelId
from sciextract.store import documents, events
from sciextract.store.actions.editing import Edit
from sciextract.store.coverage import find_missing, uncovered_types
from sciextract.store.document_state import DocumentState
from sciextract.store.documents import Record, digest_of, encode_annotations
from sciextract.store.events import now
from sciextract.store.incoming import ImportMerge, PredictionMerge
from sciextract.store.project_settings import read_annotations, read_covered
from sciextract.store.rows import ProgressRow, finished_sql
from sciextract.store.sqlite import first_value
from sciextract.store.state_tables import label_schema, load_rows
from sciextract.store.travelling import differs, take_state

if TYPE_CHECKING:
    from sciextract.store.document_state import Context
    from sciextract.store.known_texts import KnownTexts
    from sciextract.store.project import Project


BATCH = 500
"""Documents a transaction: a killed import loses at most so many, and they come again with the next one."""
_OF_ADAPTERS = f"model:*{ADAPTER}/*"
_RUN_OF_MODEL = """SELECT a.source_id FROM annotation_set a JOIN run r ON r.source_id = a.source_id
    WHERE a.document_id = ? AND r.model_name = ? AND r.model_hash = ? ORDER BY a.id DESC LIMIT 1"""
"""The run in which a model had predicted a document itself."""


def find_or_insert(connection: sqlite3.Connection, document: Document) -> DocumentState:
    """The document of the same text with its state, added now where the project has none."""
    stored = documents.find(connection, document)
    if stored is None:
        return DocumentState(documents.insert(connection, document), [])
    return DocumentState(stored, load_rows(connection, stored.number))


def keep_annotations(
    project: Project, context: Context, number: int, annotations: Annotations | None,
    records: Iterable[Record] = (), covered: Iterable[str] | None = None,
) -> None:  # fmt: skip
    """Keep what one source says about a document as it says it, inside :meth:`Project.writing`.

    Args:
        project: The open project.
        context: Of the event; names the source.
        number: The document.
        annotations: What the source said; equal ones are kept once.
        records: Bibliographic records that the document came with.
        covered: What the source has looked for, where that is known.
    """
    connection = project.connection
    for record in records:
        source_id = context.source_of(record.source)
        documents.add_record(connection, number, record, source_id, context.event_id)
    if annotations is not None:
        body = encode_annotations(annotations, covered)
        connection.execute(
            "INSERT OR IGNORE INTO annotation_set VALUES (NULL, ?, ?, ?, ?, ?)",
            (number, context.source_id, context.event_id, digest_of(body), body),
        )


@dataclass(eq=False)
class Batches:
    """One event over any number of transactions, begun with the first batch that is written.

    Attributes:
        project: The open project.
    """

    project: Project
    _context: Context | None = field(default=None, init=False)

    @property
    def event_id(self) -> int | None:
        """Its event, once something was added."""
        return None if self._context is None else self._context.event_id

    @contextmanager
    def batch(self) -> Iterator[Context]:
        """One transaction under the event, all or nothing.

        Raises:
            ProjectError: The file cannot be written; nothing of this batch is in it.
        """
        context = self._context
        with self.project.writing() as connection:
            context = context or self.begin(connection)
            yield context
        self._context = context  # only now: an event of a batch that was rolled back does not exist

    def begin(self, connection: sqlite3.Connection) -> Context:
        """Write the event."""
        raise NotImplementedError


@dataclass(slots=True)
class ImportCounts:
    """What an import did.

    Attributes:
        documents: Texts that the project did not have.
        known: Texts that it had already.
        items: Entities, relations and mentions that it added or decided.
        flagged: Documents whose annotations break a rule of the schema.
        against_decisions: Imported items that a person had rejected; they stay rejected.
        kept: Abstracts that somebody has worked on here, so that finished layers, rejections and notes of the file stay out.
        already: PaperIndex that the project had with another text, by the source of that.
        longer: Those of them whose text is now the longer one that came.
        changed: Texts that differ from those of their abstracts here, which stay.
        updated: Texts that took the place of those of their abstracts.
        refused: Texts that should have done so, but have hardly a word in common with the abstract of their key.
        removed: Abstracts that a person removed before; they stay out.
        moved: What became of decisions about updated abstracts: see :func:`~sciextract.store.text_versions.move_decisions`.
    """

    documents: int = 0
    known: int = 0
    items: int = 0
    flagged: int = 0
    against_decisions: int = 0
    kept: int = 0
    already: Counter[str] = field(default_factory=Counter)
    longer: int = 0
    changed: int = 0
    updated: int = 0
    refused: int = 0
    removed: int = 0
    moved: Counter[str] = field(default_factory=Counter)


@dataclass(eq=False)
class Import(Batches):
    """One import of a file.

    Attributes:
        source: ``import:FILE``.
        params: What the log says of it.
        done: Layers in which what is imported is complete; where nothing waits for a decision they are done.
        texts: Says what becomes of texts that the project does not have; ``None`` keeps every one.
        hold: Whether annotations of an abstract that is here are not to be imported.
        counts: What it did so far.
    """

    source: str
    params: Mapping[str, Any]
    done: Collection[Layer] = ()
    texts: KnownTexts | None = None
    hold: Callable[[DocumentState, AnnotatedDocument], bool] = lambda doc, item: False
    counts: ImportCounts = field(default_factory=ImportCounts, init=False)
    _came: set[int] = field(default_factory=set, init=False)

    def begin(self, connection: sqlite3.Connection) -> Context:
        """Write the event."""
        event_id = events.append(connection, self.project.author_id, "import", self.params)
        return self.project.context(event_id, self.project.source_id(self.source))

    def add(self, items: Iterable[tuple[AnnotatedDocument, tuple[str, ...]]]) -> None:
        """Add documents with the schema's warnings about them, all or none of them.

        Raises:
            ProjectError: The file cannot be written; nothing of this batch is in it.
        """
        counts = deepcopy(self.counts)
        with self.batch() as context:
            for item, warnings in items:
                self._add_one(context, item, warnings, counts)
        self.counts = counts

    def _add_one(
        self, context: Context, item: AnnotatedDocument, warnings: tuple[str, ...],
        counts: ImportCounts,
    ) -> None:  # fmt: skip
        said, state = item.annotations, item.project_state
        has_items = bool(said.entities or said.relations or said.clusters)
        text_sha256 = item.document.text_sha256
        updated = counts.updated
        is_known = documents.known_by_text(self.project.connection, text_sha256) is not None
        if self.texts and not is_known:
            wanted = self.texts.find_place(context, item, counts, self._came)
            if wanted is None:
                return
            # What was moved to another text is not what its project knew of it.
            state = state if wanted is item else None
            item, said = wanted, wanted.annotations
        doc = find_or_insert(self.project.connection, item.document)
        counts.known += doc.progress is not None and counts.updated == updated
        counts.documents += doc.progress is None
        counts.flagged += bool(warnings)

        document, remarks = item.document, (*item.warnings, *warnings)
        record = Record(document.doc_key, self.source, document.fields, remarks)
        keep_annotations(self.project, context, doc.number, said if has_items else None, [record])
        came = doc.progress is None or doc.number in self._came
        is_held = not came and self.hold(doc, item)
        if doc.progress is None:
            doc.put(ProgressRow(flagged=bool(warnings), warned=len(warnings)))
        elif warnings and len(warnings) != doc.progress.warned:
            doc.put(replace(doc.progress, flagged=True, warned=len(warnings)))
        if state is not None and not is_untouched(doc):
            counts.kept += differs(doc, state)
            state = None
        if (has_items or state is not None) and not is_held:
            before, imported = context.items, ImportMerge(doc, context)
            imported.merge(said if state is None else state.everything)
            counts.items += context.items - before
            counts.against_decisions += imported.against_decisions
            if state is not None:
                take_state(self.project, context, doc, state)
        if not is_held:
            Edit(doc, context).finish(self.done)
        self.project.save(doc, context)
        if came or counts.updated > updated:
            self._came.add(doc.number)
        if self.texts:
            self.texts.add(doc.number, document)


@dataclass(eq=False)
class ModelRun(Batches):
    """One run of a model: immutable sets of predictions, and the state refreshed from them.

    Attributes:
        model: The model.
        settings: Its thresholds, for the log.
        background: Whether the run itself acts, not the person.
        keep_suggestions: Whether undecided mentions that a person had suggested by another model stay.
        id: Of the run; an adapter's is its number, from the first batch on.
        documents: How many documents it has predicted.
    """

    model: ModelId
    settings: Mapping[str, Any]
    background: bool = field(default=False, kw_only=True)
    keep_suggestions: bool = field(default=False, kw_only=True)
    id: str = field(default_factory=new_id, init=False)
    documents: int = field(default=0, init=False)

    @property
    def source(self) -> str:
        """The source of its items: ``model:NAME@HASH/run``, of an adapter ``model:NAME@HASH+adapter/N``."""
        return f"model:{self.model}/{self.id}"

    def begin(self, connection: sqlite3.Connection) -> Context:
        """Write the event and the run."""
        if variant := self.model.variant:
            # Adapters are numbered. Two desks get different numbers, because they are given while writing.
            query = "SELECT count(*) FROM run WHERE substr(model_hash, -length(?)) = ?"
            self.id = str(first_value(connection, query, variant, variant) + 1)
        source_id = self.project.source_id(self.source)
        author = source_id if self.background else self.project.author_id
        params = {"model": str(self.model), "run": self.id}
        event_id = events.append(connection, author, "predict", params)
        name, hash_ = self.model.name, self.model.hash + self.model.variant
        settings = json.dumps(dict(self.settings))
        connection.execute(
            "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
            (self.id, source_id, event_id, name, hash_, settings, now()),
        )
        return self.project.context(event_id, source_id)

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
        done = 0
        with self.batch() as context:
            # Only what models suggested gives way; a model without a run is one that a person imported from.
            models = frozenset(
                number
                for number, name in self.project.sources.items()
                if name.startswith("model:") and ("/" in name or not self.keep_suggestions)
            )
            names = context.schema.names
            for number, predicted in predictions:
                said = predicted.annotations
                items = (shown or {}).get(number, said).renamed(*names)
                done += self._add_one(context, number, said, items, models)
        self.documents += done

    def _add_one(
        self, context: Context, number: int, said: Annotations, shown: Annotations,
        models: frozenset[int],
    ) -> bool:  # fmt: skip
        connection, doc = self.project.connection, self.project.document_state(number)
        by_adapter, base = bool(self.model.variant), (self.model.name, self.model.hash)
        is_new = is_untouched(doc)
        if doc.progress is None or (
            by_adapter and not (is_new or uncovered_types(doc.progress, context.schema))
        ):
            return False
        if is_new or not by_adapter:
            keep_annotations(self.project, context, number, said)
        others = {}
        if by_adapter and (found := first_value(connection, _RUN_OF_MODEL, number, *base)):
            # What the adapter leaves to its model keeps the model's own run as its source.
            others = {f"model:{replace(self.model, variant='')}": int(found)}
        PredictionMerge(doc, context, models, others).merge(shown)
        self.project.save(doc, context)
        if by_adapter:
            # Adapters come every few minutes: what an earlier one said of an untouched document is worth nothing.
            connection.execute(
                """DELETE FROM annotation_set WHERE document_id = ? AND source_id <> ? AND ?
                AND source_id IN (SELECT id FROM source WHERE name GLOB ?)""",
                (number, context.source_id, is_new, _OF_ADAPTERS),
            )
            events.join_last(connection, number, _OF_ADAPTERS)
        return True

    def finish(self) -> None:
        """Note that the run came to its end."""
        if self._context is not None:
            with self.project.writing() as connection:
                connection.execute("UPDATE run SET finished = ? WHERE id = ?", (now(), self.id))


def is_untouched(doc: DocumentState) -> bool:
    """Whether nobody has decided anything about a document."""
    if doc.progress is None or not doc.progress.is_untouched:
        return False
    return all(row.state is State.UNDECIDED for row in doc.items_of())


def annotations_of_source(
    connection: sqlite3.Connection, number: int, source_id: int
) -> Annotations | None:
    """The latest annotations of a document by a source."""
    found = latest_of_source(connection, number, source_id)
    return found and found[0]


def latest_of_source(
    connection: sqlite3.Connection, number: int, source_id: int
) -> tuple[Annotations, frozenset[str] | None] | None:
    """The same with what the source has looked for; ``None`` where that is unknown."""
    query = """SELECT body FROM annotation_set WHERE document_id = ? AND source_id = ?
        ORDER BY id DESC LIMIT 1"""
    body = first_value(connection, query, number, source_id)
    return body and (read_annotations(connection, body), read_covered(connection, body))


def need_prediction(
    connection: sqlite3.Connection, model: ModelId, settings: Mapping[str, Any] | None = None
) -> list[int]:
    """Numbers of the documents that this model has not predicted and that are not done, or lack a type.

    A run that was undone does not count.

    Args:
        connection: The project.
        model: The model.
        settings: Where given, the latest run of a model (adapters aside) has to be one of this model with just these.
    """
    missing = find_missing(connection, label_schema(connection)).values()
    lacking = [number for numbers in missing for number in numbers]
    rows = connection.execute(
        f"""SELECT p.document_id, r.settings, r.model_name = ?1 AND r.model_hash = ?2 FROM progress p
        LEFT JOIN annotation_set s ON s.id = (
            SELECT a.id FROM annotation_set a JOIN run r ON r.source_id = a.source_id JOIN event e ON e.id = a.event_id
            WHERE a.document_id = p.document_id AND NOT {events.UNDONE}
            AND iif(?3, r.model_hash NOT LIKE '%{ADAPTER}', r.model_name = ?1 AND r.model_hash = ?2)
            ORDER BY a.id DESC LIMIT 1)
        LEFT JOIN run r ON r.source_id = s.source_id
        WHERE NOT {finished_sql("p")} OR p.document_id IN (SELECT value FROM json_each(?4))
        ORDER BY p.document_id""",
        (model.name, model.hash, settings is not None, json.dumps(lacking)),
    )
    return [
        number
        for number, found, own in rows
        if not own or settings not in (None, _read_settings(found))
    ]


def _read_settings(settings: str) -> dict[str, Any]:
    """Those settings of a run that are not the model's own."""
    return {name: value for name, value in json.loads(settings).items() if value}
