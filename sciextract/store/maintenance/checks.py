"""What is wrong in a project: the checks of the doctor, and why reading a value failed; nothing is changed."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import isclose

from sciextract.errors import ProjectDamagedError
from sciextract.store import documents, events, state_tables
from sciextract.store.document_state import DocumentState
from sciextract.store.documents import decode_annotations, digest_of
from sciextract.store.rows import ItemRow, original_of
from sciextract.store.sqlite import first_value, snapshot, storable
from sciextract.store.sqlite_errors import UNREADABLE, WRONG_VALUES, decoded, problems
from sciextract.store.state_tables import load_rows
from sciextract.store.tables import find_alterations

Progress = Callable[[int, int], None]
_REPAIR = "to repair it: sciextract doctor --repair"
_RESTORE = "to find the newest sound backup: sciextract doctor --repair"
FROM_BACKUP = "compare with a backup; sciextract doctor lists them"

#: Problems of single documents: what is said of them, and the next step.
_DOCUMENT_CHECKS: Mapping[str, tuple[str, str]] = {
    "unreadable": ("cannot be read", FROM_BACKUP),
    "text": ("have a text that differs from its hash", FROM_BACKUP),
    "sources": ("have annotations of a source that differ from their hash", FROM_BACKUP),
    "tokens": ("have tokens that do not fit their text", FROM_BACKUP),
    "spans": ("have mentions outside of their text", FROM_BACKUP),
    "log": ("have a state that differs from the log", _REPAIR),
    "mentions": ("have mentions whose indexed string is not in their text", _REPAIR),
    "summary": ("have counts that do not fit their items", _REPAIR),
}
INDEXES = ("document_words", "surface_words")
_EXACT = (
    "entities", "relations", "clusters", "items", "undecided", "decided", "least_score", "greatest_score",
)  # fmt: skip


class Severity(StrEnum):
    """How bad a result is."""

    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at.

    Attributes:
        check: A stable word for it.
        severity: How bad it is; an ``error`` means that something stored is wrong.
        message: What was found.
        hint: The next step, empty where there is none.
        documents: Numbers of the documents that it concerns.
    """

    check: str
    severity: Severity
    message: str
    hint: str = ""
    documents: tuple[int, ...] = ()


def _each_wrong(
    check: str, problems: Iterable[str], sound: str, hint: str = FROM_BACKUP
) -> Iterator[CheckResult]:
    """An error for each problem, or that all is well."""
    wrong = [CheckResult(check, Severity.ERROR, message, hint) for message in problems]
    return iter(wrong or [CheckResult(check, Severity.GOOD, sound)])


def check_file(connection: sqlite3.Connection) -> Iterator[CheckResult]:
    """SQLite's own check of every page, every index, and the type of every value."""
    damage = (f"the file is damaged: {problem}" for problem in problems(connection))
    return _each_wrong("file", damage, "SQLite's integrity check passed", _RESTORE)


def check_references(connection: sqlite3.Connection) -> Iterator[CheckResult]:
    """Every row finds the rows it speaks of."""
    rows = connection.execute("PRAGMA foreign_key_check").fetchall()
    broken = Counter(f"rows of {table} speak of a {parent}" for table, _, parent, _ in rows)
    messages = (f"{count} {what} that is not there" for what, count in broken.items())
    hint = f"{_REPAIR}, contrary to the log"
    return _each_wrong("references", messages, "all references hold", hint)


def check_log(connection: sqlite3.Connection) -> Iterator[CheckResult]:
    """Events and changes are as they were written."""
    altered = set(events.find_altered(connection))
    wrong = (
        [f"{len(altered)} events differ from their hash, the first is {min(altered)}"]
        if altered
        else []
    )
    return _each_wrong("events", wrong, "all events match their hashes")


def check_structure(connection: sqlite3.Connection) -> Iterator[CheckResult]:
    """Tables, indexes, views and triggers are those that sciextract makes."""
    altered = find_alterations(connection)
    return _each_wrong("structure", altered, "the tables match the schema of sciextract")


def check_schema(connection: sqlite3.Connection) -> Iterator[CheckResult]:
    """The label schema can be read."""
    name = state_tables.label_schema(connection).name  # the caller reports what cannot be read
    yield CheckResult("schema", Severity.GOOD, f"label schema {name!r}")


