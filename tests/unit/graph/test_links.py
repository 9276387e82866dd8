"""Mentions that are linked to one concept of a vocabulary are one node, before anything else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sciextract.documents.annotations import Attribute
from sciextract.documents.document import AnnotatedDocument
from sciextract.graph.database import open_graph
from sciextract.graph.queries.nodes import about, find_node
from tests.graph_samples import abstract, build


def link(document: AnnotatedDocument, **links: str) -> AnnotatedDocument:
    """The abstract with links by string; blanks are underscores."""
    said = tuple(
        Attribute(f"l{entity.id}", entity.id, "link", links[words])
        for entity in document.annotations.entities
        if (words := entity.text_of(document.document.text).replace(" ", "_")) in links
    )
    return replace(document, annotations=replace(document.annotations, attributes=said))


def test_other_words_for_one_concept(tmp_path: Path) -> None:
    graph = tmp_path / "f.graph"
    names = ("Trap rock", "basalt", "Basalts", "dolerite")
    one, two, three = (
        abstract(key, f"{first} and {second} weather fast.", {first: "Rock", second: "Rock"})
        for key, first, second in (
            ("a", "Trap rock", "dolerite"),
            ("b", "basalt", "dolerite"),
            ("c", "Basalts", "lead"),
        )
    )
    build(
        graph,
        link(one, Trap_rock="ROCK:1", dolerite="ROCK:2"),
        link(two, basalt="rock:1", dolerite="ROCK:3"),
        three,
    )
    with open_graph(graph) as connection:
        nodes = {name: find_node(connection, name) for name in names[:3]}
        assert len({node.id for node in nodes.values()}) == 1
        found = about(connection, nodes["Basalts"])
        assert found.node.documents == 3
        rules = {alias.surface: alias.rules for alias in found.aliases}
        assert "linked to the same concept" in rules["Basalts"]
        assert not {"Trap rock", "basalt"} - {*rules}
