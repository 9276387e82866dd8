"""The papers behind a node, and the sentences in which they name it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import nlargest
from sqlite3 import Connection
from typing import Any, NamedTuple

from sciextract.documents.bibliography import Bibliography
from sciextract.graph.database import unpacked
from sciextract.graph.normalisation import MergeRule
from sciextract.graph.queries.edges import support_of
from sciextract.graph.queries.nodes import Node
from sciextract.text.english import singular

Place = tuple[int, int]
"""From where to where, in characters of the abstract; the end is exclusive."""


class Years(NamedTuple):
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


def quoted(sentences: Iterable[NamingSentence]) -> str:
    """Sentences on one line."""
    return " […] ".join([" ".join(sentence.text.split()) for sentence in sentences])


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
            "sentences": [asdict(sentence) for sentence in self.sentences],
        }


def papers_of(
    connection: Connection,
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
    numbers = [other.id for other in others]
    relations: dict[int, set[str]] = defaultdict(set)
    for document, label in connection.execute(_RELATIONS, (node.id, json.dumps(numbers))):
        relations[document].add(label)
    own = [_pattern(connection, [number]) for number in (node.id, *numbers)]
    wider = [_pattern(connection, [number], borrowed=True) for number in (node.id, *numbers)]
    both = "".join([_NAMES_BOTH.format(number) for number in numbers])
    found: list[Paper] = []
    query = f"""SELECT {PAPER}, max(n.mentions, n.matched + n.nested) AS mentions, t.content, t.sentences
    FROM node_document n JOIN document d ON d.id = n.document JOIN text t ON t.document = n.document
    WHERE n.node = :node {both} AND {IN_YEARS}
    ORDER BY d.year DESC NULLS LAST, mentions DESC, d.doc_key, d.id"""
    rows = connection.execute(query, {"node": node.id, **years._asdict()})
    for *row, mentions, content, ends in rows:
        paper, quoted = paper_of(row), list[NamingSentence]()
        if related and paper.document not in relations:
            continue
        if sentences:
            text = unpacked(content)
            places = [_spans(a, text) or _spans(b, text) for a, b in zip(own, wider, strict=True)]
            quoted = sentences_with(text, ends, places)[:sentences]
        stated = tuple(sorted(relations.get(paper.document, ())))
        found.append(replace(paper, mentions=mentions, relations=stated, sentences=tuple(quoted)))
        if len(found) == limit:
            break
    return found


_NAMES_BOTH = "AND n.document IN (SELECT document FROM node_document WHERE node = {}) "
_RELATIONS = """SELECT s.document, l.name FROM edge e JOIN support s ON s.edge = e.id JOIN label l ON l.id = e.label
WHERE e.head = ?1 AND e.tail IN (SELECT value FROM json_each(?2)) OR e.tail = ?1 AND e.head IN (SELECT value FROM json_each(?2))"""
PAPER = "d.id, d.doc_key, d.authors, d.doi, d.pmid, d.title, d.year, d.venue"
"""The columns of the document ``d`` that :func:`paper_of` reads."""


def paper_of(row: Sequence[Any]) -> Paper:
    """A paper, without mentions and sentences."""
    document, doc_key, authors, *known = row
    return Paper(document, doc_key, Bibliography(*(*known, tuple(json.loads(authors)))), 0)


_MOST_FORMS = 200
_BY_COREFERENCE = int(MergeRule.COREFERENCE)


def _pattern(
    connection: Connection, nodes: Sequence[int], *, borrowed: bool = False
) -> re.Pattern[str]:
    """How nodes are written: by names of their own; also by those that coreference gave them, if they are wanted."""
    query = """SELECT f.surface, a.rules & ? FROM alias a JOIN form f ON f.id = a.form
    WHERE a.node IN (SELECT value FROM json_each(?)) ORDER BY a.mentions DESC LIMIT ?"""
    rows = connection.execute(query, (_BY_COREFERENCE, json.dumps(nodes), _MOST_FORMS))
    return names_pattern([surface for surface, coreferent in rows if borrowed or not coreferent])


def _spans(pattern: re.Pattern[str], text: str) -> list[Place]:
    return [place.span() for place in pattern.finditer(text)]


class Quoter:
    """Finds sentences that name a node, alone or together with another one, in few abstracts.

    Args:
        connection: The graph.
        nodes: The numbers of the node; further ones count as the same.
    """

    def __init__(self, connection: Connection, nodes: Sequence[int]) -> None:
        self._connection = connection
        self._nodes = json.dumps(nodes)
        self._pattern = _pattern(connection, nodes)
        rows = connection.execute(_OWN, (self._nodes,))
        self._own = {document: (mentions, year) for document, mentions, year in rows}

    def quote(self, node: int, relation: int | None = None) -> Paper | None:
        """The paper that names both most often with a sentence that holds both; with two sentences where none does.

        Where the texts write a name otherwise than any mention of it, the paper has fewer.

        Args:
            node: The number of another node.
            relation: The number of a relation type; only of abstracts where the other node is an end of such one.
        """
        pattern, apart = _pattern(self._connection, [node]), None
        named = self._connection.execute(_OTHER, {"other": node, "relation": relation})
        shared = [self._rank(*row) for row in named if row[0] in self._own]
        for *_, document in nlargest(_MOST_LOOKED_AT, shared):
            ((paper, text, ends),) = self._papers(_NUMBERED, (-document,))
            ours, theirs = _spans(self._pattern, text), _spans(pattern, text)
            found = sentences_with(text, ends, [ours, theirs])
            one = [sentence for sentence in found if not {*ours}.isdisjoint(sentence.mentions)]
            other = [sentence for sentence in found if not {*theirs}.isdisjoint(sentence.mentions)]
            if both := [sentence for sentence in one if sentence in other]:
                return replace(paper, sentences=(both[0],))
            stated = (*one[:1], *other[:1])
            if apart is None or len(stated) > len(apart.sentences):
                apart = replace(paper, sentences=stated)
        return apart

    def _rank(self, document: int, mentions: int) -> tuple[int, int, int]:
        own, year = self._own[document]
        return min(own, mentions), year, -document

    def defining(self) -> Iterator[Paper]:
        """Papers with a sentence that begins with the node and tells what it is, those that name it most often first."""
        defined = re.compile(f"{_BEGINS}({self._pattern.pattern}){_DEFINES}")
        for paper, text, ends in self._papers(_NAMED, {"nodes": self._nodes}):
            if places := [match.span(1) for match in defined.finditer(text)]:
                yield replace(paper, sentences=tuple(sentences_with(text, ends, [places])[:1]))

    def stating(self, edge: int) -> Paper:
        """The paper with the most probable sentence that states the edge of that number."""
        ((_, document, stated),) = support_of(self._connection, [edge], 1)
        ((paper, *_),) = self._papers(_NUMBERED, (document,))
        sentence = NamingSentence(stated.char_start, stated.char_end, stated.text, ())
        return replace(paper, sentences=(sentence,))

    def named_in(self, document: int) -> Paper:
        """The paper with its first sentence, not the title if possible, that names the node by a name of its own."""
        ((paper, text, ends),) = self._papers(_NUMBERED, (document,))
        found = sentences_with(text, ends, [_spans(self._pattern, text)])
        found.sort(key=lambda sentence: sentence.text == paper.published.title)
        return replace(paper, sentences=tuple(found[:1]))

    def _papers(self, query: str, values: Any) -> Iterator[tuple[Paper, str, str]]:
        for *row, content, ends in self._connection.execute(query, values):
            yield paper_of(row), unpacked(content), ends


_WITH_TEXT = f"""SELECT {PAPER}, t.content, t.sentences FROM document d
JOIN text t ON t.document = d.id"""
_NUMBERED = f"{_WITH_TEXT} WHERE d.id = ?"
_NAMED = f"""{_WITH_TEXT} JOIN node_document n ON n.document = d.id
WHERE n.node IN (SELECT value FROM json_each(:nodes)) ORDER BY n.mentions DESC, n.document"""
_MOST_LOOKED_AT = 20
# Joined here, not by SQLite: the abstracts of the node are the same for all others, and may be those of hundreds of kinds.
_OWN = """SELECT n.document, max(n.mentions), coalesce(d.year, 0) FROM node_document n JOIN document d ON d.id = n.document
WHERE n.node IN (SELECT value FROM json_each(?)) GROUP BY n.document"""
_OTHER = """SELECT document, mentions FROM node_document WHERE node = :other AND (:relation IS NULL OR document IN (
    SELECT s.document FROM edge e JOIN support s ON s.edge = e.id
    WHERE (e.head = :other OR e.tail = :other) AND +e.label = :relation))"""


_DEFINES = r"\s*(?:\([^()]*\)\s*)?(?:,\s*)?(?:(?:is|are)\s+(?:an?|the|one|used|widely|among)|(?:refers?|aims?|seeks?)\s+to)\b"
_BEGINS = r"(?:^|\n|[.!?]\s+)(?:(?:An?|The|In)\s+)?"


def names_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Finds whole names, the longest first, in singular and plural, with spaces or hyphens, as mentions are counted.

    Those that end in a capital or a digit are acronyms, whose case counts.
    """
    patterns = set[str]()
    for name in names:
        # The same in other cases, numbers or with hyphens is one pattern: a node has up to 200 spellings.
        acronym = len(name.split()) == 1 and name[1:] != name[1:].lower()
        *first, last = _BETWEEN.split(name if acronym else name.lower())
        one = singular(last.lower())
        ending = f"{re.escape(last[: len(one)])}(?:e?s)?"
        if not last.lower().startswith(one):
            ending = f"(?:{re.escape(last)}|{re.escape(one)})"
        words = r"[\s-]+".join([*map(re.escape, first), ending])
        patterns.add(words if acronym else f"(?i:{words})")
    ordered = sorted(patterns, key=lambda pattern: (-len(pattern), pattern))
    return re.compile(rf"(?<!\w)(?:{'|'.join(ordered) or '(?!)'})(?!\w)")


_BETWEEN = re.compile(r"(?<=\S)[\s-]+(?=\S)")


def sentences_with(text: str, ends: str, places: Sequence[Sequence[Place]]) -> list[NamingSentence]:
    """The sentences with any of the places, those with places of most groups first, else in text order.

    Args:
        text: The abstract.
        ends: Where its sentences begin and end, as the graph keeps them.
        places: Groups of places in it.
    """
    found: list[tuple[int, NamingSentence]] = []
    for start, end in json.loads(ends):
        groups = [[place for place in some if start <= place[0] < end] for some in places]
        if mentions := sorted({place for some in groups for place in some}):
            sentence = NamingSentence(start, end, text[start:end], tuple(mentions))
            found.append((sum(map(bool, groups)), sentence))
    return [sentence for _, sentence in sorted(found, key=lambda one: -one[0])]
