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
OBO = """format-version: 1.2

[Term]
id: X:01
name: support vector machine
synonym: "SVM \\"classifier\\"" EXACT []

[Term]
id: X:02
name: neural network
is_obsolete: true

[Typedef]
id: part_of
name: speech recognition
"""
TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://example.org/svm> skos:prefLabel "support vector machines"@en ; skos:altLabel "SVM" ."""


@pytest.mark.parametrize(
    ("name", "content", "identifier"),
    [
        ("v.tsv", TSV, "Q282453"),
        ("v.obo", OBO, "X:01"),
        ("v.ttl", TURTLE, "http://example.org/svm"),
    ],
)
def test_nodes_get_the_identifiers_of_their_names(
    tmp_path: Path, name: str, content: str, identifier: str
) -> None:
    (tmp_path / name).write_text(content)
    graph = tmp_path / "f.graph"
    build(graph, *field())
    settings = DeriveSettings(vocabulary=read_vocabulary(tmp_path / name))
    report = build(graph, *field(), derive_settings=settings)
    assert report.totals.linked == 1  # neither what has two identifiers nor what is obsolete
    build(graph, *field())
    with open_graph(graph) as connection:
        assert find_node(connection, "SVM").vocabulary_id == identifier


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.tsv", "a\tb\n1\t2\n", "needed are id and name"),
        ("v.tsv", "id\tname\n\t\n", "no terms"),
        ("v.txt", "x", "expected .tsv, .obo"),
        ("v.ttl", "<<<", "no readable RDF"),
        ("v.rdf", '<!DOCTYPE r [<!ENTITY a "b">]><r/>', "entities"),
    ],
)
def test_what_is_no_vocabulary(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(FormatError, match=message):
        read_vocabulary(tmp_path / name)
