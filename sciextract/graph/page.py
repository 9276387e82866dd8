"""The page of a graph or of a neighbourhood: one HTML file that needs no network.

The page consists of the files in ``page_assets``: the markup, the style, ``library.js`` (sigma and graphology, built by
``tools/graph_library.sh``) and ``page.js``, which reads the content below. The content is a tree of lists, because
names of fields would be half of the file; ``page.js`` unpacks each list in the order of the fields here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from sciextract.errors import UsageError
from sciextract.graph.answers import check_output
from sciextract.graph.extraction import unpacked
from sciextract.graph.normalisation import MergeRule
from sciextract.graph.queries.edges import EdgeRequest, neighbours
from sciextract.graph.queries.nodes import Node, find_node
from sciextract.graph.queries.subtopics import SubtopicQuestion, subtopics
from sciextract.text.characters import visible
from sciextract.workflows.output import reported_as, whole_output

_MOST_ALIASES = 12
_MOST_PAPERS = 100
_MOST_UNCONNECTED = 150
"""Nodes of a graph without relations on its page; pairs of them grow with the square."""
NAMED_TOGETHER = "named in the same abstract"
_NO_MARKUP = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})

Counts = list[tuple[int, int]]
"""Pairs of a year or a type and a count."""


class PagePaper(NamedTuple):
    """An abstract that names a node of the page."""

    doc_key: str
    year: int | None
    title: str
    venue: str
    doi: str


class PageNode(NamedTuple):
    """A node. ``extracted`` of its ``documents`` are those in which the model found it; in the others its name was matched.

    ``papers`` are indices of the content's papers, the newest first, not more than 100; ``topic`` is an index of its
    subtopics.
    """

    name: str
    type: int
    topic: int | None
    documents: int
    extracted: int
    mentions: int
    generic: bool
    vocabulary: str
    types: Counts
    years: Counts
    aliases: list[tuple[str, int, str]]
    papers: list[int]


class PageSentence(NamedTuple):
    """A sentence of an edge; where head and tail are mentioned is counted in code points from its first one."""

    paper: int
    text: int
    head_start: int
    head_end: int
    tail_start: int
    tail_end: int
    score: float | None


class PageEdge(NamedTuple):
    """An edge; head and tail are indices of the content's nodes."""

    head: int
    tail: int
    relation: int
    documents: int
    mentions: int
    score: float | None
    years: Counts
    sentences: list[PageSentence]


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a page shows.

    Attributes:
        title: Of the page.
        centre: Index of the node that the page opens at; ``None`` for the whole graph.
        all_nodes: Nodes of the graph, on the page or not.
        all_edges: Edges of the graph.
        types: Names of node types; their indices stand in the nodes.
        topics: Titles of subtopics of what the page shows, the one with most abstracts first.
        keys: Nodes by the normal forms of all names that mean them, as the command line finds them.
        relations: Names of relation types.
        symmetric: Whether a relation type has no direction.
        papers: Abstracts, by index.
        texts: Sentences, by index.
        nodes: Nodes, those in most abstracts first.
        edges: Edges, the best supported first.
    """

    title: str
    centre: int | None
    all_nodes: int
    all_edges: int
    types: list[str]
    topics: list[str]
    keys: dict[str, int]
    relations: list[str]
    symmetric: list[bool]
    papers: list[PagePaper]
    texts: list[str]
    nodes: list[PageNode]
    edges: list[PageEdge]


@dataclass(frozen=True, slots=True)
class ViewSettings:
    """What of a graph a page shows.

    Attributes:
        neighbours: At most so many neighbours of a node.
        edges: At most so many edges of the whole graph.
        sentences: So many sentences for each edge of a page.
        generic: Whether generic nodes are shown, too.
    """

    neighbours: int = 24
    edges: int = 10_000
    sentences: int = 3
    generic: bool = False


def draw(
    connection: sqlite3.Connection,
    graph: Path,
    node: str | None,
    output: Path,
    settings: ViewSettings | None = None,
    *,
    force: bool = False,
) -> PageContent:
    """Make a page of a node with its neighbours, or of the whole graph; gives what is on it.

    Args:
        connection: The graph.
        graph: Its file, which is never replaced.
        node: Any name of it; ``None`` for the whole graph.
        output: The page.
        settings: How much to show.
        force: Whether to replace what is there.

    Raises:
        UsageError: The output does not end in ``.html`` or ``.htm``.
        UnknownNodeError: The graph has no such node.
        OutputError: The file cannot be written.
    """
    settings, title = settings or ViewSettings(), graph.stem
    check_output(output, (".html", ".htm"), graph, force=force)
    centre = None if node is None else find_node(connection, node)
    if centre is None:
        edges = best_edges(connection, settings.edges, generic=settings.generic)
    else:
        title = f"{centre.name} in {title}"
        # Several edges may lead to the same neighbour, so that more are looked through.
        request = EdgeRequest(limit=6 * settings.neighbours, generic=settings.generic)
        nodes = {centre.id: None}
        for edge in neighbours(connection, centre, request):
            for end in (edge.head, edge.tail):
                if len(nodes) <= settings.neighbours:
                    nodes.setdefault(end.id)
        rows = connection.execute(
            """WITH shown AS (SELECT value FROM json_each(?))
            SELECT id FROM edge WHERE head IN shown AND tail IN shown
            ORDER BY min(head, tail), max(head, tail), documents DESC, mentions DESC, id""",
            (json.dumps(list(nodes)),),
        )
        edges = [number for (number,) in rows]
    content = page_content(
        connection, edges, title=title, centre=centre, sentences=settings.sentences
    )
    with reported_as(str(output)), whole_output(output) as partial:
        partial.write_text(page(content) + "\n", encoding="utf-8", newline="\n")
    return content


def best_edges(connection: sqlite3.Connection, most: int, *, generic: bool = False) -> list[int]:
    """Numbers of the edges that most abstracts state, of generic nodes last; among equals, those between frequent nodes.

    Args:
        connection: The graph.
        most: At most so many.
        generic: Edges of generic nodes, too.
    """
    rows = connection.execute(
        """SELECT e.id FROM edge e JOIN node h ON h.id = e.head JOIN node t ON t.id = e.tail
        WHERE ? OR NOT (h.generic OR t.generic)
        ORDER BY max(h.generic, t.generic), e.documents DESC, min(h.documents, t.documents) DESC, e.id LIMIT ?""",
        (generic, most),
    )
    return [number for (number,) in rows]


def page_content(
    connection: sqlite3.Connection,
    edges: Sequence[int],
    *,
    title: str,
    centre: Node | None = None,
    sentences: int = 3,
) -> PageContent:
    """What a page of these edges and their nodes shows; of a graph without edges, which nodes abstracts name together.

    Args:
        connection: The graph.
        edges: Numbers of edges.
        title: Of the page.
        centre: The node that the page opens at; it is on the page also without edges.
        sentences: How many sentences to bring for each edge.
    """
    types, relations, papers, texts = _Index(), _Index(), _Index(), _Index()
    edge_rows = _among(
        connection,
        "SELECT id, head, tail, label, documents, mentions, score_mean FROM edge WHERE id",
        edges,
    )
    ends = {end for row in edge_rows for end in row[1:3]} | ({centre.id} if centre else set())
    (all_nodes,) = connection.execute("SELECT count(*) FROM node").fetchone()
    (all_edges,) = connection.execute("SELECT count(*) FROM edge").fetchone()
    together: list[tuple[int, int, int]] = []
    if not all_edges and not centre:
        # Without relations, pairs of the most frequent nodes with the number of abstracts that name both.
        together = connection.execute(
            """WITH frequent AS (SELECT id FROM node ORDER BY generic, documents DESC, id LIMIT ?)
            SELECT a.node, b.node, count(*) FROM node_document a
            JOIN node_document b ON b.document = a.document AND b.node > a.node
            WHERE a.node IN frequent AND b.node IN frequent
            GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2""",
            (_MOST_UNCONNECTED,),
        ).fetchall()
    ends |= {end for head, tail, _ in together for end in (head, tail)}
    try:
        found = subtopics(connection, SubtopicQuestion(of=centre)).found
    except UsageError:  # too few abstracts to tell any
        found = ()
    topic_of = {node.id: place for place, topic in enumerate(found) for node in topic.nodes}
    nodes = _page_nodes(connection, ends, types, topic_of, papers)
    places = {number: place for place, number in enumerate(nodes)}
    page_sentences = _sentences(connection, edges, sentences, papers, texts)
    years = _grouped(
        _among(
            connection,
            "SELECT s.edge, d.year, count(DISTINCT d.id) FROM support s JOIN document d ON d.id = s.document "
            "WHERE d.year IS NOT NULL AND s.edge",
            edges,
            "GROUP BY s.edge, d.year ORDER BY d.year",
        )
    )
    page_edges = {
        edge: PageEdge(
            places[head], places[tail], relations[label], documents, mentions,
            score and round(score, 3), years[edge], page_sentences[edge],
        )
        for edge, head, tail, label, documents, mentions, score in edge_rows
    }  # fmt: skip
    co_mentions = [
        PageEdge(places[head], places[tail], 0, documents, documents, None, [], [])
        for head, tail, documents in together
    ]
    names = dict(connection.execute("SELECT id, name FROM label"))
    symmetric = {label for (label,) in connection.execute("SELECT label FROM symmetric")}
    rows = _among(
        connection,
        """SELECT d.id, d.doc_key, d.year, p.title, p.venue, p.doi
        FROM document d LEFT JOIN paper p ON p.document = d.id WHERE d.id""",
        papers,
    )
    known = {
        number: PagePaper(visible(key), year, *(visible(each or "") for each in rest))
        for number, key, year, *rest in rows
    }
    return PageContent(
        title=title,
        centre=None if centre is None else places[centre.id],
        all_nodes=all_nodes,
        all_edges=all_edges or len(together),
        types=[visible(names[each]) for each in types],
        topics=[visible(each.title) for each in found],
        keys={
            visible(key): places[node]
            for node, key in _among(
                connection,
                "SELECT coalesce(r.node, m.id), m.key FROM name m LEFT JOIN resolved r ON r.name = m.id "
                "WHERE coalesce(r.node, m.id)",
                places,
            )
        },
        relations=[NAMED_TOGETHER] if together else [visible(names[each]) for each in relations],
        symmetric=[True] if together else [each in symmetric for each in relations],
        papers=[known[number] for number in papers],
        texts=[visible(text) for text in texts],
        nodes=list(nodes.values()),
        edges=[page_edges[number] for number in edges] or co_mentions,
    )


def page(content: PageContent) -> str:
    """The HTML document; only its own scripts may run in it, and it may load nothing."""
    library = f"/*\n{_asset('library-licences.txt')}*/\n{_asset('library.js')}"
    script = _asset("page.js")
    values = {each.name: getattr(content, each.name) for each in fields(content)}
    digests = [hashlib.sha256(each.encode()).digest() for each in (library, script)]
    hashes = " ".join([f"'sha256-{base64.b64encode(each).decode()}'" for each in digests])
    return Template(_asset("page.html")).substitute(
        title=escape(visible(content.title)),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}; worker-src blob:",
        style=_asset("page.css"),
        library=library,
        script=script,
        # In a script element only "</" and "<!--" could end it: no angle bracket is left in.
        content=json.dumps(values, separators=(",", ":")).translate(_NO_MARKUP),
    )


def _asset(name: str) -> str:
    return files("sciextract.graph").joinpath("page_assets", name).read_text("utf-8")


class _Index(dict[Any, int]):
    """Gives each new key the next index."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]


