from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from lxml import etree, html

from sciextract.errors import UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.drawing import places
from sciextract.graph.pictures import draw, draw_trends
from sciextract.graph.queries.nodes import Node
from sciextract.graph.queries.trends import Trend
from tests.graph_samples import HOSTILE, abstract, build

SVG = "{http://www.w3.org/2000/svg}"


def drawn(graph: Path, node: str, output: Path) -> str:
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


def test_a_picture_shows_all_neighbours(field_graph: Path, tmp_path: Path) -> None:
    root = etree.fromstring(drawn(field_graph, "SVM", tmp_path / "f.svg").encode())
    names = [each.text for each in root.iter(f"{SVG}text")]
    assert {"support vector machine", "dependency parsing", "neural network"} <= set(names)
    assert {"USED-FOR 2", "COMPARE"} <= set(names)
    assert len(list(root.iter(f"{SVG}circle"))) >= 3


def test_the_same_graph_gives_the_same_picture(field_graph: Path, tmp_path: Path) -> None:
    first = drawn(field_graph, "SVM", tmp_path / "1.svg")
    assert first == drawn(field_graph, "svm", tmp_path / "2.svg")


def test_a_picture_of_hostile_names(hostile: Path, tmp_path: Path) -> None:
    content = drawn(hostile, "alert(1)", tmp_path / "f.svg")
    root = etree.fromstring(content.encode(), etree.XMLParser(resolve_entities=False))
    assert not list(root.iter(f"{SVG}script"))
    assert "\x1b" not in content
    assert any("␛[31m=HYPERLINK" in (each.text or "") for each in root.iter(f"{SVG}title"))


def test_a_page_holds_the_sentences(field_graph: Path, tmp_path: Path) -> None:
    page = html.fromstring(drawn(field_graph, "SVM", tmp_path / "f.html"))
    data = json.loads(page.get_element_by_id("data").text)
    texts = [s["text"] for edge in data["edges"].values() for s in edge["sentences"]]
    assert "The SVM improves dependency parsing." in texts
    assert len(data["nodes"]) == 3


def test_a_page_refers_to_nothing_outside(field_graph: Path, tmp_path: Path) -> None:
    content = drawn(field_graph, "SVM", tmp_path / "f.html")
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", content))
    assert addresses == {"http://www.w3.org/2000/svg"}
    page = html.fromstring(content)
    assert not page.xpath("//*[@src or @href]")
    assert "default-src 'none'" in page.xpath("//meta/@content")[0]


def test_a_page_of_hostile_names(hostile: Path, tmp_path: Path) -> None:
    content = drawn(hostile, "alert(1)", tmp_path / "f.html")
    page = html.fromstring(content)
    assert len(page.xpath("//script")) == 2
    assert not page.xpath("//main//b")
    data = json.loads(page.get_element_by_id("data").text)
    names = {node["node"]["name"] for node in data["nodes"].values()}
    assert "␛" + HOSTILE[1:] in names


def test_other_endings_are_refused(field_graph: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"allowed are \.html, \.htm, \.svg"):
        drawn(field_graph, "SVM", tmp_path / "f.png")


@pytest.mark.parametrize("nodes", [0, 1, 2, 3, 25])
def test_places_lie_in_the_picture(nodes: int) -> None:
    found = places(nodes, [(0, each) for each in range(1, nodes)])
    assert found.shape == (nodes, 2)
    assert np.all(np.abs(found) <= 1 + 1e-9)
    assert len(np.unique(found.round(3), axis=0)) == nodes


def test_trends_as_lines(tmp_path: Path) -> None:
    node = Node(1, HOSTILE, "Method", 9, 9, 0, 2000, 2002)
    shares = {2000: 0.1, 2001: 0.2, 2002: 0.4}
    totals = dict.fromkeys(shares, 10)
    trend = Trend(node, {2000: 1, 2001: 2, 2002: 4}, shares, totals, 0.15, 3.0)
    draw_trends([trend] * 10, tmp_path / "g", tmp_path / "t.svg")
    root = etree.parse(tmp_path / "t.svg").getroot()
    assert len(list(root.iter(f"{SVG}polyline"))) == 20
    assert {"2000", "2001", "2002"} <= {each.text for each in root.iter(f"{SVG}text")}


def test_several_edges_of_two_nodes_lie_side_by_side(tmp_path: Path) -> None:
    links = [
        ("graphs", "USED-FOR", "trees"),
        ("graphs", "COMPARE", "trees"),
        ("trees", "PART-OF", "graphs"),
    ]
    document = abstract("a", "On graphs and trees.", {"graphs": "Method", "trees": "Task"}, links)
    build(tmp_path / "g.graph", document)
    root = etree.fromstring(drawn(tmp_path / "g.graph", "graphs", tmp_path / "g.svg").encode())
    labels = {
        each.text: each for each in root.iter(f"{SVG}text") if each.get("class") == "relation halo"
    }
    heights = sorted(float(each.get("y")) for each in labels.values())
    assert labels.keys() == {"USED-FOR", "COMPARE", "PART-OF"}
    assert min(upper - lower for lower, upper in pairwise(heights)) > 10
