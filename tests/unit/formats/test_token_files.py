"""Hugging Face's tokens and tags, and JSON arrays: recognised, read, and refused with the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import UsageError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.registry import get_format

TOKENS = ["Tree", "kernels", "rank", "proteins", "-LRB-", "fast", "-RRB-"]


def read_one(path: Path, value: object, format_id: str | None = None) -> AnnotatedDocument:
    path.write_text(json.dumps(value), "utf-8")
    [item] = read([path], format_id)
    assert isinstance(item, AnnotatedDocument), item
    return item


def problem_of(path: Path, value: object) -> str:
    path.write_text(json.dumps(value), "utf-8")
    [item] = read([path])
    assert isinstance(item, BadRecord), item
    return item.error.message


def said(annotated: AnnotatedDocument) -> list[tuple[str, str]]:
    text, found = annotated.document.text, annotated.annotations
    entities = [(each.text_of(text), each.label) for each in found.entities]
    return entities + [
        (f"{found.entity(each.head).label} {found.entity(each.tail).label}", each.label)
        for each in found.relations
    ]


def test_a_removed_format_is_unknown_and_its_files_are_refused(tmp_path: Path) -> None:
    for name in ("spert",):
        for use in ("read", "write"):
            with pytest.raises(UsageError, match=f"unknown format '{name}'"):
                get_format(name, use)
    entities = [{"type": "Method", "start": 0, "end": 2}]
    spert = [{"tokens": TOKENS, "entities": entities, "relations": []}]
    assert "no text" in problem_of(tmp_path / "train.json", spert)


def test_tags_as_strings_and_as_numbers_with_their_names(tmp_path: Path) -> None:
    row: dict[str, Any] = {
        "id": "a",
        "tokens": TOKENS[:3],
        "ner_tags": ["B-Method", "I-Method", "O"],
    }
    path = tmp_path / "rows.jsonl"
    assert said(read_one(path, row)) == [("Tree kernels", "Method")]
    numbered = row | {"ner_tags": [1, 2, 0]}
    assert "the class 1 has no name" in problem_of(path, numbered)
    named = tmp_path / "named" / "rows.jsonl"
    named.parent.mkdir()
    (named.parent / "labels.txt").write_text("O\nB-Method\nI-Method\n", "utf-8")
    assert said(read_one(named, numbered)) == [("Tree kernels", "Method")]
    assert "2 tags found; expected 3" in problem_of(path, row | {"ner_tags": ["O", "O"]})


def test_datasets_reads_the_tags(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    given = {
        "doc_key": "7",
        "sentences": [TOKENS],
        "ner": [[[0, 1, "Method"], [3, 3, "Material"]]],
        "relations": [[[0, 1, 3, 3, "Used-for"]]],
    }
    made = read_one(tmp_path / "in.json", given)
    writer = open_writer("hf-jsonl", tmp_path / "out.jsonl")
    writer.write(made)
    writer.close()
    rows = datasets.Dataset.from_json(
        str(tmp_path / "out.jsonl"), cache_dir=str(tmp_path / "cache")
    )
    assert rows[0] == {
        "id": "7",
        "tokens": TOKENS,
        "ner_tags": ["B-Method", "I-Method", "O", "B-Material", "O", "O", "O"],
    }
    assert writer.losses == {"relation": 1}


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_records_is_read_and_written(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "records.json"
    records = [
        {"text": "Bees hum."},
        {"id": "k", "sentences": [["It", "is", "."]], "ner": [[[0, 0, "G"]]]},
    ]
    path.write_text(json.dumps(records, indent=indent), "utf-8")
    found = [item for item in read([path]) if isinstance(item, AnnotatedDocument)]
    assert [each.document.doc_key for each in found] == ["records:1", "k"]
    writer = open_writer("json", tmp_path / "out.json")
    for each in found:
        writer.write(each)
    writer.close()
    assert len(json.loads((tmp_path / "out.json").read_text("utf-8"))) == 2
    again = [item for item in read([tmp_path / "out.json"]) if isinstance(item, AnnotatedDocument)]
    assert [each.annotations for each in again] == [each.annotations for each in found]
