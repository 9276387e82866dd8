from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import html

from sciextract.errors import UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.page import ViewSettings, draw
from tests.graph_samples import HOSTILE, abstract, build


def drawn(graph: Path, node: str | None, output: Path) -> str:
    with open_graph(graph) as connection:
        draw(connection, graph, node, output)
    return output.read_text("utf-8")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    text = f"We use {HOSTILE} for it, </script><script>alert(1)</script> things."
    mentions = {HOSTILE: "Method<b>", "alert(1)": "Task"}
    build(
        tmp_path / "h.graph",
        abstract("</script>", text, mentions, [(HOSTILE, "<USED>", "alert(1)")]),
    )
    return tmp_path / "h.graph"


def test_a_page_of_the_whole_graph(field_graph: Path, tmp_path: Path) -> None:
    page = html.fromstring(drawn(field_graph, None, tmp_path / "f.html"))
    content = json.loads(page.get_element_by_id("content").text)
    names = [node[0] for node in content["nodes"]]
    assert "The SVM improves dependency parsing." in content["texts"]
    assert names[0] == "support vector machine" and "Accuracy" in names
    head, tail, relation, documents, *_, sentences = content["edges"][0]
    assert (names[head], content["relations"][relation], names[tail], documents) == (
        "support vector machine", "USED-FOR", "dependency parsing", 2,
    )  # fmt: skip
    _, text, *spans, score = sentences[0]
    marked = content["texts"][text]
    assert [marked[spans[0] : spans[1]], marked[spans[2] : spans[3]]] == [
        "SVM",
        "dependency parsing",
    ]
    assert score == 0.8


def test_a_page_holds_the_best_supported_edges(field_graph: Path, tmp_path: Path) -> None:
    with open_graph(field_graph) as connection:
        output = tmp_path / "f.html"
        found = draw(connection, field_graph, None, output, ViewSettings(edges=1))
    assert (len(found["edges"]), found["all_edges"]) == (1, 5)


def test_a_page_refers_to_nothing_outside(field_graph: Path, tmp_path: Path) -> None:
    page = html.fromstring(drawn(field_graph, "SVM", tmp_path / "f.html"))
    assert not page.xpath("//*[@src or @href]")
    policy = page.xpath("//meta/@content")[0]
    assert policy.startswith("default-src 'none'") and "unsafe-inline'; script" in policy
    assert policy.count("'sha256-") == 2 and "connect-src" not in policy


def test_a_page_of_hostile_names(hostile: Path, tmp_path: Path) -> None:
    page = html.fromstring(drawn(hostile, "alert(1)", tmp_path / "f.html"))
    assert len(page.xpath("//script")) == 3
    assert not page.xpath("//b")
    content = json.loads(page.get_element_by_id("content").text)
    assert "␛" + HOSTILE[1:] in [node[0] for node in content["nodes"]]


def test_other_endings_are_refused(field_graph: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected \.html, \.htm$"):
        drawn(field_graph, "SVM", tmp_path / "f.svg")
