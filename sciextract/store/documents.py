"""Documents of a project: texts by hash, their tokens, every record that came with them, and whether anything was decided about them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from operator import attrgetter
from typing import Any, TypeVar

from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    Layer,
    LinkCandidate,
    PairCandidate,
    Relation,
    Span,
    SpanCandidate,
    State,
    TokenRange,
)
from sciextract.documents.bibliography import Bibliography, bibliography_of
from sciextract.documents.document import Document, TokenTable
from sciextract.documents.papers import SEEN, PaperIndex, PaperRecord, described_paper, paper_of
from sciextract.store.rows import IN_VIEW, finished_sql
from sciextract.store.sqlite import first_value, from_sql, storable, to_sql
from sciextract.store.sqlite_errors import decoded

_Item = TypeVar("_Item", Entity, Relation, Cluster, Attribute)
_COUNTS = struct.Struct("<II")


def encode_tokens(table: TokenTable) -> bytes:
    """A table as bytes; :func:`decode_tokens` gives an equal one back."""
    edges = array("I", [edge for span in table.spans for edge in (span.char_start, span.char_end)])
    starts = array("I", [sentence.token_start for sentence in table.sentences])
    forms = b"" if table.forms is None else json.dumps(list(table.forms)).encode("ascii")
    counts = _COUNTS.pack(len(table.spans), len(table.sentences))
    return counts + _little(edges).tobytes() + _little(starts).tobytes() + forms


def decode_tokens(body: bytes) -> TokenTable:
    """The table in bytes that :func:`encode_tokens` made."""
    tokens, sentences = _COUNTS.unpack_from(body)
    edges, starts = array("I"), array("I")
    behind_edges = _COUNTS.size + 8 * tokens
    behind_starts = behind_edges + 4 * sentences
    edges.frombytes(body[_COUNTS.size : behind_edges])
    starts.frombytes(body[behind_edges:behind_starts])
    # One iterator twice: starts and ends alternate.
    numbers = iter(_little(edges))
    spans = tuple(map(Span, numbers, numbers))
    firsts = list(_little(starts))
    ranges = tuple(map(TokenRange, firsts, [*firsts[1:], tokens]))
    forms = body[behind_starts:]
    return TokenTable(spans, ranges, tuple(json.loads(forms)) if forms else None)


def _little(numbers: array[int]) -> array[int]:
    # The file is little-endian on every machine, so that projects can be copied.
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers


_TITLE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it is kept: its number, its text and tokens."""

    number: int
    document: Document

    @property
    def text(self) -> str:
        """The document's text."""
        return self.document.text


@dataclass(frozen=True, slots=True)
class Record:
    """One bibliographic record of a document.

    Attributes:
        doc_key: Its key in the file that it came from.
        source: ``import:FILE``.
        fields: Its fields, as read.
        warnings: Remarks of the reader.
    """

    doc_key: str
    source: str
    fields: Mapping[str, Any]
    warnings: tuple[str, ...]


def find(connection: sqlite3.Connection, document: Document) -> Stored | None:
    """The document of the same text, with the tokens that the project has for it."""
    query = "SELECT id FROM document WHERE sha256 = ?"
    number = first_value(connection, query, document.text_sha256)
    return number and load(connection, number)


