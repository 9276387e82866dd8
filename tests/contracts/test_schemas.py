"""The published schemas hold for everything that ships."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import bundled_schemas, load_schema
from sciextract.formats import open_writer, read
from tests.shared_data import ROOT

SCHEMA: dict[str, Any] = json.loads((ROOT / "schemas" / "export.schema.json").read_text("utf-8"))
SAMPLES = ["abstracts.jsonl", "abstracts.csv", "gold.jsonl", "text"]


def test_the_export_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_export_to_valid_records(name: str) -> None:
    stream = io.StringIO()
    writer = open_writer("jsonl", stream)
    for item in read([ROOT / "sample_data" / name]):
        assert isinstance(item, AnnotatedDocument)
        writer.write(item)
    writer.close()
    records = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert len(records) >= 8
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [error.message for record in records for error in validator.iter_errors(record)] == []


def test_gold_samples_keep_to_their_label_schema() -> None:
    schema = load_schema("scierc")
    for item in read([ROOT / "sample_data" / "gold.jsonl"]):
        assert isinstance(item, AnnotatedDocument)
        assert {entity.label for entity in item.annotations.entities} <= set(schema.entity_labels)
        labels = {relation.label for relation in schema.relations}
        assert {relation.label for relation in item.annotations.relations} <= labels


def test_every_label_schema_loads() -> None:
    files = {path.stem for path in Path(ROOT / "schemas" / "labels").glob("*.toml")}
    assert set(bundled_schemas()) == files >= {"scierc", "genia", "scier", "biomedical"}
    for name in files:
        schema = load_schema(name)
        assert schema.name == name
        assert all(entity.definition for entity in schema.entities)
