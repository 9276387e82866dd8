"""What is drawn of a graph: rows, pages and sentences, without colours and widths, and the queries that give them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from sciextract.graph.building import totals_of
from sciextract.graph.queries.edges import (
    Edge,
    Sentence,
    Way,
    edge_numbered,
    neighbours,
    relation_counts,
    shortest_path,
)
from sciextract.graph.queries.nodes import (
    About,
    Node,
    about,
    find_node,
    node_of,
    search_nodes,
)
from sciextract.text.english import counted

# A page is read before it is shown, and a hub has tens of thousands of edges: the most frequent ones are
# enough, and the counts of each relation say how many there are.
EDGE_LIMIT, SENTENCE_LIMIT = 400, 20


class ArgumentRole(Enum):
    """What a piece of a sentence is."""

    PLAIN = "plain"
    HEAD = "head"
    TAIL = "tail"
    BOTH = "both"

    @classmethod
    def of(cls, in_head: bool, in_tail: bool) -> ArgumentRole:
        """The role of what lies in one of the mentions, in both or in none."""
        if in_head and in_tail:
            return cls.BOTH
        return cls.HEAD if in_head else cls.TAIL if in_tail else cls.PLAIN


Piece = tuple[str, ArgumentRole]


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A line of a list.

    Attributes:
        name: What it is about.
        count: What stands before it; empty in a heading.
        kind: What stands behind it.
        edge: The number of the edge that it stands for, if it does.
        node: The number of the node that Enter leads to; ``None`` in a heading.
    """

    name: str
    count: str = ""
    kind: str = ""
    edge: int | None = None
    node: int | None = None


