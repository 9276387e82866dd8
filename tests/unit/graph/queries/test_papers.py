from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.bibliography import Bibliography, bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read
from sciextract.formats.base import BadRecord
from sciextract.graph.answers import write_papers
from sciextract.graph.database import open_graph
from sciextract.graph.queries.nodes import Node, find_node
from sciextract.graph.queries.papers import Paper, Years, papers_of
from tests.graph_samples import HOSTILE, abstract, build

PUBLISHED: dict[str, Any] = {
    "title": "Trees & {Graphs}", "venue": "Proceedings of Trees", "doi": "10.1000/trees",
    "authors": ["Lovelace, Ada", "Babbage, Charles"],
}  # fmt: skip


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("papers") / "p.graph"
    first = abstract(
        "one", "Trees & {Graphs}\nHello there. Beam search (BS) is old. The BS improves parsing.",
        {"Beam search": "Method", "BS": "Method", "BS#2": "Method", "parsing": "Task"},
        [("BS#2", "USED-FOR", "parsing")], year=2001, **PUBLISHED,
    )  # fmt: skip
    second = abstract(
        "two", "Parsing is hard. Nobody absorbs beam search.",
        {"Parsing": "Task", "beam search": "Method"}, year=2003,
    )  # fmt: skip
    third = abstract("three", "Only parsing is named here.", {"parsing": "Task"})
    evil = abstract(HOSTILE, f"Beam search and {HOSTILE}.", {"Beam search": "Method"}, year=1999, title=HOSTILE)  # fmt: skip
    build(path, first, second, third, evil)
    return path


@pytest.fixture
def connection(graph: Path) -> Iterator[sqlite3.Connection]:
    with open_graph(graph) as connection:
        yield connection


def node(connection: sqlite3.Connection, name: str) -> Node:
    return find_node(connection, name)


def keys(papers: list[Paper]) -> list[str]:
    return [paper.doc_key for paper in papers]


def test_papers_come_newest_first_with_what_is_known_of_them(
    connection: sqlite3.Connection,
) -> None:
    found = papers_of(connection, node(connection, "beam search"))
    assert keys(found) == ["two", "one", HOSTILE]
    assert found[1].published == Bibliography(
        "10.1000/trees", None, "Trees & {Graphs}", 2001, "Proceedings of Trees",
        ("Lovelace, Ada", "Babbage, Charles"),
    )  # fmt: skip
    assert keys(papers_of(connection, node(connection, "parsing"))) == ["two", "one", "three"]


def test_sentences_name_the_node_as_a_whole_word(connection: sqlite3.Connection) -> None:
    two, one, _ = papers_of(connection, node(connection, "beam search"), sentences=5)
    (sentence,) = two.sentences
    assert sentence.text == "Nobody absorbs beam search."
    ((start, end),) = sentence.mentions
    assert sentence.text[start - sentence.char_start : end - sentence.char_start] == "beam search"
    assert [sentence.text for sentence in one.sentences] == [
        "Beam search (BS) is old.", "The BS improves parsing.",
    ]  # fmt: skip


def test_sentences_have_the_plurals_and_hyphens_that_are_counted(tmp_path: Path) -> None:
    marked = abstract("one", "We parse noisy phrases.", {"noisy phrases": "Material"})
    build(tmp_path / "two.graph", marked, abstract("two", "A noisy-phrase test.", {}))
    with open_graph(tmp_path / "two.graph") as connection:
        found = papers_of(connection, node(connection, "noisy phrases"))
    assert [paper.sentences[0].text for paper in found] == [
        "We parse noisy phrases.", "A noisy-phrase test.",
    ]  # fmt: skip


def test_with_another_node_its_sentences_come_first(connection: sqlite3.Connection) -> None:
    search, parsing = node(connection, "beam search"), node(connection, "parsing")
    two, one = papers_of(connection, search, [parsing], sentences=1)
    assert one.sentences[0].text == "The BS improves parsing."
    assert (one.relations, two.relations) == (("USED-FOR",), ())
    assert keys(papers_of(connection, search, [parsing], related=True)) == ["one"]


def test_years_leave_out_papers_without_a_year(connection: sqlite3.Connection) -> None:
    parsing = node(connection, "parsing")
    assert keys(papers_of(connection, parsing, years=Years(2002))) == ["two"]
    assert keys(papers_of(connection, parsing, years=Years(None, 2002))) == ["one"]
    assert keys(papers_of(connection, parsing, limit=1)) == ["two"]


def test_files_are_read_back(connection: sqlite3.Connection, graph: Path, tmp_path: Path) -> None:
    papers = papers_of(connection, node(connection, "beam search"), sentences=2)
    write_papers(papers, graph, tmp_path / "p.bib", force=False)
    records = list(read([str(tmp_path / "p.bib")]))
    assert not any(isinstance(record, BadRecord) for record in records)
    titles = [
        bibliography_of(record.document.fields).title
        for record in records
        if isinstance(record, AnnotatedDocument)
    ]
    assert titles == ["two", "Trees & {Graphs}", "␛" + HOSTILE[1:]]
    write_papers(papers, graph, tmp_path / "p.csv", force=False)
    with (tmp_path / "p.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["year"] for row in rows] == ["2003", "2001", "1999"]
    assert rows[1]["sentences"] == "Beam search (BS) is old. […] The BS improves parsing."
