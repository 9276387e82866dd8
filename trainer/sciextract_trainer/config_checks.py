"""What each training setting may be: refusals that name the setting, its value and what is allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sciextract.errors import UsageError
from sciextract.workflows.correction.order import RANGES

if TYPE_CHECKING:
    from sciextract_trainer.config import TrainConfig

TASKS = ("entity", "relation", "coreference")

CHOICES = {
    "network": ("joint", "dygie", "markers"),
    "optimiser": ("adamw", "adam", "adamp", "radam"),
    "schedule": ("linear", "slanted_triangular", "polynomial", "none"),
    "reinit_with": ("xavier", "encoder"),
    "select_by": ("mean", *TASKS),
}
"""The words that a setting may be."""

_POSITIVE = (
    "parts", "batch_documents", "encoder_lr", "head_lr", "clip", "max_span_width",
    "span_width", "hidden_width", "evaluate_every", "width_embedding", "accumulate",
    "relation_spans_per_word", "coref_spans_per_word", "schedule_power",
)  # fmt: skip
_SHARES = ("warmup", "dropout", "attention_dropout", "word_dropout", "ema")
_NOT_NEGATIVE = (
    "encoder_weight_decay", "head_weight_decay", "entity_weight", "relation_weight",
    "coreference_weight", "negatives_per_word", "patience", "rehearsal", "pull",
    "rehearsal_limit",
)  # fmt: skip


def check_settings(config: TrainConfig) -> None:
    """Refuses values that cannot work.

    Raises:
        UsageError: Names the key, the value and the values allowed.
    """
    for key, words in CHOICES.items():
        _check(config, key, getattr(config, key) in words, f"one of {', '.join(words)}")
    for key in _POSITIVE:
        _check(config, key, _is_finite(config, key, above=0), "a number above 0")
    for key in _SHARES:
        _check(config, key, 0 <= getattr(config, key) < 1, "at least 0 and below 1")
    for key in _NOT_NEGATIVE:
        _check(config, key, _is_finite(config, key), "at least 0")
    for key, (least, most) in RANGES.items():
        _check(config, key, least <= getattr(config, key) <= most, f"{least} to {most}")
    _check(config, "schedule_ratio", config.schedule_ratio >= 1, "at least 1")
    _check(config, "layer_decay", 0 < config.layer_decay <= 1, "above 0 and at most 1")
    _check(config, "coref_propagation", config.coref_propagation in (0, 1, 2), "0, 1 or 2")
    _check_layers(config)
    _check_tasks(config)
    _check_given(config)


def _check_layers(config: TrainConfig) -> None:
    layers = config.reinit_layers
    fine = all(layer >= 1 for layer in layers) and len(set(layers)) == len(layers)
    _check(config, "reinit_layers", fine, "a list of layers, each once, counted from 1 (lowest)")


def _check_tasks(config: TrainConfig) -> None:
    """Some task must be learned, and an epoch cannot be chosen by one that is not."""
    learned = [task for task in TASKS if getattr(config, f"{task}_weight") > 0]
    if not learned:
        raise UsageError(
            "training settings entity_weight, relation_weight and coreference_weight are all 0",
            "give at least one task a weight above 0",
        )
    allowed = ("mean", *learned)
    if config.select_by not in allowed:
        raise UsageError(
            f"training setting select_by = {config.select_by!r} names a task that is not learned: "
            f"{config.select_by}_weight = 0",
            f"use one of {', '.join(allowed)}, or give the task a weight",
        )


def _check_given(config: TrainConfig) -> None:
    """With given entities there are only relations to learn; markers need them, DyGIE++ cannot take them."""
    idle = [task for task in ("entity", "coreference") if getattr(config, f"{task}_weight") > 0]
    if config.network == "markers" and not config.given_entities:
        raise UsageError(
            'training setting network = "markers" does not go with given_entities = false',
            "use given_entities = true: markers are put around entities, they find none",
        )
    if config.given_entities and (idle or config.network == "dygie"):
        wrong = f"{idle[0]}_weight above 0" if idle else f"network = {config.network!r}"
        raise UsageError(
            f"training setting given_entities = true does not go with {wrong}",
            'use entity_weight = 0, coreference_weight = 0 and network = "joint" or "markers"',
        )


def _is_finite(config: TrainConfig, key: str, above: float | None = None) -> bool:
    value = getattr(config, key)
    return math.isfinite(value) and (value >= 0 if above is None else value > above)


def _check(config: TrainConfig, key: str, fine: bool, allowed: str) -> None:
    if not fine:
        value = getattr(config, key)
        raise UsageError(f"training setting {key} = {value!r} is not possible", f"use {allowed}")
