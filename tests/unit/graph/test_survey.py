from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import html

from sciextract.errors import OutputError
from sciextract.graph.database import open_graph
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.survey import Survey, write_survey
from tests.graph_samples import HOSTILE, abstract, build


def surveyed(graph: Path, name: str, folder: Path, *, force: bool = False) -> Survey:
    with open_graph(graph) as connection:
        return write_survey(connection, graph, find_node(connection, name), folder, force=force)


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Sixty abstracts of three years about ropes, with a definition, data sets, values, rivals and a gap."""
    documents = []
    for number in range(60):
        year, data = 2000 + number % 3, "Tiny-Corpus" if number % 2 else "Old-Corpus"
        text = (
            f"Ropes are a method to tie things ({number}). We compare Ropes with Sleds on {data}. "
            f"Ropes reach {20 + number / 4:.2f} BLEU on {data}. All for parsing."
        )
        mentions = {
            "Ropes": "Method", "Ropes#2": "Method", "Ropes#3": "Method", "Sleds": "Method", data: "Material",
            f"{data}#2": "Material", "BLEU": "Metric", "parsing": "Task",
        }  # fmt: skip
        links = [("Ropes#2", "COMPARE", "Sleds")]
        documents.append(
            abstract(
                f"arXiv:2001.{number:05}", text, mentions, links, year=year, title=f"Study {number}"
            )
        )
        other = f"Kites for tagging ({number})."
        found = {"Kites": "Method", "tagging": "Task"}
        documents.append(abstract(f"k{number}", other, found, year=year))
    build(tmp_path / "g.graph", *documents)
    return tmp_path / "g.graph"


def test_every_statement_has_a_sentence_and_a_paper(graph: Path, tmp_path: Path) -> None:
    found = surveyed(graph, "rope", tmp_path / "out")
    by_title = {section.title: section.statements for section in found.sections}
    assert list(by_title) == [
        "What it is", "Data sets and materials", "Methods", "Metrics", "Tasks", "What is compared", "Leaderboards",
        "Open gaps", "Papers to read first",
    ]  # fmt: skip
    assert by_title["Data sets and materials"][0].text.endswith("-Corpus: 30 of 60 abstracts, 2000 to 2002, lift 2.0 (1.5 to 2.5)")  # fmt: skip
    assert by_title["Open gaps"][0].text == "tagging: 0 abstracts, 30.0 expected"
    assert len(by_title["Papers to read first"]) == 20
    markdown = (tmp_path / "out" / "survey.md").read_text("utf-8")
    keys = set(re.findall(r"\[@([^\]]+)\]", markdown))
    for part in by_title.values():
        for statement in part:
            assert (statement.paper is None) == (part is by_title["Open gaps"])
            assert statement.paper is None or statement.paper.sentences
    references = (tmp_path / "out" / "survey.bib").read_text("utf-8")
    assert keys == set(re.findall(r"@misc\{(.*),", references)) and len(keys) == len(found.papers)
    assert "eprint = {2001.00001}" in references
    assert "url = {https://arxiv.org/abs/2001.00001}" in references
    assert "| 2000 | 20 | 40 | 50.0% | 35.2% to 64.8% |" in markdown
    page = html.fromstring((tmp_path / "out" / "survey.html").read_text("utf-8"))
    assert "Ropes are a method to tie things" in page.xpath("string(//q[1])")
    anchors = {element.get("id") for element in page.xpath("//li[@id]")}
    assert {element.get("href")[1:] for element in page.xpath("//cite/a")} == anchors == keys
    assert len(page.xpath("//tr")) == 4


def test_what_is_said_of_a_part_of_the_field(tmp_path: Path) -> None:
    documents = []
    for number in range(40):
        data = (
            ("Bow-Bank" if number % 2 else "Loop-Bank")
            if number < 10
            else "Loop-Bank"
            if number % 2
            else "Hut"
        )
        about = "Knots are a thing." if number < 10 else "Huts win."
        text = f"Title {number}\n{about} We use {data}."
        if number == 3:
            text += " Ties such as Knots hold. Knots and Ties and Knots."
        mentions = {
            name: "Material" if "Bank" in name else "Method" for name in ("Knots", "Ties", data)
        }
        found = {name: label for name, label in mentions.items() if name in text}
        links = [("Knots", "HYPONYM-OF", "Ties")] if number == 3 else []
        documents.append(abstract(f"d{number}", text, found, links, title=f"Title {number}"))
    build(tmp_path / "g.graph", *documents)
    survey = surveyed(tmp_path / "g.graph", "knots", tmp_path / "out")
    definition, company = survey.sections[0].statements, survey.sections[1].statements
    # A definition may follow the title; what is a kind of what stands in the sentence that says it.
    assert [statement.text for statement in definition][-1] == "A kind of Ties"
    quoted = [statement.paper.sentences[0].text for statement in definition if statement.paper]
    assert quoted[0] == "Knots are a thing." and "such as" in quoted[-1]
    # Loop-Bank is named as often with other things.
    assert [statement.text.split(":")[0] for statement in company] == ["Bow-Bank"]


def test_hostile_titles_and_names_stay_text(tmp_path: Path) -> None:
    attack = "<script>alert(1)</script> [click](http://x) `rm` **bold** | {evil} \x1b[31m @me"
    text = f"{HOSTILE} is a thing. We use {HOSTILE} for alert(1)."
    documents = [
        abstract(
            f'k"{number}<b>', f"{text} {number}", {HOSTILE: "Method", "alert(1)": "Task<i>"},
            title=attack, year=year, doi=f'10.1000/{number}"><script>',
        )
        for number, year in enumerate((None, 99999, 2001))
    ]  # fmt: skip
    build(tmp_path / "h.graph", *documents)
    surveyed(tmp_path / "h.graph", "alert(1)", tmp_path / "out")
    page = (tmp_path / "out" / "survey.html").read_text("utf-8")
    parsed = html.fromstring(page)
    assert not parsed.xpath("//script | //b | //i")
    assert {link.partition(":")[0] for link in parsed.xpath("//li/a/@href")} == {"https"}
    assert "\x1b" not in page
    markdown = (tmp_path / "out" / "survey.md").read_text("utf-8")
    assert "\x1b" not in markdown
    assert (
        r"\<script\>alert(1)\</script\> \[click\](http\://x) \`rm\` \*\*bold\*\* \| \{evil\}"
        in markdown
    )
    # Each paper has a key of its own, although the signs in which they differ are no part of keys.
    assert len(set(re.findall(r"@misc\{(.*),", (tmp_path / "out" / "survey.bib").read_text()))) == 3


def test_a_folder_is_replaced_only_with_force(graph: Path, tmp_path: Path) -> None:
    surveyed(graph, "ropes", tmp_path / "out")
    with pytest.raises(OutputError):
        surveyed(graph, "ropes", tmp_path / "out")
    assert surveyed(graph, "kites", tmp_path / "out", force=True).title == "Kites"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "survey.bib", "survey.html", "survey.md",
    ]  # fmt: skip
