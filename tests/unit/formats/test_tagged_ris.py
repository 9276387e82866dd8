"""RIS: records are cut before they are parsed, so that one that is broken harms no other."""

from __future__ import annotations

from pathlib import Path

import pytest
import rispy

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import read
from sciextract.formats.tagged import CUT
from tests.shared_data import ROOT, shared_path
from tests.unit.formats.bibliographic_records import (
    NO_ABSTRACT,
    bad_and_good,
    document,
    read_items,
    read_sample,
)

RECORD = """TY  - JOUR
TI  - Graphs of everything
AU  - Lovelace, Ada
AU  - Babbage, Charles
AB  - We parse graphs,
tables and
  text.
PY  - 2019/03//
DO  - https://doi.org/10.1000/AB.1
JO  - J. Inv. Res.
JF  - Journal of Invented Results
KW  - graphs
tables
KW  - a; b
UR  - https://example.org/1
N1  - first note
N1  - second note
XX  - not a known tag
ID  - key1
ER  - 
"""


def test_a_record_becomes_text_and_fields(tmp_path: Path) -> None:
    found = document(tmp_path, "ris", RECORD).document
    assert found.doc_key == "key1"
    assert found.text == "Graphs of everything\nWe parse graphs, tables and text."
    assert found.fields == {
        "title": "Graphs of everything",
        "year": 2019,
        "doi": "10.1000/ab.1",
        "venue": "Journal of Invented Results",
        "authors": ["Lovelace, Ada", "Babbage, Charles"],
        "url": "https://example.org/1",
        "keywords": ["graphs", "tables", "a", "b"],
        "TY": "JOUR",
        "PY": "2019/03//",
        "JO": "J. Inv. Res.",
        "N1": ["first note", "second note"],
        "XX": "not a known tag",
    }


@pytest.mark.parametrize(
    ("title", "abstract", "year", "venue"),
    [
        ("TI  - A", "AB  - B", "PY  - 2019", "JO  - J"),
        ("T1  - A", "N2  - B", "Y1  - 2019///", "T2  - J"),
        ("T1  - A", "AB  - B\nN2  - B", "PY  - n.d.\nDA  - 2019/01/02", "JF  - J"),
        ("TI  - A", "N2  - B", "PY  - 2019-01", "JA  - J"),
    ],
)
def test_vendors_use_different_tags(
    tmp_path: Path, title: str, abstract: str, year: str, venue: str
) -> None:
    lines = ["TY  - JOUR", title, abstract, year, venue, "ER  - "]
    found = document(tmp_path, "ris", "\n".join(lines)).document
    assert found.text == "A\nB" and found.doc_key == "lib:1"
    assert (found.fields["year"], found.fields["venue"]) == (2019, "J")


def test_a_second_abstract_is_kept(tmp_path: Path) -> None:
    found = document(tmp_path, "ris", "TY  - JOUR\nAB  - One.\nN2  - Two.\nER  - ").document
    assert found.text == "One." and found.fields["N2"] == "Two."


def test_what_stands_before_the_first_record_is_no_part_of_it(tmp_path: Path) -> None:
    header = "\ufeffProvider: Invented Inc.\nDatabase: X\nDB  - X\n\n"
    found = read_items(tmp_path, "ris", header + RECORD + "\nProvider: again\n" + RECORD)
    assert bad_and_good(found) == ([], ["key1", "key1"])


@pytest.mark.parametrize("before", [" ", "\ufeff", "ï»¿", "1. ", "1.\n", "\ufeff\n [1] "])
def test_a_mark_a_blank_or_a_number_costs_no_first_record(tmp_path: Path, before: str) -> None:
    found = read_items(tmp_path, "ris", before + RECORD + before + RECORD)
    assert bad_and_good(found) == ([], ["key1", "key1"])


@pytest.mark.parametrize("kind", ["", "TY  - JOUR\n"])
def test_records_without_a_type_or_with_a_late_one(tmp_path: Path, kind: str) -> None:
    record = f"C1  - 7\nAU  - Okafor, T\nTI  - First\n{kind}AB  - We fold.\nER  - \n\n"
    items = read_items(tmp_path, "ris", record + record.replace("First", "Second"))
    found = [item.document for item in items if isinstance(item, AnnotatedDocument)]
    assert [item.text for item in found] == ["First\nWe fold.", "Second\nWe fold."]
    assert [item.fields["authors"] for item in found] == [["Okafor, T"], ["Okafor, T"]]


def test_records_without_type_and_end_begin_with_the_same_tag(tmp_path: Path) -> None:
    record = "DB  - Invented\nAU  - Lovelace, Ada\nTI  - {0}\n\nAB  - We fold {0}.\n\n"
    found = read_items(tmp_path, "ris", record.format("A") + record.format("B"))
    texts = [item.document.text for item in found if isinstance(item, AnnotatedDocument)]
    assert texts == ["A\nWe fold A.", "B\nWe fold B."]


