"""Label Studio tasks as they are written, and the labelling configuration."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from sciextract.documents.annotations import Cluster, Relation, State
from sciextract.documents.schema import (
    AttributeKind,
    AttributeType,
    EntityType,
    LabelSchema,
    RelationType,
)
from sciextract.documents.schema_file import load_schema
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.label_studio import labelling_config
from tests.unit.formats.tool_files import TEXT, documents_of, entity, made, problem_of, written


def test_good_tasks_of_a_damaged_array_are_read(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    writer = open_writer("labelstudio", path)
    for _ in range(4):
        writer.write(made(entity("A", (3, 8))))
    writer.close()
    lines = path.read_text("utf-8").splitlines(keepends=True)
    lines[2] = lines[2][:90] + "\n"
    path.write_text("".join(lines[:-1])[:-40], encoding="utf-8")
    items = list(read([path]))
    assert [isinstance(item, BadRecord) for item in items] == [False, True, False, True]
    assert problem_of(items[1]).startswith(f"{path}:4:")


def test_tasks_are_written_as_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    writer = open_writer("labelstudio", path)
    writer.write(made(entity("A", (3, 8), state=State.ACCEPTED)))
    writer.write(made())
    writer.close()
    lines = path.read_text("utf-8").splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("[", "]", 4)
    first, second = json.loads(path.read_text("utf-8"))
    (found,) = first["annotations"][0]["result"]
    assert found["value"] == {"start": 3, "end": 8, "text": "parse", "labels": ["Task"]}
    assert first["data"] == {"text": TEXT, "doc_key": "d", "title": "Graphs", "year": 2020}
    assert (second["annotations"], second["predictions"]) == ([], [])


def test_nothing_written_is_an_empty_array() -> None:
    assert written("labelstudio") == ([], {})


def test_what_nobody_decided_on_is_a_prediction(tmp_path: Path) -> None:
    undecided = State.UNDECIDED
    document = made(entity("A", (3, 8), state=undecided, score=0.25))
    (record,), _ = written("labelstudio", document)
    assert record["annotations"] == [] and record["predictions"][0]["result"][0]["score"] == 0.25
    (back,) = documents_of(tmp_path, "labelstudio", record)
    (found,) = back.annotations.entities
    assert (found.state, found.score) == (undecided, 0.25)


def test_annotations_name_no_annotator(tmp_path: Path) -> None:
    """Label Studio rejects an import with ids that are no member's, such as 0; without one it takes the importer's."""
    parts = [entity("A", (3, 8), state=State.ACCEPTED), entity("B", (11, 17), state=State.ACCEPTED)]
    relation = Relation("R", "A", "B", "X", state=State.ACCEPTED)
    (record,), losses = written("labelstudio", made(*parts, relations=(relation,)))
    (annotation,) = record["annotations"]
    assert set(annotation) == {"id", "was_cancelled", "result"} and losses == {}
    (back,) = documents_of(tmp_path, "labelstudio", record)
    assert {entity.source.count(":") for entity in back.annotations.entities} == {1}
    (again,), losses = written("labelstudio", back)
    assert again == record and losses == {}


def test_relations_of_one_pair_share_a_result() -> None:
    parts = (entity("A", (3, 8)), entity("B", (11, 17)))
    relations = (Relation("R", "A", "B", "X"), Relation("S", "A", "B", "Y"))
    document = made(*parts, relations=relations, clusters=(Cluster("K", ("A", "B")),))
    (record,), losses = written("labelstudio", document)
    *_, last = record["predictions"][0]["result"]
    ends = {"from_id": "e1", "to_id": "e2", "type": "relation", "direction": "right"}
    assert last == ends | {"labels": ["X", "Y", "COREF"]} and losses == {}


def test_words_are_text_areas_and_other_attributes_choices() -> None:
    kinds = (
        AttributeType("Negated", "n", ("*",)),
        AttributeType("Design", "d", ("abstract",), AttributeKind.CHOICE, ("cohort", "trial")),
        AttributeType("Amount", "a", ("*",), AttributeKind.VALUE),
        AttributeType("Causal", "c", ("relation:*",)),
    )
    schema = replace(load_schema("scierc"), attributes=kinds)
    view = ElementTree.fromstring(labelling_config(schema))
    controls = [(one.tag, one.get("name"), one.get("perRegion")) for one in view]
    assert controls[2:-1] == [
        ("Choices", "Negated", "true"),
        ("Choices", "Design", None),
        ("TextArea", "Amount", "true"),
    ]


def test_the_labelling_configuration() -> None:
    schema = LabelSchema(
        *("made", "Made", "1", True),
        entities=(EntityType("Task", "t", "#aa0000", 'What is "done" & why'),),
        relations=(RelationType("Used-for", "u", "#00aa00"),),
    )
    view = ElementTree.fromstring(labelling_config(schema))
    assert [element.get("value") for element in view.iter("Relation")] == ["Used-for", "COREF"]
    (label,) = view.iter("Label")
    assert label.attrib == {
        "value": "Task",
        "background": "#aa0000",
        "hotkey": "t",
        "hint": 'What is "done" & why',
    }
    (labels,), (text,) = view.iter("Labels"), view.iter("Text")
    assert labels.attrib == {"name": "label", "toName": "text"}
    assert text.attrib == {"name": "text", "value": "$text"}
    plain = LabelSchema("made", "Made", "1", False, schema.entities)
    assert "Relations" not in labelling_config(plain)
