"""arXiv: feed and snapshot give the same keys and texts without their line breaks."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sciextract.errors import FormatError
from sciextract.formats.arxiv import read_arxiv
from sciextract.formats.base import Source
from tests.unit.formats.bibliographic_records import bad_and_good, document, read_items

ENTRY = """<entry>
  <id>http://arxiv.org/abs/2101.00001v2</id>
  <updated>2021-05-01T00:00:00Z</updated><published>2021-01-02T00:00:00Z</published>
  <title>Graphs of
  everything</title>
  <summary>  We parse graphs
of $O(n)$ nodes &amp; tables.
</summary>
  <author><name>Ada B. Lovelace</name></author><author><name>Ludwig van Beethoven</name></author>
  <arxiv:comment>5 pages</arxiv:comment><arxiv:journal_ref>J. Inv. Res. 1 (2022)</arxiv:journal_ref>
  <arxiv:doi>10.1000/AB.1</arxiv:doi><category term="cs.CL"/><category term="cs.LG"/>
</entry>
"""
FEED = '<?xml version="1.0"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">\n<title>query</title><id>q</id>\n{}</feed>'
RECORD: dict[str, Any] = {
    "id": "2101.00001",
    "submitter": "A. Lovelace",
    "authors": "Ada B. Lovelace and Ludwig van Beethoven",
    "title": "Graphs of\n  everything",
    "comments": "5 pages",
    "journal-ref": "J. Inv. Res. 1 (2022)",
    "doi": "10.1000/AB.1",
    "categories": "cs.CL cs.LG",
    "abstract": "  We parse graphs\nof $O(n)$ nodes & tables.\n",
    "versions": [{"version": "v1", "created": "Sat, 2 Jan 2021 19:18:42 GMT"}],
    "update_date": "2022-05-01",
    "authors_parsed": [["Lovelace", "Ada B.", ""], ["van Beethoven", "Ludwig", "", "Bonn"]],
}


def test_feed_and_snapshot_give_the_same(tmp_path: Path) -> None:
    feed = document(tmp_path, "arxiv", FEED.format(ENTRY)).document
    snapshot = document(tmp_path, "arxiv", json.dumps(RECORD)).document
    for found in (feed, snapshot):
        assert found.doc_key == "2101.00001"
        assert found.text == "Graphs of everything\nWe parse graphs of $O(n)$ nodes & tables."
        assert found.fields["year"] == 2021 and found.fields["doi"] == "10.1000/ab.1"
        assert found.fields["venue"] == "J. Inv. Res. 1 (2022)"
        assert found.fields["authors"] == ["Lovelace, Ada B.", "van Beethoven, Ludwig"]
        assert found.fields["categories"] == ["cs.CL", "cs.LG"]
    assert feed.fields["url"] == "http://arxiv.org/abs/2101.00001v2"
    assert feed.fields["comment"] == snapshot.fields["comments"] == "5 pages"
    assert snapshot.fields["url"] == "https://arxiv.org/abs/2101.00001"
    assert snapshot.fields["versions"] == RECORD["versions"]


def test_names_on_a_line_and_old_ids(tmp_path: Path) -> None:
    record = {**RECORD, "id": "hep-th/9901001", "authors_parsed": None, "versions": None}
    found = document(
        tmp_path, "arxiv", json.dumps({**record, "authors": "A. Bee, C. Dee, and\n E. Eff"})
    )
    assert found.document.fields["authors"] == ["Bee, A.", "Dee, C.", "Eff, E."]
    assert found.document.fields["year"] == 2022 and found.document.doc_key == "hep-th/9901001"
    old = ENTRY.replace("2101.00001v2", "hep-th/9901001v1")
    assert document(tmp_path, "arxiv", FEED.format(old)).document.doc_key == "hep-th/9901001"


def test_json_lines_go_on_after_a_broken_one(tmp_path: Path) -> None:
    lines = [
        json.dumps(RECORD),
        '{"id": "2", "title": "cut',
        '{"id": "3"}',
        "7",
        json.dumps(RECORD),
    ]
    errors, keys = bad_and_good(read_items(tmp_path, "arxiv", "\n".join(lines) + "\n"))
    assert keys == ["2101.00001"] * 2
    assert [error.line for error in errors] == [2, 3, 4]
    assert "doc_key '3': no text" in errors[1].message and "the line holds 7" in errors[2].message


def test_a_broken_first_line_does_not_hide_the_others(tmp_path: Path) -> None:
    content = '{"id": "1", "title": "cut\n' + json.dumps(RECORD) + "\n"
    errors, keys = bad_and_good(read_items(tmp_path, "arxiv", content))
    assert keys == ["2101.00001"] and errors[0].line == 2


def test_entries_without_text_and_answers_with_an_error(tmp_path: Path) -> None:
    empty = "<entry><id>http://arxiv.org/abs/1.2v1</id></entry>\n"
    refusal = "<entry><id>http://arxiv.org/api/errors#x</id><title>Error</title><summary>bad id</summary></entry>\n"
    errors, keys = bad_and_good(read_items(tmp_path, "arxiv", FEED.format(empty + refusal + ENTRY)))
    assert keys == ["2101.00001"]
    assert [error.line for error in errors] == [4, 5]
    assert "doc_key '1.2': no text" in errors[0].message
    assert "arXiv answered with an error: bad id" in errors[1].message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        (FEED.format(""), "holds no entry"),
        ("<feed>", "ends inside the element 'feed'"),
        ('<!DOCTYPE f [<!ENTITY x "y">]>' + FEED[21:].format(ENTRY), "declares the entity 'x'"),
        ("plain words", "broken JSON"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_items(tmp_path, "arxiv", content)


@pytest.mark.parametrize(
    "content", ["\n\n" + FEED.format(ENTRY)[22:], json.dumps(RECORD) + "\n" + json.dumps(RECORD)]
)
@pytest.mark.parametrize("taken", [0, 1, 5])
def test_standard_input_is_read_from_its_start(
    monkeypatch: pytest.MonkeyPatch, content: str, taken: int
) -> None:
    stream = io.BufferedReader(io.BytesIO(content.encode()))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
    start = b"".join(stream.readline() for _ in range(taken))
    errors, keys = bad_and_good(list(read_arxiv(Source("-", start))))
    assert not errors and set(keys) == {"2101.00001"}
