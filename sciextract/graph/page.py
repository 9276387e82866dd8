"""The page of a graph or of a neighbourhood: one HTML file that needs no network.

The page consists of the files in ``page_assets``: the markup, the style, ``library.js`` (sigma and graphology, built by
``tools/graph_library.sh``) and ``page.js``, which reads the content below. Nodes, edges and papers are lists, because
names of fields would be half of the file; ``page.js`` unpacks each list in the order that is given here.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from sqlite3 import Connection
from string import Template
from typing import Any
from xml.sax.saxutils import escape

from sciextract.errors import UsageError
from sciextract.graph.answers import checked_ending, write_files
from sciextract.graph.normalisation import MergeRule
from sciextract.graph.queries.edges import neighbours, support_of
from sciextract.graph.queries.nodes import Node, find_node, nodes_where
from sciextract.graph.queries.subtopics import Subtopic, subtopics
from sciextract.text.characters import visible

_MOST_ALIASES = 12
_MOST_PAPERS = 100
_MOST_UNCONNECTED = 150
"""Nodes of a graph without relations that its page joins; pairs of them grow with the square."""
_MOST_NODES = 15_000
"""Nodes of a whole graph on its page beside those of its edges, the most frequent ones."""
NAMED_TOGETHER = "named in the same abstract"
_NO_MARKUP = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


PageContent = dict[str, Any]
"""What a page shows, as ``page.js`` reads it; counts by year or type are pairs.

- ``title``: of the page.
- ``centre``: index of the node that the page opens at; ``None`` for the whole graph.
- ``all_nodes``, ``all_edges``: how many the graph has, on the page or not.
- ``types``: names of node types; their indices stand in the nodes.
- ``topics``: titles of subtopics of what the page shows, the one with most abstracts first.
- ``ties``: pairs of nodes that abstracts name together more often than by chance, with how many times; they lay out the page.
- ``keys``: nodes by the normal forms of all names that mean them, as the command line finds them.
- ``relations``: names of relation types; ``symmetric``: whether each has no direction.
- ``papers``: abstracts, by index: key, year, title, venue and DOI.
- ``texts``: sentences, by index.
- ``nodes``: those in most abstracts first: name, type, topic, abstracts that name it by itself, all abstracts, those of them in which the model found it (in the
  others its name was matched), mentions, whether generic, mentions by type, abstracts by
  year (all, and by itself), spellings (with mentions and rules), and papers, the newest first, not more than 100.
- ``edges``: the best supported first: head, tail, relation, abstracts, mentions, mean score, abstracts by year, and
  sentences: paper, text, where in the text head and tail begin and end, in code points, and score.
