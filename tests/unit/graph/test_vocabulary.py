"""Identifiers from a person's vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import FormatError
from sciextract.graph.database import open_graph
from sciextract.graph.derive import DeriveSettings
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.vocabulary import read_vocabulary
from tests.graph_samples import build, field

TSV = "id\tname\tsynonyms\nQ282453\tSVM machine\tSupport Vector Machines|SVM-x\nQ1\tspeech recognition\t\nQ2\tspeech recognition\t\n"


def test_nodes_get_the_identifiers_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "v.tsv").write_text(TSV)
    graph = tmp_path / "f.graph"
    build(graph, *field())
    settings = DeriveSettings(vocabulary=read_vocabulary(tmp_path / "v.tsv"))
    report = build(graph, *field(), derive_settings=settings)
    assert report.totals.linked == 1  # not what has two identifiers
    build(graph, *field())
    with open_graph(graph) as connection:
        assert find_node(connection, "SVM").vocabulary_id == "Q282453"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\n1\t2\n", "needed are id and name"),
        ("id\tname\n\t\n", "no terms"),
    ],
)
def test_what_is_no_vocabulary(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "v.tsv").write_text(content)
    with pytest.raises(FormatError, match=message):
        read_vocabulary(tmp_path / "v.tsv")
