"""Relations without direction."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.graph.database import open_graph
from sciextract.graph.derive import DeriveSettings
from sciextract.graph.queries.edges import Direction, neighbours
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.relation_types import known_symmetric
from tests.graph_samples import abstract, build, ends_of


def edges_of(path: Path) -> list[tuple[object, ...]]:
    """Edges by the keys of their ends: abstracts, mentions, mean and best score, places."""
    with open_graph(path) as graph:
        return graph.execute(
            """SELECT h.key, l.name, t.key, e.documents, e.mentions, round(e.score_mean, 6), e.score_max,
                (SELECT count(*) FROM support s WHERE s.edge = e.id)
            FROM edge e JOIN name h ON h.id = e.head JOIN name t ON t.id = e.tail
            JOIN label l ON l.id = e.label ORDER BY 1, 2, 3"""
        ).fetchall()


def _compared(key: str, text: str, head: str, tail: str, score: float) -> AnnotatedDocument:
    return abstract(key, text, {head: "Method", tail: "Method"}, [(head, "COMPARE", tail, score)])


class TestRelationsWithoutDirection:
    """``a COMPARE b`` and ``b COMPARE a`` are one edge, whoever comes first in the text."""

    ONE = _compared("one", "Parsers beat grammars here.", "Parsers", "grammars", 0.9)
    OTHER = _compared("other", "A grammar beats a parser.", "grammar", "parser", 0.7)

    def test_they_are_one_edge_with_both_as_support(self, tmp_path: Path) -> None:
        path = tmp_path / "g.graph"
        build(path, self.ONE, self.OTHER)
        assert edges_of(path) == [("grammar", "COMPARE", "parser", 2, 2, 0.8, 0.9, 2)]
        with open_graph(path) as graph:
            [edge] = neighbours(graph, find_node(graph, "parser"), sentences=5)
        assert edge.symmetric and (edge.head.label, edge.documents) == ("Method", 2)
        ends = list(map(ends_of, edge.sentences))
        assert ends == [("Parsers", "grammars"), ("parser", "grammar")]

    def test_the_order_of_the_texts_makes_no_difference(self, tmp_path: Path) -> None:
        build(tmp_path / "a.graph", self.ONE, self.OTHER)
        build(tmp_path / "b.graph", self.OTHER, self.ONE)
        assert edges_of(tmp_path / "a.graph") == edges_of(tmp_path / "b.graph")

    @pytest.mark.parametrize("direction", ["in", "out", "both"])
    def test_they_stand_at_both_ends(self, tmp_path: Path, direction: Direction) -> None:
        path = tmp_path / "g.graph"
        build(path, self.ONE, self.OTHER)
        with open_graph(path) as graph:
            for name in ("parser", "grammar"):
                node = find_node(graph, name)
                [edge] = neighbours(graph, node, direction=direction)
                assert edge.arrow_from(node.id) == "--COMPARE--"

    def test_an_acronym_is_ordered_by_what_it_means(self, tmp_path: Path) -> None:
        spelt = _compared(
            "x",
            "We compare support vector machines with TRPs.",
            "support vector machines",
            "TRPs",
            0.9,
        )
        short = abstract(
            "y",
            "A support vector machine (SVM) is here. TRP loses to SVM.",
            {"support vector machine": "Method", "TRP": "Method", "SVM#2": "Method"},
            [("TRP", "COMPARE", "SVM#2", 0.5)],
        )
        alone = _compared("z", "SVM beats TRP.", "SVM", "TRP", 0.4)
        path = tmp_path / "g.graph"
        build(path, spelt, short, alone)
        assert [edge[3] for edge in edges_of(path)] == [3]

    def test_which_they_are_can_be_said_and_changed(self, tmp_path: Path) -> None:
        path = tmp_path / "g.graph"
        directed = DeriveSettings(symmetric=frozenset())
        build(path, self.ONE, self.OTHER, derive_settings=directed)
        assert [edge[:3] for edge in edges_of(path)] == [
            ("grammar", "COMPARE", "parser"),
            ("parser", "COMPARE", "grammar"),
        ]
        report = build(path, self.ONE, self.OTHER)
        assert report.changes.known == 2 and report.totals.edges == 1


def test_the_bundled_schemas_say_what_has_no_direction() -> None:
    assert {"COMPARE", "CONJUNCTION"} <= known_symmetric()
    assert "USED-FOR" not in known_symmetric()
