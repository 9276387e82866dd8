"""From span scores to mentions: threshold, overlap, candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sciextract.inference.label_layout import Columns, type_probabilities
from sciextract.inference.network import Floats, Ints
from sciextract.inference.settings import DecodeSettings

MOST_CANDIDATES_PER_WORD = 0.5


@dataclass(frozen=True, slots=True)
class Mentions:
    """Spans in text order with their label probabilities.

    Attributes:
        spans: int64 (spans, 2), first and last word, inclusive.
        types: float32 (spans, 1 + labels), probabilities, class 0 is "no entity".
        features: float32 (spans, 1 + labels), what the pair heads see of the entity head: the same, unless a
            teacher's types are softened.
        predicted: bool (spans,), whether the span is a prediction; the others are candidates.
    """

    spans: Ints
    types: Floats
    features: Floats
    predicted: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.spans)

    def at(self, rows: Ints | slice) -> Mentions:
        """Some of the mentions."""
        return Mentions(
            self.spans[rows], self.types[rows], self.features[rows], self.predicted[rows]
        )

    @property
    def labels(self) -> Ints:
        """Index of the best entity label of each span (0-based, "no entity" left out)."""
        return np.asarray(np.argmax(self.types[:, 1:], axis=1))

    @property
    def scores(self) -> Floats:
        """Probability of the best entity label of each span."""
        return np.asarray(self.types[:, 1:].max(axis=1, initial=0.0))


def select_mentions(
    span_logits: Floats,
    allowed: NDArray[np.bool_],
    settings: DecodeSettings,
    groups: Columns = (),
) -> Mentions:
    """The predicted spans, those that a relation may rescue, and with ``settings.candidates`` the candidates.

    Args:
        span_logits: float32 (words, max width, 1 + labels).
        allowed: bool (words, max width), cells that are spans of interest.
        settings: Threshold and overlap rule, for probabilities as the network has them.
        groups: Classes that exclude each other; all do when there are no groups.
    """
    floor = _floor(settings)
    starts, widths = np.nonzero(allowed & _may_reach(floor, span_logits))
    types = type_probabilities(span_logits[starts, widths], groups)
    likely = np.flatnonzero(types[:, 1:].max(axis=1, initial=0.0) >= floor)
    spans = np.stack([starts[likely], starts[likely] + widths[likely]], axis=1).astype(np.int64)
    every = np.ones(len(likely), dtype=np.bool_)
    mentions = Mentions(spans, types[likely], types[likely], every)
    return _resolved(mentions, settings, len(allowed))


def _may_reach(floor: float, span_logits: Floats) -> NDArray[np.bool_]:
    """Cells whose best label beats "no entity" by enough to have the probability ``floor``.

    The other labels can only lower it, so that nothing is lost, and few cells are left for the softmax.
    """
    if not floor > 0:
        return np.ones(span_logits.shape[:2], dtype=np.bool_)
    bounded = min(floor, 0.999)
    margin = np.log(bounded / (1 - bounded)) - 1e-3  # the tolerance of float32
    best = np.full(span_logits.shape[:2], -np.inf, dtype=np.float32)
    for label_class in range(1, span_logits.shape[2]):  # ten times as fast as max over a short axis
        np.maximum(best, span_logits[:, :, label_class], out=best)
    return np.asarray(best - span_logits[:, :, 0] >= margin)


def _floor(settings: DecodeSettings) -> float:
    floors = [settings.thresholds.entity]
    if settings.candidates:
        floors.append(settings.candidate_score)
    if settings.rescue:
        floors.append(settings.rescue.entity)
    return min(floors)


def _resolved(mentions: Mentions, settings: DecodeSettings, word_count: int) -> Mentions:
    """Marks the predictions among overlapping spans, best first, and bounds the candidates."""
    scores = mentions.scores
    order = np.argsort(-scores, kind="stable")
    likely = int((scores >= settings.thresholds.entity).sum())
    free = np.ones(len(mentions), dtype=np.bool_)
    predicted = np.zeros(len(mentions), dtype=np.bool_)
    for index in order[:likely].tolist():
        if free[index]:
            predicted[index] = True
            free &= ~conflicts(mentions.spans, index, settings.nesting)
    kept = predicted.copy()
    if settings.rescue:
        kept |= free & (scores >= settings.rescue.entity)
    if settings.candidates:
        kept[order[: max(16, int(word_count * MOST_CANDIDATES_PER_WORD))]] = True
    return replace(mentions, predicted=predicted).at(np.flatnonzero(kept))


def conflicts(spans: Ints, index: int, nesting: bool) -> NDArray[np.bool_]:
    """Which spans may not stand next to the one at ``index``."""
    first, last = spans[index]
    overlap = (spans[:, 0] <= last) & (spans[:, 1] >= first)
    if nesting:
        inside = (spans[:, 0] >= first) & (spans[:, 1] <= last)
        around = (spans[:, 0] <= first) & (spans[:, 1] >= last)
        same = inside & around
        overlap &= ~(inside | around) | same
    return np.asarray(overlap)
