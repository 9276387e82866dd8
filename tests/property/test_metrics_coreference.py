"""Coreference metrics against scorch, an independent scorer, and their laws."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.metrics.counts import (
    Overlap,
    Partition,
    Tally,
    b_cubed,
    ceaf_e,
    lea,
    muc,
    partition,
    without_singletons,
)
from tests.tiers import examples

Metric = Callable[[Overlap], Tally]
METRICS: dict[str, Metric] = {"muc": muc, "b_cubed": b_cubed, "ceaf_e": ceaf_e}


@st.composite
def partitions(draw: st.DrawFn) -> Partition:
    """Some of fourteen mentions, each in one of six clusters."""
    homes = draw(st.lists(st.integers(0, 6), min_size=14, max_size=14))
    clusters = [
        frozenset([(mention, mention + 1) for mention, home in enumerate(homes) if home == cluster])
        for cluster in range(1, 7)
    ]
    return partition(clusters)


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=examples(80), deadline=None)
@given(gold=partitions(), predicted=partitions())
def test_values_equal_scorchs(name: str, gold: Partition, predicted: Partition) -> None:
    scores = pytest.importorskip("scorch.scores")
    tally = METRICS[name](Overlap.of(gold, predicted))
    recall, precision, f1 = getattr(scores, name)(list(gold), list(predicted))
    if tally.f1 == 0:  # scorch zeroes all three where one side has no link
        assert f1 == 0
    else:
        found = (tally.recall, tally.precision, tally.f1)
        assert found == pytest.approx((100 * recall, 100 * precision, 100 * f1))


@settings(max_examples=examples(60), deadline=None)
@given(partitions(), partitions())
def test_lea_equals_its_definition_by_links(gold: Partition, predicted: Partition) -> None:
    tally = lea(Overlap.of(gold, predicted))
    assert tally.recall_hits == pytest.approx(lea_by_links(gold, predicted))
    assert tally.precision_hits == pytest.approx(lea_by_links(predicted, gold))


def lea_by_links(clusters: Partition, others: Partition) -> float:
    """Size times the share of found links, with the links written out (a singleton links to itself)."""
    found = {link for other in others for link in links(other)}
    return sum(len(c) * len(links(c) & found) / len(links(c)) for c in clusters)


def links(cluster: frozenset[tuple[int, ...]]) -> set[frozenset[tuple[int, ...]]]:
    if len(cluster) == 1:
        return {cluster}
    return {frozenset({one, two}) for one in cluster for two in cluster if one != two}


@settings(max_examples=examples(60), deadline=None)
@given(partitions(), partitions())
def test_exchanging_the_sides_exchanges_precision_and_recall(
    gold: Partition, predicted: Partition
) -> None:
    for metric in (*METRICS.values(), lea):
        there = metric(Overlap.of(gold, predicted))
        back = metric(Overlap.of(predicted, gold))
        assert there.precision == pytest.approx(back.recall)
        assert there.recall == pytest.approx(back.precision)
        assert 0 <= there.f1 <= 100 + 1e-9


@settings(max_examples=examples(60), deadline=None)
@given(partitions().map(without_singletons).filter(bool))
def test_a_partition_against_itself_is_perfect(gold: Partition) -> None:
    for metric in (*METRICS.values(), lea):
        tally = metric(Overlap.of(gold, gold))
        assert (tally.precision, tally.recall, tally.f1) == (100, 100, 100)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.frozensets(st.tuples(st.integers(0, 9)), max_size=4), max_size=6))
def test_partitioning_shares_no_mention_and_loses_none(
    clusters: list[frozenset[tuple[int, ...]]],
) -> None:
    result = partition(clusters)
    mentions = [mention for cluster in result for mention in cluster]
    assert len(mentions) == len(set(mentions))
    assert set(mentions) == set().union(*clusters)
    assert partition(clusters[::-1]) == result
