"""nbib: wrapped lines are joined, and records stand on their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import FormatError
from tests.unit.formats.bibliographic_records import (
    NO_ABSTRACT,
    bad_and_good,
    document,
    read_items,
    read_sample,
)

RECORD = """PMID- 123
OWN - NLM
DP  - 2018 Apr
TI  - Graphs of everything: a systematic 
      review.
LID - 10.1000/AB.1 [doi]
AB  - BACKGROUND: Graphs are
      everywhere. METHODS:
      We parse them.
FAU - Lovelace, Ada B
AU  - Lovelace AB
FAU - Babbage, Charles
AU  - Babbage C
CN  - Graph Group
TA  - J Inv Res
JT  - Journal of Invented Results
MH  - Graphs/*methods
OT  - *graphs
OT  - tables
AID - S1-2 [pii]
AID - 10.1000/AB.1 [doi]
SO  - J Inv Res. 2018 Apr.
"""


def test_a_record_becomes_text_and_fields(tmp_path: Path) -> None:
    found = document(tmp_path, "nbib", RECORD).document
    assert found.doc_key == "123"
    assert found.text == (
        "Graphs of everything: a systematic review.\n"
        "BACKGROUND: Graphs are everywhere. METHODS: We parse them."
    )
    assert found.fields == {
        "title": "Graphs of everything: a systematic review.",
        "year": 2018,
        "doi": "10.1000/ab.1",
        "pmid": "123",
        "venue": "Journal of Invented Results",
        "authors": ["Lovelace, Ada B", "Babbage, Charles", "Graph Group"],
        "keywords": ["graphs", "tables"],
        "OWN": "NLM",
        "DP": "2018 Apr",
        "LID": "10.1000/AB.1 [doi]",
        "AU": ["Lovelace AB", "Babbage C"],
        "CN": "Graph Group",
        "TA": "J Inv Res",
        "MH": "Graphs/*methods",
        "AID": ["S1-2 [pii]", "10.1000/AB.1 [doi]"],
        "SO": "J Inv Res. 2018 Apr.",
    }


def test_pmc_records_and_short_names(tmp_path: Path) -> None:
    content = (
        "\nPMC - PMC77\nTI  - T\nAB  - \nOAB - Publisher: elsewhere.\nAU  - de Vries J\nTA  - J\n"
    )
    found = document(tmp_path, "nbib", content)
    assert found.document.doc_key == "PMC77" and found.document.text == "T"
    assert found.warnings == (NO_ABSTRACT,)
    assert found.document.fields["authors"] == ["de Vries, J"]
    assert found.document.fields["OAB"] == "Publisher: elsewhere."
    assert found.document.fields["venue"] == "J"


def test_books_have_their_title_elsewhere(tmp_path: Path) -> None:
    book = document(tmp_path, "nbib", "PMID- 1\nBTI - A book\nAB  - Text.\n").document
    assert book.text == "A book\nText." and "venue" not in book.fields
    chapter = document(tmp_path, "nbib", "PMID- 1\nTI  - A chapter\nBTI - A book\n").document
    assert chapter.text == "A chapter" and chapter.fields["venue"] == "A book"


@pytest.mark.parametrize("indent", ["      ", ""])
@pytest.mark.parametrize("end", ["\n", "\n\n"])
def test_a_blank_line_within_an_abstract_ends_no_record(
    tmp_path: Path, end: str, indent: str
) -> None:
    first = f"PMID- 1\nTI  - T\nAB  - One.\n\n{indent}Two.{end}FAU - Okafor, T\n\n"
    items = read_items(tmp_path, "nbib", first + RECORD)
    assert bad_and_good(items) == ([], ["1", "123"])
    assert items[0].document.text == "T\nOne. Two."  # type: ignore[union-attr]
    assert items[0].document.fields["authors"] == ["Okafor, T"]  # type: ignore[union-attr]


@pytest.mark.parametrize("between", ["\n", "\n\n\n", "\r\n \r\n", ""])
def test_records_are_told_apart(tmp_path: Path, between: str) -> None:
    content = RECORD + between + RECORD.replace("123", "124")
    assert bad_and_good(read_items(tmp_path, "nbib", content)) == ([], ["123", "124"])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(tmp_path: Path, end: str) -> None:
    found = document(tmp_path, "nbib", ("\ufeff" + RECORD).replace("\n", end)).document
    assert found.text.endswith("METHODS: We parse them.") and found.doc_key == "123"


@pytest.mark.parametrize(
    ("broken", "line", "words"),
    [
        ("PMID- 5\nAU  - A B\n", 24, "doc_key '5': no text"),
        ("no tag here\nTI  - T\n", 24, "'no tag here' found; expected a tag"),
        ("PMID- 5\nTI  - caf\udce9\n", 25, "not UTF-8"),
    ],
)
def test_a_broken_record_is_named_and_the_others_are_read(
    tmp_path: Path, broken: str, line: int, words: str
) -> None:
    content = f"{RECORD}\n{broken}\n{RECORD}".encode("utf-8", "surrogateescape")
    errors, keys = bad_and_good(read_items(tmp_path, "nbib", content))
    assert keys == ["123", "123"]
    assert [error.line for error in errors] == [line] and words in errors[0].message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "holds no nbib record"),
        (b"just words\n", "holds no nbib record"),
        (RECORD.encode("utf-16"), "utf-16"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_items(tmp_path, "nbib", content)


def test_a_truncated_record_keeps_its_text(tmp_path: Path) -> None:
    found = document(tmp_path, "nbib", RECORD[: RECORD.index("everywhere")]).document
    assert found.text.endswith("BACKGROUND: Graphs are")


def test_keys_without_a_pmid(tmp_path: Path) -> None:
    first, second = read_items(tmp_path, "nbib", "TI  - A\nAID - 10.1000/x [doi]\n\nTI  - B\n")
    assert bad_and_good([first, second]) == ([], ["10.1000/x", "lib:2"])
    odd = document(tmp_path, "nbib", "PMID- none\nTI  - A\n").document
    assert odd.fields["nbib"] == {"pmid": "none"}


def test_hostile_text_is_kept(tmp_path: Path) -> None:
    text = "[12] \x1b[31mred e\u0301 🧬 \u00a0 \u2028 =1+1 <b>&"
    assert document(tmp_path, "nbib", f"PMID- 1\nAB  - {text} y\n").document.text == f"{text} y"


def test_a_hundred_thousand_wrapped_lines_are_quick(tmp_path: Path) -> None:
    found = document(tmp_path, "nbib", "PMID- 1\nAB  - x\n" + "      y\n" * 100_000).document
    assert len(found.text) == 200_001


def test_a_real_set_from_pubmed() -> None:
    items = read_sample("formats/nbib/pubmed-set.nbib", "nbib")
    assert len(items) == 25
    assert sum(NO_ABSTRACT in item.warnings for item in items) == 3
    fields = items[1].document.fields
    assert fields["doi"] == "10.1136/neurintsurg-2017-013179" and fields["year"] == 2018
    assert all(item.document.fields["pmid"] == item.document.doc_key for item in items)


def test_real_records_from_pmc_and_one_alone() -> None:
    items = read_sample("formats/nbib/pmc_medlars.txt", "nbib")
    assert [item.document.fields["PMC"][:3] for item in items] == ["PMC"] * 5
    assert sum(NO_ABSTRACT in item.warnings for item in items) == 1
    (single,) = read_sample("formats/nbib/single.nbib", "nbib")
    assert single.document.doc_key == "28754806"
