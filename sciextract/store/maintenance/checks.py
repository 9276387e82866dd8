"""What is wrong in a project: the checks of the doctor, and why reading a value failed; nothing is changed."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isclose

from sciextract.errors import ProjectDamagedError
from sciextract.store import connection as session
from sciextract.store import documents, events, migrations, project_settings, state_tables
from sciextract.store.connection import problems, snapshot
from sciextract.store.document_state import DocumentState
from sciextract.store.documents import decode_annotations, digest_of
from sciextract.store.maintenance import findings, rebuild
from sciextract.store.maintenance.findings import Finding, Severity
from sciextract.store.rows import EntityRow, LinkRow, RelationRow, original_of
from sciextract.store.sqlite import UNREADABLE, WRONG_VALUES, decoded, storable
from sciextract.store.state_tables import load_rows

Progress = Callable[[int, int], None]
_REPAIR = "to repair it: sciextract doctor --repair"
_SALVAGE = "to recover what can be read: sciextract doctor --repair"
FROM_BACKUP = "compare with a backup; sciextract doctor lists them"

#: Problems of single documents: what is said of them, and the next step.
_DOCUMENT_CHECKS: Mapping[str, tuple[str, str]] = {
    "unreadable": ("cannot be read", _SALVAGE),
    "text": ("have a text that differs from its hash", FROM_BACKUP),
    "sources": ("have annotations of a source that differ from their hash", FROM_BACKUP),
    "tokens": ("have tokens that do not fit their text", FROM_BACKUP),
    "spans": ("have mentions outside of their text", FROM_BACKUP),
    "log": ("have a state that differs from the log", _REPAIR),
    "mentions": ("have mentions whose indexed string is not in their text", _REPAIR),
    "summary": ("have counts that do not fit their items", _REPAIR),
}
_INDEXES = ("document_words", "surface_words")
_EXACT = (
    "entities", "relations", "clusters", "items", "undecided", "decided", "least_score", "greatest_score",
)  # fmt: skip


def _each_wrong(
    check: str, problems: Iterable[str], sound: str, hint: str = FROM_BACKUP
) -> Iterator[Finding]:
    """An error for each problem, or that all is well."""
    wrong = False
    for message in problems:
        wrong = True
        yield Finding(check, Severity.ERROR, message, hint)
    if not wrong:
        yield Finding(check, Severity.GOOD, sound)


def file(connection: sqlite3.Connection) -> Iterator[Finding]:
    """SQLite's own check of every page and index."""
    damage = (f"the file is damaged: {each}" for each in problems(connection))
    return _each_wrong("file", damage, "SQLite's integrity check passed", _SALVAGE)


