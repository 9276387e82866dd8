"""Tables: delimiters, column names, cells with line ends, broken rows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Entity, Span
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import ReadItem
from sciextract.formats.table_rows import CsvWriter
from sciextract.workflows.release.contents import release_record


def items_of(tmp_path: Path, content: str | bytes, name: str = "made.csv") -> list[ReadItem]:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read([path]))


def documents_of(tmp_path: Path, content: str, name: str = "made.csv") -> list[Document]:
    items = items_of(tmp_path, content, name)
    assert all(isinstance(item, AnnotatedDocument) for item in items), items
    return [item.document for item in items if isinstance(item, AnnotatedDocument)]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("ID,Title,Abstract,Year\r\n7,T,We parse.,2020\r\n", "made.csv"),
        ("id;title;abstract;Year\n7;T;We parse.;2020\n", "made.csv"),
        ("id\ttitle\tabstract\tYear\n7\tT\tWe parse.\t2020\n", "made.tsv"),
        ("\ufeffPMID,Article Title,Abstract Note,Year\n7,T,We parse.,2020\n", "made.csv"),
        ('"UT"\t"TI"\t"AB"\t"Year"\n7\tT\tWe parse.\t2020', "made.tab"),
        ("\n\n7,x\n".replace("7,x", "doc_key,title,abstract,Year\n7,T,We parse.,2020"), "made.csv"),
    ],
)
def test_delimiters_and_column_names(content: str, name: str, tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, content, name)
    assert (document.doc_key, document.text) == ("7", "T\nWe parse.")
    assert document.fields["Year"] == "2020"
    assert "T" in document.fields.values() and "We parse." not in document.fields.values()


def test_cells_keep_line_ends_quotes_and_delimiters(tmp_path: Path) -> None:
    content = 'id,abstract\n1,"a, ""b""\r\n\r\nα; c"\n2,\x1b[1m\x00 [12]\n'
    first, second = documents_of(tmp_path, content)
    assert first.text == 'a, "b"\r\n\r\nα; c'
    assert second.text == "\x1b[1m\x00 [12]"


def test_keys_default_to_the_line_of_the_row(tmp_path: Path) -> None:
    content = 'title,text\nt,"a\nb"\n,\nu,c\n,d'
    keys = [document.doc_key for document in documents_of(tmp_path, content)]
    assert keys == ["made:2", "made:5", "made:6"]


def test_text_is_preferred_to_an_abstract_which_stays_a_field(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, "text,abstract,x,x,\nwhole,part,1,2,3\n")
    assert document.text == "whole"
    expected = {"abstract": "part", "x": "1", "x (again)": "2", "column 5": "3"}
    assert document.fields == expected


def test_many_columns_of_one_name_take_little_time_and_have_short_names(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, f"text{',x' * 100_000}\nwhole{',1' * 100_000}\n")
    assert len(document.fields) == 100_000
    assert list(document.fields)[-1] == "x (again 99999)"


def test_a_row_without_text_is_bad(tmp_path: Path) -> None:
    first, bad, last = items_of(tmp_path, "id,abstract,year\n1,a,1\n2,,2\n3,c,3\n")
    assert isinstance(bad, BadRecord)
    assert "made.csv:3: doc_key '2': the row has no text" in bad.error.message
    assert isinstance(first, AnnotatedDocument) and isinstance(last, AnnotatedDocument)


def test_a_row_with_too_many_cells_is_bad_and_one_with_too_few_is_not(tmp_path: Path) -> None:
    long, short = items_of(tmp_path, "id,abstract,year\n1,a,b,c\n2,d\n")
    assert isinstance(long, BadRecord)
    assert "the row has 4 cells, the header 3" in long.error.message
    assert isinstance(short, AnnotatedDocument)


def test_a_table_without_a_text_column_names_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"columns found: 'id', 'year'; allowed names: text, abs"):
        items_of(tmp_path, "id,year\n1,2\n")


@pytest.mark.parametrize(
    ("rows", "broken", "words"),
    [
        ('1,A,a\n2,B,"c, d.\n3,C,"e, f"\n4,D,"g"\n', 3, "',' expected after"),
        ('1,A,a\n2,B,"c, d.\n3,C,e\n4,D,g\n', 3, "is never closed"),
        ('1,A,a\n2,B,"c\n3,C,e\n4,D,f"\n', 3, "holds other rows"),
        ('1,A,a\n2,B,"c\n\nmore, and 1,5 of more\n3,C,e\n4,D,g\n', 3, "lines 3 to 5 are left out"),
        ('1,A,a\n2,B,c\rd\n3,C,e\n4,D,g\n', 3, "carriage return"),
    ],
)  # fmt: skip
def test_a_stray_quotation_mark_costs_its_own_row(
    tmp_path: Path, rows: str, broken: int, words: str
) -> None:
    items = items_of(tmp_path, f"id,title,abstract\n{rows}")
    good = [item.document.doc_key for item in items if isinstance(item, AnnotatedDocument)]
    (bad,) = [item.error for item in items if isinstance(item, BadRecord)]
    assert good == ["1", "3", "4"]
    assert bad.line == broken and "'2,B," in bad.message and words in bad.message


def test_a_surplus_cell_behind_quoted_texts_is_left_out_and_said(tmp_path: Path) -> None:
    header = "Authors,Title,Abstract,Funding,EID\n"
    row = '[No one named],"Trees, and more","We ""fold"", too.",'
    (long,) = items_of(tmp_path, f"{header}{row}Grant 1,Grant 2,e-1\n")
    assert isinstance(long, AnnotatedDocument) and len(long.warnings) == 1
    assert long.document.text == 'Trees, and more\nWe "fold", too.'
    assert "Grant 1" not in long.document.fields.values()
    (shifted,) = items_of(tmp_path, f"{header}A, B{row[14:]}Grant,e-1\n")
    assert isinstance(shifted, BadRecord)


@pytest.mark.parametrize(
    "start",
    ["sep=;\n", '"About the data: exported; all of it."\n\n', "https://example.org/q?text\n"],
)
def test_what_stands_above_the_header_is_skipped(tmp_path: Path, start: str) -> None:
    (document,) = documents_of(tmp_path, f"{start}id;title;abstract\n1;One;First.\n")
    assert (document.doc_key, document.text) == ("1", "One\nFirst.")


def test_a_row_with_stray_quotes_or_bytes_is_bad_and_the_next_is_read(tmp_path: Path) -> None:
    content = b'id,abstract\n1,"a" b\n2,caf\xe9\n3,c\n'
    quotes, encoding, good = items_of(tmp_path, content)
    assert isinstance(quotes, BadRecord) and quotes.error.line == 2
    assert isinstance(encoding, BadRecord) and encoding.error.line == 3
    assert "iconv" in encoding.error.hint
    assert isinstance(good, AnnotatedDocument)


def test_a_cell_of_a_megabyte_is_read(tmp_path: Path) -> None:
    (document,) = documents_of(tmp_path, "id,abstract\n1," + "word " * 200_000)
    assert len(document.text) == 1_000_000


def test_papers_of_every_database_keep_their_numbers(tmp_path: Path) -> None:
    wos = "PT\tAU\tTI\tSO\tID\tAB\tPY\tDI\tUT\tPM\nJ\tA, B\tT\tJ\tA WORD; ANOTHER\tWe parse.\t2019\t{}\t{}\t{}\n"
    files = {
        "scopus.csv": "Authors,Title,Year,DOI,Link,Abstract,PubMed ID,EID\nA,T,2019,10.5555/AB,x,We parse.,31,2-s2\n",
        "zotero.csv": '"Key","Publication Year","Title","DOI","Abstract Note","Date","Extra"\n'
        '"K1","2019","T","https://doi.org/10.5555/AB","We parse.","2019-01","x\nPMID: 31"\n',
        "lens.csv": "Lens ID,Title,Publication Year,Author/s,Abstract,DOI,PMID\n0-1,T,2019,A B,We parse.,10.5555/ab,31\n",
        "wos.txt": wos.format("10.5555/ab", "WOS:1", "31"),
        "tagged.txt": "FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nTI T\nAB We parse.\nPY 2019\nDI 10.5555/ab\nPM 31\nUT WOS:1\nER\n\nEF\n",
        "dimensions.csv": "Publication ID,DOI,PMID,Title,Abstract,PubYear\npub.1,10.5555/ab,31,T,We parse.,2019\n",
        "pubmed.csv": "PMID,Title,Authors,Journal/Book,Publication Year,DOI,Abstract\n31,T,A B,J,2019,10.5555/ab,We parse.\n",
        "refworks.tsv": "Title Primary\tPub Year\tAbstract\tDOI\tPMID\nT\t2019\tWe parse.\t10.5555/ab\t31\n",
        "scopus.ris": "TY  - JOUR\nTI  - T\nAB  - We parse.\nPY  - 2019\nDO  - 10.5555/AB\nC2  - 31\nDB  - Scopus\nER  - \n",
    }
    for name, content in files.items():
        [document] = documents_of(tmp_path, content, name)
        assert document.text == "T\nWe parse.", name
        entity = Entity("E", (Span(2, 4),), "Method")
        CsvWriter(tmp_path / "out.csv").write(
            AnnotatedDocument(document, Annotations(entities=(entity,)))
        )
        with (tmp_path / "out.csv").open(newline="") as lines:
            [row] = csv.DictReader(lines)
        assert [row[name] for name in ("doi", "year", "pmid", "title")] == [
            *("10.5555/ab", "2019", "31", "T")
        ], name
        record, _ = release_record(AnnotatedDocument(document), with_text=True)
        assert (record["doi"], record["year"], record["pmid"]) == ("10.5555/ab", 2019, "31"), name
        assert document.doc_key == ("WOS:1" if name in ("wos.txt", "tagged.txt") else "10.5555/ab")


def test_each_row_has_the_best_key_that_it_has(tmp_path: Path) -> None:
    table = "id,UT,PMID,DOI,text\n1,W1,31,10.5555/ab,a\n2,W2,32,,b\n3,W3,,n/a,c\n4,,,,d\n,,,,e\n"
    keys = [document.doc_key for document in documents_of(tmp_path, table)]
    assert keys == ["10.5555/ab", "32", "W3", "4", "made:6"]
    keyless = "PT\tTI\tAB\tID\tUT\nJ\tT\ta\tA WORD; ANOTHER\t\n"
    assert [document.doc_key for document in documents_of(tmp_path, keyless, "made.txt")] == [
        "made:2"
    ]
