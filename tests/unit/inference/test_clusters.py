"""Antecedent scores become clusters."""

from __future__ import annotations

import numpy as np
import pytest

from sciextract.inference.candidates import antecedent_pairs
from sciextract.inference.decoding import antecedent_probabilities, predict_clusters


def _clusters(
    scores: dict[tuple[int, int], float], count: int, threshold: float = 0.5
) -> list[tuple[int, ...]]:
    links = antecedent_pairs(count, 100)
    values = np.array([scores.get((m, a), -9.0) for m, a in links.tolist()], dtype=np.float32)
    scored = antecedent_probabilities(links, values, count)
    return [cluster.mentions for cluster in predict_clusters(scored, count, threshold)]


def test_chains_are_one_cluster() -> None:
    assert _clusters({(1, 0): 3.0, (2, 1): 3.0, (4, 2): 3.0}, 5) == [(0, 1, 2, 4)]


def test_the_best_antecedent_decides() -> None:
    assert _clusters({(2, 0): 3.0, (2, 1): 5.0}, 3) == [(1, 2)]


def test_mentions_without_antecedent_are_no_clusters() -> None:
    assert _clusters({}, 4) == []
    assert _clusters({}, 0) == []


def test_the_threshold_is_on_having_any_antecedent() -> None:
    split = {(2, 0): 0.0, (2, 1): 0.0}  # 1/3 each; "none" has the last third
    assert _clusters(split, 3, threshold=0.6) != []
    assert _clusters(split, 3, threshold=0.7) == []


def test_a_threshold_of_zero_links_all_but_the_first_mention() -> None:
    assert _clusters({(1, 0): -5.0, (2, 1): -5.0}, 3, threshold=0.0) == [(0, 1, 2)]


def test_probabilities_leave_room_for_no_antecedent() -> None:
    links = antecedent_pairs(3, 100)
    scores = np.array([0.0, 1.0, 2.0], dtype=np.float32)
    scored = antecedent_probabilities(links, scores, 3)
    assert scored.probabilities[0] == pytest.approx(0.5)
    total = 1 + np.exp(1) + np.exp(2)
    expected = [np.exp(1) / total, np.exp(2) / total]
    np.testing.assert_allclose(scored.probabilities[1:], expected, rtol=1e-6)


def test_huge_scores_do_not_overflow() -> None:
    scored = antecedent_probabilities(
        antecedent_pairs(3, 100), np.array([1e4, -1e4, 1e4], dtype=np.float32), 3
    )
    np.testing.assert_allclose(scored.probabilities, [1.0, 0.0, 1.0])


def test_scores_of_mentions_are_probabilities() -> None:
    links = antecedent_pairs(3, 100)
    scored = antecedent_probabilities(links, np.array([9.0, 9.0, 9.0], np.float32), 3)
    [cluster] = predict_clusters(scored, 3, 0.5)
    assert all(0.5 <= score <= 1.0 for score in cluster.scores)
    assert len(cluster.scores) == len(cluster.mentions)


def test_mentions_get_the_numbers_that_they_have_in_the_document() -> None:
    links = antecedent_pairs(3, 100)
    scored = antecedent_probabilities(links, np.array([9, -9, -9], np.float32), 3)
    [cluster] = predict_clusters(scored, 3, 0.5)
    rows = np.array([2, 5, 6])
    assert cluster.renumbered(rows).mentions == (2, 5)
    assert cluster.renumbered(rows).scores == cluster.scores
    assert scored.renumbered(rows).links.tolist() == [[5, 2], [6, 2], [6, 5]]
