"""Hard labels of a teacher: what it is sure of, what it is sure is nothing, and what nobody knows.

Each label may have a threshold of its own, so that a frequent one such as USED-FOR needs more certainty than a rare
one (Tan et al. 2023, CAST, arXiv 2306.09697, adapt self-training to classes by drawing labels anew instead). What
lies between threshold and floor is unknown and gives no gradient: it is not taught to be nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sciextract.errors import UsageError
from sciextract.inference.layout import RelationLayout
from sciextract.inference.pipeline import Labels
from sciextract.store.state.rows import Layer
from sciextract_trainer.data.examples import Bools, Floats, Ints, Mask, Targets, one_hot
from sciextract_trainer.settings_file import read_toml
from sciextract_trainer.teaching.labelling import TEACHER_SETTINGS

COREFERENCE = "COREFERENCE"
"""The name of links in a table of thresholds."""

DEFAULT_THRESHOLD, DEFAULT_FLOOR = 0.7, 0.2

_HINT = "thresholds are TOML lines such as USED-FOR = 0.82"


@dataclass(frozen=True, slots=True)
class Certainty:
    """When a teacher is believed.

    Attributes:
        floor: What is less likely than this is none.
        default: Least probability of a label that has no threshold of its own.
        thresholds: Least probability by entity or relation label, or ``COREFERENCE``.
    """

    floor: float = DEFAULT_FLOOR
    default: float = DEFAULT_THRESHOLD
    thresholds: Mapping[str, float] = field(default_factory=dict)

    def of(self, label: str) -> float:
        """Least probability of a label."""
        return self.thresholds.get(label, self.default)

    def to_json(self) -> dict[str, Any]:
        """All numbers by name."""
        return {"floor": self.floor, "default": self.default, "thresholds": dict(self.thresholds)}


def certainty(
    labels: Labels, words: Sequence[str], file: Path | None = None, floor: float = DEFAULT_FLOOR
) -> Certainty:
    """Thresholds from a TOML table and from ``LABEL=P`` words, which win.

    >>> from sciextract.inference.layout import RelationLayout
    >>> labels = Labels(("Task",), RelationLayout(("USED-FOR",), frozenset()), True, 10)
    >>> found = certainty(labels, ["0.6", "USED-FOR=0.82"])
    >>> found.of("Task"), found.of("USED-FOR")
    (0.6, 0.82)

    Args:
        labels: The labels that may have one.
        words: ``LABEL=P``, or ``P`` alone for all labels without one.
        file: TOML with ``LABEL = P`` lines; ``default`` for all others.
        floor: What is less likely is none.

    Raises:
        UsageError: A label is unknown, or a number lies outside floor to 1; says what is allowed.
        InputMissingError: There is no such file.
    """
    values = read_toml(file, "thresholds", _HINT) if file else {}
    for word in words:
        label, _, number = word.rpartition("=")
        values[label or "default"] = number
    known = [*labels.entities, *labels.relations.labels, COREFERENCE]
    numbers = {name: _number(name, value, floor) for name, value in values.items()}
    default = numbers.pop("default", max(DEFAULT_THRESHOLD, floor))
    if unknown := [name for name in numbers if name not in known]:
        raise UsageError(
            f"a threshold is given for {unknown[0]!r}, which is no label of the model",
            f"labels: {', '.join(known)}",
        )
    _number("floor", floor, 0.0)
    return Certainty(floor, default, numbers)


def _number(name: str, value: Any, least: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not least <= number <= 1:
        raise UsageError(
            f"threshold {name}={value} is not possible",
            f"a threshold lies between the floor, {least:g}, and 1",
        )
    return number


def believed(targets: Targets, labels: Labels, sure: Certainty) -> Targets:
    """A teacher's distributions as hard targets with a mask of what nobody knows.

    Args:
        targets: Soft targets of a document.
        labels: What the classes mean.
        sure: When the teacher is believed.
    """
    kept = targets.types[:, 1:].max(axis=1, initial=0.0) >= sure.floor
    soft = _only(targets, kept)
    types, counted = _entities(soft.types, labels.entities, sure)
    pairs, relations, known_pairs = _relations(soft, labels.relations, sure)
    weights, known_links = _links(soft, sure)
    linkable = soft.types[:, 1:].max(axis=1, initial=0.0) >= TEACHER_SETTINGS.thresholds.entity
    mask = Mask(
        counted=counted,
        judged=counted,
        settled=linkable,
        known_pairs=known_pairs,
        known_links=known_links,
        complete=frozenset(Layer),
    )
    return Targets(soft.spans, types, pairs, relations, soft.links, weights, mask=mask)


def _only(targets: Targets, kept: Bools) -> Targets:
    """The targets of some of the spans."""
    rows = np.cumsum(kept) - 1
    pairs: Bools = np.all(kept[targets.pairs], axis=1)
    links: Bools = np.all(kept[targets.links], axis=1)
    return Targets(
        targets.spans[kept],
        targets.types[kept],
        rows[targets.pairs[pairs]],
        targets.relations[pairs],
        rows[targets.links[links]],
        targets.link_weights[links],
    )


def _entities(types: Floats, labels: Sequence[str], sure: Certainty) -> tuple[Floats, Bools]:
    """One-hot types (spans, 1 + labels), and whether the label of each span is believed."""
    best = types[:, 1:].argmax(axis=1) if len(types) else np.zeros(0, dtype=np.int64)
    least = np.array([sure.of(label) for label in labels], dtype=np.float32)
    counted = types[np.arange(len(types)), 1 + best] >= least[best]
    return one_hot((1 + best).tolist(), 1 + len(labels)), counted


def _relations(
    soft: Targets, layout: RelationLayout, sure: Certainty
) -> tuple[Ints, Floats, Bools]:
    """Pairs that may be related, their classes, and whether these are believed."""
    names = [*layout.labels, *layout.directed]
    least = np.array([sure.of(label) for label in names], dtype=np.float32)
    likely = soft.relations[:, 1:].max(axis=1, initial=0.0) >= sure.floor
    pairs, said = soft.pairs[likely], soft.relations[likely]
    best = said[:, 1:].argmax(axis=1) if len(said) else np.zeros(0, dtype=np.int64)
    known = said[np.arange(len(said)), 1 + best] >= least[best]
    return pairs, one_hot((1 + best).tolist(), layout.class_count), known


def _links(soft: Targets, sure: Certainty) -> tuple[Floats, Bools]:
    """Weights (links,) of what is believed, and whether that is known.

    A mention that surely has an antecedent is linked to the likeliest one; its other likely ones are unknown. A
    mention that surely has none is linked to none.
    """
    mentions, said = soft.links[:, 0], soft.link_weights
    count = len(soft.spans)
    mass = np.bincount(mentions, weights=said, minlength=count)
    peak = np.zeros(count, dtype=np.float32)
    np.maximum.at(peak, mentions, said)
    linked = mass[mentions] >= sure.of(COREFERENCE)
    chosen = linked & (said == peak[mentions])
    doubtful = (mass[mentions] >= sure.floor) & (~linked | (said >= sure.floor))
    return chosen.astype(np.float32), chosen | ~doubtful
