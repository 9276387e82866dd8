"""The event log: one event an action, one body of changes a document that it touched."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sciextract.store.rows import ADDED_IN_2, Key, Row, Values, to_values
from sciextract.store.sqlite import first_value, from_sql
from sciextract.store.sqlite_errors import decoded

_COMPRESSED_FROM = 200


@dataclass(frozen=True, slots=True)
class Change:
    """One row's change. ``before`` is ``None`` for a row that came, ``after`` for one that went."""

    table: str
    key: Key
    before: Values | None
    after: Values | None

    @property
    def reverse(self) -> Change:
        """The change that takes this one back."""
        return Change(self.table, self.key, self.after, self.before)


def change_of(before: Row | None, after: Row | None) -> Change | None:
    """The change from one row to another of the same table and key; ``None`` when nothing differs."""
    if before is None or after is None:
        row = after if before is None else before
        old, new = (None if row is None else to_values(row) for row in (before, after))
        return None if row is None else Change(row.TABLE, row.key, old, new)
    if before is after:  # most rows of a document, whatever an action does
        return None
    old, new = to_values(before), to_values(after)
    names = [name for name in new if new[name] != old[name]]
    if not names:
        return None
    values = ({name: row[name] for name in names} for row in (old, new))
    return Change(after.TABLE, after.key, *values)


def encode(changes: Iterable[Change]) -> str | bytes:
    """Changes as the log stores them: JSON, compressed when long."""
    plain = [[c.table, list(c.key), c.before, c.after] for c in changes]
    text = json.dumps(plain, separators=(",", ":"))  # ASCII: lone surrogates survive, too
    # Below that zlib saves little, and plain JSON can be read with any SQLite tool.
    if len(text) < _COMPRESSED_FROM:
        return text
    # The fastest level: this runs after every key.
    return zlib.compress(text.encode("ascii"), 1)


def decode(body: str | bytes) -> list[Change]:
    """Changes from what the log stores."""
    text = body if isinstance(body, str) else zlib.decompress(body).decode("ascii")
    return [
        Change(table, tuple(key), _whole(table, before, after), _whole(table, after, before))
        for table, key, before, after in json.loads(text)
    ]


def _whole(table: str, row: Values | None, other: Values | None) -> Values | None:
    """A row that comes or goes with all its columns; of one that changes only those that differ are logged."""
    return row if row is None or other is not None else ADDED_IN_2.get(table, {}) | row


def replay(changes: Iterable[Change]) -> dict[tuple[str, Key], Values]:
    """The rows that changes, in order, make of nothing.

    Raises:
        KeyError: A change speaks of a row that is not there.
    """
    rows: dict[tuple[str, Key], Values] = {}
    for change in changes:
        place = (change.table, change.key)
        if change.before is not None and change.after is not None:
            rows[place] = rows[place] | change.after
        elif change.after is not None:
            rows[place] = change.after
        else:
            del rows[place]
    return rows


def join_changes(first: Iterable[Change], second: Iterable[Change]) -> list[Change]:
    """The changes that do at once what two series do one after the other; what the second takes back is left out."""
    by_row: dict[tuple[str, Key], Change] = {}
    for change in (*first, *second):
        place = (change.table, change.key)
        earlier = by_row.get(place, change)
        old, new = earlier.before, change.after
        if old is not None and earlier.after is not None and change.before is not None:
            old = change.before | old  # columns that only one of them changes
        if new is not None and change.before is not None and earlier.after is not None:
            new = earlier.after | new
        if old is not None and new is not None:
            names = [name for name in new if name in old and new[name] != old[name]]
            old, new = {name: old[name] for name in names}, {name: new[name] for name in names}
        by_row[place] = Change(change.table, change.key, old, new)
    return [change for change in by_row.values() if change.before != change.after]


def join_last(connection: sqlite3.Connection, number: int, author: str) -> None:
    """Put the last change of a document and the one before into one, where authors of one kind made both.

    Inside the caller's transaction. The earlier event stays in the log without what it changed in the document.

    Args:
        connection: Of the project.
        number: The document.
        author: A pattern of SQL's ``GLOB`` that the authors' names match.
    """
    rows = connection.execute(
        """SELECT c.seq, c.event_id, c.body FROM change c JOIN event e ON e.id = c.event_id
        JOIN source s ON s.id = e.author_id WHERE c.document_id = :number AND s.name GLOB :author
        AND e.kind NOT IN ('undo', 'redo') AND c.seq IN
            (SELECT seq FROM change WHERE document_id = :number ORDER BY seq DESC LIMIT 2)
        ORDER BY c.seq""",
        {"number": number, "author": author},
    ).fetchall()
    if len(rows) == 2:
        (first, _, body), (last, event_id, later) = rows
        changes = join_changes(decode(body), decode(later))
        connection.execute("DELETE FROM change WHERE seq IN (?, ?)", (first, last))
        if changes:
            append_changes(connection, event_id, number, changes)


