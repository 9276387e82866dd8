"""Suggestions of two sources for abstracts that were finished later: which source is ahead, and what corrections cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sciextract.documents.annotations import Layer
from sciextract.metrics.bootstrap import counts_of, f1_of, probability_better
from sciextract.metrics.counts import Mention, Scorable
from sciextract.metrics.promotion import TASKS
from sciextract.metrics.scorer import ScorePath, Tallies

WINDOW = 20
"""The latest finished abstracts that decide."""

LEAST = 5
"""Finished abstracts before which nothing can be decided."""

ON_FROM = 0.6
"""Probability of being better from which suggestions that are off are used again.

They go off below one half, so that noise around it does not switch them with every abstract.
"""

PATHS: dict[Layer, tuple[ScorePath, ...]] = {task.layer: task.paths for task in TASKS}
"""By layer the metrics whose F1 is averaged: relations count boundaries, coreference is that of CoNLL."""


class Pair(NamedTuple):
    """Counts of one finished abstract, from suggestions that were made before it was corrected.

    Attributes:
        adapter: Of the adapter.
        other: Of what is suggested without it.
    """

    adapter: Tallies
    other: Tallies


@dataclass(frozen=True, slots=True)
class Switch:
    """A layer of the adapter went on or off.

    Attributes:
        after: Finished abstracts at that time.
        on: Whether it is used from there on.
        adapter: F1 of the adapter on the latest abstracts, 0 to 100.
        other: F1 of the other suggestions on the same abstracts.
        documents: How many abstracts these are.
        probability: How likely the adapter is better on other abstracts of the kind, 0 to 1.
    """

    after: int
    on: bool
    adapter: float
    other: float
    documents: int
    probability: float

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return (
            f"F1 {self.adapter:.1f} with it and {self.other:.1f} without it on the latest "
            f"{self.documents} abstracts; better with probability {self.probability:.2f}"
        )


@dataclass(frozen=True, slots=True)
class LayerUse:
    """Whether a layer of the adapter is used.

    Attributes:
        on: Whether it is.
        reason: Why, in a sentence.
        switches: When that changed, oldest first.
    """

    on: bool
    reason: str
    switches: tuple[Switch, ...] = ()


def layer_use(pairs: Sequence[Pair], layer: Layer, *, first: bool) -> LayerUse:
    """Whether the adapter's suggestions of a layer are used: only while they are ahead on the latest abstracts.

    Both sides are compared by the paired bootstrap (Koehn 2004, section 4.2) over the latest ``WINDOW``
    abstracts after each one that is finished.

    Args:
        pairs: Finished abstracts, oldest first.
        layer: The layer.
        first: Whether it is used while there are too few abstracts to tell.
    """
    adapter = counts_of([pair.adapter for pair in pairs], PATHS[layer])
    other = counts_of([pair.other for pair in pairs], PATHS[layer])
    on, switches = first, []
    for end in range(LEAST, len(pairs) + 1):
        window = slice(max(0, end - WINDOW), end)
        sides = adapter[window], other[window]
        scores = [float(f1_of(each.sum(axis=0)).mean()) for each in sides]
        if on == (scores[0] > scores[1]) or scores[0] == scores[1]:
            continue  # the sign of the difference agrees: no need to draw
        probability = probability_better(*sides)
        if (probability >= ON_FROM) if not on else (probability < 1 / 2):
            on = not on
            switches.append(Switch(end, on, scores[0], scores[1], len(sides[0]), probability))
    if switches:
        reason = (
            f"{'on' if on else 'off'} since abstract {switches[-1].after}: {switches[-1].reason}"
        )
    elif len(pairs) < LEAST:
        reason = (
            "nothing else predicts these labels"
            if first
            else f"compared from {LEAST} finished abstracts on; there are {len(pairs)}"
        )
    else:
        reason = "ahead on the latest abstracts" if on else "not ahead on the latest abstracts"
    return LayerUse(on, reason, tuple(switches))


def running_f1(tallies: Sequence[Tallies], layer: Layer, window: int = WINDOW) -> list[float]:
    """F1 of a layer after each abstract, over the latest ``window`` abstracts, 0 to 100."""
    counts = counts_of(tallies, PATHS[layer])
    ends = range(1, len(tallies) + 1)
    summed = np.array([counts[max(0, end - window) : end].sum(axis=0) for end in ends])
    return [] if not len(summed) else [float(each) for each in f1_of(summed).mean(axis=1)]


_MISSED_ENTITY, _MISSED_RELATION, _JOIN, _ONE = 4, 3, 2, 1
"""Keys at the desk: hints and a label; head, target and label; the key and the cluster; any decision."""


def correction_keys(gold: Scorable, suggested: Scorable) -> int:
    """Keys of the desk that make the finished abstract of suggestions, without bulk keys.

    An item that is right takes one key, as does a wrong label and one to reject; an edge takes two, a missed
    mention four, a missed relation three, a missed place in a cluster two, and the end of the abstract one.
    """
    return (
        _ONE
        + _entity_keys(gold, suggested)
        + _relation_keys(gold, suggested)
        + _cluster_keys(gold, suggested)
    )


def _entity_keys(gold: Scorable, suggested: Scorable) -> int:
    wanted = {each.mention for each in gold.entities}
    found = {each.mention for each in suggested.entities}
    keys = len(wanted & found)
    missed, wrong = wanted - found, found - wanted
    for mention in sorted(wrong):
        near = next((each for each in sorted(missed) if _touch(each, mention)), None)
        missed.discard(near or ())
        keys += _ONE if near is None else _JOIN
    return keys + len(missed) * _MISSED_ENTITY


def _relation_keys(gold: Scorable, suggested: Scorable) -> int:
    sides = [
        {frozenset((each.head.mention, each.tail.mention)) for each in side.relations}
        for side in (gold, suggested)
    ]
    return len(sides[1]) + len(sides[0] - sides[1]) * _MISSED_RELATION


def _cluster_keys(gold: Scorable, suggested: Scorable) -> int:
    """Each mention of a cluster is right where the mention before it in its cluster is the same."""
    wanted, found = (_links(side.clusters) for side in (gold, suggested))
    return len(found) + len(wanted - found) * _JOIN


def _links(clusters: Sequence[frozenset[Mention]]) -> set[tuple[Mention, Mention]]:
    ordered = (sorted(each) for each in clusters)
    return {pair for each in ordered for pair in pairwise(each)}


def _touch(one: Mention, other: Mention) -> bool:
    return one[0] < other[-1] and other[0] < one[-1]
