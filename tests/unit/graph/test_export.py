from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from lxml import etree

from sciextract.errors import OutputError, UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.export import GraphFormat, export_graph
from tests.graph_samples import HOSTILE, abstract, build


@pytest.fixture(scope="module")
def hostile_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "h.graph"
    text = f"We use {HOSTILE} for \x01 =1+1 things."
    mentions = {HOSTILE: "Method", "=1+1 things": "=Type"}
    build(path, abstract('=doc;"\n1', text, mentions, [(HOSTILE, "<USED>", "=1+1 things")]))
    return path


def export(
    graph: Path, format: GraphFormat, output: Path, least: int = 1, *, papers: bool = False
) -> Path:
    with open_graph(graph) as connection:
        export_graph(connection, graph, format, output, least=least, papers=papers)
    return output


def test_graphml_by_networkx(field_graph: Path, tmp_path: Path) -> None:
    found = nx.read_graphml(export(field_graph, "graphml", tmp_path / "f.graphml"))
    names = {data["name"]: key for key, data in found.nodes(data=True)}
    svm = found.nodes[names["support vector machine"]]
    assert (svm["documents"], svm["label"], svm["first_year"]) == (3, "Method", 2001)
    assert {alias["surface"] for alias in json.loads(svm["aliases"])} >= {"SVM", "SVMs"}
    edge = found.get_edge_data(names["support vector machine"], names["dependency parsing"])
    (data,) = [edge] if "label" in edge else edge.values()
    assert (data["label"], data["documents"], data["score_max"]) == ("USED-FOR", 2, 0.8)
    assert json.loads(data["evidence"])[0][:3] == ["a", 46, 82]


def test_graphml_of_hostile_names(hostile_graph: Path, tmp_path: Path) -> None:
    path = export(hostile_graph, "graphml", tmp_path / "f.graphml")
    tree = etree.parse(path, etree.XMLParser(resolve_entities=False))
    values = [element.text for element in tree.iter("{*}data")]
    assert "\ufffd" + HOSTILE[1:] in values
    assert not tree.docinfo.doctype


def test_neo4j_by_csv(field_graph: Path, tmp_path: Path) -> None:
    folder = export(field_graph, "neo4j-csv", tmp_path / "f")
    with open(folder / "nodes.csv", encoding="utf-8", newline="") as stream:
        nodes = {row[":ID"]: row for row in csv.DictReader(stream)}
    with open(folder / "relationships.csv", encoding="utf-8", newline="") as stream:
        edges = list(csv.DictReader(stream))
    assert {row[":START_ID"] for row in edges} | {row[":END_ID"] for row in edges} <= nodes.keys()
    best = max(edges, key=lambda row: int(row["documents:int"]))
    assert nodes[best[":START_ID"]]["name"] == "support vector machine"
    assert best["evidence:string[]"].split(";")[0] == "a#char=46,82"


def test_papers_are_nodes_that_mention(
    field_graph: Path, hostile_graph: Path, tmp_path: Path
) -> None:
    found = nx.read_graphml(export(field_graph, "graphml", tmp_path / "f.graphml", papers=True))
    kinds = nx.get_node_attributes(found, "label")
    papers = {found.nodes[node]["doc_key"]: node for node, kind in kinds.items() if kind == "Paper"}
    assert sorted(papers) == ["a", "b", "c", "d"] and found.nodes[papers["a"]]["year"] == 2001
    named = {
        found.nodes[node]["name"]: data for _, node, data in found.out_edges(papers["a"], data=True)
    }
    assert {name: (data["label"], data["mentions"]) for name, data in named.items()} == {
        "support vector machine": ("MENTIONS", 3), "dependency parsing": ("MENTIONS", 1),
    }  # fmt: skip
    folder = export(field_graph, "neo4j-csv", tmp_path / "n", papers=True)
    tables = {}
    for name in ("nodes", "papers", "mentions"):
        with open(folder / f"{name}.csv", encoding="utf-8", newline="") as stream:
            tables[name] = list(csv.DictReader(stream, strict=True))
    identities = [row[":ID"] for row in (*tables["nodes"], *tables["papers"])]
    assert len(set(identities)) == len(identities)
    ends = {row[end] for row in tables["mentions"] for end in (":START_ID", ":END_ID")}
    assert ends <= set(identities)
    assert tables["papers"][0][":LABEL"] == "Paper" and tables["papers"][0]["doc_key"] == "a"
    etree.parse(export(hostile_graph, "graphml", tmp_path / "h.graphml", papers=True))


