from __future__ import annotations

import sqlite3
from pathlib import Path

import networkx as nx
import pytest

from sciextract.errors import UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.queries.edges import neighbours
from sciextract.graph.queries.nodes import find_node, top
from tests.graph_samples import ends_of


def test_neighbours(connection: sqlite3.Connection) -> None:
    node = find_node(connection, "SVM")
    out = neighbours(connection, node, relation="used-for", direction="out", sentences=1)
    assert [(edge.tail.name, edge.documents) for edge in out] == [("dependency parsing", 2)]
    (sentence,) = out[0].sentences
    assert sentence.text == "The SVM improves dependency parsing."
    assert (sentence.doc_key, sentence.year, sentence.score) == ("a", 2001, 0.8)
    (compared,) = neighbours(connection, node, direction="in")
    assert (compared.label, compared.head, compared.tail.name) == (
        "COMPARE",
        node,
        "neural network",
    )
    with pytest.raises(UsageError, match="no relation type 'X'"):
        neighbours(connection, node, relation="X")


def test_mentions_are_where_the_sentence_says(connection: sqlite3.Connection) -> None:
    node = find_node(connection, "SVM")
    (edge,) = neighbours(connection, node, relation="USED-FOR", sentences=2)
    assert list(map(ends_of, edge.sentences)) == [
        ("SVM", "dependency parsing"), ("Support-vector machines", "dependency parsing"),
    ]  # fmt: skip


def test_a_cluster_passes_its_relations_to_the_name(connection: sqlite3.Connection) -> None:
    edges = neighbours(connection, find_node(connection, "neural network"), direction="out")
    related = {"treebanks", "speech recognition", "support vector machine"}
    assert {edge.tail.name for edge in edges} == related


def test_degree_counts_neighbours_once(random_graph: Path) -> None:
    with open_graph(random_graph) as graph:
        plain = nx.Graph(graph.execute("SELECT head, tail FROM edge").fetchall())
        for node in top(graph, limit=60):
            assert node.degree == (plain.degree(node.id) if node.id in plain else 0)
