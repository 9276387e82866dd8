from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import Source
from sciextract.formats.jsonl import encode, parse_record
from sciextract.graph import exchange_record
from sciextract.graph.contribution import (
    Contribution,
    CountSettings,
    abstract_of,
    contribution_from,
)
from sciextract.graph.exchange_record import read_abstract
from tests.graph_samples import HOSTILE, abstract, field
from tests.tiers import examples

SOURCE = Source("predictions.jsonl")
STRANGE: list[Any] = [
    None, "", "x", "a", 0, 1, -1, 7, 10**6, 1.5, True, False, [], {}, [None], ["x"], [[0, 1]], [[3, 2]],
    [[0, 4], [2, 6]], [0, 1], [0, 10**6], ["Method", 0.4], [["Method", 0.4]], [["Method", "x"]],
    {"id": "x"}, {"name": "m", "hash": "h"}, "rejected", "accepted", "imported", "2019", [[[]]],
]  # fmt: skip


def _records() -> list[dict[str, Any]]:
    odd = abstract(
        "\ud800", f"We use {HOSTILE} for [12].\ud800", {HOSTILE: "Method", "[12]": "Task"}
    )
    return [json.loads(encode(each)) for each in (*field(), odd, abstract("e", "Nothing.", {}))]


def _without_texts(record: dict[str, Any]) -> dict[str, Any]:
    """The record without what may be absent from its items: the words of the text."""
    derived = {"text", "head_text", "tail_text"}
    items = {
        name: [{key: item[key] for key in item.keys() - derived} for item in record[name]]
        for name in ("entities", "links")
    }
    return {**record, **items}


RECORDS = _records()


def outcome(record: dict[str, Any], lean: bool) -> Contribution | str:
    """What the record contributes, or the words of its error."""
    years = {"a": 1987}
    try:
        if lean:
            found = read_abstract(record, SOURCE, 7, years)
        else:
            document = parse_record(record, SOURCE, 7)
            found = abstract_of(document, years.get(document.document.doc_key))
    except FormatError as error:
        return f"{error.message} | {error.hint}"
    return contribution_from(found, CountSettings())


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("record", RECORDS, ids=[str(n) for n in range(len(RECORDS))])
def test_what_annotate_writes_needs_no_other_reader(
    record: dict[str, Any], texts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = outcome(record, lean=False)
    if not texts:
        assert _without_texts(record) != record or not record["entities"]
        record = _without_texts(record)

    def unwanted(*_: object) -> AnnotatedDocument:
        raise AssertionError("the slow reader was asked")

    monkeypatch.setattr(exchange_record, "parse_record", unwanted)
    assert outcome(record, lean=True) == expected


def _places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *[place for key, child in children for place in _places(child, (*path, key))]]


def _changed(
    record: dict[str, Any], path: tuple[Any, ...], value: object, how: str
) -> dict[str, Any]:
    changed = copy.deepcopy(record)
    parent: Any = changed
    for key in path[:-1]:
        parent = parent[key]
    if how == "remove":
        del parent[path[-1]]
    elif how == "repeat" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[path[-1]]))
    else:
        parent[path[-1]] = value
    return changed


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_the_lean_reader_says_what_the_format_s_own_says(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(RECORDS))
    for _ in range(data.draw(st.integers(1, 3))):
        places = [
            each for each in _places(record) if each and each[0] not in ("tokens", "ner", "scores")
        ]
        how = data.draw(st.sampled_from(["replace", "replace", "remove", "repeat"]))
        record = _changed(
            record, data.draw(st.sampled_from(places)), data.draw(st.sampled_from(STRANGE)), how
        )
    assert outcome(record, lean=True) == outcome(record, lean=False)


@pytest.mark.parametrize(
    "field_and_value",
    [
        ("candidates", {"spans": [{"span": [0, 1], "labels": "no"}]}),
        ("warnings", ["Swedish"]),
        ("warnings", [5]),
        ("schema_version", 99),
        ("schema_version", True),
        ("text_sha256", "0" * 64),
        ("date", "2003-05-06"),
        ("issued", {"date-parts": [[1999]]}),
        ("deep", json.loads("[" * 150 + "]" * 150)),
        ("id", "also a key"),
    ],
    ids=str,
)
def test_other_fields(field_and_value: tuple[str, Any]) -> None:
    for record in RECORDS:
        changed = {**record, field_and_value[0]: field_and_value[1]}
        assert outcome(changed, lean=True) == outcome(changed, lean=False)


def test_records_of_other_shapes() -> None:
    for record in (
        {"text": "A parser."},
        {"title": "A", "abstract": "b", "year": 1999},
        {"x": 1},
        {},
    ):
        assert outcome(record, lean=True) == outcome(record, lean=False)
