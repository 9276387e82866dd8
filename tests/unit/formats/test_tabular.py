"""Tables: delimiters, column names, cells with line ends, broken rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import ReadItem


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


def test_a_quotation_mark_that_is_never_closed_loses_nothing_silently(tmp_path: Path) -> None:
    good, bad = items_of(tmp_path, 'id,abstract\n1,a\n2,"b\n3,c\n')
    assert isinstance(good, AnnotatedDocument) and isinstance(bad, BadRecord)
    assert "made.csv:3: a quotation mark opened in this row is never closed" in bad.error.message


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
