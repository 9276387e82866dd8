"""Scores that say how often predictions are right, from probabilities as the network has them.

Platt scaling: the log-odds of every score are divided and shifted, each label against all else (Platt 1999; Guo et al.
2017, arXiv 1706.04599, section 4.1). The order of scores stays, and so do the predictions. Divided logits of all labels
(section 4.2 there) would level the labels of a span among each other and lose those between two labels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sciextract.inference.network import Floats
from sciextract.inference.pipeline import RawPrediction
from sciextract.inference.settings import DecodeSettings, calibrated_score


def calibrated(raw: RawPrediction, settings: DecodeSettings) -> RawPrediction:
    """The same predictions with the scores that are shown."""
    if not settings.calibrated:
        return raw
    warm, shift = settings.temperatures, settings.shifts
    link = (warm.coreference, shift.coreference)
    relation = (warm.relation, shift.relation)
    types = calibrated_scores(raw.mentions.types, warm.entity, shift.entity)
    return RawPrediction(
        replace(raw.mentions, types=types),
        [replace(each, score=calibrated_score(each.score, *relation)) for each in raw.relations],
        [
            replace(each, scores=tuple(calibrated_score(score, *link) for score in each.scores))
            for each in raw.clusters
        ],
        replace(raw.pairs, probabilities=calibrated_scores(raw.pairs.probabilities, *relation)),
        replace(raw.links, probabilities=calibrated_scores(raw.links.probabilities, *link)),
    )


def calibrated_scores(probabilities: Floats, temperature: float, shift: float) -> Floats:
    """Probabilities with divided and shifted log-odds, elementwise."""
    if (temperature, shift) == (1, 0):
        return probabilities
    power = np.float32(1 / temperature)
    right = np.float32(np.exp(shift)) * probabilities**power
    return np.asarray(right / (right + (1 - probabilities).clip(min=0) ** power))
