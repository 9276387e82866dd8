"""Finding documents: words in texts, titles and mentions; labels, states, scores, disagreement."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sciextract.store.sqlite import from_sql

Place = Literal["text", "title", "mentions"]
# As bytes, since a text with lone surrogates is not text to SQLite.
_EXCERPT = "CAST(snippet(document_words, -1, '[', ']', '…', 12) AS BLOB)"
_RANKED = 15_000  # documents that are ranked by how well they fit; ranking more takes longer than a person waits
_MENTIONING = """SELECT e.document_id FROM surface_words w JOIN entity e ON e.surface_id = w.rowid
    WHERE surface_words MATCH ? AND e.state <> 'rejected'"""
_IN_PROJECT = "EXISTS (SELECT 1 FROM progress p WHERE p.document_id = {number})"


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; everything that is given must hold.

    Attributes:
        words: Words that all occur; ``"in quotation marks"`` as a phrase, ``start*`` as a beginning.
        place: Where the words are looked for.
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
    chosen = _choice(connection, query, match)
    rows = connection.execute(chosen.statement, (*chosen.params, limit, offset)).fetchall()
    return [_hit(connection, number, excerpt) for number, excerpt in rows]


def documents_with(connection: sqlite3.Connection, surface: str) -> list[int]:
    """Numbers of the documents whose text has exactly this string."""
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
    parts = list(_parts(words))
    return " ".join(parts) if parts else None


def _parts(words: str) -> Iterator[str]:
    for place, piece in enumerate(words.split('"')):
        if place % 2:
            phrase = fts_phrase(piece)
            if phrase:
                yield phrase
            continue
        for word in piece.split():
            phrase = fts_phrase(word)
            if phrase:
                yield phrase + ("*" if word.endswith("*") else "")


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which table gives the documents, in which order, and what else must hold of them."""

    table: str
    number: str
    order: str
    conditions: list[str]
    params: list[Any]
    excerpt: str = "x''"

    @property
    def statement(self) -> str:
        where = " AND ".join(self.conditions) or "1"
        group = f"GROUP BY {self.number}" if self.table == "tally" else ""
        return (
            f"SELECT {self.number}, {self.excerpt} FROM {self.table} WHERE {where} {group} "
            f"ORDER BY {self.order} LIMIT ? OFFSET ?"
        )


def _choice(connection: sqlite3.Connection, query: Query, match: str | None) -> _Choice:
    """The table whose index leads to the fewest documents gives them."""
    asked = {"label": query.label, "state": query.state}
    given = {name: value for name, value in asked.items() if value is not None}
    if match is not None and query.place != "mentions":
        choice = _by_words(connection, query.place, match)
    elif given and match is None:
        number = "tally.document_id"
        # "+": of the two indexes the label's leads to fewer documents.
        both = len(given) > 1
        conditions = ["label = ?", "+state = ?"] if both else [f"{name} = ?" for name in given]
        choice = _Choice("tally", number, number, conditions, list(given.values()))
    else:
        choice = _Choice("summary", "summary.document_id", "summary.document_id", [], [])
    if given and choice.table != "tally":
        _add(choice, _of_tally(choice.number, given), list(given.values()))
    if match is not None and query.place == "mentions":
        _add(choice, f"{choice.number} IN ({_MENTIONING})", [match])
    for condition, params in _conditions(query, choice.number):
        _add(choice, condition, params)
    return choice


def _by_words(connection: sqlite3.Connection, place: Place, match: str) -> _Choice:
    columns = "title" if place == "title" else "{title text}"
    asked = f"{columns} : ({match})"
    fitting = connection.execute(
        "SELECT count(*) FROM document_words WHERE document_words MATCH ?", (asked,)
    ).fetchone()[0]
    order = "rank" if fitting <= _RANKED else "rowid"
    number = "document_words.rowid"
    conditions = ["document_words MATCH ?", _IN_PROJECT.format(number=number)]
    return _Choice("document_words", number, order, conditions, [asked], _EXCERPT)


def _add(choice: _Choice, condition: str, params: list[Any]) -> None:
    choice.conditions.append(condition)
    choice.params.extend(params)


def _of_tally(number: str, given: Mapping[str, Any]) -> str:
    inner = " AND ".join(f"t.{name} = ?" for name in given)
    return f"EXISTS (SELECT 1 FROM tally t WHERE t.document_id = {number} AND {inner})"


def _conditions(query: Query, number: str) -> Iterator[tuple[str, list[Any]]]:
    if query.score_below is not None:
        below = f"s.document_id = {number} AND s.least_score < ?"
        yield f"EXISTS (SELECT 1 FROM summary s WHERE {below})", [query.score_below]
    if query.disagreement:
        yield f"{number} IN (SELECT document_id FROM summary WHERE disagreements > 0)", []
    if query.flagged:
        yield f"{number} IN (SELECT document_id FROM progress WHERE flagged)", []


def _hit(connection: sqlite3.Connection, number: int, excerpt: bytes | None) -> Hit:
    key, title, year, undecided = connection.execute(
        """SELECT d.doc_key, d.title, d.year, s.undecided
        FROM document d JOIN summary s ON s.document_id = d.id WHERE d.id = ?""",
        (number,),
    ).fetchone()
    shown = (excerpt or b"").decode("utf-8", "replace")
    return Hit(number, from_sql(key), from_sql(title), year, undecided, shown)
