from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import networkx as nx

from sciextract.graph.database import open_graph
from sciextract.graph.queries.edges import shortest_path
from sciextract.graph.queries.nodes import find_node, top
from tests.graph_samples import abstract, build


def test_a_path_with_its_evidence(connection: sqlite3.Connection) -> None:
    start, end = find_node(connection, "SVM"), find_node(connection, "speech recognition")
    steps = shortest_path(connection, start, end)
    assert steps is not None
    assert [[(each.head.name, each.label, each.tail.name) for each in step] for step in steps] == [
        [("support vector machine", "COMPARE", "neural network")],
        [("neural network", "USED-FOR", "speech recognition")],
    ]
    assert steps[0][0].sentences[0].text.startswith("SVMs are compared")


def test_paths_that_are_none(connection: sqlite3.Connection) -> None:
    start, end = find_node(connection, "SVM"), find_node(connection, "speech recognition")
    assert shortest_path(connection, start, start) == []
    assert shortest_path(connection, start, find_node(connection, "accuracy")) is None
    assert shortest_path(connection, start, end, [find_node(connection, "neural network")]) is None


def test_paths_are_as_short_as_those_of_networkx(random_graph: Path) -> None:
    chance = random.Random(5)
    with open_graph(random_graph) as graph:
        plain = nx.Graph(graph.execute("SELECT head, tail FROM edge").fetchall())
        nodes = top(graph, limit=60)
        for _ in range(60):
            one, other = chance.sample(nodes, 2)
            steps = shortest_path(graph, one, other, sentences=0)
            if not nx.has_path(plain, one.id, other.id):
                assert steps is None
                continue
            assert steps is not None
            assert len(steps) == nx.shortest_path_length(plain, one.id, other.id)
            assert all(steps)


def test_of_several_shortest_paths_the_best_supported_one(tmp_path: Path) -> None:
    documents = []
    for middle, count in (("thin", 1), ("thick", 3), ("middling", 2)):
        for number in range(count):
            text = f"Text {number}: start, {middle} and goal."
            mentions = {"start": "Method", middle: "Method", "goal": "Task"}
            links = [("start", "USED-FOR", middle), (middle, "USED-FOR", "goal")]
            documents.append(abstract(text, text, mentions, links))
    build(tmp_path / "g.graph", *documents)
    with open_graph(tmp_path / "g.graph") as graph:
        ends = find_node(graph, "start"), find_node(graph, "goal")
        for way in (ends, ends[::-1]):
            steps = shortest_path(graph, *way, sentences=0)
            assert steps is not None
            assert "thick" in {steps[0][0].head.name, steps[0][0].tail.name}