def fits(change: Change, current: Mapping[str, Any] | None) -> bool:
    """Whether a row still is as it must be before the change is made."""
    if change.before is None or current is None:
        return change.before is None and current is None
    return all(current[name] == value for name, value in change.before.items())


SUGGESTIONS = "suggestions"
"""What the log calls the file of imported suggestions."""

SUGGEST_ALIKE = "suggest alike"
"""Strings that were decided elsewhere are proposed in an abstract that is opened."""

UNDO, REDO, MODEL, CONVERT = "undo", "redo", "model", "convert"
MERGED = "decided elsewhere"
"""What one author decided in a merged project: items that came with the merge carry this event, and so their author."""
NO_ACTIONS = (UNDO, REDO, MODEL, CONVERT, MERGED, "schema")
"""Kinds of events that cannot be undone: they change no rows of documents, are turns of others, or of a new version."""

COVER = "look for"
"""Somebody has looked for some types in a finished abstract."""
PRESSED = "pressed"
"""In the parameters of an event made at the desk: keys to decide and keys to move since the event before it."""
UNDONE = """EXISTS (
    SELECT 1 FROM event u WHERE u.target = e.id AND u.kind = 'undo'
    AND NOT EXISTS (SELECT 1 FROM event r WHERE r.target = e.id AND r.kind = 'redo' AND r.id > u.id))"""
"""In SQL: whether the effect of event ``e`` is taken back at present."""
_ACTION = f"e.kind NOT IN {NO_ACTIONS}"
_OWN_ACTION = f"e.author_id = ? AND {_ACTION}"


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the log.

    Attributes:
        id: Its number; later events have higher ones, whatever the clock says.
        at: UTC time by the clock of the machine that made it.
        author: The source that acted: ``person:NAME`` or ``model:NAME@HASH/run``.
        kind: The action's word.
        params: Its parameters, for people.
        seconds: Time a person spent on it, where known.
        target: For undo and redo the event that they speak of.
        documents: How many documents it changed.
        undone: Whether its effect is taken back at present.
    """

    id: int
    at: str
    author: str
    kind: str
    params: Mapping[str, Any]
    seconds: float | None
    target: int | None
    documents: int
    undone: bool

    @property
    def is_suggestions(self) -> bool:
        """Whether it put suggestions into the project, which can be taken back after some were decided."""
        return self.kind == "import" and self.params.get("path") == SUGGESTIONS


def now() -> str:
    """The time by the machine's clock. Order in the log comes from event numbers, never from it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def local_time(at: str) -> str:
    """A time of the log in the zone of this machine; one that no sciextract wrote as it is.

    >>> local_time("yesterday")
    'yesterday'
    """
    try:
        return datetime.fromisoformat(at).astimezone().isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return at


