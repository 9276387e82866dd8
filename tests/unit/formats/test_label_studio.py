"""Label Studio tasks, in and out, and the labelling configuration."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read
from sciextract.formats.label_studio import INCLUSIVE_ENDS
from sciextract.text.offsets import UTF16
from tests.shared_data import shared_path
from tests.strategies import said_of
from tests.unit.formats.tool_files import (
    TEXT,
    documents_of,
    groups,
    items_of,
    mentions,
    problem_of,
    triples,
)


def region(number: str, start: int, end: int, /, *labels: str, **value: Any) -> dict[str, Any]:
    names = {"from_name": "label", "to_name": "text", "type": "labels"}
    found = {"start": start, "end": end, "labels": list(labels)} | value
    return {"id": number, "value": {k: v for k, v in found.items() if v is not ...}, **names}


def relation(start: str, end: str, *labels: str, direction: str | None = "right") -> dict[str, Any]:
    ends = {"from_id": start, "to_id": end, "type": "relation", "direction": direction}
    return ends | ({"labels": list(labels)} if labels else {})


RESULT = [
    region("a", 3, 17, "Task", text="parse 😀 graphs"),
    region("b", 11, 17, "Material", text="graphs"),
    region("c", 19, 23, text="They"),
    relation("b", "a", "Part-of"),
    relation("c", "b", "COREF", "Same"),
]


def task(result: Any = RESULT, **changes: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": 7,
        "annotations": [{"id": 70, "completed_by": 3, "was_cancelled": False, "result": result}],
        "predictions": [],
        "data": {"text": TEXT, "doc_key": "gk-1", "year": 2020},
        "meta": {"batch": 2},
    }
    return {key: value for key, value in (record | changes).items() if value is not ...}


def test_regions_relations_and_clusters(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "labelstudio", task())
    assert mentions(found) == [("Task", "parse 😀 graphs"), ("Material", "graphs"), ("", "They")]
    assert triples(found) == [("graphs", "Part-of", "parse 😀 graphs"), ("They", "Same", "graphs")]
    assert groups(found) == [["graphs", "They"]]
    assert {entity.source for entity in found.annotations.entities} == {"import:made.jsonl:3"}
    assert found.document.doc_key == "gk-1" and found.document.fields["year"] == 2020
    assert "labelstudio" not in found.document.fields
    assert found.warnings == ()


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_arrays_and_single_tasks(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    path.write_text(json.dumps([task(), task(id=8)], indent=indent), encoding="utf-8")
    assert len(list(read([path]))) == 2
    path.write_text(json.dumps(task(), indent=indent), encoding="utf-8")
    (found,) = read([path])
    assert isinstance(found, AnnotatedDocument) and len(found.annotations.entities) == 3


def test_several_annotators_are_several_documents_of_one_text(tmp_path: Path) -> None:
    layers = [
        {"completed_by": {"id": 1, "email": "ada@example.org"}, "result": RESULT},
        {"completed_by": 2, "was_cancelled": True, "result": RESULT},
        {"completed_by": 2, "result": RESULT[:1]},
    ]
    first, second = documents_of(tmp_path, "labelstudio", task(annotations=layers, drafts=[{}]))
    assert first.document.text == second.document.text
    assert [len(item.annotations.entities) for item in (first, second)] == [3, 1]
    assert second.annotations.entities[0].source == "import:made.jsonl:2"
    assert first.annotations.entities[0].id != second.annotations.entities[0].id
    assert first.warnings == ("cancelled annotation is left out (once)", "draft is not read (once)")
    assert second.warnings == ()
    assert "example.org" not in str(first)


def test_predictions_are_undecided_where_nobody_annotated(tmp_path: Path) -> None:
    predictions = [
        {"model_version": "v1", "score": 0.5, "result": [RESULT[0], RESULT[1] | {"score": 0.25}]},
        {"model_version": "v2", "score": 7.5, "result": RESULT[:1]},
    ]
    cancelled = [{"was_cancelled": True, "result": RESULT}]
    record = task(annotations=cancelled, predictions=predictions)
    first, second = documents_of(tmp_path, "labelstudio", record)
    entities = first.annotations.entities
    assert {entity.state for entity in entities} == {State.UNDECIDED}
    assert {entity.source for entity in entities} == {"import:made.jsonl:v1"}
    assert [entity.score for entity in entities] == [0.5, 0.25]
    assert second.annotations.entities[0].score is None
    assert first.warnings == ("cancelled annotation is left out (once)",)
    (beside,) = documents_of(tmp_path, "labelstudio", task(predictions=predictions))
    assert beside.warnings == ("prediction next to an annotation is not read (2 times)",)


def test_tasks_without_annotations_or_key(tmp_path: Path) -> None:
    record = task(annotations=[], predictions=..., data={"abstract": TEXT, "url": "https://a.b"})
    (found,) = documents_of(tmp_path, "labelstudio", record)
    assert found.document.text == TEXT and found.document.doc_key == "made:7"
    assert found.document.fields["url"] == "https://a.b" and not found.annotations.entities


def test_the_first_layout_with_its_inclusive_ends(tmp_path: Path) -> None:
    result = [region("a", 3, 7, "Task", text="parse") | {"source": "$abstract"}]
    data = {"abstract": TEXT, "text": "other"}
    record = task(annotations=..., completions=[{"id": 1, "result": result}], data=data)
    (found,) = documents_of(tmp_path, "labelstudio", record)
    assert mentions(found) == [("Task", "parse")]
    assert found.warnings == (f"{INCLUSIVE_ENDS.remark} (once)",)


@pytest.mark.parametrize(
    ("regions", "expected", "remark"),
    [
        ([region("a", 11, 17, "T", text="graphs")], ["graphs"], False),
        ([region("a", 12, 18, "T", text="graphs")], ["graphs"], True),
        (
            [region("a", 12, 18, "T", text="graphs"), region("b", 0, 2, "T")],
            ["graphs", "We"],
            True,
        ),
        ([region("a", 9, 11, "T", text="😀")], ["😀"], True),
        ([region("a", 11, 17, "T")], ["graphs"], False),
        ([region("a", 11, 17, "T"), region("b", 9, 10, "T", text="😀")], ["graphs", "😀"], False),
    ],
)
def test_units_of_offsets(
    regions: list[Any], expected: list[str], remark: bool, tmp_path: Path
) -> None:
    (found,) = documents_of(tmp_path, "labelstudio", task(regions))
    assert [string for _, string in mentions(found)] == expected
    assert [UTF16.name in warning for warning in found.warnings] == [True] * remark


@pytest.mark.parametrize(
    "mention", ["We parse\\nit.", "We parse\nit.", "We parse\r\nit.", "We parse it."]
)
def test_line_ends_inside_mentions(mention: str, tmp_path: Path) -> None:
    data = {"text": "We parse\r\nit. Yes."}
    record = task([region("a", 0, 13, "Task", text=mention)], data=data)
    (found,) = documents_of(tmp_path, "labelstudio", record)
    assert mentions(found) == [("Task", "We parse\r\nit.")]


def test_directions_and_labels_of_relations(tmp_path: Path) -> None:
    result = [
        region("a", 3, 8, "A", "B"),
        region("b", 0, 2, "C"),
        relation("a", "b", "X", direction="left"),
        relation("a", "b", "Y", "Z", direction="bi"),
        relation("b", "b", direction=None),
    ]
    (found,) = documents_of(tmp_path, "labelstudio", task(result, data={"text": TEXT[:8]}))
    assert mentions(found) == [("A", "parse"), ("B", "parse"), ("C", "We")]
    assert triples(found) == [
        ("We", "X", "parse"),
        ("parse", "Y", "We"),
        ("parse", "Z", "We"),
        ("We", "relation", "We"),
    ]
    assert found.warnings == (
        "relation of a region with several labels, read for the first (2 times)",
        "relation in both directions, read as from its first region (once)",
        "relation without a label, read as 'relation' (once)",
    )


def test_choices_are_attributes(tmp_path: Path) -> None:
    def answer(id: str, name: str, kind: str = "choices", **value: Any) -> dict[str, Any]:
        return {"id": id, "from_name": name, "to_name": "text", "type": kind, "value": value}

    place: dict[str, Any] = {"start": 0, "end": 2, "text": "We"}
    results = [
        answer("x", "Certainty", choices=["low"], **place),
        region("x", 0, 2, "A"),
        answer("x", "Negated", choices=["Negated"], **place),
        answer("y", "Design", "taxonomy", taxonomy=[["Observational", "Cohort"]]),
        answer("z", "Topic", choices=["kernels", "proteins"]),
        answer("w", "Amount", "textarea", **place | {"text": ["2.5 mm"]}),
    ]
    (found,) = documents_of(tmp_path, "labelstudio", task(results, data={"text": TEXT[:8]}))
    place_of = ((Span(0, 2),), "A")
    assert said_of(found.annotations) == {
        (place_of, "Certainty", "low"),
        (place_of, "Negated", ""),
        ("abstract", "Design", "Observational / Cohort"),
        ("abstract", "Topic", "kernels"),
    }
    assert found.unread == {"second value of an attribute": 1, "attribute that does not fit": 1}


def test_other_results_are_counted(tmp_path: Path) -> None:
    others = [
        {"id": "x", "type": "rating", "value": {"rating": 3}},
        {"id": "y", "type": "hypertextlabels", "value": {"start": "/p[1]", "startOffset": 3}},
        region("z", 0, 2, "A", start="/p[1]", globalOffsets={"start": 0, "end": 2}),
        relation("y", "z", "X"),
    ]
    (found,) = documents_of(tmp_path, "labelstudio", task(others, data={"text": TEXT[:8]}))
    assert mentions(found) == [("A", "We")]
    assert found.unread == {
        "result of type 'rating'": 1,
        "result of type 'hypertextlabels'": 1,
        "relation of a result of another kind": 1,
    }


def test_the_sample_with_pictures_has_a_text_but_no_entities() -> None:
    found, *_ = read([shared_path("formats/label-studio/export-csv-test.json")])
    assert isinstance(found, AnnotatedDocument) and not found.annotations.entities
    assert found.unread["result of type 'rectanglelabels'"] == 1


BAD: list[tuple[dict[str, Any], str]] = [
    ({"data": ...}, r"the task has no `data`; its fields are 'id', 'annotations'"),
    ({"data": 7}, r"data: 7 found; expected an object"),
    ({"data": {"image": "https://a.b/c.png"}}, r"data: no text: the fields are 'image'"),
    ({"data": {"one": "x", "two": "y"}}, r"data: no text: the fields are 'one', 'two'"),
    ({"data": {"text": {"a": 1}}}, r"no text"),
    ({"annotations": {}}, r"annotations: \{\} found; expected a list"),
    ({"annotations": [7]}, r"annotations\[0\]: 7 found; expected an object"),
    ({"result": {}}, r"annotations\[0\]\.result: \{\} found"),
]


@pytest.mark.parametrize(("changes", "problem"), BAD)
def test_a_bad_task_names_its_place_and_the_others_are_read(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    first, second, third = items_of(tmp_path, "labelstudio", task(), task(**changes), task())
    assert isinstance(first, AnnotatedDocument) and isinstance(third, AnnotatedDocument)
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(problem_of(second))
    assert "made.jsonl:2" in problem_of(second)


ODD: list[tuple[dict[str, Any], str]] = [
    ({"result": [7]}, r"result\[0\]: 7 found"),
    (
        {"result": [region("a", 3, 99, "T")]},
        r"result\[0\]\.value: 3 99 found; expected offsets in the text",
    ),
    ({"result": [region("a", 3, 8, "T", text="graph")]}, r"'graph' found, but .* 'parse'"),
    ({"result": [region("a", 3, 8, "T", end=...)]}, r"start 3 and end None found"),
    (
        {"result": [region("a", 3, 8, "T", text=7)]},
        r"value: 7 found; expected the mention's text",
    ),
    ({"result": [region("a", 3, 8, labels=[7])]}, r"value\.labels: 7 found"),
    ({"result": [region("a", 3, 8, labels="T")]}, r"value\.labels: 'T' found"),
    ({"result": [relation("a", "b", "X")]}, r"result\[0\]\.from_id: 'a' found"),
    ({"result": [*RESULT, relation("a", "z", "X")]}, r"result\[5\]\.to_id: 'z' found"),
    ({"result": [*RESULT, relation("a", "b", direction="up")]}, r"direction: 'up' found"),
]


@pytest.mark.parametrize(("changes", "problem"), ODD)
def test_an_odd_item_is_left_out_and_named(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    (found,) = documents_of(tmp_path, "labelstudio", task(**changes))
    assert found.document.text == TEXT and found.unread
    assert re.search(problem, "; ".join(found.warnings))
