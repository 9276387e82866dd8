"""From paths to documents: which format, which files, in which order, and what stops it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ExitCode, FormatError, InputMissingError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import ReadItem
from sciextract.formats.inputs import single_sources

ABSTRACT = "We parse graphs with a small network."


def keys(items: Iterator[ReadItem]) -> list[str]:
    return [
        item.document.doc_key if isinstance(item, AnnotatedDocument) else item.error.place
        for item in items
    ]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_what_lies_beside_brat_files_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    for name in ("in.txt", "in.ann", "annotation.conf", "notes.md"):
        write(folder / name, ABSTRACT if name == "in.txt" else "")
    assert len([*read([folder])]) == 1
    write(folder / "refs" / "more.bib", "@article{a, title={T}, abstract={x}}\n")
    bad, found = read([folder])
    assert isinstance(bad, BadRecord) and "1 other file in it: 'refs/more.bib'" in bad.error.message
    assert isinstance(found, AnnotatedDocument) and [*read([folder], "brat")] == [found]


@pytest.mark.parametrize("layout", ["text", "brat"])
def test_links_out_of_a_folder_are_named_and_not_followed(tmp_path: Path, layout: str) -> None:
    folder, secret = tmp_path / "folder", write(tmp_path / "other" / "secret.txt", "A secret.")
    write(folder / "in.txt", ABSTRACT)
    if layout == "brat":
        write(folder / "in.ann", "")
        write(folder / "annotation.conf", "[entities]\n")
    links = {
        "again.txt": folder / "in.txt", "dangling.txt": folder / "gone.txt", "out.txt": secret, "outside": secret.parent
    }  # fmt: skip
    for name, target in links.items():
        (folder / name).symlink_to(target)
    items = list(read([folder]))
    texts = [item.document.text for item in items if isinstance(item, AnnotatedDocument)]
    assert texts == [ABSTRACT, ABSTRACT]
    errors = [item.error for item in items if isinstance(item, BadRecord)]
    assert [error.path for error in errors] == [
        str(folder / name) for name in ("outside", "dangling.txt", "out.txt")
    ]
    assert "outside the folder" in errors[0].message and "not exist" in errors[1].message
    assert single_sources(str(folder), None) == [str(folder)]
    [named] = read([folder / "out.txt"])
    assert isinstance(named, AnnotatedDocument)


def test_a_missing_path_stops_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match=r"absent\.jsonl") as caught:
        read([write(tmp_path / "a.txt", ABSTRACT), tmp_path / "absent.jsonl"])
    assert caught.value.exit_code is ExitCode.MISSING


def test_an_empty_file_alone_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "empty.jsonl", "")
    with pytest.raises(FormatError, match=r"empty\.jsonl: the file is empty"):
        list(read([path]))
    with pytest.raises(FormatError, match="is empty"):
        list(read([write(tmp_path / "blank.jsonl", "\n \n")], "jsonl"))


def test_an_empty_file_among_others_is_a_bad_record(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "")
    write(tmp_path / "b.txt", ABSTRACT)
    items = list(read([tmp_path]))
    assert isinstance(items[0], BadRecord)
    assert keys(iter(items[1:])) == ["b"]


def test_a_folder_is_read_sorted_with_its_sub_folders(tmp_path: Path) -> None:
    write(tmp_path / "b.txt", ABSTRACT)
    write(tmp_path / "a.jsonl", '{"text": "one"}\n{"id": "k", "text": "two"}\n')
    write(tmp_path / "deep/er/c.txt", ABSTRACT)
    write(tmp_path / "deep/er/b.txt", ABSTRACT)
    write(tmp_path / ".hidden.txt", ABSTRACT)
    write(tmp_path / "picture.png", b"\x89PNG")
    assert keys(read([tmp_path])) == ["a:1", "k", "b", "b", "c"]
    assert keys(read([tmp_path], "jsonl")) == ["a:1", "k"]


def test_a_folder_without_readable_files_says_which_suffixes_are_read(tmp_path: Path) -> None:
    write(tmp_path / "picture.png", b"\x89PNG")
    with pytest.raises(FormatError, match=r"no readable file below.*\.jsonl"):
        list(read([tmp_path]))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('{"text": "one"}\n{"text": "two"}', ["stdin:1", "stdin:2"]),
        ("\n\nid,abstract\n7,We parse.\n", ["7"]),
        (ABSTRACT, ["stdin"]),
        ('{"doc_key": "s", "sentences": [["a", "b"]]}', ["s"]),
        ('\ufeff{"text": "one"}', ["stdin:1"]),
    ],
)
def test_standard_input(given: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    assert keys(read(["-"])) == expected


def test_standard_input_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            line = b'{"text": "again"}\n'
            buffer[: len(line)] = line
            return len(line)

    stream = io.TextIOWrapper(io.BufferedReader(Endless(), 64))
    monkeypatch.setattr(sys, "stdin", stream)
    items = read(["-"])
    assert keys(iter([next(items), next(items)])) == ["stdin:1", "stdin:2"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"%PDF-1.7\n%", "a PDF file"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"PK\x03\x04zip", "a zip archive"),
        ('{"text": "x"}'.encode("utf-16"), "utf-16"),
        ("plain".encode("utf-32"), "utf-32"),
    ],
)
def test_files_that_are_no_utf8_text_say_what_they_are(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    for format_id in (None, "jsonl", "text", "csv"):
        with pytest.raises(FormatError, match=problem):
            list(read([write(tmp_path / "a.jsonl", content)], format_id))
