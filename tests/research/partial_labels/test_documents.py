"""Records of data sets: renamed, joined, cut, and without what a dev part holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from research.partial_labels.datasets import (
    TaughtSet,
    cut,
    documents_of,
    joined,
    prepared,
    read_records,
    sentence_prefixes,
    without_leaks,
)
from sciextract.errors import FormatError, InputMissingError
from tests.research.partial_labels.records import Record, record, strings, write

DRUGS = TaughtSet(
    name="drugs", teaches=["Chemical"], licence="invented", rename={"CHEM": "Chemical"}
)
ONE = record("a", ["plain aspirin helps"], [[[1, 1, "CHEM"]]])
TWO = record(
    "b",
    ["blue acid", "it blocks COX now"],
    [[[0, 1, "CHEM"]], [[4, 4, "GENE"]]],
    [[], [[4, 4, 5, 5, "CPR:4"]]],
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=8))
    sentences, ner, start = [], [], 0
    for length in lengths:
        sentences.append(" ".join(f"w{start + row}" for row in range(length)))
        first = draw(st.integers(0, length - 1))
        last = draw(st.integers(first, length - 1))
        ner.append([[start + first, start + last, "CHEM"]])
        start += length
    return record("r", sentences, ner)


def items(found: Iterable[Record]) -> list[tuple[str, ...]]:
    return sorted(item for line in found for item in strings(line))


def test_labels_become_those_of_the_schema(tmp_path: Path) -> None:
    [document] = documents_of([ONE], DRUGS, tmp_path / "train.jsonl")
    [entity] = document.annotated.annotations.entities
    assert (entity.label, entity.text_of(document.annotated.document.text)) == (
        "Chemical",
        "aspirin",
    )


@given(st.lists(records(), min_size=1, max_size=7), st.integers(1, 4))
def test_joined_documents_hold_the_same_items(found: list[Record], size: int) -> None:
    whole = list(joined(found, size))
    assert len(whole) == -(-len(found) // size)
    assert items(whole) == items(found)


@given(records(), st.integers(3, 20))
def test_cut_documents_hold_the_same_items(found: Record, longest: int) -> None:
    parts = list(cut(found, longest))
    assert [s for part in parts for s in part["sentences"]] == found["sentences"]
    assert items(parts) == strings(found)
    assert len({part["doc_key"] for part in parts}) == len(parts)


def test_joining_moves_relations() -> None:
    [whole] = joined([ONE, TWO], 2)
    assert ("COX", "now", "CPR:4") in strings(whole)


def test_a_sentence_of_a_dev_part_does_not_train() -> None:
    long = "word " * 20
    leaking = record("x", ["short", long + "and another end"])
    seen = sentence_prefixes([record("dev", [long])])
    assert without_leaks([ONE, leaking], seen) == [ONE]


def test_repeats_and_empty_ones() -> None:
    empty = record("e", ["nothing here"])
    kept = prepared([ONE, empty], replace(DRUGS, empty=0.0, repeat=3), seed=1)
    assert [line["sentences"] for line in kept] == [ONE["sentences"]] * 3


def test_the_same_seed_prepares_the_same() -> None:
    many = [record(str(row), [f"w{row}"]) for row in range(40)]
    rules = replace(DRUGS, join=3, singles=0.5, empty=0.5)
    assert prepared(many, rules, 1) == prepared(many, rules, 1) != prepared(many, rules, 2)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"doc_key": "a"}', '{"sentences": [["a"]], "ner": []}']
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "train.jsonl", [ONE])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(FormatError, match=r"train\.jsonl:2"):
        read_records(path)


def test_no_such_set(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match="nothing"):
        read_records(tmp_path / "nothing" / "train.jsonl")
