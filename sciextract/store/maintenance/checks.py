"""The checks of the doctor that look into a project; each gives findings and changes nothing."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isclose

from sciextract.errors import ProjectDamagedError
from sciextract.store import connection as session
from sciextract.store import documents, events, migrations, project_settings, state_tables
from sciextract.store.connection import problems, snapshot
from sciextract.store.document_state import DocumentState
from sciextract.store.maintenance import findings, rebuild, values
from sciextract.store.maintenance.findings import Finding, Severity
from sciextract.store.maintenance.salvage import UNREADABLE
from sciextract.store.state_tables import load_rows

Progress = Callable[[int, int], None]
_REPAIR = "sciextract doctor --repair mends it"
FROM_BACKUP = "compare with a backup; sciextract doctor lists them"

#: Problems of single documents: what is said of them, and the next step.
_DOCUMENT_CHECKS: Mapping[str, tuple[str, str]] = {
    "unreadable": ("cannot be read", "sciextract doctor --repair saves what can be read"),
    "text": ("have a text that differs from its hash", FROM_BACKUP),
    "sources": ("have annotations of a source that differ from their hash", FROM_BACKUP),
    "tokens": ("have tokens that do not fit their text", FROM_BACKUP),
    "spans": ("have mentions outside of their text", FROM_BACKUP),
    "log": ("have a state that is not what the log says", _REPAIR),
    "mentions": ("have mentions whose indexed string is not in their text", _REPAIR),
    "summary": ("have counts that do not fit their items", _REPAIR),
}
_INDEXES = ("document_words", "surface_words")


def file(connection: sqlite3.Connection) -> Iterator[Finding]:
    """SQLite's own check of every page and index."""
    found = problems(connection)
    for each in found:
        yield Finding(
            "file",
            Severity.ERROR,
            f"the file is damaged: {each}",
            "sciextract doctor --repair saves what can be read",
        )
    if not found:
        yield Finding("file", Severity.GOOD, "SQLite finds the file sound")


def references(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Every row finds the rows it speaks of."""
    broken: dict[tuple[str, str], int] = defaultdict(int)
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        broken[table, parent] += 1
    for (table, parent), count in broken.items():
        message = f"{count} rows of {table} speak of a {parent} that is not there"
        hint = f"{_REPAIR}, where the log knows better"
        yield Finding("references", Severity.ERROR, message, hint)
    if not broken:
        yield Finding("references", Severity.GOOD, "all references hold")


def types(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Every value has the type that its column is made for."""
    found = list(values.wrong_types(connection))
    for each in found:
        yield Finding("types", Severity.ERROR, f"no sciextract wrote this: {each}", FROM_BACKUP)
    if not found:
        yield Finding("types", Severity.GOOD, "all values have the right type")


def log(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Events and changes are as they were written, where a version wrote them that keeps hashes."""
    found = sorted(set(events.altered(connection)))
    if found:
        message = f"{len(found)} events differ from their hash, the first is {found[0]}"
        yield Finding("events", Severity.ERROR, message, FROM_BACKUP)
    else:
        yield Finding("events", Severity.GOOD, "the events are as they were written")


def structure(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Tables, indexes, views and triggers are those that sciextract makes."""
    found = migrations.altered(connection)
    for each in found:
        yield Finding("structure", Severity.ERROR, each, FROM_BACKUP)
    if not found:
        yield Finding("structure", Severity.GOOD, "the tables are as sciextract makes them")


def sessions(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Marks of processes that have the project open, and of those that did not close it."""
    gone = session.left_behind(connection)
    others = connection.execute("SELECT count(*) FROM session").fetchone()[0] - len(gone)
    if gone:
        message = f"{len(gone)} times a process ended without closing the project"
        yield Finding("sessions", Severity.WARNING, message, _REPAIR)
    if others:
        yield Finding("sessions", Severity.NOTE, f"{others} processes are working on the project")
    if not gone and not others:
        yield Finding("sessions", Severity.GOOD, "the project was closed cleanly")


def schema(connection: sqlite3.Connection) -> Iterator[Finding]:
    """The label schema can be read."""
    try:
        found = project_settings.current(connection)
    except ProjectDamagedError as error:
        yield Finding("schema", Severity.ERROR, f"no label schema: {error}", FROM_BACKUP)
    else:
        yield Finding("schema", Severity.GOOD, f"label schema {found.name!r}")


def counts(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Nothing is fewer than at the last close without an event that tells why."""
    drops = findings.drops(connection)
    for each in drops:
        yield Finding("counts", Severity.ERROR, f"something is gone: {each}", FROM_BACKUP)
    if not drops:
        yield Finding("counts", Severity.GOOD, "nothing is gone since the last close")


def words(connection: sqlite3.Connection) -> Iterator[Finding]:
    """The full-text indexes hold the words of the texts and mentions."""
    wrong = [name for name in _INDEXES if not _index_holds(connection, name)]
    for name in wrong:
        yield Finding("words", Severity.ERROR, f"the search index {name} is wrong", _REPAIR)
    if not wrong:
        yield Finding("words", Severity.GOOD, "the search indexes are right")


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
        yield Finding("log", Severity.GOOD, f"{len(numbers)} abstracts are as the log says")


def _wrong_with(connection: sqlite3.Connection, number: int) -> list[str]:
    """The names of the checks that a document does not pass."""
    try:
        with snapshot(connection):
            stored = documents.load(connection, number)
            doc = DocumentState(stored, load_rows(connection, number))
            tests = {
                "sources": values.sources_hold(connection, number),
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
    return indexed == {each.id: _storable(each.surface(doc.text)) for each in doc.entities}


def _storable(surface: str) -> str:
    return surface.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _summary_holds(connection: sqlite3.Connection, doc: DocumentState) -> bool:
    number = doc.stored.number
    kept = connection.execute(
        """SELECT entities, relations, clusters, items, undecided, decided, least_score, greatest_score, uncertainty
        FROM summary WHERE document_id = ?""",
        (number,),
    ).fetchone()
    if doc.progress is None:
        return kept is None
    now = state_tables.summarise(doc)
    exact = (
        *(now.entities, now.relations, now.clusters, now.items),
        *(now.undecided, now.decided, now.least_score, now.greatest_score),
    )
    rows = connection.execute(
        "SELECT kind, label, state, number FROM tally WHERE document_id = ?", (number,)
    )
    tallied = {tuple(key): count for *key, count in rows}
    near = kept is not None and isclose(kept[-1], now.uncertainty, abs_tol=1e-9)
    return near and kept[:-1] == exact and tallied == state_tables.tally(doc)


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