def _among(
    connection: sqlite3.Connection, query: str, numbers: Iterable[int], rest: str = ""
) -> list[tuple[Any, ...]]:
    """Rows in which the column that ends the query is one of the numbers."""
    words = f"{query} IN (SELECT value FROM json_each(?)) {rest}"
    return connection.execute(words, (json.dumps(list(numbers)),)).fetchall()


def _page_nodes(
    connection: sqlite3.Connection,
    numbers: Iterable[int],
    types: _Index,
    topic_of: Mapping[int, int],
    papers: _Index,
) -> dict[int, PageNode]:
    """Nodes by their numbers in the graph, those that most abstracts name first."""
    labels, years, aliases, documents = [
        _grouped(_among(connection, query, numbers, rest))
        for query, rest in (
            ("SELECT node, label, mentions FROM node_label WHERE node", "ORDER BY mentions DESC"),
            ("SELECT node, year, documents FROM node_year WHERE node", "ORDER BY year"),
            (
                "SELECT a.node, f.surface, a.mentions, a.rules FROM alias a JOIN form f ON f.id = a.form WHERE a.node",
                "ORDER BY a.mentions DESC, f.surface",
            ),
            (
                "SELECT n.node, n.document FROM node_document n JOIN document d ON d.id = n.document WHERE n.node",
                "ORDER BY d.year DESC, d.doc_key",
            ),
        )
    ]
    rows = _among(
        connection,
        "SELECT id, name, label, documents, extracted_documents, mentions, generic, vocabulary_id FROM node WHERE id",
        numbers,
        "ORDER BY documents DESC, id",
    )
    return {
        node: PageNode(
            visible(name), types[label], topic_of.get(node), count, extracted, mentions, bool(generic), visible(known or ""),
            [(types[each], number) for each, number in labels[node]],
            years[node],
            [
                (visible(surface), number, ", ".join(MergeRule(rules).words))
                for surface, number, rules in aliases[node][:_MOST_ALIASES]
            ],
            [papers[document] for (document,) in documents[node][:_MOST_PAPERS]],
        )
        for node, name, label, count, extracted, mentions, generic, known in rows
    }  # fmt: skip


