from __future__ import annotations

import math
from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.queries.combinations import TogetherQuestion, gaps, together
from sciextract.graph.queries.nodes import find_node
from tests.graph_samples import abstract, build, pairs


def test_what_is_named_together_with_lift_years_and_a_sentence(tmp_path: Path) -> None:
    pairs(
        tmp_path / "g.graph",
        ("kernels", "parsing"), ("kernels", "parsing"), ("kernels", "tagging"), ("trees", "parsing"),
        ("trees", "tagging"), ("trees", "ranking"), ("trees", "ranking"), ("forests", "sparse kernels"),
    )  # fmt: skip
    with open_graph(tmp_path / "g.graph") as connection:
        kernels = find_node(connection, "kernels")
        one, other = together(connection, [kernels], TogetherQuestion("Task", least=1))
        assert (one.node.name, one.documents, one.first_year, one.last_year) == ("parsing", 2, 2000, 2001)  # fmt: skip
        assert one.expected == pytest.approx(kernels.documents * 3 / 8)
        assert one.low < one.lift < one.high
        assert one.quote is not None and one.quote.published.year == 2001
        assert one.quote.sentences[0].text == "Text 1: kernels for parsing."
        assert other.node.name == "tagging"
        # Longer names of the same thing are no company.
        names = [
            partner.node.name
            for partner in together(connection, [kernels], TogetherQuestion(least=1))
        ]
        assert "sparse kernels" not in names and "forests" in names
        by_lift = TogetherQuestion("Task", least=1, by="lift")
        trees = [
            partner.node.name
            for partner in together(connection, [find_node(connection, "trees")], by_lift)
        ]
        assert trees[0] == "ranking"


def test_what_is_seldom_named_together_follows_what_often_is(tmp_path: Path) -> None:
    pairs(tmp_path / "g.graph", *[("kernels", "parsing")] * 16, *[("kernels", "tagging")] * 2)
    with open_graph(tmp_path / "g.graph") as connection:
        kernels = [find_node(connection, "kernels")]
        found = together(connection, kernels, TogetherQuestion("Task"))
        (first,) = together(connection, kernels, TogetherQuestion("Task", limit=1))
    assert [(partner.node.name, partner.documents) for partner in found] == [
        ("parsing", 16),
        ("tagging", 2),
    ]
    assert first == found[0]


def test_a_relation_to_another_node_counts_where_both_are_named(tmp_path: Path) -> None:
    text = "We parse with a new thing, Zeta. Zeta is measured on Tiny-Corpus and on Old-Corpus."
    mentions = {
        "Zeta#2": "Method",
        "Tiny-Corpus": "Material",
        "Old-Corpus": "Material",
        "parse": "Task",
    }
    measured = abstract("a", text, mentions, [("Tiny-Corpus", "EVALUATE-FOR", "Zeta#2")])
    build(tmp_path / "g.graph", measured)
    with open_graph(tmp_path / "g.graph") as connection:
        question = TogetherQuestion("Material", "evaluate-for", least=1)
        (found,) = together(connection, [find_node(connection, "parse")], question)
        assert (found.node.name, found.lift) == ("Tiny-Corpus", 1.0)
        # No sentence holds both: two do.
        assert found.quote is not None
        assert " ".join([sentence.text for sentence in found.quote.sentences]) == text
        with pytest.raises(UsageError, match="no relation type 'X'"):
            together(connection, [found.node], TogetherQuestion(relation="X"))


def test_a_gap_is_what_chance_alone_would_fill(tmp_path: Path) -> None:
    """Kernels and ranking are named by a third of the abstracts each, and never together."""
    pairs(
        tmp_path / "g.graph",
        *[("kernels", "parsing")] * 12, *[("trees", "ranking")] * 12, *[("forests", "parsing", "ranking")] * 6,
        *[("trees", "tagging")] * 2, *[("forests", "tagging")] * 4,
    )  # fmt: skip
    with open_graph(tmp_path / "g.graph") as connection:
        answer = gaps(connection, find_node(connection, "kernels"))
        (gap,) = answer.found
        assert (gap.node.name, gap.documents, gap.expected) == ("ranking", 0, 12 * 18 / 36)
        assert gap.chance == pytest.approx(math.comb(18, 12) / math.comb(36, 12))
        # Parsing is combined with both; tagging is expected twice only, so that none tells nothing.
        assert [(node.name, documents) for node, documents in gap.nearest] == [("parsing", 12)]
        assert answer.tested == 2 and answer.by_chance < 0.1


def test_what_is_part_of_a_name_is_no_gap(tmp_path: Path) -> None:
    pairs(tmp_path / "g.graph", *[("fast kernels", "parsing")] * 10, *[("kernels", "tagging")] * 10)
    with open_graph(tmp_path / "g.graph") as connection:
        kernels = find_node(connection, "kernels")
        assert gaps(connection, kernels, label="Method").tested == 0


def test_of_a_rare_node_nothing_is_missing(tmp_path: Path) -> None:
    pairs(tmp_path / "g.graph", *[("kernels", "parsing")] * 299, ("trees", "ranking"))
    rare = pytest.raises(UsageError, match="'trees' is in 1 of 300 abstracts")
    with open_graph(tmp_path / "g.graph") as connection, rare:
        gaps(connection, find_node(connection, "trees"))


def test_one_node_versus_another(tmp_path: Path) -> None:
    pairs(
        tmp_path / "g.graph",
        ("kernels", "parsing"), ("trees", "parsing"), ("trees", "tagging"), ("kernels", "ranking", "trees"),
    )  # fmt: skip
    with open_graph(tmp_path / "g.graph") as connection:
        kernels, trees = (find_node(connection, name) for name in ("kernels", "trees"))
        found = together(connection, [trees], TogetherQuestion("Task", least=1), kernels)
        assert {partner.node.name: (partner.documents, partner.versus) for partner in found} == {
            "parsing": (1, 1), "ranking": (1, 1), "tagging": (1, 0),
        }  # fmt: skip


def test_versus_a_node_whose_name_holds_the_listed_one(tmp_path: Path) -> None:
    pairs(
        tmp_path / "g.graph",
        ("trees", "parsing"), ("chart parsing", "parsing"), ("chart parsing", "trees"), ("trees", "parsing"),
    )  # fmt: skip
    with open_graph(tmp_path / "g.graph") as connection:
        trees, chart = (find_node(connection, name) for name in ("trees", "chart parsing"))
        found = together(connection, [trees], TogetherQuestion(least=1), chart)
        stored = "SELECT count(*) FROM node_document o JOIN node_document p USING (document) WHERE o.node = ? AND p.node = ?"
        for partner in found:
            (documents,) = connection.execute(stored, (partner.node.id, chart.id)).fetchone()
            assert partner.versus == (None if partner.node.id == chart.id else documents), partner
        assert {partner.node.name for partner in found} == {"parsing", "chart parsing"}
