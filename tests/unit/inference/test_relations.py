"""Both directions of a pair become one directed, typed relation."""

from __future__ import annotations

import numpy as np
import pytest

from sciextract.inference.decoding import (
    PredictedRelation,
    RelationLayout,
    ScoredPairs,
    combine_directions,
    direct_relation,
    predict_relations,
    softmax,
)

LAYOUT = RelationLayout(("USED-FOR", "COMPARE", "PART-OF"), frozenset({"COMPARE"}))
PAIRS = np.array([[0, 1], [1, 0]], dtype=np.int64)


def test_the_layout_is_null_forward_inverse() -> None:
    assert LAYOUT.class_count == 6
    assert LAYOUT.directed == ("USED-FOR", "PART-OF")
    assert LAYOUT.mirror().tolist() == [0, 4, 2, 5, 1, 3]
    assert [LAYOUT.forward_class(label) for label in LAYOUT.labels] == [1, 2, 3]
    with pytest.raises(ValueError, match="not in tuple"):
        LAYOUT.forward_class("unknown")


def test_directions_that_agree_keep_their_probabilities() -> None:
    forward = np.array([0.2, 1.5, -1.0, 0.3, -0.5, 0.0], dtype=np.float32)
    logits = np.stack([forward, forward[LAYOUT.mirror()]])
    scored = combine_directions(PAIRS, logits, LAYOUT)
    assert scored.pairs.tolist() == [[0, 1]]
    np.testing.assert_allclose(scored.probabilities[0], softmax(forward), atol=1e-5)


def test_directions_that_disagree_meet_in_the_middle() -> None:
    forward, backward = np.zeros((2, 6), dtype=np.float32)
    forward[1] = 4.0  # (0, 1) says USED-FOR; (1, 0) says nothing
    scored = combine_directions(PAIRS, np.stack([forward, backward]), LAYOUT)
    expected = softmax(np.array([0, 2, 0, 0, 0, 0], dtype=np.float32))
    np.testing.assert_allclose(scored.probabilities[0], expected, atol=1e-5)


def test_an_inverse_class_points_from_the_later_to_the_earlier_span() -> None:
    assert direct_relation((2, 5), 1, 0.9, LAYOUT) == PredictedRelation(2, 5, "USED-FOR", 0.9)
    assert direct_relation((2, 5), 2, 0.9, LAYOUT) == PredictedRelation(2, 5, "COMPARE", 0.9)
    assert direct_relation((2, 5), 4, 0.9, LAYOUT) == PredictedRelation(5, 2, "USED-FOR", 0.9)
    assert direct_relation((2, 5), 5, 0.9, LAYOUT) == PredictedRelation(5, 2, "PART-OF", 0.9)


def test_at_most_one_relation_a_pair_and_only_above_the_threshold() -> None:
    probabilities = np.array(
        [[0.1, 0.5, 0.0, 0.0, 0.4, 0.0], [0.7, 0.3, 0.0, 0.0, 0.0, 0.0]], dtype=np.float32
    )
    scored = ScoredPairs(np.array([[0, 1], [1, 2]], dtype=np.int64), probabilities)
    assert predict_relations(scored, LAYOUT, 0.4) == [PredictedRelation(0, 1, "USED-FOR", 0.5)]
    assert len(predict_relations(scored, LAYOUT, 0.25)) == 2
    assert predict_relations(scored, LAYOUT, 0.6) == []


def test_no_pairs_no_relations() -> None:
    empty = ScoredPairs(np.zeros((0, 2), np.int64), np.zeros((0, 1), np.float32))
    assert predict_relations(empty, LAYOUT, 0.0) == []
    assert combine_directions(empty.pairs, empty.probabilities, LAYOUT).pairs.shape == (0, 2)


def test_pairs_stand_between_two_chosen_spans() -> None:
    scored = ScoredPairs(np.array([[0, 1], [0, 2], [1, 2]]), np.eye(3, 6, dtype=np.float32))
    assert scored.between(np.array([True, True, True])) is scored
    chosen = scored.between(np.array([True, False, True]))
    assert chosen.pairs.tolist() == [[0, 2]]
    assert chosen.probabilities.tolist() == [scored.probabilities[1].tolist()]
    assert not len(ScoredPairs.none().between(np.array([False])).pairs)
