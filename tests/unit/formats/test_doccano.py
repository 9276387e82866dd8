"""doccano's layouts, in and out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Cluster, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, read
from sciextract.text.offsets import UTF16
from tests.shared_data import shared_path
from tests.unit.formats.tool_files import (
    TEXT,
    documents_of,
    entity,
    groups,
    items_of,
    made,
    mentions,
    problem_of,
    triples,
    written,
)

PLAIN = TEXT.replace("😀", "x")


def span(number: int, start: int, end: int, label: str = "Task") -> dict[str, Any]:
    return {"id": number, "start_offset": start, "end_offset": end, "label": label}


def record(**changes: Any) -> dict[str, Any]:
    made_record: dict[str, Any] = {
        "id": 7,
        "text": PLAIN,
        "entities": [span(1, 3, 17), span(2, 11, 17, "Material"), span(3, 19, 23, "Generic")],
        "relations": [
            {"id": 1, "from_id": 2, "to_id": 1, "type": "Part-of"},
            {"id": 2, "from_id": 3, "to_id": 2, "type": "COREF"},
        ],
        "Comments": ["sure?"],
        "year": 2020,
    }
    return {key: value for key, value in (made_record | changes).items() if value is not ...}


def test_entities_relations_and_clusters(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "doccano", record())
    expected = [("Task", "parse x graphs"), ("Material", "graphs"), ("Generic", "They")]
    assert mentions(found) == expected
    assert triples(found) == [("graphs", "Part-of", "parse x graphs")]
    assert groups(found) == [["graphs", "They"]]
    assert found.document.doc_key == "7"
    assert found.document.fields == {"Comments": ["sure?"], "year": 2020}
    assert found.warnings == ()


@pytest.mark.parametrize("column", ["label", "labels", "entities"])
def test_lists_of_triples(column: str, tmp_path: Path) -> None:
    changes = {"entities": ..., "relations": ..., column: [[3, 8, "Task"], [0, 2, "Generic"]]}
    (found,) = documents_of(tmp_path, "doccano", record(**changes))
    assert mentions(found) == [("Task", "parse"), ("Generic", "We")]


def test_labels_of_documents_are_kept_and_counted(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "doccano", record(label=["good", "short"]))
    assert found.document.fields["label"] == ["good", "short"]
    assert found.warnings == ("label of the whole document, kept as the field 'label' (once)",)


@pytest.mark.parametrize("indent", [None, 4])
def test_one_object_and_arrays_over_several_lines(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    path.write_text(json.dumps([record(), record(id=8)], indent=indent), encoding="utf-8")
    items = list(read([path]))
    assert [len(i.annotations.relations) for i in items if isinstance(i, AnnotatedDocument)] == [
        1,
        1,
    ]
    path.write_text(json.dumps(record(), indent=indent), encoding="utf-8")
    assert len(list(read([path]))) == 1


@pytest.mark.parametrize(
    ("spans", "found", "remark"),
    [
        ([(3, 8)], ["parse"], False),
        ([(12, 18)], ["graphs"], True),
        ([(11, 17)], ["graphs"], False),
        ([(9, 10)], ["😀"], False),
        ([(25, 30)], ["help."], True),
        ([(10, 17)], [" graphs"], False),
        ([(25, 29), (12, 18), (29, 30)], ["help", "graphs", "."], True),
    ],
)
def test_units_of_offsets_behind_an_emoji(
    spans: list[tuple[int, int]], found: list[str], remark: bool, tmp_path: Path
) -> None:
    given = [[start, end, "T"] for start, end in spans]
    # A space in front of the emoji: as UTF-16 units, offset 10 lies inside of it, 11 behind it.
    changes = {"entities": given, "relations": ..., "text": TEXT}
    (document,) = documents_of(tmp_path, "doccano", record(**changes))
    assert [string for _, string in mentions(document)] == found
    assert [UTF16.name in warning for warning in document.warnings] == [True] * remark


BAD: list[tuple[dict[str, Any], str]] = [
    ({"text": ...}, r"no text: the columns are 'id', 'entities', .*expected 'text'"),
    ({"text": []}, r"text: \[\] found; expected a string"),
    ({"entities": 7}, r"entities: 7 found; expected a list"),
    ({"id": {}}, r"id: \{\} found"),
]


@pytest.mark.parametrize(("changes", "problem"), BAD)
def test_a_bad_record_names_its_place_and_the_others_are_read(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    first, second, third = items_of(tmp_path, "doccano", record(), record(**changes), record())
    assert isinstance(first, AnnotatedDocument) and isinstance(third, AnnotatedDocument)
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(problem_of(second))
    assert "made.jsonl:2" in problem_of(second)


ODD: list[tuple[dict[str, Any], str]] = [
    ({"entities": [7, 8]}, r"entities\[0\]: 7 found; expected \[start, end, label\]"),
    ({"entities": [[1, 2]]}, r"entities\[0\]: \[1, 2\] found"),
    ({"entities": [[1, 2, ""]]}, r"entities\[0\] label: '' found"),
    ({"entities": [["1", 2, "T"]]}, r"start '1' and end 2 found"),
    ({"entities": [[True, 2, "T"]]}, r"start True"),
    ({"entities": [[5, 5, "T"]]}, r"start 5 and end 5 found"),
    ({"entities": [[-1, 5, "T"]]}, r"start -1"),
    ({"entities": [[3, 99, "T"]]}, r"entities\[0\]: 3 99 found; expected offsets in the text"),
    ({"entities": [span(1, 0, 2), span(1, 3, 8)]}, r"entities\[1\]\.id: 1 found"),
    ({"entities": [{"id": [], **dict(list(span(1, 0, 2).items())[1:])}]}, r"id: \[\] found"),
    ({"relations": [{"from_id": 9, "to_id": 1, "type": "X"}]}, r"relations\[0\]\.from_id: 9 found"),
    ({"relations": [{"from_id": 1, "type": "X"}]}, r"relations\[0\]\.to_id: None found"),
    ({"relations": [{"from_id": 1, "to_id": {}, "type": "X"}]}, r"to_id: \{\} found"),
    ({"relations": [{"from_id": 1, "to_id": 2, "type": 7}]}, r"relations\[0\]\.type: 7 found"),
    ({"relations": [7]}, r"relations\[0\]: 7 found; expected an object"),
]


@pytest.mark.parametrize(("changes", "problem"), ODD)
def test_an_odd_item_is_left_out_and_named(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    (found,) = documents_of(tmp_path, "doccano", record(**changes))
    assert found.unread
    assert re.search(problem, "; ".join(found.warnings))


def test_columns_of_other_names_are_named(tmp_path: Path) -> None:
    (item,) = items_of(
        tmp_path, "doccano", {"column_data": "We parse.", "column_label": [[0, 2, "T"]]}
    )
    assert isinstance(item, BadRecord)
    assert "the columns are 'column_data', 'column_label'" in item.error.message
    assert "jq" in item.error.hint


def test_the_sample_with_other_columns_says_so() -> None:
    items = list(read([shared_path("formats/doccano/sequence_labeling-import.jsonl")], "doccano"))
    assert len(items) == 3
    assert all("column_data" in problem_of(item) for item in items)


def test_the_relation_layout_is_written() -> None:
    parts = (entity("A", (3, 8)), entity("B", (11, 17)), entity("C", (19, 23), label="Generic"))
    relations, clusters = (Relation("R", "B", "A", "X"),), (Cluster("K", ("B", "C")),)
    one = made(*parts, relations=relations, clusters=clusters)
    (first, second), losses = written("doccano", one, one)
    assert losses == {}
    assert first["entities"][0] == span(1, 3, 8) | {"text": "parse"}
    assert [entity["id"] for entity in second["entities"]] == [4, 5, 6]
    assert second["relations"] == [
        {"id": 3, "from_id": 5, "to_id": 4, "type": "X"},
        {"id": 4, "from_id": 5, "to_id": 6, "type": "COREF"},
    ]
    assert (first["doc_key"], first["year"], first["Comments"]) == ("d", 2020, [])


def test_entities_without_a_type_are_counted() -> None:
    untyped = made(
        entity("A", (3, 8), label=""), entity("B", (0, 2)), clusters=(Cluster("K", ("A", "B")),)
    )
    _, losses = written("doccano", untyped)
    assert losses == {
        "entity without a type": 1,
        "mention of an entity that does not fit": 1,
        "cluster of fewer than two mentions": 1,
    }


def test_a_document_without_items_is_recognised(tmp_path: Path) -> None:
    (line,), _ = written("doccano", made())
    path = tmp_path / "made.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument)
    assert "Comments" in item.document.fields and "entities" not in item.document.fields
