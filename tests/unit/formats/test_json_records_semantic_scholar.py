"""Semantic Scholar: one paper, a list, a reply, or lines of any of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.errors import FormatError
from sciextract.formats import base
from sciextract.formats.base import ReadItem, Source
from sciextract.formats.json_records import read_semantic_scholar
from tests.unit.formats.bibliographic_records import NO_ABSTRACT, bad_and_good, document, read_items

PAPER: dict[str, Any] = {
    "paperId": "abc123",
    "externalIds": {"DOI": "10.1000/AB.1", "PubMed": "123", "ArXiv": "2101.00001", "CorpusId": 9},
    "url": "https://example.org/abc123",
    "title": "Graphs of everything",
    "abstract": "We parse\ngraphs.",
    "venue": "",
    "publicationVenue": {"name": "Journal of Invented Results", "type": "journal"},
    "year": 2019,
    "authors": [{"authorId": "1", "name": "Ada B. Lovelace"}, {"authorId": None, "name": "Plato"}],
    "citationCount": 5,
}


def papers(*keys: str) -> list[dict[str, Any]]:
    return [{**PAPER, "paperId": key} for key in keys]


def test_a_paper_becomes_text_and_fields(tmp_path: Path) -> None:
    found = document(tmp_path, "s2", json.dumps(PAPER)).document
    assert found.doc_key == "abc123" and found.text == "Graphs of everything\nWe parse\ngraphs."
    assert found.fields == {
        "title": "Graphs of everything",
        "year": 2019,
        "doi": "10.1000/ab.1",
        "pmid": "123",
        "venue": "Journal of Invented Results",
        "authors": ["Lovelace, Ada B.", "Plato"],
        "url": "https://example.org/abc123",
        **{
            name: PAPER[name]
            for name in ("paperId", "externalIds", "publicationVenue", "citationCount")
        },
    }


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(papers("a", "b")),
        json.dumps(papers("a", "b"), indent=2),
        json.dumps({"total": 2, "offset": 0, "token": "x", "data": papers("a", "b"), "next": 2}),
        json.dumps({"total": 2, "data": papers("a", "b"), "next": 2}, indent=2),
        json.dumps({"nested": {"x": 1}, "data": papers("a", "b")}, indent=2),
        "\n".join(map(json.dumps, papers("a", "b"))),
        "\n\n".join(json.dumps({"data": papers(key)}) for key in "ab"),
        "\n".join(json.dumps(paper, indent=2) for paper in papers("a", "b")),
    ],
)
def test_any_layout_will_do(tmp_path: Path, content: str) -> None:
    assert bad_and_good(read_items(tmp_path, "s2", content)) == ([], ["a", "b"])


@pytest.mark.parametrize(
    ("paper", "key"),
    [
        ({"corpusId": 9}, "9"),
        ({"corpusid": 9, "openaccessinfo": {"externalids": {"DOI": "10.1000/x"}}}, "9"),
        ({"externalIds": {"DOI": "10.1000/X", "ArXiv": "1.2"}}, "10.1000/x"),
        ({"externalIds": {"ArXiv": "1.2"}}, "1.2"),
        ({"externalIds": None}, "lib:1"),
    ],
)
def test_keys(tmp_path: Path, paper: dict[str, Any], key: str) -> None:
    found = document(tmp_path, "s2", json.dumps({**paper, "abstract": "x"}))
    assert found.document.doc_key == key and found.document.text == "x"


def test_papers_without_abstract_and_unusable_values(tmp_path: Path) -> None:
    found = document(
        tmp_path, "s2", json.dumps({**PAPER, "abstract": None, "year": "soon", "authors": 3})
    )
    assert found.document.text == "Graphs of everything" and found.warnings == (NO_ABSTRACT,)
    assert found.document.fields["s2"] == {"year": "soon", "authors": 3}


def test_papers_that_were_not_found_and_broken_ones(tmp_path: Path) -> None:
    items = [*papers("a"), None, {"paperId": "e"}, {"paperId": "f", "title": 7}, *papers("b")]
    for content in (
        json.dumps(items),
        json.dumps(items, indent=1),
        "\n".join(map(json.dumps, items)),
    ):
        errors, keys = bad_and_good(read_items(tmp_path, "s2", content))
        assert keys == ["a", "b"]
        assert any(word in errors[0].message for word in ("'null' found", "holds None"))
        assert "doc_key 'e': no text" in errors[1].message
        assert "7 found; expected a string" in errors[2].message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b'{"data": []}', "holds no record"),
        (b'{"paperId": "a", "title": "cut', "broken JSON: Unterminated string"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\x89PNG", "a picture"),
    ],
)
def test_a_file_of_another_kind_is_refused_or_told(
    tmp_path: Path, content: bytes, words: str
) -> None:
    with pytest.raises(FormatError, match=words):
        for error in bad_and_good(read_items(tmp_path, "s2", content))[0]:
            raise error


def test_a_truncated_reply_keeps_what_was_whole(tmp_path: Path) -> None:
    content = json.dumps({"total": 3, "data": papers("a", "b", "c")})
    errors, keys = bad_and_good(read_items(tmp_path, "s2", content[:-40]))
    assert keys == ["a", "b"] and len(errors) == 1


def test_blank_lines_do_not_move_the_places_of_errors(tmp_path: Path) -> None:
    content = '\n\n[\n\n{"paperId": "a", "title": "T"},\n\n{"paperId": "b", "title": 7}]'
    errors, keys = bad_and_good(read_items(tmp_path, "s2", content))
    assert keys == ["a"] and errors[0].line == 7
    lines = '\n{"paperId": "a", "title": "T"}\n\n\n{"paperId": "b", "title": 7}\n'
    errors, keys = bad_and_good(read_items(tmp_path, "s2", lines))
    assert keys == ["a"] and errors[0].line == 5


def test_a_line_of_many_megabytes_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "MAX_LINE_BYTES", 1000)
    long = json.dumps({"paperId": "b", "title": "T" * 5000})
    content = "\n".join([json.dumps(papers("a")[0]), long, json.dumps(papers("c")[0])])
    errors, keys = bad_and_good(read_items(tmp_path, "s2", content))
    assert keys == ["a", "c"] and errors[0].line == 2 and "is left out" in errors[0].message
    whole = json.dumps(papers(*"abcdefgh"))
    assert bad_and_good(read_items(tmp_path, "s2", whole)) == ([], list("abcdefgh"))


def test_a_packed_file_that_is_cut_off_keeps_what_was_whole(tmp_path: Path) -> None:
    content = json.dumps(papers(*map(str, range(3000))), indent=1).encode()
    path = tmp_path / "lib.json.gz"
    path.write_bytes(gzip.compress(content)[:-200])
    found: list[ReadItem] = []
    with pytest.raises(FormatError, match="cut off"):
        found.extend(read_semantic_scholar(Source(str(path))))
    assert len(bad_and_good(found)[1]) > 10
