"""JSON objects in any layout, and what a broken one leaves of the others."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.errors import FormatError
from sciextract.formats.base import Source
from sciextract.formats.json_streams import json_objects
from tests.tiers import examples

A, B = {"a": ['x]}"', {"b": 1}]}, {"c": "\\", "d": {}}


def found(path: Path, content: str | bytes) -> list[Any]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [
        f"{number}: {item.problem}" if isinstance(item, FormatError) else item
        for number, item in json_objects(Source(str(path)))
    ]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(A) + "\n" + json.dumps(B),
        json.dumps([A, B]),
        json.dumps([A, B], indent=2),
        json.dumps([A, B], indent=0),
        json.dumps(A, indent=4) + "\n" + json.dumps(B, indent=4) + "\n",
        "\ufeff\n\n[\r\n" + json.dumps(A) + ",\r\n" + json.dumps(B) + "\r\n]\r\n",
        "[\n" + json.dumps(A) + "\n," + json.dumps(B) + "]",
        json.dumps([A]) + json.dumps([B]),
    ],
)
def test_every_layout_gives_the_same_objects(content: str, tmp_path: Path) -> None:
    assert found(tmp_path / "made.json", content) == [A, B]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@settings(max_examples=examples(60), deadline=None)
@given(
    objects=st.lists(st.dictionaries(st.text(max_size=4), VALUES), max_size=4),
    indented=st.booleans(),
)
def test_any_array_is_read(
    objects: list[Any], indented: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("json") / "made.json"
    content = json.dumps(objects, indent=1 if indented else None, ensure_ascii=False)
    assert found(path, content.encode("utf-8", "surrogatepass")) == objects


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1}\n{"a"\n{"a": 3}', [{"a": 1}, "2: broken JSON: Expecting ':'", {"a": 3}]),
        ('{"a": \n{"a": 3}', ["1: broken JSON", {"a": 3}]),
        ('{"a": 1}\n7\n{"a": 3}', [{"a": 1}, "2: the line holds 7", {"a": 3}]),
        (b'{"a": 1}\n{"a": "\xff"}\n{"a": 3}', [{"a": 1}, "2: byte 0xff", {"a": 3}]),
        ('[{"a": 1},\n{"a": },\n{"a": 3}]', [{"a": 1}, "2: broken JSON", {"a": 3}]),
        ('[\n{"a": [1,\n{"a": 3}\n]', ["2: broken JSON: Expecting ',' delimiter", {"a": 3}]),
        ('[\n{"a": "x,\n{"a": 3}\n]', ["2: broken JSON: Expecting ',' delimiter", {"a": 3}]),
        (
            json.dumps([{"a": [B]}, {"b": 0}], indent=1).replace("}", "", 1),
            ["2: broken JSON: Expecting ',' delimiter", {"b": 0}],
        ),
        ('[{"a": 1, "a": 2}]', ["1: broken JSON: the key 'a' occurs twice"]),
        ('[{"a": 1}, 7, null, {"a": 3}]', [{"a": 1}, "1: '7' found", "1: 'null' found", {"a": 3}]),
        ('[[{"a": 1}], {"a": 3}]', ["1: '[{\"a\": 1}]' found between records", {"a": 3}]),
        ('[{"a": 1}', [{"a": 1}, "1: the array is not closed"]),
        ('[\n{"a": 1},\n{"a": {"b"', [{"a": 1}, "3: broken JSON: Expecting ':'"]),
        ('[{"a": 1}]\n]', [{"a": 1}, "2: broken JSON: Expecting value"]),
        ("[]", []),
        (b'[\n{"a": "\xff"},\n{"a": 3}\n]', ["2: byte 0xff at position 9", {"a": 3}]),
        pytest.param(
            '[{"a":' + "[" * 100_000 + "]" * 100_000 + '},\n{"a": 3}]',
            ["1: the JSON is nested too deeply", {"a": 3}],
            id="a hundred thousand arrays in one another",
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_broken_object_is_placed_and_the_others_are_read(
    content: str | bytes, expected: list[Any], tmp_path: Path
) -> None:
    items = found(tmp_path / "made.json", content)
    assert len(items) == len(expected), items
    for item, wanted in zip(items, expected, strict=True):
        if isinstance(wanted, str):
            assert isinstance(item, str) and item.startswith(wanted)
        else:
            assert item == wanted


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file_is_unusable(content: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="empty"):
        found(tmp_path / "made.json", content)


def test_lines_come_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_: Source) -> Any:
        while True:
            yield b'{"a": 1}\n'

    monkeypatch.setattr(Source, "lines", endless)
    items = iter(json_objects(Source("endless.json")))
    assert [next(items), next(items)] == [(1, {"a": 1}), (2, {"a": 1})]


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000 + "]" * 100_000, '[{"a":' + '{"b":' * 50_000 + "]" * 50_000],
    ids=["closed", "closed by other brackets"],
)
def test_deep_nesting_takes_no_longer_than_its_length(content: str, tmp_path: Path) -> None:
    start = process_time()
    [problem] = found(tmp_path / "deep.json", content)
    assert str(problem).startswith("1: the JSON is nested too deeply")
    assert process_time() - start < 5  # once 25 seconds, and minutes


def test_an_outer_object_stands_for_the_objects_of_its_list(tmp_path: Path) -> None:
    inner = {"list": [A, B], "rest": [{"x": [1]}], "more": {"y": []}}
    path = tmp_path / "made.json"
    for indent in (None, 1):
        path.write_text(json.dumps({"first": [{"z": 1}], **inner}, indent=indent))
        objects = json_objects(Source(str(path)), "list")
        assert [record for _, record in objects] == [A, B]
