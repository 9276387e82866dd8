"""The examples of docs/formats.md are read as they stand, and every format has its place there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema

from sciextract.documents.bibliography import NAMES
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read
from sciextract.formats.registry import FORMATS
from tests.shared_data import ROOT

PAGE = (ROOT / "docs" / "formats.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def read_one(path: Path, content: str) -> AnnotatedDocument:
    path.write_text(content, encoding="utf-8")
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument), item
    return item


def test_the_json_examples(tmp_path: Path) -> None:
    records = [json.loads(block) for block in blocks("json")]
    documents = [read_one(tmp_path / "made.jsonl", json.dumps(record)) for record in records]
    assert [document.document.doc_key for document in documents] == ["gk-1", "gk-2", "gk-3"]
    assert [len(document.annotations.entities) for document in documents] == [0, 2, 4]
    schema = json.loads((ROOT / "schemas" / "export.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(records[1])


def test_the_text_and_csv_examples(tmp_path: Path) -> None:
    path = tmp_path / "made.txt"
    path.write_text(blocks("text")[0], encoding="utf-8")
    assert len(list(read([path], "paragraphs"))) == 2
    row = read_one(tmp_path / "made.csv", blocks("csv")[0])
    assert row.document.doc_key == "gk-4"


def test_every_format_and_column_name_is_on_the_page() -> None:
    for spec in FORMATS:
        assert f"`{spec.id}`" in PAGE
        assert all(f"`{suffix}`" in PAGE for suffix in spec.suffixes)
    for names in NAMES.values():
        assert all(f"`{name}`" in PAGE for name in names)
