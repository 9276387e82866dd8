"""From bytes to lines: marks, line ends and encodings are the same for every reader."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import Source

RECORDS = {
    "lib.csv": "id,abstract\n1,We fold.\n2,We rank.\n",
    "savedrecs.txt": "PT\tTI\tAB\nJ\tA\tWe fold.\nJ\tB\tWe rank.\n",
    "lib.jsonl": '{"id": 1, "text": "We fold."}\n{"id": 2, "text": "We rank."}\n',
    "lib.json": '[{"id": 1, "text": "We fold."},\n{"id": 2, "text": "We rank."}]\n',
    "lib.conll": "We O\nfold. O\n\nWe O\nrank. O\n",
    "lib.ris": "TY  - JOUR\nAB  - We fold.\nER  -\nTY  - JOUR\nAB  - We rank.\nER  -\n",
    "lib.nbib": "PMID- 1\nAB  - We fold.\n\nPMID- 2\nAB  - We rank.\n",
    "lib.enw": "%0 Journal Article\n%X We fold.\n\n%0 Journal Article\n%X We rank.\n",
    "lib.bib": "@article{a, abstract={We fold.}}\n@article{b, abstract={We rank.}}\n",
    "lib.pubtator": "1|t|We fold.\n\n2|t|We rank.\n",
}


def texts_of(path: Path | str) -> list[str]:
    items = list(read([path]))
    assert not [item.error for item in items if isinstance(item, BadRecord)]
    found = [item.document.text for item in items if isinstance(item, AnnotatedDocument)]
    return [text.rpartition("\n")[2] for text in found]


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_lines_may_end_in_carriage_returns(
    tmp_path: Path, name: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = RECORDS[name].replace("\n", end).encode()
    (tmp_path / name).write_bytes(content)
    assert texts_of(tmp_path / name) == ["We fold.", "We rank."]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert texts_of("-") == ["We fold.", "We rank."]


@pytest.mark.parametrize("mark", ["\ufeff", "ï»¿"])
@pytest.mark.parametrize("name", ["lib.jsonl", "lib.conll", "lib.ris", "lib.nbib", "lib.enw"])
def test_marks_stand_where_joined_files_begin(tmp_path: Path, name: str, mark: str) -> None:
    (tmp_path / name).write_text(2 * f"{mark}{RECORDS[name]}\n", "utf-8")
    assert texts_of(tmp_path / name) == 2 * ["We fold.", "We rank."]


def test_a_carriage_return_within_quotation_marks_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'id,"text"\n1,"a\rb"\n')
    assert [item.document.text for item in read([tmp_path / "a.csv"])] == ["a\rb"]  # type: ignore[union-attr]
    (tmp_path / "a.jsonl").write_bytes(json.dumps({"text": "aXb"}).replace("X", "\r").encode())
    assert [item.document.text for item in read([tmp_path / "a.jsonl"])] == ["a\rb"]  # type: ignore[union-attr]


def test_lines_are_the_bytes_of_the_file(tmp_path: Path) -> None:
    content = b"a\rb\r\n\rc\nd" + b"x" * (1 << 20) + b"\r"
    (tmp_path / "a").write_bytes(content)
    lines = list(Source(str(tmp_path / "a")).lines())
    assert b"".join(lines) == content and [line[:2] for line in lines] == [
        *(b"a\r", b"b\r", b"\r", b"c\n", b"dx")
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id,abstract,the author’s lattice".encode("cp1252"), "iconv -f windows-1252"),
        ("id,abstract,ラティス。".encode("shift-jis"), "iconv -l"),
        ("TY  - JOUR".encode("utf-16-le"), "iconv -f utf-16le"),
    ],
)
def test_the_advice_fits_the_bytes(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(FormatError) as caught:
        list(read([tmp_path / "a.csv"]))
    assert words in caught.value.hint
