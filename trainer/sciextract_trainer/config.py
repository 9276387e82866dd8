"""The training configuration: frozen, validated, read from TOML; packaged TOML files are found by their names."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sciextract.codec import convert, plain
from sciextract.errors import InputMissingError, UsageError
from sciextract.retraining.run_folder import RANGES

TASKS = ("entity", "relation", "coreference")

NETWORKS: dict[str, str] = {}
"""Modules with further network families (as ``FAMILY``), by the word that a recipe names them with."""

ENCODERS: list[str] = []
"""Modules that make further encoders known to transformers when they are imported."""

CHOICES = {
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
    "rehearsal_limit", "step_budget", "probe_epochs",
)  # fmt: skip


_Rule = tuple[tuple[str, ...], Callable[[Any], bool], str]
_RULES: tuple[_Rule, ...] = (
    (_POSITIVE, lambda value: math.isfinite(value) and value > 0, "a number above 0"),
    (_SHARES, lambda value: 0 <= value < 1, "at least 0 and below 1"),
    (_NOT_NEGATIVE, lambda value: math.isfinite(value) and value >= 0, "at least 0"),
    (("schedule_ratio",), lambda value: value >= 1, "at least 1"),
    (("layer_decay",), lambda value: 0 < value <= 1, "above 0 and at most 1"),
    (("coref_propagation",), lambda value: value in (0, 1, 2), "0, 1 or 2"),
    (
        ("reinit_layers",),
        lambda layers: min(layers, default=1) >= 1 and len({*layers}) == len(layers),
        "a list of layers, each once, counted from 1 (lowest)",
    ),
)
"""Which values some settings may have, and that in words."""


def check_settings(config: TrainConfig) -> None:
    """Refuses values that cannot work.

    Raises:
        UsageError: Names the key, the value and the values allowed.
    """
    rules = [*_RULES]
    for key, words in {"network": ("joint", *NETWORKS), **CHOICES}.items():
        rules.append(((key,), words.__contains__, f"one of {', '.join(words)}"))
    for key, (least, most) in RANGES.items():
        rules.append(((key,), range(least, most + 1).__contains__, f"{least} to {most}"))
    for keys, fits, allowed in rules:
        for key in keys:
            if not fits(value := getattr(config, key)):
                problem = f"training setting {key} = {value!r} is not possible"
                raise UsageError(problem, f"use {allowed}")
    _check_tasks(config)


def _check_tasks(config: TrainConfig) -> None:
    """Some task must be learned, an epoch cannot be chosen by one that is not, and between given entities only
    relations are learned, by the joint network."""
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
    idle = [task for task in learned if task != "relation"]
    if config.given_entities and (idle or config.network != "joint"):
        wrong = f"{idle[0]}_weight above 0" if idle else f"network = {config.network!r}"
        raise UsageError(
            f"training setting given_entities = true does not go with {wrong}",
            'use entity_weight = 0, coreference_weight = 0 and network = "joint"',
        )


RECIPE_HINT = "a recipe is a TOML file in UTF-8"


_LEAST_EPOCHS = 8
"""Epochs that a step budget leaves in any case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """Everything that decides the outcome of a training, apart from the data.

    Attributes:
        encoder: Hugging Face id or folder of the encoder to start from.
        network: ``joint`` (whole abstract in one pass), or one of ``NETWORKS``.
        seed: Seed of initialisation, order and dropout.
        epochs: Passes over the training documents, or over one part of them.
        parts: Parts that the documents are cut into, anew in each pass; an epoch, and with it a checkpoint, is one part.
        batch_documents: Documents per step.
        optimiser: ``adamw``, ``adam``, ``adamp`` or ``radam``; see :mod:`~sciextract_trainer.optimisation`.
        encoder_lr: Peak learning rate of the encoder.
        head_lr: Peak learning rate of the heads.
        layer_decay: Factor of ``encoder_lr`` from each encoder layer to the one below; 1 is none.
        encoder_weight_decay: Weight decay of the encoder; decoupled, except with ``adam``.
        head_weight_decay: Weight decay of the heads; decoupled, except with ``adam``.
        schedule: ``linear``, ``slanted_triangular``, ``polynomial`` or ``none`` (the rates stay as they
            are, without warm-up); see :mod:`~sciextract_trainer.optimisation`.
        warmup: Share of all steps in which the rates rise; they fall after.
        schedule_ratio: ``slanted_triangular`` only: peak rate over lowest rate.
        schedule_power: ``polynomial`` only: power of the share of steps that are left.
        reinit_layers: Encoder layers that begin anew, counted from 1 (the lowest); see
            :mod:`~sciextract_trainer.encoders.loading`.
        reinit_with: ``xavier``, or ``encoder``: how the encoder itself was initialised.
        clip: Largest norm of the gradient.
        dropout: Dropout of the heads.
        attention_dropout: Dropout of attention probabilities; 0 lets fused kernels serve.
        word_dropout: Share of input subwords replaced by the mask subword.
        entity_weight: Weight of the entity loss (a sum over spans); a task of weight 0 is not computed.
        relation_weight: Weight of the relation loss (a sum over pairs).
        coreference_weight: Weight of the coreference loss (a sum over mentions).
        given_entities: Whether entities are given, and only relations between them are learned and predicted.
        ema: Decay per step of the averaged weights that are evaluated and kept; 0 keeps the last.
        freeze_embeddings: Whether the input embeddings stay as they are.
        bf16: Whether the encoder runs in bfloat16 autocast where the device computes that in hardware.
        accumulate: Batches whose gradients are added up to one step; rates and averages count steps.
        checkpointing: Whether the encoder's layers are computed again instead of kept (less memory).
        max_span_width: Most words of an entity.
        span_width: Width of the span representation.
        hidden_width: Width of the hidden layer of the entity head.
        negatives_per_word: Most likely non-gold spans per word that join the pair heads.
        evaluate_every: Epochs between evaluations on dev.
        select_by: Dev F1 that the kept epoch is chosen by: one task's, or ``mean`` of those learned.
        probe_epochs: ``retrain`` only: epochs in which the heads of new labels learn before the encoder does; 0 is none.
        step_budget: ``retrain`` only: steps from which on there are fewer epochs, down to eight; 0 is no limit.
        patience: Evaluations without a better score after which a training ends; 0 continues to the end.
        rehearsal: Documents against forgetting per training document and epoch, where there are any.
        rehearsal_limit: Most documents against forgetting in one epoch.
        pull: Strength of the pull back to the weights that a warm start began with; 0 is none.
        coref_propagation: Of networks that prune spans: rounds of coreference propagation, 0 to 2.
        width_embedding: Of networks that prune spans: size of the span width embedding.
        relation_spans_per_word: Of networks that prune spans: spans per word of a sentence that relations are scored on.
        coref_spans_per_word: Of networks that prune spans: spans per word of a document that coreference is scored on.
    """

    encoder: str
    network: str = "joint"
    seed: int = 1
    epochs: int = 20
    parts: int = 1
    batch_documents: int = 4
    optimiser: str = "adamw"
    encoder_lr: float = 1e-4
    head_lr: float = 1e-3
    layer_decay: float = 1.0
    encoder_weight_decay: float = 0.01
    head_weight_decay: float = 0.0
    schedule: str = "linear"
    warmup: float = 0.1
    schedule_ratio: float = 32.0
    schedule_power: float = 1.0
    reinit_layers: tuple[int, ...] = ()
    reinit_with: str = "xavier"
    clip: float = 5.0
    dropout: float = 0.3
    attention_dropout: float = 0.0
    word_dropout: float = 0.0
    entity_weight: float = 1.0
    relation_weight: float = 1.0
    coreference_weight: float = 1.0
    given_entities: bool = False
    ema: float = 0.995
    freeze_embeddings: bool = True
    bf16: bool = True
    accumulate: int = 1
    checkpointing: bool = False
    max_span_width: int = 10
    span_width: int = 256
    hidden_width: int = 150
    negatives_per_word: float = 0.15
    evaluate_every: int = 1
    select_by: str = "mean"
    probe_epochs: int = 0
    step_budget: int = 0
    patience: int = 0
    rehearsal: float = 1.0
    rehearsal_limit: int = 1_000_000
    pull: float = 0.0
    coref_propagation: int = 0
    width_embedding: int = 20
    relation_spans_per_word: float = 0.5
    coref_spans_per_word: float = 0.3

    def __post_init__(self) -> None:
        """Refuses values that cannot work.

        Raises:
            UsageError: Names the key, the value and the values allowed.
        """
        check_settings(self)

    def rehearsed(self, examples: int) -> int:
        """How many documents against forgetting an epoch with as many examples wants."""
        return min(round(self.rehearsal * examples), self.rehearsal_limit)

    def within_budget(self, documents: int) -> TrainConfig:
        """The recipe with as many epochs of so many documents as the steps allow, at least eight.

        The rates fall over the epochs that are left, hence this before the training.
        """
        if not self.step_budget:
            return self
        steps = -(-max(1, documents) // (self.batch_documents * self.accumulate))
        return replace(self, epochs=min(self.epochs, max(_LEAST_EPOCHS, self.step_budget // steps)))

    def to_json(self) -> dict[str, Any]:
        """All settings by name; lists, as in JSON and TOML, where there are several values."""
        values: dict[str, Any] = plain(self)
        return values


RECIPES = Path(__file__).resolve().parent / "recipes"


def find_recipe(recipe: str) -> Path:
    """The file of a recipe.

    Raises:
        InputMissingError: Neither a file nor a packaged recipe; names the packaged ones.
    """
    return packaged_file(recipe, RECIPES, "recipe")


def load_config(path: Path, **changes: Any) -> TrainConfig:
    """Reads a recipe (TOML) and replaces single settings.

    Raises:
        InputMissingError: The file does not exist.
        UsageError: It is not TOML, has an unknown setting, or a value that cannot work.
    """
    return config_from({**read_toml(path, "recipe", RECIPE_HINT), **changes}, str(path))


def config_from(values: Mapping[str, Any], place: str) -> TrainConfig:
    """A configuration from plain values, each checked for name and type.

    Raises:
        UsageError: Names the key, the value and what is allowed.
    """
    return convert(
        dict(values), TrainConfig, place, closed=True, error=UsageError, hint="see docs/recipes.md"
    )


def packaged_file(name: str, folder: Path, what: str, prefix: str = "") -> Path:
    """A file by its path, or one that comes with the trainer by its name.

    Args:
        name: A path, or a name without ``prefix`` and ``.toml``.
        folder: Where the packaged ones are.
        what: What it is, for the message: ``plan``, ``distillation recipe``.
        prefix: What the names of the packaged files begin with.

    Raises:
        InputMissingError: Neither a file nor a packaged one; names the packaged ones.
    """
    path, packaged = Path(name), folder / f"{prefix}{name}.toml"
    if path.is_file() or packaged.is_file():
        return path if path.is_file() else packaged
    names = sorted(file.stem.removeprefix(prefix) for file in folder.glob(f"{prefix}*.toml"))
    noun = what.rpartition(" ")[2]
    raise InputMissingError(
        f"no {what} is called {name!r}", f"packaged {noun}s: {', '.join(names)}"
    )


def read_toml(path: Path, what: str, hint: str) -> dict[str, Any]:
    """The values of a TOML file, not checked any further.

    Args:
        path: The file.
        what: What it is, for the message: ``no WHAT at PATH``.
        hint: What such a file looks like.

    Raises:
        InputMissingError: There is no such file.
        UsageError: It is not TOML in UTF-8.
    """
    if not path.is_file():
        raise InputMissingError(f"no {what} at {path}")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", hint) from error
