"""Which spans become mentions: threshold, overlap rules, candidates."""

from __future__ import annotations

import numpy as np

from sciextract.inference.decoding import Mentions, select_mentions
from sciextract.inference.settings import DecodeSettings, PerTask


def _select(scores: dict[tuple[int, int], float], **changes: object) -> Mentions:
    """Mentions of six words; scores are probabilities of the one label by (first, last) word."""
    logits = np.zeros((6, 4, 2), dtype=np.float32)
    logits[:, :, 0] = 20.0
    for (first, last), score in scores.items():
        logits[first, last - first] = np.log([1 - score, score])
    allowed = np.arange(6)[:, None] + np.arange(4)[None, :] < 6
    settings = DecodeSettings(thresholds=PerTask(0.5, 0.5, 0.5), **changes)  # type: ignore[arg-type]
    return select_mentions(logits, allowed, settings)


def _spans(mentions: Mentions) -> list[tuple[int, int]]:
    return [(a, b) for a, b in mentions.spans[mentions.predicted].tolist()]


def test_flat_keeps_the_best_of_overlapping_spans() -> None:
    mentions = _select({(0, 2): 0.7, (1, 2): 0.9, (4, 5): 0.6})
    assert _spans(mentions) == [(1, 2), (4, 5)]


def test_a_beaten_span_does_not_beat_others() -> None:
    mentions = _select({(0, 1): 0.7, (1, 2): 0.9, (2, 3): 0.8})
    assert _spans(mentions) == [(1, 2)]
    mentions = _select({(0, 1): 0.7, (1, 2): 0.8, (2, 4): 0.9})
    assert _spans(mentions) == [(0, 1), (2, 4)]


def test_nesting_keeps_inner_spans_but_no_crossing_ones() -> None:
    scores = {(0, 3): 0.9, (1, 2): 0.8, (2, 5): 0.7}
    assert _spans(_select(scores, nesting=True)) == [(0, 3), (1, 2)]
    assert _spans(_select(scores)) == [(0, 3)]


def test_the_threshold_is_inclusive() -> None:
    assert _spans(_select({(0, 0): 0.5, (2, 2): 0.49})) == [(0, 0)]


def test_spans_outside_the_mask_are_never_mentions() -> None:
    logits = np.zeros((2, 3, 2), dtype=np.float32)
    logits[:, :, 1] = 9.0
    allowed = np.zeros((2, 3), dtype=np.bool_)
    assert not len(select_mentions(logits, allowed, DecodeSettings()))


def test_candidates_reach_down_to_their_score() -> None:
    scores = {(0, 2): 0.7, (1, 2): 0.9, (4, 5): 0.2, (3, 3): 0.04}
    mentions = _select(scores, candidates=True)
    assert _spans(mentions) == [(1, 2)]
    assert mentions.spans.tolist() == [[0, 2], [1, 2], [4, 5]]


def test_the_best_label_is_the_one_with_the_highest_score() -> None:
    mentions = _select({(0, 0): 0.9})
    assert mentions.labels.tolist() == [0]
    np.testing.assert_allclose(mentions.scores, [0.9], rtol=1e-5)
