from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import networkx as nx
import pytest

from sciextract.errors import UsageError
from sciextract.graph.database import UnknownNodeError, open_graph
from sciextract.graph.queries.edges import EdgeRequest, Way, neighbours, relation_counts
from sciextract.graph.queries.nodes import about, find_node, search_nodes, top
from sciextract.graph.queries.paths import shortest_path
from tests.graph_samples import abstract, build


@pytest.fixture(scope="module")
def random_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hundred abstracts that relate random things of random years."""
    chance = random.Random(11)
    documents = []
    for number in range(300):
        one, other = sorted(chance.sample(range(60), 2))
        text = f"In text {number} node{one}x helps node{other}x."
        mentions = {f"node{one}x": "Method", f"node{other}x": chance.choice(["Task", "Method"])}
        link = (f"node{one}x", "USED-FOR", f"node{other}x", chance.random())
        documents.append(
            abstract(str(number), text, mentions, [link], year=chance.randint(2000, 2009))
        )
    path = tmp_path_factory.mktemp("random") / "random.graph"
    build(path, *documents)
    return path


@pytest.mark.parametrize(
    "name", ["SVM", "svm", "SVMs", "the Support Vector Machines", "support-vector machine"]
)
def test_a_node_by_any_name(connection: sqlite3.Connection, name: str) -> None:
    assert find_node(connection, name).name == "support vector machine"


def test_an_unknown_name(connection: sqlite3.Connection) -> None:
    with pytest.raises(UnknownNodeError, match="speach recognition") as caught:
        find_node(connection, "speach recognition")
    assert "did you mean: speech recognition" in caught.value.hint
    with pytest.raises(UnknownNodeError) as caught:
        find_node(connection, "zzzzzz")
    assert "graph top" in caught.value.hint
    with pytest.raises(UnknownNodeError):
        find_node(connection, "the")


def test_aliases_tell_their_rules(connection: sqlite3.Connection) -> None:
    found = about(connection, find_node(connection, "SVM"))
    rules = {each.surface: each.rules for each in found.aliases}
    assert rules == {
        "SVM": ("acronym expanded in the same text",),
        "support vector machine": (),
        "Support-vector machines": ("case", "hyphen", "plural"),
        "SVMs": ("plural", "acronym that most of the corpus expands so"),
    }
    assert found.years == {2001: 1, 2002: 1, 2003: 1}
    assert found.labels == {"Method": 5}


def test_top(connection: sqlite3.Connection) -> None:
    first = top(connection, limit=2)
    assert [each.name for each in first] == ["support vector machine", "treebanks"]
    assert [each.name for each in top(connection, label="task")] == [
        "dependency parsing", "speech recognition",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="no entity type 'Nothing'"):
        top(connection, label="Nothing")
    with pytest.raises(UsageError, match="--since"):
        top(connection, by="degree", since=2000)


@pytest.fixture(scope="module")
def short_ranking(random_graph: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The random graph with seven nodes in each ranking, and a year in which no abstract names anything."""
    copy = tmp_path_factory.mktemp("short") / "short.graph"
    copy.write_bytes(random_graph.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sciextract.graph.derive.MOST_RECENT", 7)
        build(copy, abstract("empty", "Nothing is named here.", {}, year=1995))
    return copy


@pytest.mark.parametrize("since", [1990, 2000, 2004, 2008, 2030])
@pytest.mark.parametrize("label", [None, "Task"])
@pytest.mark.parametrize("limit", [3, 7, 501])
def test_top_since_is_what_counting_everything_gives(
    short_ranking: Path, since: int, label: str | None, limit: int
) -> None:
    with open_graph(short_ranking) as graph:
        found = [
            (each.id, each.documents) for each in top(graph, since=since, label=label, limit=limit)
        ]
        rows = graph.execute(
            """SELECT y.node, sum(y.documents) AS recent FROM node_year y JOIN node n ON n.id = y.node
            JOIN label l ON l.id = n.label WHERE y.year >= ? AND l.name = coalesce(?, l.name)
            GROUP BY y.node ORDER BY recent DESC, y.node LIMIT ?""",
            (since, label, limit),
        ).fetchall()
    assert found == rows


def test_neighbours(connection: sqlite3.Connection) -> None:
    node = find_node(connection, "SVM")
    out = neighbours(
        connection, node, EdgeRequest(relation="used-for", direction="out", sentences=1)
    )
    assert [(each.tail.name, each.documents) for each in out] == [("dependency parsing", 2)]
    (sentence,) = out[0].sentences
    assert sentence.text == "The SVM improves dependency parsing."
    assert (sentence.doc_key, sentence.year, sentence.score) == ("a", 2001, 0.8)
    (compared,) = neighbours(connection, node, EdgeRequest(direction="in"))
    assert (compared.label, compared.head, compared.tail.name) == (
        "COMPARE",
        node,
        "neural network",
    )
    with pytest.raises(UsageError, match="no relation type 'X'"):
        neighbours(connection, node, EdgeRequest(relation="X"))


def test_mentions_are_where_the_sentence_says(connection: sqlite3.Connection) -> None:
    node = find_node(connection, "SVM")
    (edge,) = neighbours(connection, node, EdgeRequest(relation="USED-FOR", sentences=2))
    assert [(each.head_text, each.tail_text) for each in edge.sentences] == [
        ("SVM", "dependency parsing"), ("Support-vector machines", "dependency parsing"),
    ]  # fmt: skip
    assert relation_counts(connection, node) == {("COMPARE", Way.NONE): 1, ("USED-FOR", Way.OUT): 1}


@pytest.mark.parametrize(
    ("typed", "first"),
    [("svm", "support vector machine"), ("supp", "support vector machine"), ("parsing", "dependency parsing"),
     ("Tree", "treebanks"), ("zzz", None), ("", None), ("s", "support vector machine"), ("r", None)],
)  # fmt: skip
def test_nodes_while_somebody_types(
    connection: sqlite3.Connection, typed: str, first: str | None
) -> None:
    found = search_nodes(connection, typed)
    assert (found[0].name if found else None) == first
    assert len({each.id for each in found}) == len(found)


def test_a_cluster_passes_its_relations_to_the_name(connection: sqlite3.Connection) -> None:
    edges = neighbours(
        connection, find_node(connection, "neural network"), EdgeRequest(direction="out")
    )
    related = {"treebanks", "speech recognition", "support vector machine"}
    assert {each.tail.name for each in edges} == related


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
    assert (
        shortest_path(connection, start, end, [find_node(connection, "neural network").id]) is None
    )


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


def test_degree_counts_neighbours_once(random_graph: Path) -> None:
    with open_graph(random_graph) as graph:
        plain = nx.Graph(graph.execute("SELECT head, tail FROM edge").fetchall())
        for node in top(graph, by="degree", limit=60):
            assert node.degree == (plain.degree(node.id) if node.id in plain else 0)


def test_what_is_to_be_avoided_is_left_out(random_graph: Path) -> None:
    with open_graph(random_graph) as graph:
        for values in ({}, {"since": 2004}, {"by": "degree"}):
            first, second, third = top(graph, limit=3, **values)
            assert top(graph, limit=2, avoid=[first], **values) == [second, third]
