"""CSL JSON: known markup goes, everything else stays; one bad item stops no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import read
from sciextract.formats.markup import plain_text
from tests.unit.formats.bibliographic_records import (
    NO_ABSTRACT,
    bad_and_good,
    document,
    read_items,
)

ITEM: dict[str, Any] = {
    "id": "http://example.org/items/AB1",
    "citation-key": "lovelace2019",
    "type": "article-journal",
    "title": "CO<sub>2</sub> in <i>E. coli</i>",
    "abstract": "We find p<0.05 in\n<b>two</b> lines.",
    "container-title": "Journal of Invented Results",
    "DOI": "10.1000/AB.1",
    "URL": "https://example.org/1",
    "note": "PMID: 123\nPMCID: PMC7",
    "keyword": "graphs, tables",
    "author": [{"family": "Lovelace", "given": "Ada"}, {"literal": "Graph Group"}],
    "issued": {"date-parts": [["2019", 3]]},
}


def test_an_item_becomes_text_and_fields(tmp_path: Path) -> None:
    found = document(tmp_path, "csl", json.dumps([ITEM])).document
    assert found.doc_key == "lovelace2019"
    assert found.text == "CO2 in E. coli\nWe find p<0.05 in\ntwo lines."
    assert found.fields == {
        "title": "CO2 in E. coli",
        "year": 2019,
        "doi": "10.1000/ab.1",
        "pmid": "123",
        "venue": "Journal of Invented Results",
        "authors": ["Lovelace, Ada", "Graph Group"],
        "url": "https://example.org/1",
        "keywords": ["graphs", "tables"],
        **{name: ITEM[name] for name in ("id", "citation-key", "type", "note", "issued")},
    }


@pytest.mark.parametrize(
    ("rich", "plain"),
    [
        (
            '<span style="font-variant:small-caps;">Abc</span> <span class="nocase">DNA</span>',
            "Abc DNA",
        ),
        ("<i>a <b>b</b> <i>c</i></i><sc>d</sc>", "a b cd"),
        ("10<sup>5</sup> H<sub>2</sub>O", "105 H2O"),
        ("a<b and c>d <i>open <p>a &lt; b</p><br/>c", "a<b and c>d <i>open a < b c"),
        ("<I>upper</I> <script>x</script>", "upper <script>x</script>"),
        ("</i>", "</i>"),
    ],
)
def test_only_closed_tags_are_markup(rich: str, plain: str) -> None:
    assert plain_text(rich) == plain


@pytest.mark.parametrize("indent", [None, 1, "\t"])
@pytest.mark.parametrize("wrap", [False, True])
def test_any_layout_of_the_list_will_do(tmp_path: Path, indent: Any, wrap: bool) -> None:
    items = [{**ITEM, "citation-key": key} for key in "abc"]
    content = json.dumps({"total": 3, "items": items} if wrap else items, indent=indent)
    assert bad_and_good(read_items(tmp_path, "csl", "\ufeff" + content)) == ([], ["a", "b", "c"])


@pytest.mark.parametrize("indent", [None, 1])
def test_replies_of_crossref(tmp_path: Path, indent: int | None) -> None:
    frame = {"status": "ok", "message-type": "work-list"}
    page = {"facets": {}, "total-results": 2, "items": [ITEM, ITEM], "query": {"start-index": 0}}
    for message, count in ((page, 2), (ITEM, 1)):
        path = tmp_path / "reply.json"
        path.write_text(json.dumps({**frame, "message": message}, indent=indent), "utf-8")
        keys = [
            item.document.doc_key for item in read([path]) if isinstance(item, AnnotatedDocument)
        ]
        assert keys == [ITEM["citation-key"]] * count


def test_keys_and_unusable_values(tmp_path: Path) -> None:
    items = [
        {"id": 7, "title": "T"},
        {"title": "T", "DOI": "10.1000/x"},
        {"title": "T", "DOI": "none", "issued": {"raw": "soon"}, "author": [3]},
    ]
    found = read_items(tmp_path, "csl", json.dumps(items))
    assert bad_and_good(found) == ([], ["7", "10.1000/x", "lib:3"])
    last = found[2]
    assert last.warnings == (NO_ABSTRACT,)  # type: ignore[union-attr]
    assert last.document.fields["csl"] == {"doi": "none", "authors": [3]}  # type: ignore[union-attr]
    assert last.document.fields["issued"] == {"raw": "soon"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("null", "'null' found between records; expected JSON objects"),
        ('["x"]', "'[\"x\"]' found between records"),
        ('{"id": "b"}', "doc_key 'b': no text"),
        ('{"id": "b", "title": 7}', "title: 7 found; expected a string"),
        ('{"id": "b", "title": "T", "x": NaN}', "NaN is not a JSON number"),
        ('{"id": "b", "title": "T", "x": 1e999}', "too large"),
        ('{"id": "b", "title" "T"}', "broken JSON: Expecting ':' delimiter"),
        ('{"id": "b", "title": "never closed', "broken JSON: Expecting ',' delimiter"),
        ('{"id": "b", "title": "T"', "broken JSON: Expecting property name"),
        ('{"id": "b", "title": "caf\udce9"}', "is not UTF-8"),
        ('{"id": "b", "x": ' + "[" * 100_000 + "}", "nested too deeply"),
        ('{"id": "b", "title": "T", "x": ' + "[" * 150 + "]" * 150 + "}", "deeper than 100 levels"),
    ],
)
@pytest.mark.parametrize("layout", ["[{},\n{},\n{}]", "[\n{},\n{},\n{}\n]"])
def test_a_broken_item_is_named_and_the_others_are_read(
    tmp_path: Path, broken: str, words: str, layout: str
) -> None:
    a, c = (json.dumps({"id": key, "title": "T", "abstract": "x"}) for key in "ac")
    content = layout.format(a, broken, c).encode("utf-8", "surrogateescape")
    errors, keys = bad_and_good(read_items(tmp_path, "csl", content))
    assert keys == ["a", "c"]
    assert len(errors) == 1 and words in errors[0].message
    assert errors[0].line in ((3, 4) if layout.startswith("[\n") else (2, 3))


def test_a_truncated_file_keeps_what_was_whole(tmp_path: Path) -> None:
    content = json.dumps([{"id": key, "title": "T"} for key in "abc"], indent=1)
    errors, keys = bad_and_good(read_items(tmp_path, "csl", content[:-20]))
    assert keys == ["a", "b"] and errors[0].line is not None
    errors, keys = bad_and_good(read_items(tmp_path, "csl", content[:-2]))
    assert keys == ["a", "b", "c"] and "the array is not closed" in errors[0].message


def test_what_stands_behind_the_list_is_told(tmp_path: Path) -> None:
    errors, keys = bad_and_good(read_items(tmp_path, "csl", '[\n{"id": 1, "title": "T"}\n] junk'))
    assert keys == ["1"] and "broken JSON" in errors[0].message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n", "blank lines only"),
        (b"[]", "holds no record"),
        (b"TY  - JOUR\nTI  - T\n", "broken JSON"),
        ('[{"id": 1}]'.encode("utf-16"), "utf-16"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_items(tmp_path, "csl", content)


def test_hostile_text_is_kept(tmp_path: Path) -> None:
    text = "[12] \x1b[31mred e\u0301 🧬 \u00a0\r\n \u2028 =1+1 & \x00"
    assert (
        document(tmp_path, "csl", json.dumps([{"title": "T", "abstract": text}])).document.text
        == f"T\n{text}"
    )