@dataclass(frozen=True, slots=True)
class NodePage:
    """A node with what is known about it.

    Attributes:
        node: Its number.
        name: Its name.
        facts: Words with what they tell, a line each.
        years: Abstracts by year, without gaps.
        edges: Neighbours by relation, the relations as headings.
    """

    node: int
    name: str
    facts: tuple[tuple[str, str], ...]
    years: tuple[tuple[int, int], ...]
    edges: tuple[GraphRow, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence that supports an edge.

    Attributes:
        place: The abstract, its year, and the score.
        pieces: The sentence, cut where a mention begins or ends.
    """

    place: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class SupportPage:
    """Edges with the sentences that support them.

    Attributes:
        title: What they support.
        parts: Each edge in words, with its sentences.
    """

    title: str
    parts: tuple[tuple[str, tuple[Support, ...]], ...]


def summarise_graph(graph: sqlite3.Connection) -> str:
    """How much is in a graph."""
    totals = totals_of(graph)
    return f"{totals.documents:,} abstracts, {totals.nodes:,} nodes, {totals.edges:,} edges"


def node_rows(nodes: Iterable[Node]) -> tuple[GraphRow, ...]:
    """Nodes as a list."""
    return tuple(
        [GraphRow(each.name, f"{each.documents:,}", each.label, node=each.id) for each in nodes]
    )


def read_node(graph: sqlite3.Connection, wanted: int | str) -> NodePage:
    """Everything about a node.

    Args:
        graph: The graph.
        wanted: Its number, any of its names, or the beginning of one: the first node that it may mean.
    """
    if isinstance(wanted, str):
        alike = search_nodes(graph, wanted, 1)
        node = alike[0] if alike else find_node(graph, wanted)
    else:
        node = node_of(graph, wanted)
    known = about(graph, node)
    years = known.years
    span = range(min(years), max(years) + 1) if years else ()
    edges = neighbours(graph, node, limit=EDGE_LIMIT)
    return NodePage(
        node=node.id,
        name=node.name,
        facts=tuple(_facts(known)),
        years=tuple([(year, years.get(year, 0)) for year in span]),
        edges=_rows_by_relation(node, edges, relation_counts(graph, node)),
    )


def read_support(graph: sqlite3.Connection, number: int) -> SupportPage:
    """The sentences that support an edge."""
    return _support_page("Sentences", [edge_numbered(graph, number, SENTENCE_LIMIT)])


def read_path(graph: sqlite3.Connection, start: int, end: int) -> SupportPage:
    """The shortest way between two nodes, with a sentence for each edge."""
    ends = node_of(graph, start), node_of(graph, end)
    steps = shortest_path(graph, *ends, generic=False, sentences=1)
    words = f"Path from {ends[0].name} to {ends[1].name}"
    edges = [edge for step in steps or () for edge in step]
    return _support_page(words if steps else f"{words}: none", edges)


def _support_page(title: str, edges: Iterable[Edge]) -> SupportPage:
    parts = [(edge_words(each), tuple(map(support_of, each.sentences))) for each in edges]
    return SupportPage(title, tuple(parts))


def support_of(sentence: Sentence) -> Support:
    """A sentence with its two mentions distinguished, which may overlap."""
    score = "" if sentence.score is None else f", score {sentence.score:.2f}"
    start, end = sentence.char_start, sentence.char_end
    cuts = sorted(
        {start, end, *[min(max(cut, start), end) for cut in (*sentence.head, *sentence.tail)]}
    )
    pieces = []
    for left, right in pairwise(cuts):
        # Every blank becomes a space, one for one: a line break would end the line that is drawn.
        text = sentence.text[left - start : right - start]
        words = "".join([" " if each.isspace() else each for each in text])
        in_head = sentence.head[0] <= left < sentence.head[1]
        in_tail = sentence.tail[0] <= left < sentence.tail[1]
        pieces.append((words, ArgumentRole.of(in_head, in_tail)))
    place = f"{sentence.doc_key}, {sentence.year or 'no year'}{score}"
    return Support(place, tuple(pieces))


def edge_words(edge: Edge) -> str:
    """An edge in one line."""
    abstracts = counted(edge.documents, "abstract")
    arrow = edge.way_from(edge.head.id).arrow(edge.label)
    return f"{edge.head.name} {arrow} {edge.tail.name}  ({abstracts})"


def _facts(known: About) -> Iterable[tuple[str, str]]:
    node = known.node
    yield "types", ", ".join([f"{label} {count:,}" for label, count in known.labels.items()])
    abstracts, times = counted(node.documents, "abstract"), counted(node.mentions, "time")
    yield "named in", f"{abstracts}; extracted {times}; {counted(node.degree, 'neighbour')}"
    if known.meanings:
        meanings = ", ".join([f"{name} {count:,}" for name, count in known.meanings.items()])
        yield "may mean", meanings
    for place, alias in enumerate(known.aliases):
        rules = f"  ({', '.join(alias.rules)})" if alias.rules else ""
        yield ("" if place else "written"), f"{alias.mentions:,} {alias.surface}{rules}"
    rest = known.all_aliases - len(known.aliases)
    if rest:
        yield "", f"and in {rest:,} more ways"


def _rows_by_relation(
    node: Node, edges: Sequence[Edge], counts: Mapping[tuple[str, Way], int]
) -> tuple[GraphRow, ...]:
    rows: list[GraphRow] = []
    for (label, way), count in counts.items():
        rows.append(GraphRow(way.arrow(label), f"{count:,}"))
        own = [each for each in edges if each.label == label and each.way_from(node.id) is way]
        for each in own:
            other = each.tail if each.head.id == node.id else each.head
            rows.append(GraphRow(other.name, f"{each.documents:,}", other.label, each.id, other.id))
        if count > len(own):
            rows.append(GraphRow(f"and {count - len(own):,} more"))
    return tuple(rows)


@dataclass(slots=True)
class GraphNavigation:
    """A walk from node to node.

    Attributes:
        here: The node that is shown.
        mark: Number and name of the node that a path shall begin at.
        label: The type of the nodes in the list; all when ``None``.
        labels: The types to choose from.
    """

    here: NodePage | None = None
    mark: tuple[int, str] | None = None
    label: str | None = None
    labels: tuple[str, ...] = ()
    _before: list[int] = field(default_factory=list)

    def arrive(self, page: NodePage) -> None:
        """Be at a node; the way back leads to the one before."""
        if self.here is not None and self.here.node != page.node:
            self._before.append(self.here.node)
        self.here = page

    def back(self) -> int | None:
        """The node before this one, ``None`` at the start; call :meth:`arrive` once it is shown."""
        if not self._before:
            return None
        before = self._before.pop()
        self.here = None  # so that arriving there does not lead back here
        return before

    def next_label(self) -> None:
        """The next type for the list, and all types after the last."""
        choices = (None, *self.labels)
        place = choices.index(self.label) if self.label in choices else 0
        self.label = choices[(place + 1) % len(choices)]

    def path_from(self) -> tuple[int, int] | None:
        """Start and end of a wanted path; else this node becomes its start, or is none any more."""
        if self.here is None:
            return None
        if self.mark is None:
            self.mark = self.here.node, self.here.name
            return None
        start, self.mark = self.mark[0], None
        return None if start == self.here.node else (start, self.here.node)
