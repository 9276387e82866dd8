"""``annotate`` with the model in the package."""

from __future__ import annotations

import json

import pytest

from sciextract.resources import bundled_models
from tests.cli.conftest import Command

pytestmark = pytest.mark.skipif(
    not (bundled_models() / "sci" / "manifest.json").is_file(), reason="no bundled model yet"
)


def test_the_sample(command: Command) -> None:
    result = command("annotate", "--sample", "--export", "jsonl", "--json")
    assert result.code == 0
    records = [json.loads(line) for line in result.out.splitlines()]
    assert len(records) == 26
    assert all(record["model"]["name"] == "sci" for record in records)
    summary = json.loads(result.err.splitlines()[-1])
    assert summary["entities"] > 200 and summary["relations"] > 20 and summary["clusters"] > 5


def test_batch_size_is_for_fp32(command: Command) -> None:
    result = command("annotate", "--batch-size", "8", stdin="We train a parser.")
    assert result.code == 0
    assert "one abstract a call" in result.err


def test_other_texts_are_fine(command: Command) -> None:
    for text in ("\x1b[31m\x00\x07", " \n", "漢字だけの要旨。", "a" * 5000, "[12] " * 400):
        assert command("annotate", "--export", "jsonl", stdin=text).code == 0
