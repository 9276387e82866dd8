"""The papers behind a node, and the sentences in which they name it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
IN_YEARS = "coalesce(d.year >= :first, :first IS NULL) AND coalesce(d.year <= :last, :last IS NULL)"
"""Of the document ``d``, with the span's ends as values."""


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
    numbers = [each.id for each in others]
    both = "".join([_NAMES_BOTH.format(each) for each in numbers])
    rows = connection.execute(
        f"""{_PAPER}, max(n.mentions, n.matched + n.nested) AS mentions
        FROM node_document n JOIN document d ON d.id = n.document
        WHERE n.node = :node {both} AND {IN_YEARS}
        ORDER BY d.year DESC NULLS LAST, mentions DESC, d.doc_key, d.id""",
        {"node": node.id, **asdict(years)},
    )
    relations: dict[int, set[str]] = defaultdict(set)
    for document, label in connection.execute(_RELATIONS, (node.id, json.dumps(numbers))):
        relations[document].add(label)
    patterns = [_patterns(connection, [each]) for each in (node.id, *numbers)]
    found: list[Paper] = []
    for row in rows:
        paper = replace(_paper(row), relations=tuple(sorted(relations.get(row[0], ()))))
        if related and not paper.relations:
            continue
        if sentences:
            text = _text_of(connection, paper.document)
            places = [_places(text, *each) for each in patterns]
            quoted = sentences_with(text, paper.published.title, places)[:sentences]
            paper = replace(paper, sentences=tuple(quoted))
        found.append(paper)
        if len(found) == limit:
            break
    return found


_NAMES_BOTH = "AND n.document IN (SELECT document FROM node_document WHERE node = {}) "
_RELATIONS = """SELECT s.document, l.name FROM edge e JOIN support s ON s.edge = e.id JOIN label l ON l.id = e.label
WHERE e.head = ?1 AND e.tail IN (SELECT value FROM json_each(?2)) OR e.tail = ?1 AND e.head IN (SELECT value FROM json_each(?2))"""
_PAPER = "SELECT d.id, d.doc_key, d.authors, d.doi, d.pmid, d.title, d.year, d.venue"


def paper_numbered(connection: sqlite3.Connection, document: int) -> Paper:
    """The paper of that number, without mentions and sentences."""
    query = f"{_PAPER}, 0 FROM document d WHERE d.id = ?"
    return _paper(connection.execute(query, (document,)).fetchone())


def _text_of(connection: sqlite3.Connection, document: int) -> str:
    row = connection.execute("SELECT content FROM text WHERE document = ?", (document,)).fetchone()
    return unpacked(row[0])


def _paper(row: tuple[Any, ...]) -> Paper:
    document, doc_key, authors, *known, mentions = row
    published = Bibliography(*(*known, tuple(json.loads(authors))))
    return Paper(document, doc_key, published, mentions)


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
    return _spans(own, text) or _spans(borrowed, text)


def _spans(pattern: re.Pattern[str], text: str) -> list[Place]:
    return [each.span() for each in pattern.finditer(text)]


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

    def quote(self, node: int, relation: int | None = None) -> Paper | None:
        """The paper that names both most often with a sentence that holds both; with two sentences where none does.

        Args:
            node: The number of another node.
            relation: The number of a relation type; only of abstracts where the other node is an end of such one.
        """
        pattern, apart = _patterns(self._connection, [node])[0], None
        values = {"nodes": self._nodes, "other": node, "relation": relation}
        for document, content in self._connection.execute(_BOTH, values):
            text = unpacked(content)
            ours, theirs = _spans(self._pattern, text), _spans(pattern, text)
            # To find sentences takes far longer than to see that none can hold both.
            near = any(abs(a - b) < _LONGEST_SENTENCE for a, _ in ours for b, _ in theirs)
            if not near and (apart or not (ours and theirs)):
                continue
            paper, found = self._sentences(document, text, ours, theirs)
            one, other = [
                [each for each in found if not {*places}.isdisjoint(each.mentions)]
                for places in (ours, theirs)
            ]
            if both := [each for each in one if each in other]:
                return replace(paper, sentences=(both[0],))
            if one and other and apart is None:
                apart = replace(paper, sentences=(one[0], other[0]))
        return apart

    def defining(self, most: int) -> list[Paper]:
        """Papers with a sentence that begins with the node and tells what it is, those that name it most often first."""
        found: list[Paper] = []
        for document, content in self._connection.execute(
            """SELECT n.document, t.content FROM node_document n JOIN text t ON t.document = n.document
            WHERE n.node IN (SELECT value FROM json_each(?)) ORDER BY n.mentions DESC, n.document""",
            (self._nodes,),
        ):
            text = unpacked(content)
            places = [
                (start, end)
                for start, end in _spans(self._pattern, text)
                if _DEFINES.match(text, end) and _BEGINS.search(text, 0, start)
            ]
            if places:
                paper, sentences = self._sentences(document, text, places)
                found.append(replace(paper, sentences=tuple(sentences[:1])))
            if len(found) == most:
                break
        return found

    def named_in(self, document: int) -> Paper:
        """The paper with its first sentence, not the title if possible, that names the node by a name of its own."""
        text = _text_of(self._connection, document)
        paper, found = self._sentences(document, text, _spans(self._pattern, text))
        found.sort(key=lambda each: each.text == paper.published.title)
        return replace(paper, sentences=tuple(found[:1]))

    def _sentences(
        self, document: int, text: str, *places: Sequence[Place]
    ) -> tuple[Paper, list[NamingSentence]]:
        paper = paper_numbered(self._connection, document)
        return paper, sentences_with(text, paper.published.title, places)


_DEFINES = re.compile(
    r"\s*(?:\([^()]*\)\s*)?(?:,\s*)?(?:(?:is|are)\s+(?:an?|the|one|used|widely|among)|(?:refers?|aims?|seeks?)\s+to)\b"
)
_BEGINS = re.compile(r"(?:^|[.!?]\s+)(?:(?:An?|The|In)\s+)?$")


_LONGEST_SENTENCE = 600
_MOST_LOOKED_AT = 20
_BOTH = f"""SELECT a.document, t.content FROM node_document b JOIN node_document a ON a.document = b.document
JOIN document d ON d.id = a.document JOIN text t ON t.document = a.document
WHERE b.node = :other AND a.node IN (SELECT value FROM json_each(:nodes)) AND (:relation IS NULL OR EXISTS (
    SELECT 1 FROM edge e JOIN support s ON s.edge = e.id AND s.document = a.document
    WHERE (e.head = :other OR e.tail = :other) AND e.label = :relation))
GROUP BY a.document ORDER BY min(max(a.mentions), b.mentions) DESC, d.year DESC, a.document LIMIT {_MOST_LOOKED_AT}"""


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
    """The sentences with any of the places, those with places of most groups first, else in text order.

    A title in front is a sentence.
    """
    found: list[tuple[int, NamingSentence]] = []
    table = analyse(text, title_length=len(title) if title and text.startswith(title) else 0)
    for each in map(table.char_span, table.sentences):
        start, end = each.char_start, each.char_end
        groups = [[place for place in some if start <= place[0] < end] for some in places]
        if mentions := sorted({place for some in groups for place in some}):
            sentence = NamingSentence(start, end, text[start:end], tuple(mentions))
            found.append((sum(map(bool, groups)), sentence))
    return [each for _, each in sorted(found, key=lambda one: -one[0])]
