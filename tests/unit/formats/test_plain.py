"""Plain text: every character is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read


def texts(path: Path, format_id: str) -> list[tuple[str, str]]:
    items = list(read([path], format_id))
    assert all(isinstance(item, AnnotatedDocument) for item in items), items
    documents = [item.document for item in items if isinstance(item, AnnotatedDocument)]
    return [(document.doc_key, document.text) for document in documents]


@pytest.mark.parametrize(
    "text",
    [
        "We parse.\r\nIt works.\r\n",
        "\n\n  α\u00a0β 😀 e\u0301\n",
        "\x1b[31mred\x00\x07 [12]",
        "old\rline ends\r",
    ],
)
def test_a_file_is_one_abstract_kept_exactly(text: str, tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_bytes(text.encode())
    assert texts(path, "text") == [("one", text)]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_bytes("\ufeffWe parse.".encode())
    assert texts(path, "text") == [("one", "We parse.")]
    assert texts(path, "paragraphs") == [("one:1", "We parse.")]


def test_paragraphs_keep_their_inner_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_bytes(b"\n\r\nFirst,\r\n  still first.\r\n \t\r\n\nSecond\nThird\n\x00\n")
    assert texts(path, "paragraphs") == [
        ("many:3", "First,\r\n  still first."),
        ("many:7", "Second\nThird\n\x00"),
    ]


def test_a_paragraph_in_another_encoding_is_bad_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_bytes(b"One.\n\nCaf\xe9 and\nmore.\n\nThree.\n")
    first, second, third = read([path], "paragraphs")
    assert isinstance(second, BadRecord)
    assert "many.txt:3: byte 0xe9 at position 9 is not UTF-8" in second.error.message
    assert "iconv -f windows-1252 -t utf-8" in second.error.hint
    assert isinstance(first, AnnotatedDocument) and isinstance(third, AnnotatedDocument)


def test_a_file_in_another_encoding_names_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_bytes("\ufeffone\n".encode() + b"caf\xe9")
    with pytest.raises(FormatError, match=r"one\.txt:2: byte 0xe9 at position 10") as caught:
        list(read([path]))
    assert "iconv" in caught.value.hint


@pytest.mark.parametrize("format_id", ["text", "paragraphs"])
def test_white_space_is_an_empty_file(tmp_path: Path, format_id: str) -> None:
    path = tmp_path / "blank.txt"
    path.write_bytes(b" \n\t\n")
    with pytest.raises(FormatError, match="is empty"):
        list(read([path], format_id))
