"""Entity scores: an entity is correct when its mention and its label both are."""

from __future__ import annotations

from sciextract.metrics.scorable import Scorable, ScoredEntity
from sciextract.metrics.tally import Tally, compare, compare_by_label

#: DyGIE++ enumerates spans of at most this many tokens (Wadden et al. 2019, arXiv 1909.03546).
DYGIE_WIDTH = 8


def entity_tally(gold: Scorable, predicted: Scorable) -> Tally:
    """All gold and predicted entities of a document."""
    return compare(gold.entities, predicted.entities)


def narrow_entity_tally(gold: Scorable, predicted: Scorable, max_width: int = DYGIE_WIDTH) -> Tally:
    """Entities of at most ``max_width`` tokens only: the DyGIE++ rule.

    In DyGIE++ wider spans are never enumerated: wide gold does not count as missed, and wide
    predictions cannot exist. Both sides are therefore cut, which equals the published rule for every
    system limited to that width and leaves a perfect prediction perfect.
    """
    return compare(
        _narrow(gold.entities, gold, max_width), _narrow(predicted.entities, gold, max_width)
    )


def entity_label_tallies(gold: Scorable, predicted: Scorable) -> dict[str, Tally]:
    """All entities of a document, by label."""
    return compare_by_label(gold.entities, predicted.entities)


def _narrow(
    entities: frozenset[ScoredEntity], measure: Scorable, max_width: int
) -> frozenset[ScoredEntity]:
    return frozenset([entity for entity in entities if measure.width(entity.mention) <= max_width])
