"""The examples of docs/formats/bibliographic.md are known by their content and read as they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read
from sciextract.formats.registry import recognise
from tests.shared_data import ROOT

PAGE = (ROOT / "docs" / "formats" / "bibliographic.md").read_text("utf-8")
SECTIONS = dict(
    re.findall(r"^## (\S+)\n.*?^```\w+\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
)


def one_line(format_id: str) -> str:
    """The example; where the format has a record a line, without the line breaks of the page."""
    example = SECTIONS[format_id]
    return json.dumps(json.loads(example)) if format_id in ("arxiv", "s2") else example


@pytest.mark.parametrize("format_id", list(SECTIONS))
def test_the_example_is_read(tmp_path: Path, format_id: str) -> None:
    example = one_line(format_id)
    assert recognise("-", example[:16000]).id == format_id
    path = tmp_path / "example"
    path.write_text(example, encoding="utf-8")
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument) and not item.warnings
    assert item.document.text.count("\n") == 1 and item.document.text.startswith(
        item.document.fields["title"] + "\n"
    )
    found = bibliography_of(item.document.fields)
    assert found.title == item.document.fields["title"]
    assert found.doi == item.document.fields.get("doi")


def test_the_bibtex_example_says_what_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "example.bib"
    path.write_text(SECTIONS["bibtex"], encoding="utf-8")
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument)
    assert item.document.text == (
        "Lattices for β-sheets\nWe fold 5% of the sheets in O(n^2) steps, as in Schölkopf's work."
    )
    assert item.document.fields["authors"] == ["Okafor, Tomi", "Brânză, Ilinca"]
    assert item.document.fields["doi"] == "10.5555/lattice"


def test_every_format_has_its_section() -> None:
    assert list(SECTIONS) == [
        *("bibtex", "ris", "wos", "endnote", "nbib", "pubmed-xml", "jats", "csl", "arxiv", "s2")
    ]
