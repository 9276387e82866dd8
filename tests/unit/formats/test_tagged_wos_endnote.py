"""The tagged exports of Web of Science and EndNote, and the table of Web of Science."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import read
from sciextract.formats.tagged import CUT
from tests.unit.formats.bibliographic_records import (
    NO_ABSTRACT,
    bad_and_good,
    document,
    read_items,
)

WOS = """PT J
AU Lovelace, A
   Babbage, C
AF Lovelace, Ada
   Babbage, Charles
TI Graphs of everything: a systematic
   review
SO JOURNAL OF INVENTED RESULTS
DE graphs; parsing of
   tables
ID KEYWORDS PLUS
AB We parse graphs,
   tables and text.
CR Okafor T, 2001, J INV RES
   Moss L, 2002, J INV RES
PD MAR
PY 2019
DI 10.1000/AB.1
UT WOS:000000000000001
PM 123
ER
"""
UNTITLED = WOS.replace("TI ", "XX ").replace("AB ", "YY ")
ENW = """%0 Journal Article
%A Lovelace, Ada
%A Babbage, Charles
%T Graphs of everything: a systematic
review
%J Journal of Invented Results
%D 2019
%K graphs
parsing; tables
%X We parse graphs.

Then we parse tables.
%R https://doi.org/10.1000/AB.1
%U https://example.org/1
%M 123
%~ PubMed
"""
FIELDS = {
    "title": "Graphs of everything: a systematic review",
    "year": 2019,
    "doi": "10.1000/ab.1",
    "pmid": "123",
    "authors": ["Lovelace, Ada", "Babbage, Charles"],
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_web_of_science_export(end: str, tmp_path: Path) -> None:
    content = f"\ufeffFN Clarivate Analytics Web of Science\nVR 1.0\n{WOS}\nEF"
    path = tmp_path / "savedrecs.txt"
    path.write_bytes(content.replace("\n", end).encode())
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument) and not item.warnings
    found = item.document
    assert found.doc_key == "WOS:000000000000001"
    assert found.text == f"{FIELDS['title']}\nWe parse graphs, tables and text."
    assert found.fields == FIELDS | {
        "venue": "JOURNAL OF INVENTED RESULTS",
        "keywords": ["graphs", "parsing of tables"],
        "PT": "J",
        "AU": ["Lovelace, A", "Babbage, C"],
        "ID": "KEYWORDS PLUS",
        "CR": ["Okafor T, 2001, J INV RES", "Moss L, 2002, J INV RES"],
        "PD": "MAR",
    }


def test_a_broken_web_of_science_record_harms_no_other(tmp_path: Path) -> None:
    cut = WOS.replace("ER\n", "")
    items = read_items(tmp_path, "wos", f"{cut}{UNTITLED}no tag\n{WOS}EF\nFN ISI\nVR 1.0\n{WOS}EF")
    errors, keys = bad_and_good(items)
    assert keys == ["WOS:000000000000001"] * 3
    assert [error.line for error in errors] == [21, 42]
    assert items[0].warnings == (CUT,)  # type: ignore[union-attr]


def test_a_web_of_science_table(tmp_path: Path) -> None:
    path = tmp_path / "savedrecs.txt"
    header = "PT\tAU\tTI\tSO\tDE\tAB\tPY\tDI\tUT\tPM\n"
    row = '"Small" graphs\tJ\tx\tWe parse "them.\t2019\t10.1/x\tWOS:1\t1\n'
    path.write_text(f"{header}J\tLovelace, A\t{row}J\tMoss, L\t{row.replace('WOS:1', 'WOS:2')}")
    items = list(read([path]))
    assert bad_and_good(items) == ([], ["WOS:1", "WOS:2"])
    assert items[0].document.text == '"Small" graphs\nWe parse "them.'  # type: ignore[union-attr]


def test_an_endnote_export(tmp_path: Path) -> None:
    found = document(tmp_path, "endnote", ENW).document
    assert found.doc_key == "10.1000/ab.1"
    assert found.text == f"{FIELDS['title']}\nWe parse graphs. Then we parse tables."
    assert found.fields == FIELDS | {
        "venue": "Journal of Invented Results",
        "keywords": ["graphs", "parsing", "tables"],
        "url": "https://example.org/1",
        "%0": "Journal Article",
        "%~": "PubMed",
    }


@pytest.mark.parametrize("typed", ["%0 Book\n{}", "{}%0 Book\n", "{}"])
def test_endnote_records_are_told_apart(typed: str, tmp_path: Path) -> None:
    records = [typed.format(f"%F {key}\n%T {key}\n%X x\n") for key in "abc"]
    items = read_items(tmp_path, "endnote", "\n".join(records))
    assert bad_and_good(items) == ([], ["a", "b", "c"])


def test_a_broken_endnote_record_harms_no_other(tmp_path: Path) -> None:
    content = f"no tag\n{ENW}\n%0 Book\n%A Moss, L\n\n%0 Book\n%F k\n%T Only a title\n"
    items = read_items(tmp_path, "endnote", content)
    errors, keys = bad_and_good(items)
    assert keys == ["10.1000/ab.1", "k"] and items[-1].warnings == (NO_ABSTRACT,)  # type: ignore[union-attr]
    assert [error.line for error in errors] == [1, 19]


@pytest.mark.parametrize(
    ("format_id", "content"), [("wos", "FN ISI\nVR 1.0\nEF"), ("endnote", "\n")]
)
def test_a_file_without_records_is_an_error(format_id: str, content: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="holds no"):
        read_items(tmp_path, format_id, content)