def check_words(connection: sqlite3.Connection) -> Iterator[CheckResult]:
    """The full-text indexes hold the words of the texts and mentions.

    Raises:
        sqlite3.OperationalError: The file can only be read, or it is busy.
    """
    wrong = []
    # FTS5 compares an index with its texts by a command in the form of an insert, so that a reading
    # connection has to be allowed to write; the transaction is always rolled back.
    before = first_value(connection, "PRAGMA query_only")
    connection.execute("PRAGMA query_only = OFF")
    try:
        for name in INDEXES:
            try:
                with snapshot(connection):
                    connection.execute(
                        f"INSERT INTO {name}({name}, rank) VALUES('integrity-check', 1)"
                    )
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                wrong.append(f"the search index {name} is wrong")
    finally:
        connection.execute(f"PRAGMA query_only = {before}")
    return _each_wrong("words", wrong, "the search indexes are right", _REPAIR)


def check_documents(
    connection: sqlite3.Connection, progress: Progress | None = None
) -> Iterator[CheckResult]:
    """Every document: its text, tokens, items, log and counts."""
    numbers = state_tables.all_numbers(connection)
    wrong: dict[str, list[int]] = defaultdict(list)
    for done, number in enumerate(numbers, start=1):
        for check in _failed_checks(connection, number):
            wrong[check].append(number)
        if progress is not None:
            progress(done, len(numbers))
    for check, concerned in wrong.items():
        message, hint = _DOCUMENT_CHECKS[check]
        summary = f"{len(concerned)} of {len(numbers)} abstracts {message}"
        yield CheckResult(check, Severity.ERROR, summary, hint, tuple(concerned))
    if not wrong:
        yield CheckResult("log", Severity.GOOD, f"{len(numbers)} abstracts match the log")


def _failed_checks(connection: sqlite3.Connection, number: int) -> list[str]:
    """The names of the checks that a document does not pass."""
    try:
        with snapshot(connection):
            stored = documents.load(connection, number)
            doc = DocumentState(stored, load_rows(connection, number))
            digest = first_value(connection, "SELECT sha256 FROM document WHERE id = ?", number)
            surfaces = connection.execute(
                """SELECT e.id, s.text FROM entity e JOIN surface s ON s.id = e.surface_id
                WHERE document_id = ?""",
                (number,),
            )
            spans = [span for entity in doc.entities for span in entity.fragments]
            end = len(doc.text)
            tests = {
                "sources": are_sources_unaltered(connection, number),
                "text": digest == stored.document.text_sha256,
                "tokens": not stored.document.tokens.problems(end),
                "spans": all(0 <= span.char_start < span.char_end <= end for span in spans),
                "log": state_tables.agrees(connection, number),
                "mentions": dict(surfaces)
                == {entity.id: storable(entity.surface(doc.text)) for entity in doc.entities},
                "summary": _summary_holds(connection, doc),
            }
    except UNREADABLE:
        return ["unreadable"]
    return [name for name, holds in tests.items() if not holds]


def _summary_holds(connection: sqlite3.Connection, doc: DocumentState) -> bool:
    kept = connection.execute(
        f"SELECT {', '.join(_EXACT)}, uncertainty FROM summary WHERE document_id = ?", (doc.number,)
    ).fetchone()
    if doc.progress is None or kept is None:
        return doc.progress is None and kept is None
    counts = state_tables.tally(doc)
    now = state_tables.summarise(doc, counts)
    rows = connection.execute(
        "SELECT kind, label, state, number FROM tally WHERE document_id = ?", (doc.number,)
    )
    tallied = {tuple(key): count for *key, count in rows}
    exact = tuple(getattr(now, name) for name in _EXACT)
    # A sum of floats depends on the order of the items, which a rebuilt state need not keep.
    near = isclose(kept[-1], now.uncertainty, abs_tol=1e-9)
    return near and kept[:-1] == exact and tallied == counts


def wrong_values(connection: sqlite3.Connection) -> Iterator[str]:
    """Everything in a project that cannot be understood; each is named where it is found first."""
    if row := connection.execute("PRAGMA foreign_key_check").fetchone():
        yield f"a row of {row[0]} speaks of a {row[2]} that is not there"
    whole = (events.read_events, state_tables.label_schema)
    readers: list[Callable[[], object]] = [partial(read, connection) for read in whole]
    for number in state_tables.all_numbers(connection):
        of_one = (documents.load, _read_items, state_tables.logged_state, are_sources_unaltered)
        readers += [partial(read, connection, number) for read in of_one]
    for read in readers:
        try:
            read()
        except (ProjectDamagedError, *WRONG_VALUES) as error:
            yield str(error)


def _read_items(connection: sqlite3.Connection, number: int) -> None:
    """Read all state rows of a document, and what its items were before they were edited."""
    rows = load_rows(connection, number)
    with decoded(connection, f"the original of an edited item of abstract {number}"):
        for row in rows:
            if isinstance(row, ItemRow):
                original_of(row)


def are_sources_unaltered(connection: sqlite3.Connection, number: int) -> bool:
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
