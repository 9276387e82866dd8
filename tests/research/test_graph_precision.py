from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from research.graph_precision import (
    COLUMNS,
    Judgement,
    app,
    draw_edges,
    precisions,
    read_sheet,
    write_sheet,
)
from sciextract.errors import FormatError, OutputError, UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.queries.trends import wilson
from tests.graph_samples import HOSTILE, abstract, build, field


@pytest.fixture
def field_graph(tmp_path: Path) -> Path:
    build(tmp_path / "field.graph", *field())
    return tmp_path / "field.graph"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_edge_is_as_likely(field_graph: Path) -> None:
    with open_graph(field_graph) as graph:
        (edges,) = graph.execute("SELECT count(*) FROM edge").fetchone()
        drawn = Counter(draw_edges(graph, 1, seed=seed)[0].edge.id for seed in range(200))
        assert len(drawn) == edges
        assert max(drawn.values()) < 3 * min(drawn.values())
        assert len(draw_edges(graph, 1000)) == edges
        assert draw_edges(graph, 3, seed=5) == draw_edges(graph, 3, seed=5)
        assert [edge.edge.documents for edge in draw_edges(graph, 9, least=2)] == [2]
        assert {edge.edge.label for edge in draw_edges(graph, 9, relation="compare")} == {"COMPARE"}


def test_a_sheet_shows_both_mentions(field_graph: Path, tmp_path: Path) -> None:
    path = tmp_path / "check.csv"
    with open_graph(field_graph) as graph:
        assert write_sheet(draw_edges(graph, 9, relation="COMPARE"), path) == 1
    (row,) = rows(path)
    assert tuple(row) == COLUMNS
    assert row["sentence"] == "⟪SVMs⟫ are compared with ⟦neural networks⟧."
    assert (row["correct"], row["head"], row["tail_as_written"]) == (
        "",
        "neural network",
        "SVMs",
    )
    with pytest.raises(OutputError, match="exists already"):
        write_sheet([], path)


def test_mentions_in_each_other_and_formulas(tmp_path: Path) -> None:
    text = f"=1+1 parser of {HOSTILE} trees"
    links = [("=1+1 parser", "USED-FOR", "parser")]
    mentions = {"=1+1 parser": "=Method", "parser": "Task"}
    build(tmp_path / "g.graph", abstract("@doc", text, mentions, links))
    with open_graph(tmp_path / "g.graph") as graph:
        write_sheet(draw_edges(graph, 5), tmp_path / "c.csv")
    (row,) = rows(tmp_path / "c.csv")
    assert row["sentence"].startswith("⟦=1+1 ⟪parser⟫⟧ of")
    assert row["head"].startswith("'=")
    assert row["doc_key"] == "'@doc"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_spreadsheets_save(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "c.csv"
    lines = ["sentence,correct,relation", "s,Yes,USED-FOR", "s,0,USED-FOR", "s,,PART-OF", "s,x,'=A"]
    path.write_text("\r\n".join(lines).replace(",", delimiter), encoding="utf-8-sig")
    assert read_sheet(path) == [
        Judgement("USED-FOR", True), Judgement("USED-FOR", False), Judgement("PART-OF", None), Judgement("=A", True),
    ]  # fmt: skip


def test_a_judgement_that_is_none_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("correct,relation\nyes,A\nperhaps,A\n")
    with pytest.raises(FormatError, match="'perhaps' found as `correct`") as caught:
        read_sheet(path)
    assert caught.value.line == 3


def test_precision_by_relation() -> None:
    judged = [Judgement("A", True)] * 3 + [
        Judgement("A", False),
        Judgement("B", True),
        Judgement("B", None),
    ]
    found = [
        (precision.relation, precision.judged, precision.correct)
        for precision in precisions(judged)
    ]
    assert found == [("all", 5, 4), ("A", 4, 3), ("B", 1, 1)]
    assert precisions([Judgement("A", None)]) == []


def test_wilsons_interval() -> None:
    # The roots of (p - share)^2 = z^2 p (1 - p) / n, which define it.
    for correct, judged in ((0, 5), (3, 7), (50, 50), (41, 50)):
        for end in wilson(correct, judged):
            distance = (end - correct / judged) ** 2 - 1.959964**2 * end * (1 - end) / judged
            assert distance == pytest.approx(0, abs=1e-9)


def test_a_sample_is_judged(
    field_graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "check.csv"
    words = ["sample", "--edges", "3", "--output", str(sheet), "--graph", str(field_graph)]
    app(words, standalone_mode=False)
    with pytest.raises(UsageError, match="no row is judged"):
        app(["count", str(sheet)], standalone_mode=False)
    content = sheet.read_text("utf-8-sig").replace("\n,", "\nyes,", 2).replace("\n,", "\nNo,", 1)
    sheet.write_text(content, encoding="utf-8")
    app(["count", str(sheet)], standalone_mode=False)
    first = capsys.readouterr().out.splitlines()[2].split()
    assert (first[:2], first[-3:]) == (["66.7", "%"], ["2", "3", "all"])