def append(
    connection: sqlite3.Connection,
    author_id: int,
    kind: str,
    params: Mapping[str, Any],
    seconds: float | None = None,
    target: int | None = None,
) -> int:
    """Add an event, inside the caller's transaction; returns its number."""
    values = (now(), author_id, kind, json.dumps(params), seconds, target)
    cursor = connection.execute(
        """INSERT INTO event(at, author_id, kind, params, seconds, target, hash)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (*values, _digest(values)),
    )
    return int(cursor.lastrowid or 0)


def append_changes(
    connection: sqlite3.Connection, event_id: int, number: int, changes: list[Change]
) -> None:
    """Add what an event changed in one document, inside the caller's transaction."""
    values = (event_id, number, encode(changes))
    connection.execute(
        "INSERT INTO change(event_id, document_id, body, hash) VALUES (?, ?, ?, ?)",
        (*values, _digest(values)),
    )


def find_altered(connection: sqlite3.Connection) -> Iterator[int]:
    """Numbers of the events that differ from their hash, themselves or in a change; some may come twice."""
    events = "SELECT id, hash, at, author_id, kind, params, seconds, target FROM event"
    changes = "SELECT event_id, hash, event_id, document_id, body FROM change"
    for query in (events, changes):
        for event_id, kept, *values in connection.execute(query):
            if kept != _digest(values):
                yield event_id


def _digest(values: Sequence[object]) -> str:
    """A hash of a row as SQLite gives it back: a number for seconds comes back as a float."""
    # repr() tells 2 from 2.0, and SQLite gives a REAL back as the latter.
    plain = [float(value) if isinstance(value, int) else value for value in values]
    return hashlib.blake2b(repr(plain).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def keys_of_event(connection: sqlite3.Connection, event_id: int, most: int) -> list[str]:
    """Keys of the first abstracts that an event changed."""
    rows = connection.execute(
        """SELECT d.doc_key FROM (SELECT DISTINCT document_id FROM change WHERE event_id = ?
            ORDER BY document_id LIMIT ?) c JOIN document d ON d.id = c.document_id""",
        (event_id, most),
    )
    return [from_sql(key) for (key,) in rows]


def changes_of_event(
    connection: sqlite3.Connection, event_id: int, *, backwards: bool = False
) -> Iterator[tuple[int, list[Change]]]:
    """Document numbers and changes of one event, in the order in which they were made."""
    order = "DESC" if backwards else "ASC"
    bodies = connection.execute(
        f"SELECT document_id, body FROM change WHERE event_id = ? ORDER BY seq {order}", (event_id,)
    ).fetchall()
    for number, body in bodies:
        with decoded(connection, f"a change of event {event_id}"):
            changes = decode(body)
        yield number, changes


def changes_of_document(connection: sqlite3.Connection, number: int) -> Iterator[Change]:
    """All changes of one document, oldest first."""
    bodies = connection.execute(
        "SELECT body FROM change WHERE document_id = ? ORDER BY seq", (number,)
    )
    for (body,) in bodies:
        with decoded(connection, f"a change of abstract {number}"):
            changes = decode(body)
        yield from changes


def to_undo(connection: sqlite3.Connection, author_id: int) -> int | None:
    """The author's latest action that is not undone."""
    query = (
        f"SELECT e.id FROM event e WHERE {_OWN_ACTION} AND NOT {UNDONE} ORDER BY e.id DESC LIMIT 1"
    )
    found: int | None = first_value(connection, query, author_id)
    return found


def to_redo(connection: sqlite3.Connection, author_id: int) -> int | None:
    """The action that the author undid last, unless they have acted since."""
    # A new action closes the way back: only undos that came after it can be redone.
    last = first_value(connection, f"SELECT max(e.id) FROM event e WHERE {_OWN_ACTION}", author_id)
    query = f"""SELECT e.id FROM event e JOIN event u ON u.target = e.id AND u.kind = 'undo'
        WHERE u.author_id = ? AND {_ACTION} AND {UNDONE} AND u.id > ?
          AND NOT EXISTS (SELECT 1 FROM event r WHERE r.target = e.id AND r.kind = 'redo' AND r.id > u.id)
        ORDER BY u.id DESC LIMIT 1"""
    found: int | None = first_value(connection, query, author_id, last or 0)
    return found


def read_events(
    connection: sqlite3.Connection, limit: int | None = None, before: int | None = None
) -> list[Event]:
    """Events, newest first.

    Args:
        limit: At most so many.
        before: Only those with a smaller number.
    """
    rows = connection.execute(
        f"""SELECT e.id, e.at, s.name, e.kind, e.params, e.seconds, e.target,
            (SELECT count(DISTINCT document_id) FROM change c WHERE c.event_id = e.id), {UNDONE}
        FROM event e JOIN source s ON s.id = e.author_id
        WHERE e.id < ? ORDER BY e.id DESC LIMIT ?""",
        # No event has such a number; -1 means no limit to SQLite.
        (before if before is not None else 1 << 62, -1 if limit is None else limit),
    )
    found = []
    with decoded(connection, "an event of the log"):
        for number, at, author, kind, params, seconds, target, documents, undone in rows:
            values = json.loads(params)
            if not isinstance(values, dict):
                raise TypeError(f"params is {params!r}")
            rest = (seconds, target, documents, bool(undone))
            found.append(Event(number, at, author, kind, values, *rest))
    return found


def read_event(connection: sqlite3.Connection, event_id: int) -> Event | None:
    """One event."""
    newest = read_events(connection, 1, event_id + 1)
    return newest[0] if newest and newest[0].id == event_id else None