def test_neo4j_names_are_exact(hostile_graph: Path, tmp_path: Path) -> None:
    folder = export(hostile_graph, "neo4j-csv", tmp_path / "f")
    rows = {}
    for name in ("nodes.csv", "relationships.csv"):
        with open(folder / name, encoding="utf-8", newline="") as stream:
            rows[name] = list(csv.DictReader(stream, strict=True))
    assert {row["name"] for row in rows["nodes.csv"]} == {HOSTILE, "=1+1 things"}
    kinds = {(row[":LABEL"], row["type"]) for row in rows["nodes.csv"]}
    assert kinds == {("Method", "Method"), ("Type", "=Type")}
    (edge,) = rows["relationships.csv"]
    assert (edge[":TYPE"], edge["relation"]) == ("USED", "<USED>")


def test_vosviewer_tables(field_graph: Path, hostile_graph: Path, tmp_path: Path) -> None:
    folder = export(field_graph, "vosviewer", tmp_path / "map", least=2)
    things = pd.read_csv(folder / "map.txt", sep="\t", index_col="id")
    pairs = pd.read_csv(folder / "network.txt", sep="\t", header=None)
    names = things["label"]
    found = {
        frozenset((names[one], names[two])): count
        for one, two, count in pairs.itertuples(index=False)
    }
    # Of both spellings; abstract c names a support vector machine with treebanks, b too.
    assert found[frozenset(("support vector machine", "treebanks"))] == 2
    assert dict(zip(names, things["weight<Abstracts>"], strict=True))["treebanks"] == 3
    rows = (export(hostile_graph, "vosviewer", tmp_path / "h") / "map.txt").read_text("utf-8")
    assert {line.count("\t") for line in rows.splitlines()} == {4} and '"' not in rows
    with pytest.raises(UsageError):
        export(field_graph, "vosviewer", tmp_path / "papers", papers=True)


def test_only_what_several_abstracts_name(field_graph: Path, tmp_path: Path) -> None:
    found = nx.read_graphml(export(field_graph, "graphml", tmp_path / "f.graphml", least=3))
    assert sorted(nx.get_node_attributes(found, "name").values()) == [
        "support vector machine", "treebanks",
    ]  # fmt: skip
    assert found.number_of_edges() == 0
    folder = export(field_graph, "neo4j-csv", tmp_path / "n", least=3)
    assert len((folder / "nodes.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("format", ["graphml", "neo4j-csv", "vosviewer"])
def test_an_empty_graph(format: GraphFormat, tmp_path: Path) -> None:
    build(tmp_path / "g.graph", abstract("x", "Nothing here.", {}))
    assert export(tmp_path / "g.graph", format, tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["graphml", "neo4j-csv", "vosviewer"])
def test_an_export_may_be_replaced(format: GraphFormat, field_graph: Path, tmp_path: Path) -> None:
    output = export(field_graph, format, tmp_path / "out")
    with open_graph(field_graph) as connection:
        export_graph(connection, field_graph, format, output, least=99, force=True)
    assert "SVM" not in "".join(
        file.read_text("utf-8") for file in (output, *output.glob("*")) if file.is_file()
    )


def test_nothing_is_replaced_unasked(field_graph: Path, tmp_path: Path) -> None:
    output = tmp_path / "f.graphml"
    output.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        export(field_graph, "graphml", output)
    with open_graph(field_graph) as connection:
        export_graph(connection, field_graph, "graphml", output, force=True)
        with pytest.raises(OutputError, match="cannot be replaced"):
            export_graph(connection, field_graph, "graphml", field_graph, force=True)
    assert "graphml" in output.read_text()


def test_a_failure_leaves_nothing(
    field_graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(connection: sqlite3.Connection, least: int) -> list[object]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sciextract.graph.export._edge_rows", fails)
    with pytest.raises(OutputError, match="disk is full"):
        export(field_graph, "graphml", tmp_path / "f.graphml")
    assert list(tmp_path.iterdir()) == []
