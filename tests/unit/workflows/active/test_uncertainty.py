"""Uncertainty of decisions and abstracts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as reference_entropy

from sciextract.documents.annotations import (
    Candidates,
    LabelScore,
    Layer,
    LinkCandidate,
    PairCandidate,
    Span,
    SpanCandidate,
)
from sciextract.workflows.active.ranking import decisions, entropy, over_layers, per_word

A, B, C = Span(0, 3), Span(5, 8), Span(10, 13)
distributions = st.lists(st.floats(0, 1), min_size=2, max_size=8).map(
    lambda values: [value / sum(values) for value in values] if sum(values) > 0 else [1.0, 0.0]
)


def scored(*labels: tuple[str, float]) -> tuple[LabelScore, ...]:
    return tuple(LabelScore(*label) for label in labels)


@given(distributions)
def test_entropy_is_that_of_scipy(probabilities: list[float]) -> None:
    assert entropy(probabilities) == pytest.approx(
        reference_entropy(probabilities, base=2), abs=1e-9
    )


@given(distributions)
def test_entropy_is_largest_where_outcomes_are_alike(probabilities: list[float]) -> None:
    alike = [1 / len(probabilities)] * len(probabilities)
    assert -1e-9 <= entropy(probabilities) <= entropy(alike) + 1e-9


def test_certainty_is_no_doubt() -> None:
    assert entropy([1.0]) == entropy([0.0, 1.0]) == 0
    assert str(entropy([1.0])) == "0.0"  # not -0.0


def test_decisions_have_a_rest_and_join_directions() -> None:
    found = list(
        decisions(
            Candidates(
                (SpanCandidate(A, scored(("Task", 0.5), ("Method", 0.2))),),
                (
                    PairCandidate(A, B, scored(("USED-FOR", 0.3))),
                    PairCandidate(B, A, scored(("USED-FOR", 0.4), ("PART-OF", 0.1))),
                ),
                (LinkCandidate(C, A, 0.25), LinkCandidate(C, B, 0.5)),
            )
        )
    )
    assert [(decision.layer, decision.place) for decision in found] == [
        *((Layer.ENTITIES, (A,)), (Layer.RELATIONS, (A, B)), (Layer.COREFERENCE, (C,)))
    ]
    expected = [(0.3, 0.5, 0.2), (0.2, 0.3, 0.4, 0.1), (0.25, 0.25, 0.5)]
    for decision, probabilities in zip(found, expected, strict=True):
        assert decision.probabilities == pytest.approx(probabilities)


def test_rounded_scores_never_exceed_one() -> None:
    [found] = decisions(Candidates((SpanCandidate(A, scored(("Task", 0.6), ("Method", 0.4001))),)))
    assert sum(found.probabilities) == pytest.approx(1) and min(found.probabilities) >= 0


def test_length_does_not_count_and_number_does() -> None:
    one = SpanCandidate(A, scored(("Task", 0.5)))
    two = [*decisions(Candidates((one, SpanCandidate(B, one.labels))))]
    assert per_word(two[:1], 10) == per_word(two, 20)
    assert per_word(two, 10)[Layer.ENTITIES] == pytest.approx(0.2)
    assert per_word([], 0) == dict.fromkeys(Layer, 0.0)


def test_every_task_weighs_alike() -> None:
    many = {Layer.ENTITIES: 30.0, Layer.RELATIONS: 1.0, Layer.COREFERENCE: 0.0}
    few = {Layer.ENTITIES: 10.0, Layer.RELATIONS: 3.0, Layer.COREFERENCE: 0.0}
    assert over_layers([many, few]) == pytest.approx([1.0, 1.0])  # (1.5 + 0.5) / 2 each
    assert over_layers([]) == []
    assert over_layers([dict.fromkeys(Layer, 0.0)]) == [0.0]