def test_what_ovid_writes_between_records_is_no_record(tmp_path: Path) -> None:
    first = RECORD + "\nLink to the Ovid Full Text or citation:\nhttps://example.org/2\n"
    first += "NL  - https://example.org/3\n\nC1  - Database: Invented <2020>\nSearch Strategy:\n1. "
    untitled = RECORD.replace("ID  - key1\n", "").replace(
        "DO  - https://doi.org/10.1000/AB.1\n", ""
    )
    found = read_items(tmp_path, "ris", f"{first}\n{untitled}NL  - https://example.org/4\n")
    assert bad_and_good(found) == ([], ["key1", "lib:2"])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(tmp_path: Path, end: str) -> None:
    found = document(tmp_path, "ris", RECORD.replace("\n", end)).document
    assert found.text == "Graphs of everything\nWe parse graphs, tables and text."


def test_a_missing_er_line_joins_nothing_and_drops_nothing(tmp_path: Path) -> None:
    without = "TY  - JOUR\nTI  - First\nDO  - 10.1000/a\n"
    items = read_items(tmp_path, "ris", without + RECORD + without.replace("First", "Last"))
    assert bad_and_good(items) == ([], ["10.1000/a", "key1", "10.1000/a"])
    assert [item.warnings for item in items] == [(CUT, NO_ABSTRACT), (), (CUT, NO_ABSTRACT)]  # type: ignore[union-attr]


def test_one_space_or_none_around_the_hyphen(tmp_path: Path) -> None:
    loose = RECORD.replace("  - ", " - ")
    tight = RECORD.replace("  - ", "  -")
    for content in (loose, tight):
        found = document(tmp_path, "ris", content).document
        assert found.text == "Graphs of everything\nWe parse graphs, tables and text."
        assert found.doc_key == "key1"


def test_a_line_that_only_looks_like_a_tag_is_text(tmp_path: Path) -> None:
    content = "TY  - JOUR\nAB  - levels of\nIL - 6 and\nER+ cells\nER  - "
    assert document(tmp_path, "ris", content).document.text == "levels of IL - 6 and ER+ cells"


@pytest.mark.parametrize(
    ("broken", "line", "words"),
    [
        ("AU  - A, B\nER  - \n", 21, "no text"),
        ("TY  - JOUR\nAU  - A, B\nID  - k2\nER  - \n", 21, "doc_key 'k2': no text"),
        ("TY  - JOUR\nTI  - caf\udce9\nER  - \n", 22, "not UTF-8"),
        ("TY  - \nER  - \n", 21, "no text"),
    ],
)
def test_a_broken_record_is_named_and_the_others_are_read(
    tmp_path: Path, broken: str, line: int, words: str
) -> None:
    content = (RECORD + broken + RECORD).encode("utf-8", "surrogateescape")
    errors, keys = bad_and_good(read_items(tmp_path, "ris", content))
    assert keys == ["key1", "key1"]
    assert [error.line for error in errors] == [line] and words in errors[0].message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"Provider: nobody\n", "holds no RIS record"),
        (b"PK\x03\x04", "zip archive"),
        (RECORD.encode("utf-16"), "utf-16"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_items(tmp_path, "ris", content)


def test_text_before_any_tag_of_a_record_is_kept(tmp_path: Path) -> None:
    found = document(tmp_path, "ris", "TY  - JOUR\nlost words\nTI  - T\nER  - ").document
    assert found.text == "T" and found.fields["untagged"] == "lost words"


def test_pubmed_numbers_are_told_from_others(tmp_path: Path) -> None:
    content = "TY  - JOUR\nTI  - T\nAN  - 123\nDB  - {}\nER  - "
    assert document(tmp_path, "ris", content.format("PubMed")).document.fields["pmid"] == "123"
    assert "pmid" not in document(tmp_path, "ris", content.format("Scopus")).document.fields


def test_hostile_text_is_kept(tmp_path: Path) -> None:
    text = "[12] \x1b[31mred e\u0301 🧬 \u00a0 \u2028 =1+1 <b>&"
    assert (
        document(tmp_path, "ris", f"TY  - JOUR\nAB  - {text} y\nER  - ").document.text
        == f"{text} y"
    )


def test_a_real_library_reads_as_rispy_reads_it() -> None:
    relative = "formats/ris/schoot-included-3.ris"
    items = read_sample(relative, "ris")
    expected = rispy.loads(shared_path(relative).read_text("utf-8-sig"))
    assert len(items) == len(expected) == 8
    for item, entry in zip(items, expected, strict=True):
        fields = item.document.fields
        assert item.document.text == f"{entry['title']}\n{entry['abstract']}"
        assert fields["authors"] == entry["authors"] and str(fields["year"]) == entry["year"]
        assert fields["venue"] == entry["secondary_title"]


def test_the_sample_library_is_the_same_in_ris_and_bibtex() -> None:
    samples = ROOT / "sample_data"
    ris, bib = (
        [
            (item.document.doc_key, item.document.text)  # type: ignore[union-attr]
            for item in read([samples / name], format_id)
        ]
        for name, format_id in (("library.ris", "ris"), ("library.bib", "bibtex"))
    )
    assert ris == bib and len(ris) == 26
