from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.queries.combinations import SubtopicQuestion, compare, gaps, subtopics
from sciextract.graph.queries.nodes import find_node
from tests.graph_samples import abstract, build

TASKS = ("parsing", "tagging", "ranking")


def pairs(path: Path, *links: Sequence[str]) -> None:
    """A graph of abstracts that each relate a method to a task."""
    documents = []
    for number, (method, task, *more) in enumerate(links):
        text = f"Text {number}: {method} for {task}{' with ' + ' and '.join(more) if more else ''}."
        mentions = {each: "Task" if each in TASKS else "Method" for each in (method, task, *more)}
        documents.append(abstract(text, text, mentions, [(method, "USED-FOR", task)], year=2000 + number % 3))  # fmt: skip
    build(path, *documents)


def test_gaps_are_two_steps_away_and_never_named_together(tmp_path: Path) -> None:
    pairs(
        tmp_path / "g.graph",
        ("kernels", "parsing"), ("trees", "parsing"), ("trees", "tagging"), ("forests", "parsing"),
        ("forests", "ranking"), ("kernels", "zebras", "ranking"), ("lone words", "lone things"),
    )  # fmt: skip
    with open_graph(tmp_path / "g.graph") as connection:
        kernels = find_node(connection, "kernels")
        assert gaps(connection, kernels, least=1) == []  # tasks are three steps away
        found = gaps(connection, kernels, label="Method", least=1)
        assert [(each.node.name, [one.name for one in each.shared]) for each in found] == [
            ("forests", ["parsing"]), ("trees", ["parsing"]),
        ]  # fmt: skip
        assert found[0].score == pytest.approx(1 / math.log(3))
        assert found[0].expected == pytest.approx(2 * 2 / 7)
        (missing,) = gaps(connection, find_node(connection, "tagging"), label="Task", least=1)
        assert missing.node.name == "parsing"
        parsing = [find_node(connection, "parsing")]
        assert gaps(connection, kernels, label="Method", least=1, avoid=parsing) == []
        assert gaps(connection, kernels, label="Method", least=3) == []


def test_two_nodes_side_by_side(tmp_path: Path) -> None:
    pairs(
        tmp_path / "g.graph",
        ("kernels", "parsing"), ("trees", "parsing"), ("trees", "tagging"), ("kernels", "ranking", "trees"),
    )  # fmt: skip
    with open_graph(tmp_path / "g.graph") as connection:
        ends = find_node(connection, "kernels"), find_node(connection, "trees")
        found = compare(connection, *ends)
        assert (found.together, found.years) == (1, {2000: (2, 1), 2001: (0, 1), 2002: (0, 1)})
        names = [
            [each.name for each in some]
            for some in (found.shared, found.only_first, found.only_second)
        ]
        assert names == [["parsing"], ["ranking"], ["tagging"]]
        assert found.edges == ()


def test_subtopics_are_what_is_named_together(tmp_path: Path) -> None:
    one = [("kernels", "parsing", "margins")] * 3 + [("kernels", "parsing")] * 2
    other = [("forests", "ranking", "queries")] * 4
    pairs(tmp_path / "g.graph", *one, *other, ("kernels", "ranking"))
    with open_graph(tmp_path / "g.graph") as connection:
        found = subtopics(connection, SubtopicQuestion(least=2))
        assert [{each.name for each in topic.nodes} for topic in found.found] == [
            {"kernels", "parsing", "margins"}, {"forests", "ranking", "queries"},
        ]  # fmt: skip
        assert [each.nodes[0].name for each in found.found] == ["kernels", "ranking"]
        assert found.modularity > 0.4
        assert sum(each.documents for each in found.found) == 10
        assert subtopics(connection, SubtopicQuestion(least=2)) == found
        ranking = find_node(connection, "ranking")
        (topic,) = subtopics(connection, SubtopicQuestion(least=2, of=ranking)).found
        assert {each.name for each in topic.nodes} == {"forests", "queries"}
        with pytest.raises(UsageError, match="no two nodes"):
            subtopics(connection, SubtopicQuestion(least=100))
