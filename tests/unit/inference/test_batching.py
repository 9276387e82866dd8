"""Windows of similar length share calls; every window has one, and nothing is read far ahead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.document import Document, ModelId
from sciextract.inference.batching import MOST_POOLED, POOLED_CALLS, SINGLE, Batching
from sciextract.inference.extractor import Extractor
from tests.cli.fakes import CONFIG
from tests.unit.inference import fakes

LENGTHS = st.lists(st.integers(1, 512), max_size=60)
MOST = st.one_of(st.none(), st.integers(1, 2000))


@given(LENGTHS, MOST, MOST)
def test_every_window_has_one_call_that_fits(
    lengths: list[int], windows: int | None, subwords: int | None
) -> None:
    calls = Batching(windows, subwords).calls(lengths)
    assert sorted(index for call in calls for index in call) == list(range(len(lengths)))
    for call in calls:
        padded = len(call) * max(lengths[index] for index in call)
        assert len(call) <= (windows or len(lengths))
        assert len(call) == 1 or padded <= (subwords or padded)


@given(LENGTHS)
def test_padding_is_less_than_in_the_order_of_the_input(lengths: list[int]) -> None:
    lengths = lengths[: len(lengths) // 8 * 8]  # with a call that is not full, order may win

    def padded(calls: list[list[int]]) -> int:
        return sum(len(call) * max(lengths[index] for index in call) for call in calls)

    in_order = [list(range(start, start + 8)) for start in range(0, len(lengths), 8)]
    assert padded(Batching(8).calls(lengths)) <= padded(in_order)


def test_single_windows_stay_in_order() -> None:
    assert SINGLE.calls([3, 9, 1]) == [[0], [1], [2]]


def endless(taken: list[int]) -> Iterator[Document]:
    for number in count():
        taken.append(number)
        yield fakes.random_document(number, sentences=2, words=10)


@pytest.mark.parametrize(
    ("batching", "size"),
    [
        (Batching(3), 3 * POOLED_CALLS),
        (Batching(None, 50), 20),
        (Batching(None, 10**9), MOST_POOLED),
    ],
)
def test_pools_hold_some_calls_and_no_more_is_read(batching: Batching, size: int) -> None:
    taken: list[int] = []
    [pool] = islice(batching.pools(endless(taken)), 1)
    assert len(pool) == len(taken) == size


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("batching", [Batching(4), Batching(None, 90)])
def test_results_come_in_the_order_of_the_input(batching: Batching, workers: int) -> None:
    documents = [fakes.random_document(seed, 1 + seed * 7 % 5, words=9) for seed in range(90)]
    expected = list(extractor(SINGLE, 1).stream(documents))
    found = list(extractor(batching, workers).stream(documents))
    assert [result.document for result in found] == documents
    spans = [
        [[(e.label, e.fragments) for e in result.annotations.entities] for result in results]
        for results in (found, expected)
    ]
    assert any(spans[0]) and spans[0] == spans[1]


def extractor(batching: Batching, workers: int) -> Extractor:
    config = replace(CONFIG, labels=fakes.LABELS)
    return Extractor(fakes.pipeline(limit=60), config, ModelId("m", "0" * 64), batching, workers)
