"""The papers behind a node, and the sentences in which they name it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sciextract.documents.bibliography import Bibliography
from sciextract.graph.extraction import unpacked
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


ALL_YEARS = Years()


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
    years: Years = ALL_YEARS,
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
    both = "AND n.document IN (SELECT document FROM node_document WHERE node = ?) " * len(others)
    rows = connection.execute(
        f"""{_PAPER} WHERE n.node = ? {both}
        AND coalesce(d.year >= ?, ? IS NULL) AND coalesce(d.year <= ?, ? IS NULL)
        ORDER BY d.year DESC NULLS LAST, 9 DESC, d.doc_key, d.id""",
        (node.id, *[each.id for each in others], *(years.first,) * 2, *(years.last,) * 2),
    )
    patterns = [_patterns(connection, [each.id]) for each in (node, *others)] if sentences else []
    found: list[Paper] = []
    for document, *rest in rows:
        relations = {
            row[0]
            for other in others
            for row in connection.execute(_RELATIONS, (node.id, other.id, document))
        }
        if related and not relations:
            continue
        paper = _paper((document, *rest), tuple(sorted(relations)))
        if sentences:
            text = _text_of(connection, document)
            places = [_places(text, *each) for each in patterns]
            quoted = sentences_with(text, paper.published.title, places)[:sentences]
            paper = replace(paper, sentences=tuple(quoted))
        found.append(paper)
        if len(found) == limit:
            break
    return found


_RELATIONS = """SELECT DISTINCT l.name FROM edge e JOIN support s ON s.edge = e.id AND s.document = ?3
JOIN label l ON l.id = e.label
WHERE (e.head = ?1 AND e.tail = ?2) OR (e.head = ?2 AND e.tail = ?1)"""
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


def _text_of(connection: sqlite3.Connection, document: int) -> str:
    row = connection.execute("SELECT content FROM text WHERE document = ?", (document,)).fetchone()
    return unpacked(row[0])


def _paper(row: tuple[Any, ...], relations: tuple[str, ...]) -> Paper:
    document, doc_key, year, title, venue, doi, pmid, authors, mentions = row
    published = Bibliography(doi, pmid, title, year, venue, tuple(json.loads(authors)))
    return Paper(document, doc_key, published, mentions, relations)


_MOST_FORMS = 200
_BY_COREFERENCE = int(MergeRule.COREFERENCE)


def _patterns(
    connection: sqlite3.Connection, nodes: Sequence[int]
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How nodes are written: by names of their own, and by those that coreference gave them, too."""
    rows = connection.execute(
        """SELECT f.surface, a.rules & ? FROM alias a JOIN form f ON f.id = a.form
        WHERE a.node IN (SELECT value FROM json_each(?)) ORDER BY a.mentions DESC LIMIT ?""",
        (_BY_COREFERENCE, json.dumps(nodes), _MOST_FORMS),
    ).fetchall()
    own = {surface for surface, borrowed in rows if not borrowed}
    return names_pattern(own), names_pattern({row[0] for row in rows})


def _places(text: str, own: re.Pattern[str], borrowed: re.Pattern[str]) -> list[Place]:
    """Where a node is named; by names that coreference gave it only where it has no other in the text."""
    named = [each.span() for each in own.finditer(text)]
    return named or [each.span() for each in borrowed.finditer(text)]


