"""State in SQLite: a document's rows, loaded and changed, what is derived from them, the label schema that holds now, and the state that the log gives."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import NOT_REJECTED, State
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import parse_schema, with_bundled_names
from sciextract.store import documents
from sciextract.store.document_state import DocumentState
from sciextract.store.events import Change, changes_of_document, now, replay
from sciextract.store.rows import (
    BY_PERSONS,
    COLUMNS,
    ROW_TYPES,
    Key,
    Row,
    Values,
    from_values,
)
from sciextract.store.sqlite import first_value, storable
from sciextract.store.sqlite_errors import decoded

if TYPE_CHECKING:
    from sciextract.store.project import Project


TABLES = tuple(ROW_TYPES)
StateValues = dict[tuple[str, Key], Values]
"""The state rows of a document as column values, by table and key."""
_SELECT = {
    table: f"SELECT {', '.join(columns)} FROM {table} WHERE document_id = ?"
    for table, columns in COLUMNS.items()
}
_WHERE = {
    table: " AND ".join(["document_id = ?", *(f"{name} = ?" for name in kind.KEY)])
    for table, kind in ROW_TYPES.items()
}


def load_rows(connection: sqlite3.Connection, number: int) -> list[Row]:
    """All state rows of a document.

    Raises:
        ProjectDamagedError: One cannot be understood.
    """
    with decoded(connection, f"an item of abstract {number}"):
        return [from_values(table, values) for table, values in load_values(connection, number)]


def load_values(connection: sqlite3.Connection, number: int) -> Iterator[tuple[str, Values]]:
    """All state rows of a document as column values, with their tables."""
    for table in TABLES:
        for row in connection.execute(_SELECT[table], (number,)):
            yield table, dict(zip(COLUMNS[table], row, strict=True))


def current_values(
    connection: sqlite3.Connection, number: int, table: str, key: Key
) -> Values | None:
    """One row's column values, ``None`` when it is not there."""
    columns = COLUMNS[table]
    query = f"SELECT {', '.join(columns)} FROM {table} WHERE {_WHERE[table]}"
    row = connection.execute(query, (number, *key)).fetchone()
    return None if row is None else dict(zip(columns, row, strict=True))


def apply(
    connection: sqlite3.Connection, number: int, text: str, changes: Iterable[Change]
) -> None:
    """Make changes of one document, inside the caller's transaction.

    Raises:
        sqlite3.IntegrityError: A row that goes is still needed by another.
    """
    for change in changes:
        if change.after is None:
            where = _WHERE[change.table]
            connection.execute(f"DELETE FROM {change.table} WHERE {where}", (number, *change.key))
        elif change.before is None:
            extra = _derive(connection, text, change.table, change.after)
            columns = ["document_id", *change.after, *extra]
            marks = ", ".join("?" * len(columns))
            connection.execute(
                f"INSERT INTO {change.table}({', '.join(columns)}) VALUES ({marks})",
                (number, *change.after.values(), *extra.values()),
            )
        else:
            values = dict(change.after)
            if change.table == "entity" and values.keys() & {"char_start", "char_end", "fragments"}:
                current = current_values(connection, number, change.table, change.key) or {}
                values |= _derive(connection, text, change.table, current | values)
            assignments = ", ".join(f"{name} = ?" for name in values)
            connection.execute(
                f"UPDATE {change.table} SET {assignments} WHERE {_WHERE[change.table]}",
                (*values.values(), number, *change.key),
            )


def _derive(
    connection: sqlite3.Connection, text: str, table: str, values: Mapping[str, Any]
) -> Values:
    """Columns that follow from the others: an entity's string."""
    if table != "entity":
        return {}
    # Most mentions have one fragment, which the table leaves out.
    pieces = values["fragments"] or f"{values['char_start']}-{values['char_end']}"
    ranges = (map(int, piece.split("-")) for piece in pieces.split(";"))
    # Strings of mentions are an index: what cannot be text is replaced here, and exact in the document.
    surface = storable(" ".join(text[a:b] for a, b in ranges))
    known = first_value(connection, "SELECT id FROM surface WHERE text = ?", surface)
    if known is None:
        known = connection.execute("INSERT INTO surface(text) VALUES (?)", (surface,)).lastrowid
    return {"surface_id": known}


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of one document.

    Attributes:
        entities: In the current view or undecided.
        relations: In the current view or undecided.
        clusters: With at least two mentions in the current view or undecided.
        items: Of all layers, rejected ones too.
        undecided: Items of all layers that wait for a decision.
        decided: Items that a person accepted, edited, added or rejected.
        uncertainty: Mean over undecided items of ``1 - |2 score - 1|``: 0 certain, 1 a coin toss.
        least_score: The lowest score of an undecided item.
        greatest_score: The highest one.
    """

    entities: int
    relations: int
    clusters: int
    items: int
    undecided: int
    decided: int
    uncertainty: float
    least_score: float | None
    greatest_score: float | None


def refresh(connection: sqlite3.Connection, doc: DocumentState) -> None:
    """Write the derived rows of a document anew, inside the caller's transaction."""
    number = doc.stored.number
    connection.execute("DELETE FROM tally WHERE document_id = ?", (number,))
    if doc.progress is None:
        connection.execute("DELETE FROM summary WHERE document_id = ?", (number,))
        return
    counts = tally(doc)
    summary = summarise(doc, counts)
    connection.execute(
        # The disagreements stay: merges and model runs set them.
        """INSERT OR REPLACE INTO summary VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            coalesce((SELECT disagreements FROM summary WHERE document_id = ?), 0))""",
        (number, *astuple(summary), number),
    )
    tallied = [(number, *key, count) for key, count in counts.items()]
    connection.executemany("INSERT INTO tally VALUES (?, ?, ?, ?, ?)", tallied)


