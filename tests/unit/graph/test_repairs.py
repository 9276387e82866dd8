from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sciextract.errors import FormatError
from sciextract.graph.building import repair_graph
from sciextract.graph.database import GraphError, GraphMissingError, UnknownNodeError, open_graph
from sciextract.graph.queries.nodes import about, find_node, top
from sciextract.graph.queries.papers import papers_of
from sciextract.graph.repairs import (
    Repair,
    add_repair,
    read_repairs,
    repairs_of,
    undo_repair,
    write_repairs,
)
from tests.graph_samples import HOSTILE, abstract, build, field


def repaired(graph: Path, *repairs: Repair) -> None:
    def add(connection: sqlite3.Connection) -> bool:
        return max(add_repair(connection, repair) for repair in repairs)

    repair_graph(graph, add)


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    build(tmp_path / "f.graph", *field())
    return tmp_path / "f.graph"


def test_a_merge_moves_all_that_a_node_has_and_outlives_the_next_build(graph: Path) -> None:
    repaired(graph, Repair("merge", "neural networks", "SVM"))
    build(graph, abstract("e", "Neural networks read.", {"Neural networks": "Method"}, year=2009))
    with open_graph(graph) as connection:
        node = find_node(connection, "neural network")
        assert (node.name, node.documents, node.last_year) == ("support vector machine", 5, 2009)
        (merged,) = [
            alias for alias in about(connection, node).aliases if alias.surface == "Neural networks"
        ]
        assert "a reader merged it" in merged.rules
        assert {paper.doc_key for paper in papers_of(connection, node)} == {"a", "b", "c", "d", "e"}
        # The edge between both is a loop now, and gone.
        compared = connection.execute(
            "SELECT count(*) FROM edge e JOIN label l ON l.id = e.label WHERE l.name = 'COMPARE'"
        )
        assert compared.fetchone() == (0,)
    with pytest.raises(GraphError, match=r"one node already: .* a circle"):
        repaired(graph, Repair("merge", "support vector machine", "neural network"))
    repair_graph(graph, lambda connection: undo_repair(connection, 1))
    with open_graph(graph) as connection:
        assert find_node(connection, "neural network").documents == 3
        assert repairs_of(connection) == []


def test_a_chain_of_merges_ends_at_the_last_node(graph: Path) -> None:
    repaired(
        graph,
        Repair("merge", "neural network", "SVM"),
        Repair("merge", "treebank", "accuracy"),
        Repair("merge", "SVM", "treebanks"),
    )
    with open_graph(graph) as connection:
        names = ("neural network", "support vector machine", "treebank", "accuracy")
        assert len({find_node(connection, name).id for name in names}) == 1


def test_a_split_makes_a_name_a_node_of_its_own(graph: Path) -> None:
    build(graph, abstract("e", "Parsing by SVM.", {"SVM": "Method"}))
    repaired(graph, Repair("split", "SVM"))
    with open_graph(graph) as connection:
        own = find_node(connection, "SVM")
        assert (own.name, {paper.doc_key for paper in papers_of(connection, own)}) == ("SVM", {"c", "e"})  # fmt: skip
        assert find_node(connection, "support vector machine").documents == 2
    with pytest.raises(GraphError, match="'SVM' was not merged"):
        repaired(graph, Repair("split", "SVM"))


def test_a_hidden_node_is_generic(graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.delattr("sciextract.graph.building.make_nodes_and_edges")  # which would take long
        repaired(graph, Repair("hide", "SVMs"))
    with open_graph(graph) as connection:
        assert find_node(connection, "SVM").generic
        for since in (None, 2001):
            assert "support vector machine" not in [node.name for node in top(connection, since=since)]  # fmt: skip


def test_a_new_name_finds_the_node_and_so_do_the_old_ones(graph: Path) -> None:
    repaired(graph, Repair("rename", "SVM", "Margin Machine"))
    build(graph, abstract("e", "A margin machine.", {"margin machine": "Method"}))
    with open_graph(graph) as connection:
        node = find_node(connection, "margin machines")
        assert (node.name, node.documents) == ("Margin Machine", 4)
        assert find_node(connection, "support vector machine") == node
    for wrong, told in (
        (Repair("rename", "SVM", "treebank"), "is another node"),
        (Repair("rename", "SVM", "!?"), "its normal form is empty"),
        (Repair("split", "margin machine"), "given to a node by a reader"),
    ):
        with pytest.raises(GraphError, match=told):
            repaired(graph, wrong)


def test_mistakes_change_nothing(graph: Path) -> None:
    before = graph.read_bytes()
    for wrong in (
        Repair("hide", "speech recognitoin"),
        Repair("merge", "SVM", "speech recognitoin"),
        Repair("merge", "speech recognitoin", "SVM"),
    ):
        with pytest.raises(UnknownNodeError) as caught:
            repaired(graph, wrong)
        assert caught.value.hint == "did you mean: speech recognition"
    with pytest.raises(GraphError, match="no repair 7"):
        repair_graph(graph, lambda connection: undo_repair(connection, 7))
    with open_graph(graph) as connection:
        assert repairs_of(connection) == []
    assert graph.read_bytes() == before
    with pytest.raises(GraphMissingError):
        repaired(graph.with_name("absent.graph"), Repair("hide", "SVM"))
    assert not graph.with_name("absent.graph").exists()


def test_repairs_travel_as_a_vocabulary(graph: Path, tmp_path: Path) -> None:
    some = (
        Repair("merge", "neural network", "treebank"),
        Repair("rename", "SVM", "=Margin|Machine"),
        Repair("split", "SVM"),
        Repair("hide", "Accuracy"),
    )
    file = tmp_path / "r.tsv"
    file.write_text("\n".join(write_repairs(some)), "utf-8")
    assert [repair.kind for repair in read_repairs(file)] == [repair.kind for repair in some]
    repaired(graph, *read_repairs(file))
    with open_graph(graph) as connection:
        renamed = find_node(connection, "=margin machine")
        assert renamed.name == "=Margin Machine" and find_node(connection, "SVM") != renamed
        assert find_node(connection, "neural network").name == "treebanks"
    # A vocabulary that knows nothing of repairs merges synonyms.
    file.write_text(f"id\tname\tsynonyms\nQ1\t{HOSTILE}\tSVM|perceptron\n", "utf-8")
    assert read_repairs(file) == [Repair("merge", "SVM", HOSTILE), Repair("merge", "perceptron", HOSTILE)]  # fmt: skip
    file.write_text("id\tname\trepair\nQ1\tx\tburn\n", "utf-8")
    with pytest.raises(FormatError, match="'burn' found; expected merge, split, hide, rename"):
        read_repairs(file)
    file.write_text("a\tb\n1\t2\n", "utf-8")
    with pytest.raises(FormatError, match="columns a, b found, needed are id and name"):
        read_repairs(file)
