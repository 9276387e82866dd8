"""JSON arrays, and the files of formats that were removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, UsageError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.registry import get_format

TOKENS = ["Tree", "kernels", "rank", "proteins", "-LRB-", "fast", "-RRB-"]


def problem_of(path: Path, value: object) -> str:
    path.write_text(json.dumps(value), "utf-8")
    [item] = read([path])
    assert isinstance(item, BadRecord), item
    return item.error.message


def test_a_removed_format_is_unknown_and_its_files_are_refused(tmp_path: Path) -> None:
    for name in ("spert", "hf-jsonl", "webanno"):
        for use in ("read", "write"):
            with pytest.raises(UsageError, match=f"unknown format '{name}'"):
                get_format(name, use)
    entities = [{"type": "Method", "start": 0, "end": 2}]
    spert = [{"tokens": TOKENS, "entities": entities, "relations": []}]
    assert "no text" in problem_of(tmp_path / "train.json", spert)
    tagged = {"tokens": TOKENS, "ner_tags": ["O"] * len(TOKENS)}
    assert "no text" in problem_of(tmp_path / "rows.jsonl", tagged)
    path = tmp_path / "doc.tsv"
    path.write_text("#FORMAT=WebAnno TSV 3.3\n\n\n#Text=Bees hum\n1-1\t0-4\tBees\t\n", "utf-8")
    with pytest.raises(FormatError, match="a WebAnno TSV file, which is not supported"):
        list(read([path]))


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_records_is_read_and_written(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "records.json"
    records = [
        {"text": "Bees hum."},
        {"id": "k", "sentences": [["It", "is", "."]], "ner": [[[0, 0, "G"]]]},
    ]
    path.write_text(json.dumps(records, indent=indent), "utf-8")
    found = [item for item in read([path]) if isinstance(item, AnnotatedDocument)]
    assert [item.document.doc_key for item in found] == ["records:1", "k"]
    writer = open_writer("json", tmp_path / "out.json")
    for document in found:
        writer.write(document)
    writer.close()
    assert len(json.loads((tmp_path / "out.json").read_text("utf-8"))) == 2
    again = [item for item in read([tmp_path / "out.json"]) if isinstance(item, AnnotatedDocument)]
    assert [item.annotations for item in again] == [item.annotations for item in found]
