"""Uncertainty of decisions and abstracts, votes of a committee, and the k-centre order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as reference_entropy

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    Layer,
    LinkCandidate,
    PairCandidate,
    Relation,
    Span,
    SpanCandidate,
)
from sciextract.workflows.active.ranking import k_centre_greedy
from sciextract.workflows.active.uncertainty import (
    MEASURES,
    decisions,
    disagreement_per_word,
    entropy,
    least_confidence,
    margin,
    over_layers,
    per_word,
    vote_entropy,
    votes_of,
)

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
def test_measures_are_largest_where_outcomes_are_alike(probabilities: list[float]) -> None:
    alike = [1 / len(probabilities)] * len(probabilities)
    for measure in MEASURES.values():
        assert -1e-9 <= measure(probabilities) <= measure(alike) + 1e-9
    assert least_confidence(probabilities) <= margin(probabilities) + 1e-9


@pytest.mark.parametrize("measure", MEASURES.values())
def test_certainty_is_no_doubt(measure: object) -> None:
    assert callable(measure)
    assert measure([1.0]) == measure([0.0, 1.0]) == 0
    assert str(measure([1.0])) == "0.0"  # not -0.0


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
    assert per_word(two[:1], 10, entropy) == per_word(two, 20, entropy)
    assert per_word(two, 10, entropy)[Layer.ENTITIES] == pytest.approx(0.2)
    assert per_word([], 0, entropy) == dict.fromkeys(Layer, 0.0)


def test_every_task_weighs_alike() -> None:
    many = {Layer.ENTITIES: 30.0, Layer.RELATIONS: 1.0, Layer.COREFERENCE: 0.0}
    few = {Layer.ENTITIES: 10.0, Layer.RELATIONS: 3.0, Layer.COREFERENCE: 0.0}
    assert over_layers([many, few]) == pytest.approx([1.0, 1.0])  # (1.5 + 0.5) / 2 each
    assert over_layers([]) == []
    assert over_layers([dict.fromkeys(Layer, 0.0)]) == [0.0]


def test_votes_of_a_committee() -> None:
    assert vote_entropy(["Task", "Task", "Method"]) == pytest.approx(
        reference_entropy([2, 1]) / math.log(3)
    )
    assert vote_entropy(["a", "b", "c"]) == pytest.approx(1)
    assert vote_entropy(["a"]) == vote_entropy([]) == 0


def saying(label: str, head: str, tail: str, relation: str, *mentions: str) -> Annotations:
    entities = tuple(
        Entity(name, (span,), label) for name, span in zip("abc", (A, B, C), strict=True)
    )
    clusters = (Cluster("k", mentions),) if mentions else ()
    return Annotations(entities, (Relation("r", head, tail, relation),), clusters)


def test_models_that_say_the_same_agree() -> None:
    first = votes_of(saying("Task", "a", "b", "COMPARE", "a", "c"), frozenset({"COMPARE"}))
    turned = votes_of(saying("Task", "b", "a", "COMPARE", "a", "c"), frozenset({"COMPARE"}))
    assert disagreement_per_word([first, turned], 10) == dict.fromkeys(Layer, 0.0)


def test_models_that_differ_are_told_apart_by_task() -> None:
    first = votes_of(saying("Task", "a", "b", "USED-FOR", "a", "b", "c"))
    other = votes_of(saying("Task", "b", "a", "USED-FOR", "a", "c"))
    found = disagreement_per_word([first, other], 2)
    # Entities agree; the relation has two directions; b has an antecedent or none, c has b or a.
    assert found == pytest.approx(
        {Layer.ENTITIES: 0.0, Layer.RELATIONS: 0.5, Layer.COREFERENCE: 1.0}
    )
    silent = disagreement_per_word([first, votes_of(Annotations())], 1)
    assert silent == pytest.approx(
        {Layer.ENTITIES: 3.0, Layer.RELATIONS: 1.0, Layer.COREFERENCE: 2.0}
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(0, 4))
def test_k_centre_takes_the_farthest_each_time(seed: int, count: int, labelled: int) -> None:
    random = np.random.default_rng(seed)
    pool = random.standard_normal((count, 3)).astype(np.float32)
    known = random.standard_normal((labelled, 3)).astype(np.float32)
    order = list(k_centre_greedy(pool, known))
    assert sorted(order) == list(range(count))
    centres = known
    for place, row in enumerate(order):
        if len(centres):
            apart = np.linalg.norm(pool[:, None] - centres[None], axis=2).min(axis=1)
            left = apart[order[place:]]
            assert apart[row] == pytest.approx(left.max(), rel=1e-4)
        centres = np.concatenate([centres, pool[row : row + 1]])


def test_k_centre_begins_in_the_middle_and_takes_twins_last() -> None:
    pool = np.array([[0, 0], [10, 0], [5, 0.1], [5, 0.1]], dtype=np.float32)
    nothing = np.zeros((0, 2), dtype=np.float32)
    assert list(k_centre_greedy(pool, nothing)) == [2, 0, 1, 3]
    assert list(k_centre_greedy(nothing, nothing)) == []
