"""Finding documents: words in texts, titles and mentions; labels, states, scores, disagreement."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from sciextract.store.sqlite import first_value, from_sql

Place = Literal["text", "title", "mentions", "notes"]
# As bytes, since a text with lone surrogates is not text to SQLite.
_EXCERPT = "CAST(snippet(document_words, -1, '[', ']', '…', 12) AS BLOB)"
# Documents that are ranked by how well they fit; ranking more takes longer than a person waits.
_RANKED = 15_000
_MENTIONING = """SELECT e.document_id FROM surface_words w JOIN entity e ON e.surface_id = w.rowid
    WHERE surface_words MATCH ? AND e.state <> 'rejected'"""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; everything that is given must hold.

    Attributes:
        words: Words that all occur; ``"in quotation marks"`` as a phrase, ``start*`` as a beginning.
        place: Where the words are looked for; people write notes.
        label: An entity or relation type that occurs.
        state: A state that an item has (of that label, if one is given).
        score_below: An undecided item has a lower score.
        disagreement: Sources differ on some item.
        flagged: The abstract carries a flag.
    """

    words: str = ""
    place: Place = "text"
    label: str | None = None
    state: str | None = None
    score_below: float | None = None
    disagreement: bool = False
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    Attributes:
        number: Its number.
        doc_key: Its key.
        title: Its title, or how it begins.
        year: Its year.
        undecided: How many items wait for a decision.
        excerpt: Where the words stand, each in square brackets, for a search in texts or titles.
    """

    number: int
    doc_key: str
    title: str
    year: int | None
    undecided: int
    excerpt: str


def find(
    connection: sqlite3.Connection, query: Query, limit: int = 50, offset: int = 0
) -> list[Hit]:
    """Documents that fit, best first for a search of words, else in their order.

    Words that very many documents have say little about how well one fits: then the order is theirs, too.
    """
    match = fts_query(query.words)
    if match is None and query.words.strip():
        return []
    noted: dict[int, str] = {}
    if match is not None and query.place == "notes":
        noted = _find_in_notes(connection, match)
    statement, params = _write_statement(connection, query, match, [*noted])
    hits = []
    # The page first, then its few documents: joined to the whole search they would be read for every match.
    for number, excerpt in connection.execute(statement, (*params, limit, offset)).fetchall():
        key, title, year, undecided = connection.execute(
            """SELECT d.doc_key, d.title, d.year, s.undecided
            FROM document d JOIN summary s ON s.document_id = d.id WHERE d.id = ?""",
            (number,),
        ).fetchone()
        shown = noted.get(number) or (excerpt or b"").decode("utf-8", "replace")
        hits.append(Hit(number, from_sql(key), from_sql(title), year, undecided, shown))
    return hits


def _write_statement(
    connection: sqlite3.Connection, query: Query, match: str | None, noted: list[int]
) -> tuple[str, list[Any]]:
    """The statement of a search with its parameters: the table whose index leads to the fewest documents first."""
    asked = {"label": query.label, "state": query.state}
    given = {name: value for name, value in asked.items() if value is not None}
    table, number, excerpt = "summary", "summary.document_id", "x''"
    order = number
    conditions: list[str] = []
    params: list[Any] = []
    if match is not None and query.place in ("text", "title"):
        columns = "title" if query.place == "title" else "{title text}"
        params = [f"{columns} : ({match})"]
        count = "SELECT count(*) FROM document_words WHERE document_words MATCH ?"
        order = "rank" if first_value(connection, count, *params) <= _RANKED else "rowid"
        table, number, excerpt = "document_words", "document_words.rowid", _EXCERPT
        in_project = f"EXISTS (SELECT 1 FROM progress p WHERE p.document_id = {number})"
        conditions = ["document_words MATCH ?", in_project]
    elif given and match is None:
        table, number = "tally", "tally.document_id"
        order = number
        # "+": of the two indexes the label's leads to fewer documents.
        conditions = ["label = ?", "+state = ?"] if len(given) > 1 else [f"{n} = ?" for n in given]
        params = list(given.values())
    if given and table != "tally":
        inner = " AND ".join(f"t.{name} = ?" for name in given)
        inner = f"t.document_id = {number} AND {inner}"
        conditions.append(f"EXISTS (SELECT 1 FROM tally t WHERE {inner})")
        params += given.values()
    if match is not None and query.place == "mentions":
        conditions.append(f"{number} IN ({_MENTIONING})")
        params.append(match)
    if match is not None and query.place == "notes":
        conditions.append(f"{number} IN (SELECT value FROM json_each(?))")
        params.append(json.dumps(noted))
    if query.score_below is not None:
        below = f"s.document_id = {number} AND s.least_score < ?"
        conditions.append(f"EXISTS (SELECT 1 FROM summary s WHERE {below})")
        params.append(query.score_below)
    if query.disagreement:
        conditions.append(f"{number} IN (SELECT document_id FROM summary WHERE disagreements > 0)")
    if query.flagged:
        conditions.append(f"{number} IN (SELECT document_id FROM progress WHERE flagged)")
    where = " AND ".join(conditions) or "1"
    group = f"GROUP BY {number}" if table == "tally" else ""
    statement = (
        f"SELECT {number}, {excerpt} FROM {table} WHERE {where} {group} "
        f"ORDER BY {order} LIMIT ? OFFSET ?"
    )
    return statement, params


def _find_in_notes(connection: sqlite3.Connection, match: str) -> dict[int, str]:
    """Documents whose notes fit, with the passages: notes are few, so that an index for one search is enough."""
    notes = connection.execute("SELECT document_id, note FROM progress WHERE note <> ''")
    with closing(sqlite3.connect(":memory:")) as index:
        # As the tables of words have it: see sciextract.store.tables.
        index.execute(
            """CREATE VIRTUAL TABLE notes USING fts5(note, tokenize="unicode61 remove_diacritics 2")"""
        )
        index.executemany("INSERT INTO notes(rowid, note) VALUES (?, ?)", notes)
        excerpt = "snippet(notes, 0, '[', ']', '…', 12)"
        query = f"SELECT rowid, {excerpt} FROM notes WHERE notes MATCH ?"
        return dict(index.execute(query, (match,)).fetchall())


def documents_with(connection: sqlite3.Connection, surface: str) -> list[int]:
    """Numbers of the documents whose text has exactly this string."""
    # Signs alone are in no index, so every text is looked at.
    phrase = fts_phrase(surface)
    if phrase is None:
        rows = connection.execute(
            "SELECT d.id, d.text FROM document d JOIN progress p ON p.document_id = d.id"
        )
    else:
        rows = connection.execute(
            """SELECT d.id, d.text FROM document_words w JOIN document d ON d.id = w.rowid
            JOIN progress p ON p.document_id = d.id WHERE document_words MATCH ? ORDER BY d.id""",
            (f"text : {phrase}",),
        )
    return [number for number, text in rows if surface in from_sql(text)]


def fts_phrase(text: str) -> str | None:
    """A string as a phrase of FTS5's query language; ``None`` when it has no letter or digit to look up."""
    # Combining marks stay: FTS5 takes an accent for a part of its word.
    words = "".join(c if c.isalnum() or unicodedata.combining(c) else " " for c in text).split()
    return '"' + " ".join(words) + '"' if any(map(str.isalnum, text)) else None


def fts_query(words: str) -> str | None:
    """What a person typed in FTS5's query language, whose own operators mean nothing here."""
    parts = []
    for place, piece in enumerate(words.split('"')):
        quoted = place % 2 == 1
        for word in [piece] if quoted else piece.split():
            phrase = fts_phrase(word)
            if phrase:
                parts.append(phrase + "*" * (word.endswith("*") and not quoted))
    return " ".join(parts) or None
