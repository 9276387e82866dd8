"""Questions to a graph, answered in a thread with a connection of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.graph.building import totals_of
from sciextract.graph.database import open_graph
from sciextract.graph.queries.edges import (
    EdgeRequest,
    edge_numbered,
    neighbours,
    relation_counts,
    sentences_of,
)
from sciextract.graph.queries.nodes import (
    about,
    entity_labels,
    find_node,
    generic_nodes,
    node_of,
    search_nodes,
    top,
)
from sciextract.graph.queries.paths import shortest_path
from sciextract_app.presenters.graph import (
    GraphRow,
    NodePage,
    Support,
    edge_words,
    node_page,
    node_rows,
    support_of,
)

LIST_LIMIT, EDGE_LIMIT, SENTENCE_LIMIT = 300, 400, 20


@dataclass
class GraphOpened(Message):
    """The graph can be read.

    Attributes:
        words: What is in it.
        labels: The types of its nodes.
    """

    words: str
    labels: tuple[str, ...]


@dataclass
class NodesFound(Message):
    """The nodes of the list.

    Attributes:
        rows: A line each.
    """

    rows: tuple[GraphRow, ...]


@dataclass
class NodeReady(Message):
    """A node is read.

    Attributes:
        page: What it shows.
    """

    page: NodePage


@dataclass
class SupportReady(Message):
    """Sentences of edges are read.

    Attributes:
        title: What they support.
        parts: Each edge in words, with its sentences.
    """

    title: str
    parts: tuple[tuple[str, tuple[Support, ...]], ...]


@dataclass
class QuestionFailed(Message):
    """A question has no answer.

    Attributes:
        error: Why.
    """

    error: SciextractError


@dataclass(frozen=True, slots=True)
class GraphQuestions:
    """What a question needs.

    Attributes:
        path: The graph.
        unwanted: Whether the answer has become unwanted meanwhile.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    unwanted: Callable[[], bool]
    post: Callable[[Message], object]

    def opening(self) -> None:
        """What is in the graph."""
        self._answer(_opened)

    def first(self, label: str | None) -> None:
        """The most frequent nodes of a type."""
        self._answer(lambda graph: NodesFound(node_rows(top(graph, label=label, limit=LIST_LIMIT))))

    def search(self, typed: str) -> None:
        """Nodes whose names look like what was typed."""
        self._answer(lambda graph: NodesFound(node_rows(search_nodes(graph, typed))))

    def node(self, wanted: int | str) -> None:
        """A node by its number, by any of its names, or the first that such a beginning may mean."""
        self._answer(lambda graph: NodeReady(_page(graph, wanted)))

    def sentences(self, number: int) -> None:
        """What supports an edge."""
        self._answer(lambda graph: _support(graph, number))

    def path_between(self, start: int, end: int) -> None:
        """The shortest way between two nodes, with a sentence for each edge."""
        self._answer(lambda graph: _path(graph, start, end))

    def _answer(self, answered: Callable[[sqlite3.Connection], Message]) -> None:
        try:
            with open_graph(self.path) as graph:
                message = answered(graph)
        except SciextractError as error:
            message = QuestionFailed(error)
        if not self.unwanted():
            self.post(message)


def _opened(graph: sqlite3.Connection) -> Message:
    totals = totals_of(graph)
    words = f"{totals.documents:,} abstracts, {totals.nodes:,} nodes, {totals.edges:,} edges"
    return GraphOpened(words, entity_labels(graph))


def _page(graph: sqlite3.Connection, wanted: int | str) -> NodePage:
    if isinstance(wanted, str):
        alike = search_nodes(graph, wanted, 1)
        node = alike[0] if alike else find_node(graph, wanted)
    else:
        node = node_of(graph, wanted)
    edges = neighbours(graph, node, EdgeRequest(limit=EDGE_LIMIT))
    return node_page(about(graph, node), edges, relation_counts(graph, node))


def _support(graph: sqlite3.Connection, number: int) -> Message:
    edge = edge_numbered(graph, number)
    found = tuple(map(support_of, sentences_of(graph, number, SENTENCE_LIMIT)))
    return SupportReady("Sentences", ((edge_words(edge), found),))


def _path(graph: sqlite3.Connection, start: int, end: int) -> Message:
    ends = node_of(graph, start), node_of(graph, end)
    steps = shortest_path(graph, *ends, generic_nodes(graph), sentences=1)
    edges = [edge for step in steps or () for edge in step]
    parts = [(edge_words(edge), tuple(map(support_of, edge.sentences))) for edge in edges]
    words = f"Path from {ends[0].name} to {ends[1].name}"
    return SupportReady(words if steps else f"{words}: none", tuple(parts))
