from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.queries.subtopics import subtopics
from tests.graph_samples import pairs


def test_subtopics_are_what_is_named_together(tmp_path: Path) -> None:
    one = [("kernels", "parsing", "margins")] * 3 + [("kernels", "parsing")] * 2
    other = [("forests", "ranking", "queries")] * 4
    pairs(tmp_path / "g.graph", *one, *other, ("kernels", "ranking"))
    with open_graph(tmp_path / "g.graph") as connection:
        found = subtopics(connection, least=2)
        assert [{node.name for node in topic.nodes} for topic in found.found] == [
            {"kernels", "parsing", "margins"}, {"forests", "ranking", "queries"},
        ]  # fmt: skip
        assert [topic.nodes[0].name for topic in found.found] == ["kernels", "ranking"]
        assert found.modularity > 0.4
        assert sum(topic.documents for topic in found.found) == 10
        assert subtopics(connection, least=2) == found
        ranking = find_node(connection, "ranking")
        (topic,) = subtopics(connection, least=2, of=ranking).found
        assert {node.name for node in topic.nodes} == {"forests", "queries"}
        with pytest.raises(UsageError, match="no two nodes"):
            subtopics(connection, least=100)


def test_titles_are_what_tells_a_subtopic_from_the_others(tmp_path: Path) -> None:
    """Sleds are in a sixth of all abstracts and join everything; ropes are frequent in both subtopics."""
    pairs(
        tmp_path / "g.graph",
        *[("kernels", "parsing", "ropes", "margins", "sleds")] * 9, *[("kernels", "parsing", "margins", "sleds")] * 6,
        *[("forests", "ranking", "ropes", "queries", "sleds")] * 9, *[("forests", "ranking", "queries", "sleds")] * 6,
        *[(f"thing {number}", "tagging") for number in range(100)],
    )  # fmt: skip
    with open_graph(tmp_path / "g.graph") as connection:
        found = subtopics(connection).found
        assert {topic.title for topic in found} == {
            "kernels, margins, parsing",
            "forests, queries, ranking",
        }
        named = {node.name for topic in found for node in topic.nodes}
        assert "ropes" in named and not named & {"sleds", "tagging"}