"""


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
    connection: Connection,
    graph: Path,
    node: str | None,
    output: Path,
    settings: ViewSettings = ViewSettings(),
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
    checked_ending(output, (".html", ".htm"))
    centre, title = None, graph.stem
    if node is None:
        edges = best_edges(connection, settings.edges, generic=settings.generic)
    else:
        centre = find_node(connection, node)
        title = f"{centre.name} in {title}"
        # Several edges may lead to the same neighbour, so that more are looked through.
        most = 6 * settings.neighbours
        near = neighbours(connection, centre, limit=most, generic=settings.generic)
        ends = [end.id for edge in near for end in (edge.head, edge.tail)]
        nodes = list(dict.fromkeys([centre.id, *ends]))[: settings.neighbours + 1]
        query = """WITH shown AS (SELECT value FROM json_each(?))
        SELECT id FROM edge WHERE head IN shown AND tail IN shown
        ORDER BY min(head, tail), max(head, tail), documents DESC, mentions DESC, id"""
        edges = [number for (number,) in connection.execute(query, (json.dumps(nodes),))]
    content = page_content(
        connection, edges, title=title, centre=centre, sentences=settings.sentences
    )
    write_files({"": [page(content)]}, graph, output, force=force)
    return content


def best_edges(connection: Connection, most: int, *, generic: bool = False) -> list[int]:
    """Numbers of the edges that most abstracts state, of generic nodes last; among equals, those between frequent nodes.

    Args:
        connection: The graph.
        most: At most so many.
        generic: Edges of generic nodes, too.
    """
    query = """SELECT e.id FROM edge e JOIN node h ON h.id = e.head JOIN node t ON t.id = e.tail
    WHERE ? OR NOT (h.generic OR t.generic)
    ORDER BY max(h.generic, t.generic), e.documents DESC, min(h.documents, t.documents) DESC, e.id LIMIT ?"""
    rows = connection.execute(query, (generic, most))
    return [number for (number,) in rows]


# Pairs of nodes by the abstracts that name both, as the edges of a graph without relations.
_TOGETHER = f"""WITH frequent AS (SELECT id FROM node ORDER BY generic, alone DESC, id LIMIT {_MOST_UNCONNECTED})
SELECT 0, a.node, b.node, '{NAMED_TOGETHER}', 1, count(*), count(*), NULL, '[]' FROM node_document a
JOIN node_document b ON b.document = a.document AND b.node > a.node
WHERE a.node IN frequent AND b.node IN frequent GROUP BY a.node, b.node ORDER BY 6 DESC, 2, 3"""
_EDGES = """SELECT e.id, e.head, e.tail, l.name, e.label IN symmetric, e.documents, e.mentions, e.score_mean, (
    SELECT json_group_array(json_array(year, documents)) FROM (
        SELECT d.year, count(DISTINCT d.id) AS documents FROM support s JOIN document d ON d.id = s.document
        WHERE s.edge = e.id AND d.year IS NOT NULL GROUP BY d.year ORDER BY d.year))