def set_disagreements(connection: sqlite3.Connection, number: int, count: int) -> None:
    """Note how many differences between sources wait for a decision, inside the caller's transaction."""
    query = "UPDATE summary SET disagreements = ? WHERE document_id = ?"
    connection.execute(query, (count, number))


def summarise(doc: DocumentState, counts: Mapping[tuple[str, str, str], int]) -> Summary:
    """The counts of a document's state rows.

    Args:
        doc: The document.
        counts: Its :func:`tally`.
    """

    def number(states: Collection[State], table: str = "") -> int:
        return sum(
            n for (kind, _, state), n in counts.items() if state in states and table in ("", kind)
        )

    scores = [
        item.score
        for item in doc.items_of()
        if item.state is State.UNDECIDED and item.score is not None
    ]
    sizes = Counter(link.cluster_id for link in doc.links if link.state is not State.REJECTED)
    # 0 for scores of 0 and 1, 1 for a coin toss.
    uncertainty = [1 - abs(2 * score - 1) for score in scores]
    return Summary(
        entities=number(NOT_REJECTED, "entity"),
        relations=number(NOT_REJECTED, "relation"),
        clusters=sum(size > 1 for size in sizes.values()),
        items=sum(counts.values()),
        undecided=number({State.UNDECIDED}),
        decided=number(BY_PERSONS),
        uncertainty=sum(uncertainty) / len(uncertainty) if uncertainty else 0.0,
        least_score=min(scores, default=None),
        greatest_score=max(scores, default=None),
    )


def tally(doc: DocumentState) -> dict[tuple[str, str, str], int]:
    """How many items of each kind, label and state a document has."""
    # This runs after every key: a list is counted faster than what a generator gives.
    counts = Counter([(row.TABLE, getattr(row, "label", ""), row.state) for row in doc.items_of()])
    return {(table, label, str(state)): count for (table, label, state), count in counts.items()}


def label_schema(connection: sqlite3.Connection) -> LabelSchema:
    """The schema that holds now: the newest version.

    Raises:
        ProjectDamagedError: It cannot be understood.
    """
    row = connection.execute(
        "SELECT id, body FROM label_schema ORDER BY id DESC LIMIT 1"
    ).fetchone()
    with decoded(connection, "the label schema"):
        return parse_label_schema(*row)


@lru_cache(maxsize=4)  # every action looks at the schema, which hardly ever changes
def parse_label_schema(version: int, body: str) -> LabelSchema:
    """The schema of a version, from its JSON."""
    place = f"label schema version {version} of the project"
    return with_bundled_names(parse_schema(json.loads(body), place))


def save_label_schema(connection: sqlite3.Connection, schema: LabelSchema) -> int:
    """Make a schema the newest version, inside the caller's transaction; returns the version."""
    cursor = connection.execute(
        "INSERT INTO label_schema(hash, body, at) VALUES (?, ?, ?)",
        (schema.content_hash, json.dumps(schema.to_mapping()), now()),
    )
    return int(cursor.lastrowid or 0)


def current_state(connection: sqlite3.Connection, number: int) -> StateValues:
    """The state rows of a document, as column values by table and key."""
    return {
        (table, tuple(values[name] for name in ROW_TYPES[table].KEY)): values
        for table, values in load_values(connection, number)
    }


def logged_state(connection: sqlite3.Connection, number: int) -> StateValues:
    """The state rows that the log gives for a document.

    Raises:
        KeyError: The log contradicts itself.
    """
    return replay(changes_of_document(connection, number))


def all_numbers(connection: sqlite3.Connection) -> list[int]:
    """Numbers of all documents that the file has ever had."""
    return [row[0] for row in connection.execute("SELECT id FROM document ORDER BY id")]


def find_differing(connection: sqlite3.Connection) -> list[int]:
    """Numbers of the documents whose state is not what the log says."""
    return [number for number in all_numbers(connection) if not agrees(connection, number)]


def agrees(connection: sqlite3.Connection, number: int) -> bool:
    """Whether the state of a document is what the log says."""
    try:
        return logged_state(connection, number) == current_state(connection, number)
    except KeyError:
        return False


def rebuild(project: Project, numbers: list[int]) -> None:
    """Replace the state of documents by what the log says, in one transaction.

    Raises:
        KeyError: The log contradicts itself; nothing was changed.
    """
    with project.writing() as connection:
        for number in numbers:
            rows = logged_state(connection, number)
            stored = documents.load(connection, number)
            # Children before parents, because rows speak of each other.
            for table in reversed(TABLES):
                connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (number,))
            made = [Change(table, key, None, values) for (table, key), values in rows.items()]
            made.sort(key=lambda change: TABLES.index(change.table))
            apply(connection, number, stored.text, made)
            refresh(connection, DocumentState(stored, load_rows(connection, number)))