def references(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Every row finds the rows it speaks of."""
    rows = connection.execute("PRAGMA foreign_key_check").fetchall()
    broken = Counter((table, parent) for table, _, parent, _ in rows)
    messages = (
        f"{count} rows of {table} speak of a {parent} that is not there"
        for (table, parent), count in broken.items()
    )
    hint = f"{_REPAIR}, contrary to the log"
    return _each_wrong("references", messages, "all references hold", hint)


def types(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Every value has the type that its column is made for."""
    wrong = (f"this was not written by sciextract: {each}" for each in wrong_types(connection))
    return _each_wrong("types", wrong, "all values have the expected type")


def log(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Events and changes are as they were written, where a version wrote them that keeps hashes."""
    altered = sorted(set(events.altered(connection)))
    message = (
        f"{len(altered)} events differ from their hash, the first is {min(altered, default=0)}"
    )
    return _each_wrong("events", [message][: len(altered)], "all events match their hashes")


def structure(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Tables, indexes, views and triggers are those that sciextract makes."""
    altered = migrations.altered(connection)
    return _each_wrong("structure", altered, "the tables match the schema of sciextract")


def sessions(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Marks of processes that have the project open, and of those that did not close it."""
    gone = session.stale_sessions(connection)
    others = connection.execute("SELECT count(*) FROM session").fetchone()[0] - len(gone)
    if gone:
        message = f"{len(gone)} times a process exited without closing the project"
        yield Finding("sessions", Severity.WARNING, message, _REPAIR)
    if others:
        yield Finding("sessions", Severity.NOTE, f"{others} processes are working on the project")
    if not gone and not others:
        yield Finding("sessions", Severity.GOOD, "the project was closed cleanly")


def schema(connection: sqlite3.Connection) -> Iterator[Finding]:
    """The label schema can be read."""
    try:
        current = project_settings.current(connection)
    except ProjectDamagedError as error:
        yield Finding("schema", Severity.ERROR, f"no label schema: {error}", FROM_BACKUP)
    else:
        yield Finding("schema", Severity.GOOD, f"label schema {current.name!r}")


def counts(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Nothing is fewer than at the last close without an event that tells why."""
    drops = (f"items are missing: {each}" for each in findings.drops(connection))
    return _each_wrong("counts", drops, "no items are missing since the project was last closed")


def words(connection: sqlite3.Connection) -> Iterator[Finding]:
    """The full-text indexes hold the words of the texts and mentions."""
    names = [name for name in _INDEXES if not _index_holds(connection, name)]
    wrong = (f"the search index {name} is wrong" for name in names)
    return _each_wrong("words", wrong, "the search indexes are right", _REPAIR)


def all_documents(
    connection: sqlite3.Connection, progress: Progress | None = None
) -> Iterator[Finding]:
    """Every document: its text, tokens, items, log and counts."""
    numbers = rebuild.all_numbers(connection)
    wrong: dict[str, list[int]] = defaultdict(list)
    for done, number in enumerate(numbers, start=1):
        for check in _wrong_with(connection, number):
            wrong[check].append(number)
        if progress is not None:
            progress(done, len(numbers))
    for check, concerned in wrong.items():
        message, hint = _DOCUMENT_CHECKS[check]
        summary = f"{len(concerned)} of {len(numbers)} abstracts {message}"
        yield Finding(check, Severity.ERROR, summary, hint, tuple(concerned))
    if not wrong:
        yield Finding("log", Severity.GOOD, f"{len(numbers)} abstracts match the log")


def _wrong_with(connection: sqlite3.Connection, number: int) -> list[str]:
    """The names of the checks that a document does not pass."""
    try:
        with snapshot(connection):
            stored = documents.load(connection, number)
            doc = DocumentState(stored, load_rows(connection, number))
            tests = {
                "sources": sources_hold(connection, number),
                "text": _text_holds(connection, doc),
                "tokens": not stored.document.tokens.problems(len(doc.text)),
                "spans": _spans_hold(doc),
                "log": rebuild.agrees(connection, number),
                "mentions": _mentions_hold(connection, doc),
                "summary": _summary_holds(connection, doc),
            }
    except UNREADABLE:
        return ["unreadable"]
    return [name for name, holds in tests.items() if not holds]


def _text_holds(connection: sqlite3.Connection, doc: DocumentState) -> bool:
    row = connection.execute(
        "SELECT sha256 FROM document WHERE id = ?", (doc.stored.number,)
    ).fetchone()
    return bool(row[0] == doc.stored.document.text_sha256)


def _spans_hold(doc: DocumentState) -> bool:
    end = len(doc.text)
    spans = (span for each in doc.entities for span in each.fragments)
    return all(0 <= span.char_start < span.char_end <= end for span in spans)


def _mentions_hold(connection: sqlite3.Connection, doc: DocumentState) -> bool:
    rows = connection.execute(
        "SELECT e.id, s.text FROM entity e JOIN surface s ON s.id = e.surface_id WHERE document_id = ?",
        (doc.stored.number,),
    )
    indexed = dict(rows)
    return indexed == {each.id: storable(each.surface(doc.text)) for each in doc.entities}


def _summary_holds(connection: sqlite3.Connection, doc: DocumentState) -> bool:
    number = doc.stored.number
    kept = connection.execute(
        f"SELECT {', '.join(_EXACT)}, uncertainty FROM summary WHERE document_id = ?", (number,)
    ).fetchone()
    if doc.progress is None:
        return kept is None
    counts = state_tables.tally(doc)
    now = state_tables.summarise(doc, counts)
    exact = tuple(getattr(now, name) for name in _EXACT)
    rows = connection.execute(
        "SELECT kind, label, state, number FROM tally WHERE document_id = ?", (number,)
    )
    tallied = {tuple(key): count for *key, count in rows}
    near = kept is not None and isclose(kept[-1], now.uncertainty, abs_tol=1e-9)
    return near and kept[:-1] == exact and tallied == counts


def _index_holds(connection: sqlite3.Connection, name: str) -> bool:
    """FTS5's own comparison of an index with its texts: a command in the form of an insert.

    Raises:
        sqlite3.OperationalError: The file can only be read, or it is busy.
    """
    try:
        with _writable(connection):
            connection.execute(f"INSERT INTO {name}({name}, rank) VALUES('integrity-check', 1)")
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        return False
    return True


@contextmanager
def _writable(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction of a reading connection that may write, but is always rolled back."""
    before = connection.execute("PRAGMA query_only").fetchone()[0]
    connection.execute("PRAGMA query_only = OFF")
    try:
        with snapshot(connection):
            yield
    finally:
        connection.execute(f"PRAGMA query_only = {before}")


_STORED = {
    "TEXT": "'text'",
    "INTEGER": "'integer'",
    "REAL": "'real', 'integer'",
    "BLOB": "'blob'",
    "": "'text', 'blob'",
}
"""Per type of a column how SQLite may hold its values."""
_ALSO_BYTES = {
    *(("document", name) for name in ("doc_key", "title", "text")),
    ("record", "doc_key"),
}
"""Columns whose strings are bytes where they have a lone surrogate."""

_TIMES = ("at", "started", "finished")
"""Names of columns that hold times."""
_A_TIME = "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]*'"

_JSON = {
    ("label_schema", "body"): "object",
    ("run", "settings"): "object",
    ("record", "fields"): "object",
    ("record", "warnings"): "array",
}
"""Columns of JSON and its type, which no other check reads as such."""


def wrong_types(connection: sqlite3.Connection) -> Iterator[str]:
    """Columns with values that they are not made for, rows that speak of missing ones, and events."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for table, columns in migrations.structure(version).columns.items():
        for name, kind, nullable in columns:
            kinds = _STORED[kind] + ", 'blob'" * ((table, name) in _ALSO_BYTES)
            wrong = f"typeof({name}) NOT IN ({kinds}{', ' + repr('null') if nullable else ''})"
            wrong += f" OR {name} NOT GLOB {_A_TIME}" * (name in _TIMES)
            if wanted := _JSON.get((table, name)):
                wrong += f" OR iif(json_valid({name}), json_type({name}), '') <> '{wanted}'"
            if wanted == "array":
                wrong += f" OR EXISTS (SELECT 1 FROM json_each(iif(json_valid({name}), {name}, '[]')) WHERE type <> 'text')"
            query = f"SELECT {name} FROM {table} WHERE {wrong} LIMIT 1"
            if row := connection.execute(query).fetchone():
                yield f"{table}.{name} is {row[0]!r:.60}"
    if row := connection.execute("PRAGMA foreign_key_check").fetchone():
        yield f"a row of {row[0]} speaks of a {row[2]} that is not there"
    yield from _unread([partial(events.read_events, connection)])


def wrong_values(connection: sqlite3.Connection) -> Iterator[str]:
    """Everything in a project that cannot be understood; each is named where it is found first."""
    yield from wrong_types(connection)
    whole = (project_settings.current, findings.drops)
    yield from _unread(partial(read, connection) for read in whole)
    each = (documents.load, read_items, rebuild.logged_state, sources_hold)
    for number in rebuild.all_numbers(connection):
        yield from _unread(partial(read, connection, number) for read in each)


def read_items(connection: sqlite3.Connection, number: int) -> None:
    """Read all state rows of a document, and what its items were before they were edited.

    Raises:
        ProjectDamagedError: One of them cannot be understood.
    """
    rows = load_rows(connection, number)
    with decoded(connection, f"the original of an edited item of abstract {number}"):
        for row in rows:
            if isinstance(row, EntityRow | RelationRow | LinkRow):
                original_of(row)


def sources_hold(connection: sqlite3.Connection, number: int) -> bool:
    """Whether what each source said about a document is as it was kept.

    Raises:
        ProjectDamagedError: It cannot be understood.
    """
    query = "SELECT hash, body FROM annotation_set WHERE document_id = ?"
    kept = connection.execute(query, (number,)).fetchall()
    with decoded(connection, f"what a source said about abstract {number}"):
        for _, body in kept:
            decode_annotations(body)
        return all(digest == digest_of(body) for digest, body in kept)


def _unread(readers: Iterable[Callable[[], object]]) -> Iterator[str]:
    for read in readers:
        try:
            read()
        except (ProjectDamagedError, *WRONG_VALUES) as error:
            yield str(error)