class Quoter:
    """Finds sentences that name a node, alone or together with another one, in few abstracts.

    Args:
        connection: The graph.
        nodes: The numbers of the node; further ones count as the same.
    """

    def __init__(self, connection: sqlite3.Connection, nodes: Sequence[int]) -> None:
        self._connection = connection
        self._nodes = json.dumps(nodes)
        self._pattern = _patterns(connection, nodes)[0]
        # Many nodes are looked for among those of each abstract, few of them by themselves.
        self._both = _BOTH.format("+" if len(nodes) > _MANY_NODES else "")

    def quote(self, node: int, relation: int | None = None) -> Paper | None:
        """The paper that names both most often with a sentence that holds both; with two sentences where none does.

        Args:
            node: The number of another node.
            relation: The number of a relation type; only of abstracts where the other node is an end of such one.
        """
        pattern, apart = _patterns(self._connection, [node])[0], None
        for document, content in self._connection.execute(
            self._both,
            {"nodes": self._nodes, "other": node, "relation": relation, "most": _MOST_LOOKED_AT},
        ):
            text = unpacked(content)
            ours, theirs = ([each.span() for each in one.finditer(text)] for one in (self._pattern, pattern))  # fmt: skip
            # To find sentences takes far longer than to see that none can hold both.
            near = any(abs(a - b) < _LONGEST_SENTENCE for a, _ in ours for b, _ in theirs)
            if not near and (apart or not (ours and theirs)):
                continue
            paper = paper_numbered(self._connection, document)
            found = sentences_with(text, paper.published.title, [ours, theirs])
            one, other = ([each for each in found if {*places} & {*each.mentions}] for places in (ours, theirs))  # fmt: skip
            if both := [each for each in one if each in other]:
                return replace(paper, sentences=(both[0],))
            if one and other and apart is None:
                apart = replace(paper, sentences=(one[0], other[0]))
        return apart

    def defining(self, most: int) -> list[Paper]:
        """Papers with a sentence that begins with the node and tells what it is, those that name it most often first."""
        found = []
        rows = self._connection.execute(
            """SELECT n.document, t.content FROM node_document n JOIN text t ON t.document = n.document
            WHERE n.node IN (SELECT value FROM json_each(?)) ORDER BY n.mentions DESC, n.document""",
            (self._nodes,),
        )
        for document, content in rows:
            text = unpacked(content)
            places = [
                each.span()
                for each in self._pattern.finditer(text)
                if _DEFINES.match(text, each.end()) and _BEGINS.search(text, 0, each.start())
            ]
            if places:
                paper = paper_numbered(self._connection, document)
                (first, *_) = sentences_with(text, paper.published.title, [places])
                found.append(replace(paper, sentences=(first,)))
            if len(found) == most:
                break
        return found

    def named_in(self, document: int) -> Paper:
        """The paper with its first sentence, not the title if possible, that names the node by a name of its own."""
        paper, text = paper_numbered(self._connection, document), _text_of(self._connection, document)  # fmt: skip
        title = paper.published.title
        places = [each.span() for each in self._pattern.finditer(text)]
        found = sentences_with(text, title, [places])
        found.sort(key=lambda each: each.text == title)
        return replace(paper, sentences=tuple(found[:1]))


_DEFINES = re.compile(
    r"\s*(?:\([^()]*\)\s*)?(?:,\s*)?(?:(?:is|are)\s+(?:an?|the|one|used|widely|among)|(?:refers?|aims?|seeks?)\s+to)\b"
)
_BEGINS = re.compile(r"(?:^|\n|[.!?]\s+)(?:(?:An?|The|In)\s+)?$")


_LONGEST_SENTENCE = 600
_MOST_LOOKED_AT = 20
_MANY_NODES = 20
_BOTH = """SELECT a.document, t.content FROM node_document b JOIN node_document a ON a.document = b.document
JOIN document d ON d.id = a.document JOIN text t ON t.document = a.document
WHERE b.node = :other AND {}a.node IN (SELECT value FROM json_each(:nodes)) AND (:relation IS NULL OR EXISTS (
    SELECT 1 FROM edge e JOIN support s ON s.edge = e.id AND s.document = a.document
    WHERE (e.head = :other OR e.tail = :other) AND e.label = :relation))
GROUP BY a.document ORDER BY min(max(a.mentions), b.mentions) DESC, d.year DESC, a.document LIMIT :most"""


def names_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Finds whole names, the longest first; those that end in a capital or a digit are acronyms, whose case counts."""
    patterns = []
    for name in sorted(set(names), key=lambda name: (-len(name), name)):
        words = r"\s+".join(map(re.escape, name.split()))
        acronym = len(name.split()) == 1 and name[1:] != name[1:].lower()
        patterns.append(words if acronym else f"(?i:{words})")
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns) or '(?!)'})(?!\w)")


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
