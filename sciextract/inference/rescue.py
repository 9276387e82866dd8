"""Entities below the threshold that a sure relation speaks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sciextract.inference.mentions import Mentions, conflicts
from sciextract.inference.network import Ints
from sciextract.inference.relations import ScoredPairs
from sciextract.inference.settings import DecodeSettings, Rescue


def rescued(mentions: Mentions, pairs: ScoredPairs, settings: DecodeSettings) -> Mentions:
    """The mentions, with those predicted that a sure relation ties to a prediction.

    Entity and relation are two opinions on one thing: a span that is hardly likely as an entity by itself becomes
    likely when something is surely used for it. This is the joint inference of Roth and Yih 2004 (CoNLL, section 2)
    in its simplest form: one step, no optimisation. A rescued mention rescues no others.

    Args:
        mentions: Spans of a document, those below the threshold among them.
        pairs: Probabilities of relations between them.
        settings: Least probabilities, as the network has them, and the overlap rule.
    """
    if settings.rescue is None:
        return mentions
    predicted, scores = mentions.predicted.copy(), mentions.scores
    wanted = _spoken_for(mentions, pairs, settings.rescue)
    for index in wanted[np.argsort(-scores[wanted], kind="stable")].tolist():
        overlapping = conflicts(mentions.spans, index, settings.nesting)
        predicted[index] = not (predicted & overlapping).any()
    return replace(mentions, predicted=predicted)


def _spoken_for(mentions: Mentions, pairs: ScoredPairs, rescue: Rescue) -> Ints:
    """Likely enough spans with a sure relation to a prediction, in text order. Shape: (spans,)."""
    sure = pairs.probabilities[:, 1:].max(axis=1, initial=0.0) >= rescue.relation
    ends = pairs.pairs[sure]
    within = mentions.predicted[ends]
    others = ends[~within & within[:, ::-1]]
    return np.unique(others[mentions.scores[others] >= rescue.entity])
