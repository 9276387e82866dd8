from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.graph.database import UnknownNodeError, open_graph
from sciextract.graph.queries.combinations import TogetherQuestion, together
from sciextract.graph.queries.edges import neighbours
from sciextract.graph.queries.nodes import about, find_node, narrower, top
from tests.graph_samples import abstract, build


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
    rules = {alias.surface: alias.rules for alias in found.aliases}
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
    assert [node.name for node in first] == ["support vector machine", "treebanks"]
    assert [node.name for node in top(connection, label="task")] == [
        "dependency parsing", "speech recognition",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="no entity type 'Nothing'"):
        top(connection, label="Nothing")


@pytest.mark.parametrize("since", [1990, 2000, 2004, 2008, 2030])
@pytest.mark.parametrize("label", [None, "Task"])
@pytest.mark.parametrize("limit", [3, 501])
def test_top_since_is_what_counting_everything_gives(
    random_graph: Path, since: int, label: str | None, limit: int
) -> None:
    with open_graph(random_graph) as graph:
        found = [
            (node.id, node.documents) for node in top(graph, since=since, label=label, limit=limit)
        ]
        rows = graph.execute(
            """SELECT y.node, sum(y.documents) AS recent FROM node_year y JOIN node n ON n.id = y.node
            JOIN label l ON l.id = n.label WHERE y.year >= ? AND l.name = coalesce(?, l.name)
            GROUP BY y.node ORDER BY recent DESC, y.node LIMIT ?""",
            (since, label, limit),
        ).fetchall()
    assert found == rows


def kinds(path: Path) -> Path:
    """Ropes: long ropes, and strings, which two abstracts say are ropes; one says that tents are, and all name knots."""
    said = [("strings", 2), ("tents", 1), ("knots", 2)]
    documents = [
        abstract(f"{name}{number}", f"{name} are ropes ({number}).", {name: "Method", "ropes": "Method"},
                 [(name, "HYPONYM-OF", "ropes")], year=2001)
        for name, count in said for number in range(count)
    ]  # fmt: skip
    documents += [
        abstract("long", "Long ropes hold europes.", {"Long ropes": "Method", "europes": "Task"},
                 [("Long ropes", "USED-FOR", "europes")], year=2002),
        *[abstract(f"k{number}", f"Knots {number}.", {"Knots": "Method"}) for number in range(9)],
    ]  # fmt: skip
    build(path, *documents)
    return path


def test_narrower_nodes_by_last_words_and_hyponyms(tmp_path: Path) -> None:
    with open_graph(kinds(tmp_path / "g.graph")) as connection:
        ropes = find_node(connection, "ropes")
        assert [kind.name for kind in narrower(connection, ropes)] == ["strings", "Long ropes"]
        assert narrower(connection, find_node(connection, "europes")) == []
        # The abstracts and the edges of a kind count as those of the node.
        some = narrower(connection, ropes)
        edges = neighbours(connection, ropes, relation="USED-FOR", narrower=some)
        assert [(edge.head.name, edge.tail.name) for edge in edges] == [("Long ropes", "europes")]
        assert neighbours(connection, ropes, relation="USED-FOR") == []
        (found,) = together(connection, [ropes, *some], TogetherQuestion("Task", least=1))
        assert found.node.name == "europes" and found.quote is not None
