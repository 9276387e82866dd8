"""The papers behind a node, and the sentences in which they name it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sciextract.documents.bibliography import Bibliography
from sciextract.graph.contribution import unpacked
from sciextract.graph.normalisation import MergeRule
from sciextract.graph.queries.nodes import Node
from sciextract.text.analyse import analyse

Place = tuple[int, int]
"""From where to where, in characters of the abstract; the end is exclusive."""


@dataclass(frozen=True, slots=True)
class Years:
    """A span of years, both ends included; ``None`` is an open end."""

    first: int | None = None
    last: int | None = None


_ALL_YEARS = Years()


@dataclass(frozen=True, slots=True)
class NamingSentence:
    """A sentence that names nodes.

    Attributes:
        char_start: Where it begins in the abstract.
        char_end: Where it ends.
        text: Its characters.
        mentions: Where it names them, in characters of the abstract.
    """

    char_start: int
    char_end: int
    text: str
    mentions: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """An abstract that names a node.

    Attributes:
        document: Its number in this graph.
        doc_key: Its name.
        published: What is known of its publication.
        mentions: How often it names the node: extracted mentions, or places where its name stands if these are more.
        relations: How it relates the nodes that were asked for, where there are several.
        sentences: Some of those that name them; those that name most of them first.
    """

    document: int
    doc_key: str
    published: Bibliography
    mentions: int
    relations: tuple[str, ...] = ()
    sentences: tuple[NamingSentence, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "doc_key": self.doc_key,
            **asdict(self.published),
            "mentions": self.mentions,
            "relations": self.relations,
            "sentences": [asdict(each) for each in self.sentences],
        }


def papers_of(
    connection: sqlite3.Connection,
    node: Node,
    others: Sequence[Node] = (),
    *,
    years: Years = _ALL_YEARS,
    related: bool = False,
    sentences: int = 1,
    limit: int | None = None,
) -> list[Paper]:
    """The abstracts that name a node, the newest first.

    Args:
        connection: The graph.
        node: The node.
        others: Nodes that they must name as well.
        years: Only of these years.
        related: Only abstracts that state a relation between the node and one of the others.
        sentences: How many sentences to bring for each.
        limit: At most so many.
    """
    found: list[Paper] = []
    for row in _documents(connection, node, others, years):
        relations = tuple(_relations(connection, row[0], node, others)) if others else ()
        if related and not relations:
            continue
        found.append(_paper(row, relations))
        if len(found) == limit:
            break
    names = [_Names.of(connection, each) for each in (node, *others)] if sentences else []
    return [_with_sentences(connection, each, names, sentences) for each in found]


_PAPER = """SELECT d.id, d.doc_key, d.year, p.title, p.venue, p.doi, p.pmid, p.authors,
    max(n.mentions, n.matched + n.nested) AS mentions