def insert(connection: sqlite3.Connection, document: Document) -> Stored:
    """Add a text that the project does not have, inside the caller's transaction."""
    known = bibliography_of(document.fields)
    # Texts without a title are shown by how they begin.
    title = known.title or document.text[: _TITLE_LENGTH + 1].strip().split("\n")[0]
    texts = map(to_sql, (document.doc_key, title[:_TITLE_LENGTH], document.text))
    # Bibliographic text for searching; the record's fields keep it exactly.
    doi, venue = (text and storable(text) for text in (known.doi, known.venue))
    cursor = connection.execute(
        """INSERT INTO document(sha256, doc_key, title, text, doi, pmid, year, venue)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        (document.text_sha256, *texts, doi, known.pmid, known.year, venue),
    )
    number = int(cursor.lastrowid or 0)
    values = (number, encode_tokens(document.tokens))
    connection.execute("INSERT INTO token_table VALUES (?, ?)", values)
    return Stored(number, document)


def add_record(
    connection: sqlite3.Connection, number: int, record: Record, source_id: int, event_id: int
) -> None:
    """Keep the record that a text came with; the same one from the same source is kept once."""
    fields, warnings = json.dumps(dict(record.fields)), json.dumps(list(record.warnings))
    connection.execute(
        "INSERT OR IGNORE INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?)",
        (number, source_id, event_id, to_sql(record.doc_key), fields, warnings),
    )


def load(connection: sqlite3.Connection, number: int) -> Stored:
    """A document by its number, with the fields of its first record.

    Raises:
        KeyError: There is none.
        ProjectDamagedError: It cannot be understood.
    """
    row = connection.execute(
        """SELECT d.doc_key, d.text, t.body FROM document d JOIN token_table t ON t.document_id = d.id
        WHERE d.id = ?""",
        (number,),
    ).fetchone()
    if row is None:
        raise KeyError(number)
    with decoded(connection, f"abstract {number}"):
        fields: dict[str, Any] = {}
        for record in records(connection, number):
            # The first record wins, later ones only add what it lacks.
            fields = dict(record.fields) | fields
        return Stored(
            number, Document(from_sql(row[0]), from_sql(row[1]), decode_tokens(row[2]), fields)
        )


def known_papers(
    connection: sqlite3.Connection, removed: Sequence[int] | None = None
) -> PaperIndex:
    """The papers of the documents in the project, or of some that were removed, with all records that came with each."""

    def load_paper(number: int) -> PaperRecord | None:
        query = "SELECT 1 FROM progress WHERE document_id = ?"
        if removed is None and first_value(connection, query, number) is None:
            return None
        return paper_of(load(connection, number).document)

    def fill(papers: PaperIndex) -> None:
        rows = connection.execute(
            # Whole bytes: one that is cut cannot be decoded.
            f"""SELECT d.id, d.doc_key, d.title, d.doi, d.pmid,
                CASE typeof(d.text) WHEN 'text' THEN substr(d.text, 1, {SEEN}) ELSE d.text END
            FROM document d WHERE d.id IN (SELECT value FROM json_each(?1))
                OR ?1 IS NULL AND d.id IN (SELECT document_id FROM progress)""",
            (None if removed is None else json.dumps(removed),),
        )
        for number, key, title, doi, pmid, text in rows:
            known = Bibliography(doi, pmid, from_sql(title))
            papers.add(number, described_paper(known, from_sql(key), from_sql(text)))
        more = connection.execute(
            """SELECT document_id, fields FROM record WHERE document_id IN (
                SELECT document_id FROM record GROUP BY document_id HAVING count(*) > 1)"""
        )
        for number, fields in more:
            with decoded(connection, f"abstract {number}"):
                known = bibliography_of(json.loads(fields))
            papers.add(number, described_paper(known, "", ""))

    return PaperIndex(load_paper, fill)


def first_texts(connection: sqlite3.Connection) -> dict[str, str]:
    """By the hash of each text that is not the first one of its paper in the project, the hash of that one."""
    papers, firsts = known_papers(connection), dict[int, int]()
    for number in papers.sharing():
        paper = paper_of(load(connection, number).document)
        if (found := papers.find(paper, before=number)) is not None:
            firsts[number] = firsts.get(found, found)
    query = "SELECT sha256 FROM document WHERE id = ?"
    return {
        first_value(connection, query, number): first_value(connection, query, first)
        for number, first in firsts.items()
    }


def records(connection: sqlite3.Connection, number: int) -> Iterator[Record]:
    """All records of a document, the first one first."""
    rows = connection.execute(
        """SELECT r.doc_key, s.name, r.fields, r.warnings FROM record r JOIN source s ON s.id = r.source_id
        WHERE r.document_id = ? ORDER BY r.id""",
        (number,),
    )
    for doc_key, source, fields, warnings in rows:
        remarks = tuple(json.loads(warnings))
        if not all(isinstance(remark, str) for remark in remarks):
            raise TypeError(f"record.warnings is {warnings!r:.60}")
        yield Record(from_sql(doc_key), source, json.loads(fields), remarks)


def numbers(connection: sqlite3.Connection, after: int = 0, limit: int = -1) -> list[int]:
    """Numbers of the documents in the project, in the order in which they came."""
    rows = connection.execute(
        "SELECT document_id FROM progress WHERE document_id > ? ORDER BY document_id LIMIT ?",
        (after, limit),
    )
    return [row[0] for row in rows]


def texts_by_name(connection: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """Hashes and numbers of the documents in the project by that hash, and by each key that they came with."""
    found: dict[str, dict[str, int]] = {}
    rows = connection.execute(
        """SELECT d.id, d.sha256, d.doc_key, r.doc_key FROM document d JOIN progress p ON p.document_id = d.id
        LEFT JOIN record r ON r.document_id = d.id"""
    )
    for number, digest, *keys in rows:
        for name in (digest, *map(from_sql, filter(None, keys))):
            found.setdefault(name, {})[digest] = number
    return found


def encode_annotations(annotations: Annotations, covered: Iterable[str] | None = None) -> bytes:
    """Annotations with their candidates as bytes, perhaps with what was looked for; equal ones give equal bytes."""
    names = ("entities", "relations", "clusters", "candidates")
    plain: dict[str, Any] = {name: getattr(annotations, name) for name in names}
    if annotations.attributes:
        plain["attributes"] = annotations.attributes
    if covered is not None:
        plain["covered"] = sorted(covered)
    text = json.dumps(plain, separators=(",", ":"), default=lambda item: _VALUES[type(item)](item))
    return zlib.compress(text.encode("ascii"), 6)


# An item is the list of its values in the order of its fields: files rely on it.
_ITEMS = (Entity, Relation, Cluster, Attribute)
_PARTS = (Candidates, SpanCandidate, PairCandidate, LinkCandidate)
_VALUES = {kind: attrgetter(*(f.name for f in fields_of(kind))) for kind in (*_ITEMS, *_PARTS)}


def digest_of(body: bytes) -> str:
    """The hash that is kept with the bytes: it tells them apart, and that they are as they were."""
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def decode_annotations(body: bytes) -> Annotations:
    """The annotations in bytes that :func:`encode_annotations` made."""
    plain = json.loads(zlib.decompress(body))
    considered = None
    if plain["candidates"] is not None:
        spans, pairs, links = plain["candidates"]
        considered = Candidates(
            tuple(SpanCandidate(Span(*span), _to_labels(labels)) for span, labels in spans),
            tuple(PairCandidate(Span(*a), Span(*b), _to_labels(labels)) for a, b, labels in pairs),
            tuple(LinkCandidate(Span(*a), Span(*b), score) for a, b, score in links),
        )
    return Annotations(
        _to_items(Entity, plain["entities"]),
        _to_items(Relation, plain["relations"]),
        _to_items(Cluster, plain["clusters"]),
        considered,
        _to_items(Attribute, plain.get("attributes", ())),
    )


def decode_covered(body: bytes) -> list[str] | None:
    """What was looked for, in bytes that :func:`encode_annotations` made; ``None`` where they do not say it."""
    found: list[str] | None = json.loads(zlib.decompress(body)).get("covered")
    return found


def _to_labels(values: Sequence[Sequence[Any]]) -> tuple[LabelScore, ...]:
    return tuple(LabelScore(label, score) for label, score in values)


_READ: dict[str, Callable[[Any], Any]] = {
    "fragments": lambda spans: tuple(Span(*span) for span in spans),
    "state": State,
    "alternatives": _to_labels,
    "mentions": tuple,
    "mention_scores": tuple,
    "mention_states": lambda states: tuple(map(State, states)),
}
_READERS = {
    kind: [_READ.get(f.name, lambda value: value) for f in fields_of(kind)] for kind in _ITEMS
}


def _to_items(kind: type[_Item], rows: Iterable[Sequence[Any]]) -> tuple[_Item, ...]:
    readers = _READERS[kind]
    return tuple(
        kind(*[read(value) for read, value in zip(readers, row, strict=True)]) for row in rows
    )


PAGE = 256
"""Documents a query: no query stays open while the caller works."""

_ANY_DONE = " OR ".join(f"p.{layer.value} = 'done'" for layer in Layer)
_DECIDED = f"""({_ANY_DONE} OR EXISTS (
    SELECT 1 FROM tally t WHERE t.document_id = p.document_id AND t.state != 'undecided'))"""
_DONE_LAYERS = ", ".join(f"p.{layer.value} = 'done'" for layer in Layer)


@dataclass(frozen=True, slots=True)
class Known:
    """A document of the project.

    Attributes:
        number: Its number.
        text_sha256: The hash of its text.
        decided: Whether an item of it is decided or imported, or a layer is done.
        done: The layers that are done.
        finished: Whether it is done.
    """

    number: int
    text_sha256: str
    decided: bool
    done: frozenset[Layer]
    finished: bool


_SELECT = f"""SELECT p.document_id, d.sha256, {_DECIDED}, {finished_sql("p")}, {_DONE_LAYERS}
    FROM progress p JOIN document d ON d.id = p.document_id"""


def known_documents(connection: sqlite3.Connection) -> Iterator[Known]:
    """All documents of the project, in the order in which they came, in constant memory."""
    last = 0
    query = f"{_SELECT} WHERE p.document_id > ? ORDER BY p.document_id LIMIT ?"
    # By number, not by offset: the project may change while the caller works.
    while rows := connection.execute(query, (last, PAGE)).fetchall():
        last = rows[-1][0]
        yield from map(_read_known, rows)


def recently_decided(connection: sqlite3.Connection, most: int) -> list[int]:
    """Numbers of the documents with decisions, those that were decided last first."""
    rows = connection.execute(
        """SELECT p.document_id FROM progress p JOIN summary s ON s.document_id = p.document_id
        WHERE s.decided > 0 OR 'done' IN (p.entities, p.relations, p.coreference)
        ORDER BY (SELECT max(event_id) FROM change c WHERE c.document_id = p.document_id) DESC LIMIT ?""",
        (most,),
    )
    return [row[0] for row in rows]


def known_by_text(connection: sqlite3.Connection, text_sha256: str) -> Known | None:
    """The document of that text, ``None`` where the project has none."""
    row = connection.execute(f"{_SELECT} WHERE d.sha256 = ?", (text_sha256,)).fetchone()
    return None if row is None else _read_known(row)


def positive_labels(connection: sqlite3.Connection, kind: str) -> Counter[str]:
    """How many items of the current view each label has; ``kind`` is ``entity`` or ``relation``."""
    marks = ", ".join("?" * len(IN_VIEW))
    rows = connection.execute(
        f"SELECT label, sum(number) FROM tally WHERE kind = ? AND state IN ({marks}) GROUP BY label",
        (kind, *(state.value for state in IN_VIEW)),
    )
    return Counter(dict(rows.fetchall()))


def _read_known(row: tuple[int, str, int, int, int, int, int]) -> Known:
    number, text_sha256, decided, finished, *done = row
    layers = frozenset(layer for layer, is_done in zip(Layer, done, strict=True) if is_done)
    return Known(number, text_sha256, bool(decided), layers, bool(finished))
