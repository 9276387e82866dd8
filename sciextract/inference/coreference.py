"""From antecedent scores to coreference clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciextract.inference.candidates import NO_PAIRS
from sciextract.inference.network import Floats, Ints


@dataclass(frozen=True, slots=True)
class AntecedentScores:
    """Probabilities of the antecedents of each mention.

    Attributes:
        links: int64 (links, 2), mention and antecedent, grouped by mention.
        probabilities: float32 (links,); per mention they sum to 1 minus "no antecedent".
    """

    links: Ints
    probabilities: Floats

    @classmethod
    def none(cls) -> AntecedentScores:
        """Not a single link."""
        return cls(NO_PAIRS, np.zeros(0, dtype=np.float32))

    def renumbered(self, rows: Ints) -> AntecedentScores:
        """The same links when mention ``k`` is called ``rows[k]``."""
        return AntecedentScores(rows[self.links], self.probabilities)


def antecedent_probabilities(
    links: Ints, scores: Floats, count: int, temperature: float
) -> AntecedentScores:
    """Softmax over the antecedents of each mention and the dummy, which scores 0 (Lee et al. 2017).

    Args:
        links: (links, 2), grouped by mention.
        scores: float32 (links,).
        count: Number of mentions.
        temperature: Divisor of the scores.
    """
    scaled = scores / np.float32(temperature)
    peaks = np.zeros(count, dtype=np.float32)
    np.maximum.at(peaks, links[:, 0], scaled)
    weights = np.exp(scaled - peaks[links[:, 0]])
    totals = np.exp(-peaks) + np.bincount(links[:, 0], weights=weights, minlength=count)
    probabilities = weights / totals[links[:, 0]]
    return AntecedentScores(links, probabilities.astype(np.float32))


@dataclass(frozen=True, slots=True)
class PredictedCluster:
    """Mentions (indices in text order) with the probability of each one's best link."""

    mentions: tuple[int, ...]
    scores: tuple[float, ...]

    def renumbered(self, rows: Ints) -> PredictedCluster:
        """The same cluster when mention ``k`` is called ``rows[k]``."""
        return PredictedCluster(tuple(int(rows[each]) for each in self.mentions), self.scores)


def predict_clusters(
    scored: AntecedentScores, count: int, threshold: float
) -> list[PredictedCluster]:
    """Links each mention to its best antecedent if having one reaches the threshold; no singletons."""
    mass = np.bincount(scored.links[:, 0], weights=scored.probabilities, minlength=count)
    bounds = np.searchsorted(scored.links[:, 0], np.arange(count + 1))
    cluster_of = list(range(count))
    link_score = np.zeros(count)
    linked = (mass >= threshold) & (np.diff(bounds) > 0)
    for mention in np.flatnonzero(linked).tolist():
        start, end = bounds[mention], bounds[mention + 1]
        best = start + int(np.argmax(scored.probabilities[start:end]))
        antecedent = int(scored.links[best, 1])
        cluster_of[mention] = cluster_of[antecedent]
        link_score[mention] = mass[mention]
        link_score[antecedent] = max(link_score[antecedent], mass[mention])
    return _grouped(cluster_of, link_score.tolist())


def _grouped(cluster_of: list[int], link_score: list[float]) -> list[PredictedCluster]:
    members: dict[int, list[int]] = {}
    for mention, cluster in enumerate(cluster_of):
        members.setdefault(cluster, []).append(mention)
    return [
        PredictedCluster(tuple(mentions), tuple(min(1.0, link_score[m]) for m in mentions))
        for mentions in members.values()
        if len(mentions) > 1
    ]