FROM node_document n JOIN document d ON d.id = n.document JOIN paper p ON p.document = d.id """


def paper_numbered(connection: sqlite3.Connection, document: int) -> Paper:
    """The paper of that number, without mentions and sentences."""
    row = connection.execute(
        """SELECT d.id, d.doc_key, d.year, p.title, p.venue, p.doi, p.pmid, p.authors, 0
        FROM document d JOIN paper p ON p.document = d.id WHERE d.id = ?""",
        (document,),
    ).fetchone()
    return _paper(row, ())


def _documents(
    connection: sqlite3.Connection, node: Node, others: Sequence[Node], years: Years
) -> Iterator[tuple[Any, ...]]:
    both = "AND n.document IN (SELECT document FROM node_document WHERE node = ?) " * len(others)
    return connection.execute(
        f"""{_PAPER} WHERE n.node = ? {both}
        AND coalesce(d.year >= ?, ? IS NULL) AND coalesce(d.year <= ?, ? IS NULL)
        ORDER BY d.year DESC NULLS LAST, 9 DESC, d.doc_key, d.id""",
        (node.id, *[each.id for each in others], *(years.first,) * 2, *(years.last,) * 2),
    )


def _paper(row: tuple[Any, ...], relations: tuple[str, ...]) -> Paper:
    document, doc_key, year, title, venue, doi, pmid, authors, mentions = row
    published = Bibliography(doi, pmid, title, year, venue, tuple(json.loads(authors)))
    return Paper(document, doc_key, published, mentions, relations)


def _relations(
    connection: sqlite3.Connection, document: int, node: Node, others: Iterable[Node]
) -> list[str]:
    """Types of the relations that an abstract states between a node and others."""
    found = [
        row[0]
        for other in others
        for row in connection.execute(
            """SELECT DISTINCT l.name FROM edge e JOIN support s ON s.edge = e.id AND s.document = ?3
            JOIN label l ON l.id = e.label
            WHERE (e.head = ?1 AND e.tail = ?2) OR (e.head = ?2 AND e.tail = ?1)""",
            (node.id, other.id, document),
        )
    ]
    return sorted(set(found))


_MOST_FORMS = 200
_BY_COREFERENCE = int(MergeRule.COREFERENCE)


@dataclass(frozen=True, slots=True)
class _Names:
    """How a node is written: by names of its own, and by those that coreference gave it."""

    own: re.Pattern[str]
    other: re.Pattern[str]

    @classmethod
    def of(cls, connection: sqlite3.Connection, node: Node) -> _Names:
        rows = connection.execute(
            """SELECT f.surface, a.rules & ? FROM alias a JOIN form f ON f.id = a.form
            WHERE a.node = ? ORDER BY a.mentions DESC LIMIT ?""",
            (_BY_COREFERENCE, node.id, _MOST_FORMS),
        ).fetchall()
        own = {node.name, *[surface for surface, borrowed in rows if not borrowed]}
        return cls(names_pattern(own), names_pattern({row[0] for row in rows}))

    def places(self, text: str) -> list[Place]:
        found = [each.span() for each in self.own.finditer(text)]
        return found or [each.span() for each in self.other.finditer(text)]


def names_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Finds whole names, the longest first; those that end in a capital or a digit are acronyms, whose case counts."""
    ordered = sorted(set(names), key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(_name, ordered)) or '(?!)'})(?!\w)")


def _name(name: str) -> str:
    words = r"\s+".join(map(re.escape, name.split()))
    return words if len(name.split()) == 1 and name[1:] != name[1:].lower() else f"(?i:{words})"


def _with_sentences(
    connection: sqlite3.Connection, paper: Paper, names: Sequence[_Names], most: int
) -> Paper:
    if not names:
        return paper
    (content,) = connection.execute(
        "SELECT content FROM text WHERE document = ?", (paper.document,)
    ).fetchone()
    text = unpacked(content)
    places = [each.places(text) for each in names]
    sentences = sentences_with(text, paper.published.title, places)[:most]
    return replace(paper, sentences=tuple(sentences))


def sentences_with(
    text: str, title: str | None, places: Sequence[Sequence[Place]]
) -> list[NamingSentence]:
    """The sentences with any of the places, those with places of most groups first, else in text order."""
    found: list[tuple[int, NamingSentence]] = []
    for start, end in sentence_places(text, title):
        inside = [[each for each in some if start <= each[0] < end] for some in places]
        mentions = sorted({each for some in inside for each in some})
        if mentions:
            sentence = NamingSentence(start, end, text[start:end], tuple(mentions))
            found.append((sum(map(bool, inside)), sentence))
    return [each for _, each in sorted(found, key=lambda one: -one[0])]


def sentence_places(text: str, title: str | None) -> Iterator[Place]:
    """Where the sentences of an abstract begin and end; a title in front is one of them."""
    table = analyse(text, title_length=len(title) if title and text.startswith(title) else 0)
    for sentence in table.sentences:
        if sentence.token_end > sentence.token_start:
            first, last = table.spans[sentence.token_start], table.spans[sentence.token_end - 1]
            yield first.char_start, last.char_end
