"""Broken JSON lines: each is one bad record with its place, the others are read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import Source
from sciextract.formats.exchange import encode

DEEP = 100_000


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"text": "We par', "2:10: broken JSON: Unterminated string"),
        ('{"text": "a"', "2:13: broken JSON: Expecting ',' delimiter"),
        ('{"text": "a"} {"text": "b"}', "2:15: broken JSON: Extra data"),
        ("We parse graphs.", "2:1: broken JSON: Expecting value"),
        ('["text"]', "the line holds ['text']; expected a JSON object"),
        ("7", "the line holds 7"),
        ('{"text": "a", "text": "b"}', "the key 'text' occurs twice"),
        ('{"text": "a", "x": {"y": 1, "y": 1}}', "the key 'y' occurs twice"),
        ('{"text": "a", "x": NaN}', "NaN is not a JSON number"),
        ('{"text": "a", "x": -Infinity}', "-Infinity is not a JSON number"),
        ('{"text": "a", "x": 1e999}', "the number '1e999' is too large"),
        ('{"text": "a", "x": ' + "9" * 5000 + "}", "an integer has too many digits"),
        ('{"text": "a", "x": ' + "[" * DEEP + "]" * DEEP + "}", "nested too deeply"),
        ("[" * DEEP, "nested too deeply"),
        ('{"text": "a", "x": ' + "[" * 150 + "]" * 150 + "}", "nested deeper than 100 levels"),
        ('{"x": 1}', "no text: give `text`, or `title` and `abstract`"),
        ('{"text": null}', "no text"),
        ('{"title": null, "abstract": null}', "no text"),
        ('{"text": ["a"]}', "text: ['a'] found; expected a string"),
        ('{"text": "a", "id": {}}', "id: {} found; expected a string or a number"),
        ('{"text": "caf\xe9"}', "2: byte 0xe9 at position 31 is not UTF-8"),
        ("\x00\x00\x00", "2:1: broken JSON"),
    ],
)
def test_a_broken_line_names_its_place(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    path.write_bytes(b'{"text": "first"}\n' + line.encode("latin-1") + b'\n{"text": "last"}')
    first, bad, last = read([path])
    assert isinstance(bad, BadRecord)
    assert problem in bad.error.message
    assert bad.error.line == 2 and len(bad.error.message) < 600 + len(str(path))
    assert isinstance(first, AnnotatedDocument) and isinstance(last, AnnotatedDocument)


def test_a_nested_field_that_is_read_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    path.write_text('{"text": "a", "x": ' + "[" * 90 + "]" * 90 + "}")
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument)
    assert encode(item)


def test_raw_control_characters_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    path.write_bytes(b'{"text": "a\x00b\tc\x1b[0m\rd"}\r\n')
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument)
    assert item.document.text == "a\x00b\tc\x1b[0m\rd"


def test_lines_of_twenty_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    size = 20_000_000
    whole = b'{"text": "We parse.", "note": "' + b"x" * size + b'"}\n'
    truncated = b'{"text": "' + b"y" * size + b"\n"
    path.write_bytes(whole + truncated + b'{"text": "last"}\n')
    first, bad, last = read([path])
    assert isinstance(first, AnnotatedDocument) and len(first.document.fields["note"]) == size
    assert isinstance(bad, BadRecord) and len(bad.error.message) < 600
    assert isinstance(last, AnnotatedDocument)


def test_json_over_several_lines_named_as_lines_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    path.write_text('[\n  {"text": "a"}\n]\n')
    items = [item for item in read([path], "jsonl") if isinstance(item, BadRecord)]
    assert len(items) >= 2
    assert "--from json" in items[0].error.hint


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    path.write_text('{"text": "We parse graphs."}\n' * 3000)
    items = read([path])
    first = next(items)
    # Held here, and by the frames of the reader and of what looks at each record.
    assert sys.getrefcount(first) <= 4
    assert sum(1 for _ in items) == 2999


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    path.symlink_to(path)
    with pytest.raises(FormatError, match="cannot be read"):
        list(Source(str(path)).lines())