FROM json_each(?) j JOIN edge e ON e.id = j.value JOIN label l ON l.id = e.label ORDER BY j.key"""
_SHOWN = "WHERE n.id IN (SELECT value FROM json_each(?)) ORDER BY n.alone DESC, n.id"
_OF_NODES = "x.node IN (SELECT value FROM json_each(?))"
_LABELS = f"""SELECT x.node, l.name, x.mentions FROM node_label x JOIN label l ON l.id = x.label
WHERE {_OF_NODES} ORDER BY x.mentions DESC, l.name"""
_SPELLINGS = f"""SELECT x.node, f.surface, x.mentions, x.rules FROM alias x JOIN form f ON f.id = x.form
WHERE {_OF_NODES} ORDER BY x.mentions DESC, f.surface, x.rules"""
_YEARS = f"SELECT x.node, x.year, x.documents, x.alone FROM node_year x WHERE {_OF_NODES} ORDER BY x.year"
_NEWEST = f"""SELECT x.node, d.id FROM node_document x JOIN document d ON d.id = x.document
WHERE {_OF_NODES} ORDER BY d.year DESC, d.doc_key"""
_PAPERS = """SELECT d.doc_key, d.year, coalesce(d.title, ''), coalesce(d.venue, ''), coalesce(d.doi, '')
FROM json_each(?) j JOIN document d ON d.id = j.value ORDER BY j.key"""
_KEYS = "SELECT key, node FROM meaning WHERE node IN (SELECT value FROM json_each(?))"


def page_content(
    connection: Connection,
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

    def rows(query: str, numbers: Iterable[int]) -> list[Any]:
        return connection.execute(query, (json.dumps(list(numbers)),)).fetchall()

    def by_node(query: str, most: int) -> dict[int, list[Any]]:
        found = defaultdict[int, list[Any]](list)
        for node, *told in connection.execute(query, (json.dumps(list(shown)),)):
            if len(found[node]) < most:
                found[node].append(told)
        return found

    whole = "SELECT (SELECT count(*) FROM node), (SELECT count(*) FROM edge)"
    all_nodes, all_edges = connection.execute(whole).fetchone()
    unconnected = not all_edges and not centre
    found = connection.execute(_TOGETHER).fetchall() if unconnected else rows(_EDGES, edges)
    shown = {end for row in found for end in row[1:3]} | ({centre.id} if centre else set())
    topics: tuple[Subtopic, ...] = ()
    ties: tuple[tuple[int, int, float], ...] = ()
    with suppress(UsageError):  # too few abstracts to tell any
        topics, _, ties = subtopics(connection, of=centre)
    if centre is None:
        frequent = "SELECT id FROM node ORDER BY generic, alone DESC, id LIMIT ?"
        shown.update(number for (number,) in connection.execute(frequent, (_MOST_NODES,)))
    topic_of = {node.id: place for place, topic in enumerate(topics) for node in topic.nodes}
    types, relations, papers, texts, places = _Index(), _Index(), _Index(), _Index(), _Index()
    nodes, written = [], dict[str, int]()
    labels, years = by_node(_LABELS, len(shown)), by_node(_YEARS, len(shown))
    spelt, newest = by_node(_SPELLINGS, _MOST_ALIASES), by_node(_NEWEST, _MOST_PAPERS)
    for node in nodes_where(connection, _SHOWN, (json.dumps(list(shown)),)):
        place = places[node.id]  # gives it the next index
        kind, topic = types[node.label], topic_of.get(node.id)
        counts = node.alone, node.documents, node.extracted_documents, node.mentions
        labelled = [(types[label], mentions) for label, mentions in labels[node.id]]
        forms = spelt[node.id]
        spellings = [(form, told, ", ".join(MergeRule(rules).words)) for form, told, rules in forms]
        written.update({"".join(form.casefold().split()): place for form, *_ in forms})
        own = [papers[document] for (document,) in newest[node.id]]
        known = bool(node.generic), labelled, years[node.id]
        nodes.append([node.name, kind, topic, *counts, *known, spellings, own])
    quotes: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for edge, document, sentence in support_of(connection, edges, sentences):
        start, end = sentence.char_start, sentence.char_end
        ends = [min(max(place, start), end) - start for place in (*sentence.head, *sentence.tail)]
        score = sentence.score and round(sentence.score, 3)
        quotes[edge].append((papers[document], texts[sentence.text], *ends, score))
    lines = []
    for number, head, tail, label, symmetric, *counts, score, dated in found:
        ids = places[head], places[tail], relations[label, symmetric]
        told = score and round(score, 3), json.loads(dated), quotes[number]
        lines.append([*ids, *counts, *told])
    return {
        "title": title,
        "centre": None if centre is None else places[centre.id],
        "all_nodes": all_nodes,
        "all_edges": all_edges or len(found),
        "types": list(types),
        "topics": [topic.title for topic in topics],
        "ties": [
            (places[one], places[two], times)
            for one, two, times in ties
            if one in places and two in places
        ],
        # The page knows no rules of spelling: what is written is found, too.
        "keys": written | {key: places[node] for key, node in rows(_KEYS, places)},
        "relations": [label for label, _ in relations],
        "symmetric": [bool(symmetric) for _, symmetric in relations],
        "papers": rows(_PAPERS, papers),
        "texts": list(texts),
        "nodes": nodes,
        "edges": lines,
    }


def page(content: PageContent) -> str:
    """The HTML document; only its own scripts may run in it, and it may load nothing."""
    library = f"/*\n{_asset('library-licences.txt')}*/\n{_asset('library.js')}"
    script = _asset("page.js")
    digests = [hashlib.sha256(asset.encode()).digest() for asset in (library, script)]
    hashes = " ".join([f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests])
    return Template(_asset("page.html")).substitute(
        title=escape(visible(content["title"])),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}; worker-src blob:",
        style=_asset("page.css"),
        library=library,
        script=script,
        # In a script element only "</" and "<!--" could end it: no angle bracket is left in.
        content=json.dumps(_make_visible(content), separators=(",", ":")).translate(_NO_MARKUP),
    )


def _make_visible(value: Any) -> Any:
    """A value of the content in which no sign is hidden."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): _make_visible(item) for key, item in value.items()}
    return [_make_visible(item) for item in value] if isinstance(value, list | tuple) else value


def _asset(name: str) -> str:
    return files("sciextract.graph").joinpath("page_assets", name).read_text("utf-8")


class _Index(dict[Any, int]):
    """Gives each new key the next index."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]
