"""An open project."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ProjectError, SciextractError
from sciextract.store import documents, events, search, state_tables
from sciextract.store import undo as undoing
from sciextract.store.actions.api import Actions, Work
from sciextract.store.document_state import (
    Context,
    DocumentState,
    NothingChanged,
    Outcome,
    Tables,
    annotated,
    is_done,
)
from sciextract.store.documents import Stored
from sciextract.store.maintenance import backup
from sciextract.store.maintenance.checks import wrong_values
from sciextract.store.rows import IN_VIEW
from sciextract.store.sqlite import (
    VERSION,
    Connection,
    Mode,
    first_value,
    is_overwritten,
    is_replaced,
    newer,
    set_log_aside,
    settle,
    snapshot,
    transaction,
)
from sciextract.store.sqlite_errors import (
    WRONG_VALUES,
    damaged,
    overwritten,
    read_only,
    replaced,
    translated,
)
from sciextract.store.state_tables import apply, load_rows

Stamp = tuple[int, int, int, int]
_STAMP = """SELECT coalesce((SELECT max(seq) FROM change WHERE document_id = :number), 0),
    coalesce((SELECT max(id) FROM record WHERE document_id = :number), 0)"""


def stamp_of(connection: sqlite3.Connection, number: int) -> Stamp:
    """What differs whenever a document does, inside the caller's transaction.

    Every change of a document is in the log; what other connections write without it, as repairs do, shows in
    SQLite's data version.
    """
    version = first_value(connection, "PRAGMA data_version")
    return number, version, *connection.execute(_STAMP, {"number": number}).fetchone()


class Project:
    """One SQLite file with everything: open it with :func:`~sciextract.store.open_project`.

    A connection belongs to the thread that opened it; other threads open the project for themselves.

    Attributes:
        path: The file.
        connection: SQLite's connection, in autocommit mode.
        author: The person or model that acts: ``person:NAME``.
        mode: ``write``, ``read`` or ``immutable``.
        pressed: Keys to decide and keys to move since the last event, ``None`` where nobody counts them; the
            next event of :meth:`perform` takes them.
        notice: What opening did to the file, for the person who opened it; empty for nothing.
    """

    def __init__(self, path: Path, connection: Connection, author: str, mode: Mode) -> None:
        self.path = path
        self.connection = connection
        connection.project = path
        self.author = author
        self.mode = mode
        self.pressed: tuple[int, int] | None = None
        self.notice = ""
        self._wrote = False
        self._closed = False
        # One document's rows: an action on a long document costs no reading of what it does not change.
        self._kept: tuple[Stamp, Stored, Tables] | None = None
        self._saved: DocumentState | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with translated(self.path):
            wrong = ""
            unexpected = isinstance(error, (*WRONG_VALUES, sqlite3.IntegrityError))
            if unexpected and not self._closed and not isinstance(error, SciextractError):
                # An error in the code looks like this as well: only a wrong value in the file makes it damage.
                wrong = next(wrong_values(self.connection), "")
            self.close()
            if wrong:
                raise damaged(self.path, wrong) from error
            if isinstance(error, sqlite3.DatabaseError):
                raise error  # a plain query of the caller: its error names the project, too

    def close(self) -> None:
        """Close, so that everything is in the one file.

        Raises:
            ProjectReplacedError: Another file has taken the project's place; what was written into the one
                that was open is saved next to it now, unless it was before. Or it was overwritten in place.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self._wrote and self.is_replaced():
                raise replaced(self.path, self.save_copy())
            if self.mode == "write" and not self.is_replaced():
                if is_overwritten(self.connection, self.path):
                    log = set_log_aside(self.path)
                    if self._wrote:
                        raise overwritten(self.path, log)
                else:
                    settle(self.connection)
        finally:
            self.connection.close()

    def is_replaced(self) -> bool:
        """Whether the project's name came to mean another file, or none; nothing can be written then."""
        return is_replaced(self.connection, self.path)

    def save_copy(self) -> Path:
        """Save everything that was open, once it was replaced by another file, as a project next to that one.

        Returns:
            The new project; ``sciextract merge`` brings what is in it into another one.

        Raises:
            ProjectError: It cannot be written.
        """
        saved = backup.save_copy(self.connection, self.path)
        with suppress(ProjectError):
            # SQLite finds logs by their names: what this one still held would be read into the other file.
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._wrote = False
        return saved

    @cached_property
    def actions(self) -> Actions:
        """What a person can do to items, clusters and abstracts."""
        return Actions(self)

    @property
    def schema(self) -> LabelSchema:
        """The label schema that holds now."""
        return state_tables.label_schema(self.connection)

    @property
    def author_id(self) -> int:
        """The number of the author among the sources."""
        return self.source_id(self.author)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: waits for other processes, all or nothing.

        Raises:
            ProjectReadOnlyError: The project cannot be written.
            ProjectReplacedError: Its name means another file by now; nothing was changed.
            ProjectError: It could not be done; nothing was changed.
        """
        if self.mode != "write":
            raise read_only(self.path)
        with transaction(self.connection, self.path):
            version = first_value(self.connection, "PRAGMA user_version")
            if version != VERSION:  # a newer sciextract has converted it since it was opened here
                raise newer(self.path, version)
            # Actions note here what they wrote last, so that it need not be read again.
            self._saved = None
            yield self.connection
            saved = self._saved
            stamp = saved and stamp_of(self.connection, saved.number)
        self._wrote = True
        if saved and stamp:  # only now that the transaction has ended well
            self._kept = stamp, saved.stored, saved.as_saved()

    def source_id(self, name: str) -> int:
        """The number of a source: ``import:FILE``, ``model:...``, ``person:NAME``.

        One that has none is given one inside of :meth:`writing`; elsewhere it is 0, which no source has.
        Bytes of a file name that are no text become escapes.
        """
        name = name.encode("utf-8", "backslashreplace").decode("utf-8")
        known = first_value(self.connection, "SELECT id FROM source WHERE name = ?", name)
        if known is not None:
            return int(known)
        if self.mode != "write" or not self.connection.in_transaction:
            return 0
        cursor = self.connection.execute(
            "INSERT INTO source(name, kind) VALUES (?, ?)", (name, name.partition(":")[0])
        )
        return int(cursor.lastrowid or 0)

    @property
    def sources(self) -> dict[int, str]:
        """Names of all sources by number."""
        return dict(self.connection.execute("SELECT id, name FROM source"))

    def document_state(self, number: int) -> DocumentState:
        """A document with all its state rows.

        Raises:
            KeyError: There is no such document.
        """
        connection = self.connection
        keep = not connection.in_transaction  # what is read inside one may be rolled back
        with translated(self.path), snapshot(connection):
            stamp = stamp_of(connection, number)
            if self._kept is not None and self._kept[0] == stamp:
                return DocumentState.of(*self._kept[1:])
            doc = DocumentState(documents.load(connection, number), load_rows(connection, number))
            if keep:
                self._kept = stamp, doc.stored, doc.as_saved()
            return doc

    def document(self, number: int, states: frozenset[State] = IN_VIEW) -> AnnotatedDocument:
        """A document with its items.

        Args:
            number: The document's number: see :meth:`numbers`.
            states: States of the items to include; by default imported, accepted, edited and added ones.
        """
        doc = self.document_state(number)
        return replace(annotated(doc, self.sources, states), done=is_done(doc, self.schema))

    def numbers(self) -> list[int]:
        """Numbers of all documents, in the order of import."""
        return documents.numbers(self.connection)

    def stream(self, states: frozenset[State] = IN_VIEW) -> Iterator[AnnotatedDocument]:
        """All documents as :meth:`document` gives them, one by one, in constant memory."""
        last = 0
        while page := documents.numbers(self.connection, last, 256):
            for last in page:
                yield self.document(last, states)

    def documents_with(self, surface: str) -> list[int]:
        """Numbers of the documents whose text has this string."""
        return search.documents_with(self.connection, surface)

    def undecided_items(self, numbers: Sequence[int] | None = None) -> int:
        """How many items of some documents are undecided; of all without numbers."""
        query = """SELECT coalesce(sum(undecided), 0) FROM summary
            WHERE ?1 IS NULL OR document_id IN (SELECT value FROM json_each(?1))"""
        wanted = None if numbers is None else json.dumps(numbers)
        return int(first_value(self.connection, query, wanted))

    def documents_with_undecided(self, least: float | None = None) -> list[int]:
        """Numbers of the documents with undecided items, perhaps only with one of at least that score."""
        rows = self.connection.execute(
            """SELECT document_id FROM summary
            WHERE undecided > 0 AND (? IS NULL OR greatest_score >= ?) ORDER BY document_id""",
            (least, least),
        )
        return [row[0] for row in rows]

    def perform(
        self,
        kind: str,
        params: Mapping[str, Any],
        numbers: Iterable[int],
        work: Work,
        seconds: float | None = None,
        *,
        backup: bool = False,
        always: bool = False,
        source: str = "",
    ) -> Outcome:
        """Do one action on some documents: one transaction, one event.

        Args:
            kind: The action's word in the log.
            params: Its parameters, for the log.
            numbers: The documents to look at.
            work: Changes the state of each.
            seconds: Time the person spent.
            backup: Whether to make a dated backup first.
            always: Whether the event is kept although it changes nothing.
            source: Who acts instead of the person.

        Raises:
            ActionRefusedError: It is not allowed; nothing has changed.
            ProjectError: The file cannot be written; nothing has changed.
        """
        if backup:
            self.backup(kind)
        if self.pressed and not source:
            params = {**params, events.PRESSED: self.pressed}
        try:
            with self.writing() as connection:
                by = self.source_id(source) if source else self.author_id
                event_id = events.append(connection, by, kind, params, seconds)
                context = self.context(event_id, by)
                changed = sum(self.work_on(number, work, context) for number in numbers)
                if not changed and not always:
                    raise NothingChanged
        except NothingChanged:
            return Outcome(None, 0, 0, tuple(context.warnings))
        if not source:
            self.pressed = None
        return Outcome(event_id, changed, context.items, tuple(context.warnings))

    def dry_run(self, numbers: Iterable[int], work: Work) -> tuple[int, int]:
        """How many documents and items an action would change; nothing is written."""
        context = Context(0, self.author_id, self.schema, lambda name: 0)
        changed = 0
        for number in numbers:
            doc = self.document_state(number)
            work(doc, context)
            changed += bool(doc.changes())
        return changed, context.items

    def save(self, doc: DocumentState, context: Context) -> bool:
        """Write what changed in a document, inside :meth:`writing`; says whether anything did."""
        changes = doc.changes()
        if changes:
            number = doc.stored.number
            apply(self.connection, number, doc.text, changes)
            events.append_changes(self.connection, context.event_id, number, changes)
            state_tables.refresh(self.connection, doc)
            self.note_saved(doc)
        return bool(changes)

    def note_saved(self, doc: DocumentState) -> None:
        """The file has these rows of a document from now on, if :meth:`writing` ends well."""
        self._saved = doc

    def undo(self, event_id: int | None = None) -> tuple[events.Event, Outcome]:
        """Take back the author's latest action, or a certain event (see :mod:`~sciextract.store.undo`)."""
        return undoing.undo(self, event_id)

    def redo(self) -> tuple[events.Event, Outcome]:
        """Do again what the author undid last."""
        return undoing.redo(self)

    def log(self, limit: int | None = None) -> list[events.Event]:
        """Events, newest first."""
        return events.read_events(self.connection, limit)

    def backup(self, reason: str) -> backup.Backup:
        """Make a dated backup (see :mod:`~sciextract.store.maintenance.backup`)."""
        return backup.make_backup(self.connection, self.path, reason)

    def set_schema(self, schema: LabelSchema) -> None:
        """Give the project another label schema; the earlier one stays in the file. Annotations stay as they are."""
        with self.writing() as connection:
            version = state_tables.save_label_schema(connection, schema)
            params = {"name": schema.name, "version": version}
            events.append(connection, self.author_id, "schema", params)

    def data_version(self) -> int:
        """A number that changes when another process has written; cheap enough to ask every second."""
        return int(first_value(self.connection, "PRAGMA data_version"))

    def context(self, event_id: int, source_id: int | None = None) -> Context:
        """The frame of an event, for what is done under it."""
        by = self.author_id if source_id is None else source_id
        return Context(event_id, by, self.schema, self.source_id)

    def work_on(self, number: int, work: Work, context: Context) -> bool:
        """Change the state of a document, inside :meth:`writing`; says whether anything changed."""
        doc = self.document_state(number)
        if doc.progress is None:
            return False
        work(doc, context)
        return self.save(doc, context)
