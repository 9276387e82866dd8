"""Enumeration of spans and pairs, and their distance features."""

from __future__ import annotations

import numpy as np

from sciextract.documents.annotations import TokenRange
from sciextract.inference import candidates
from sciextract.inference.candidates import sentence_ends, span_mask
from tests.unit.inference.fakes import spans_of


def test_buckets_are_those_of_the_paper() -> None:
    distances = np.array([0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 10_000])
    expected = [0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    assert candidates.bucket(distances).tolist() == expected


def test_spans_stay_in_their_sentence() -> None:
    ends = sentence_ends((TokenRange(0, 3), TokenRange(3, 5)), 5)
    assert ends.tolist() == [3, 3, 3, 5, 5]
    assert span_mask(ends, 3).tolist() == [
        [True, True, True],
        [True, True, False],
        [True, False, False],
        [True, True, False],
        [True, False, False],
    ]


def test_relation_pairs_skip_overlaps_and_other_sentences() -> None:
    spans = spans_of((0, 1), (1, 2), (4, 4), (6, 7))
    pairs = candidates.relation_pairs(spans, np.array([5, 5, 5, 9]))
    assert pairs.tolist() == [[0, 2], [1, 2], [2, 0], [2, 1]]


def test_relation_distances_are_signed() -> None:
    spans = spans_of((0, 1), (4, 4))
    distances = candidates.relation_distances(spans, np.array([[0, 1], [1, 0]]))
    assert distances.tolist() == [2, 2 + candidates.DISTANCE_BUCKETS]


def test_words_between_are_the_same_both_ways_and_empty_for_neighbours() -> None:
    spans = spans_of((0, 1), (4, 4), (5, 6))
    between = candidates.between_words(spans, np.array([[0, 1], [1, 0], [1, 2]]))
    assert between.tolist() == [[2, 4], [2, 4], [5, 5]]


def test_antecedents_are_grouped_by_mention_and_bounded() -> None:
    assert candidates.antecedent_pairs(3, 100).tolist() == [[1, 0], [2, 0], [2, 1]]
    assert candidates.antecedent_pairs(4, 1).tolist() == [[1, 0], [2, 1], [3, 2]]
    assert candidates.antecedent_pairs(0, 9).shape == (0, 2)


def test_antecedent_distances_count_words() -> None:
    spans = spans_of((0, 1), (5, 6), (5, 9))
    distances = candidates.antecedent_distances(spans, np.array([[1, 0], [2, 1]]))
    assert distances.tolist() == [4, 0]