def _sentences(
    connection: sqlite3.Connection, edges: Sequence[int], most: int, papers: _Index, texts: _Index
) -> dict[int, list[PageSentence]]:
    """The most probable sentences of each edge."""
    rows = _among(
        connection,
        """SELECT s.edge, s.document, s.turned, v.char_start, v.char_end,
        v.head_start, v.head_end, v.tail_start, v.tail_end, v.score
        FROM support s JOIN evidence v ON v.document = s.document AND v.number = s.number WHERE s.edge""",
        edges,
        "ORDER BY v.score DESC NULLS LAST, s.document, s.number",
    )
    chosen = {edge: some[:most] for edge, some in _grouped(rows).items()}
    documents = {document for some in chosen.values() for document, *_ in some}
    contents = {
        document: unpacked(content)
        for document, content in _among(
            connection, "SELECT document, content FROM text WHERE document", documents
        )
    }
    sentences: dict[int, list[PageSentence]] = defaultdict(list)
    for edge, some in chosen.items():
        for document, turned, start, end, *spans, score in some:
            one, one_end, other, other_end = [min(max(each, start), end) - start for each in spans]
            head, tail = (one, one_end), (other, other_end)
            sentences[edge].append(
                PageSentence(
                    papers[document],
                    texts[contents[document][start:end]],
                    *(tail + head if turned else head + tail),
                    score and round(score, 3),
                )
            )
    return sentences


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    """The rest of each row by its first column; of other keys nothing."""
    groups: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for key, *rest in rows:
        groups[key].append(tuple(rest))
    return groups
