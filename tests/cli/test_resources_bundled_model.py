"""``annotate`` with the model in the package."""

from __future__ import annotations

import json

import pytest

from sciextract.resources import bundled_models, data_root
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


def test_given_entities_stay_and_are_related(command: Command) -> None:
    gold = data_root() / "sample_data" / "gold.jsonl"
    result = command("annotate", gold, "--given-entities", "--export", "scierc", "-q")
    found = [json.loads(line) for line in result.out.splitlines()]
    with gold.open(encoding="utf-8") as stream:
        wanted = [json.loads(line) for line in stream]
    assert [record["ner"] for record in found] == [record["ner"] for record in wanted]
    relations = [
        relation for record in found for group in record["relations"] for relation in group
    ]
    spans = {
        (record["doc_key"], *span[:2])
        for record in wanted
        for group in record["ner"]
        for span in group
    }
    assert relations and spans
    for record in found:
        for first, last, *_ in (relation for group in record["relations"] for relation in group):
            assert (record["doc_key"], first, last) in spans


def test_without_entities_there_is_nothing_to_relate(command: Command) -> None:
    result = command("annotate", "--given-entities", stdin="We train a parser.")
    assert result.code == 0 and "no entities between which to predict" in result.err


def test_batch_size_is_for_fp32(command: Command) -> None:
    result = command("annotate", "--batch-size", "8", stdin="We train a parser.")
    assert result.code == 0
    assert "one abstract at a time" in result.err


def test_other_texts_are_fine(command: Command) -> None:
    for text in ("\x1b[31m\x00\x07", "漢字だけの要旨。", "a" * 5000, "[12] " * 400):
        assert command("annotate", "--export", "jsonl", stdin=text).code == 0


def test_a_gpu_that_is_not_there_is_an_error_and_auto_says_so(command: Command) -> None:
    result = command(
        "annotate", "--device", "cuda", "--export", "jsonl", stdin="We train a parser."
    )
    assert result.code in (1, 4) and result.out == ""
    assert "python -m research quantise MODEL --scheme fp16" in result.err or "onnx" in result.err
    result = command(
        "annotate", "--device", "auto", "--export", "jsonl", stdin="We train a parser."
    )
    assert result.code == 0 and "device auto took cpu, with the int8 graph: " in result.err
