"""A new project has the labels of the model that will predict in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.resources import bundled_models
from sciextract.workflows.model_choice import fitting_schema, texts_of

MEDICAL = "Aspirin inhibits cyclooxygenase in patients with colorectal cancer."
COMPUTING = "We present a neural parser that outperforms graph-based parsers on the treebank."

pytestmark = pytest.mark.skipif(
    not (bundled_models() / "bio" / "manifest.json").is_file(), reason="bundled models absent"
)


@pytest.mark.parametrize(
    ("model", "schema"),
    [
        (None, "scierc"),
        ("sci", "scierc"),
        ("science", "science"),
        (str(bundled_models() / "bio"), "bio"),
    ],
)
def test_the_schema_is_that_of_the_model(model: str | None, schema: str) -> None:
    assert fitting_schema(model, iter([])) == schema


@pytest.mark.parametrize("model", ["no-such-model", "owner/unfetched", "/nowhere/at/all"])
def test_what_cannot_be_told_here_is_left_to_whoever_loads_the_model(model: str) -> None:
    assert fitting_schema(model, iter([])) == "scierc"


def test_auto_follows_most_of_the_texts() -> None:
    assert fitting_schema("auto", [MEDICAL, COMPUTING, MEDICAL]) == "bio"
    assert fitting_schema("auto", [MEDICAL, COMPUTING, COMPUTING]) == "scierc"
    assert fitting_schema("auto", []) == "scierc"


def test_texts_come_from_files_and_broken_records_have_none(tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    file.write_text(f'{{"id": "a", "text": "{MEDICAL}"}}\n{{"id": 7\n', encoding="utf-8")
    assert list(texts_of([str(file)])) == [MEDICAL]


def test_files_that_cannot_be_read_are_left_to_the_import(tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text("{", encoding="utf-8")
    assert fitting_schema("auto", texts_of([str(file)])) == "scierc"
