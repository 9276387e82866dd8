"""The training configuration: frozen, validated, read from TOML."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sciextract.errors import InputMissingError, UsageError

NETWORKS = ("joint", "dygie")
SCHEDULES = ("linear", "slanted_triangular")
SELECTIONS = ("mean", "entity", "relation", "coreference")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """Everything that decides the outcome of a training, apart from the data.

    Attributes:
        encoder: Hugging Face id or folder of the encoder to start from.
        network: ``joint`` (whole abstract in one pass) or ``dygie`` (DyGIE++, one sentence a pass).
        seed: Seed of initialisation, order and dropout.
        epochs: Passes over the training documents.
        batch_documents: Documents per step.
        encoder_lr: Peak learning rate of the encoder.
        head_lr: Peak learning rate of the heads.
        encoder_weight_decay: Decoupled weight decay of the encoder.
        head_weight_decay: Decoupled weight decay of the heads.
        schedule: ``linear`` (rates rise from zero and fall to zero) or ``slanted_triangular`` (Howard and
            Ruder 2018, arXiv 1801.06146: they rise from and fall to the peak over ``schedule_ratio``).
        warmup: Share of all steps in which the rates rise; they fall after.
        schedule_ratio: ``slanted_triangular`` only: peak rate over lowest rate.
        clip: Largest norm of the gradient.
        dropout: Dropout of the heads.
        attention_dropout: Dropout of attention probabilities; 0 lets fused kernels serve.
        word_dropout: Share of input pieces replaced by the mask piece.
        entity_weight: Weight of the entity loss (a sum over spans).
        relation_weight: Weight of the relation loss (a sum over pairs).
        coreference_weight: Weight of the coreference loss (a sum over mentions).
        ema: Decay per step of the averaged weights that are evaluated and kept; 0 keeps the last.
        freeze_embeddings: Whether the input embeddings stay as they are.
        bf16: Whether the encoder runs in bfloat16 autocast.
        max_span_width: Most words of an entity.
        span_width: Width of the span representation.
        hidden_width: Width of the hidden layer of the entity head.
        negatives_per_word: Most likely non-gold spans per word that join the pair heads.
        evaluate_every: Epochs between evaluations on dev.
        select_by: Dev F1 that the kept epoch is chosen by: one task's, or ``mean`` of the three.
        patience: Evaluations without a better score after which a training ends; 0 goes on to the end.
        rehearsal: Documents against forgetting per training document and epoch, where there are any.
        pull: Strength of the pull back to the weights that a warm start began with; 0 is none.
        coref_propagation: ``dygie`` only: rounds of coreference propagation, 0 to 2.
        width_embedding: ``dygie`` only: size of the span width embedding.
        relation_spans_per_word: ``dygie`` only: spans per word of a sentence that relations are scored on.
        coref_spans_per_word: ``dygie`` only: spans per word of a document that coreference is scored on.
    """

    encoder: str
    network: str = "joint"
    seed: int = 1
    epochs: int = 20
    batch_documents: int = 4
    encoder_lr: float = 1e-4
    head_lr: float = 1e-3
    encoder_weight_decay: float = 0.01
    head_weight_decay: float = 0.0
    schedule: str = "linear"
    warmup: float = 0.1
    schedule_ratio: float = 32.0
    clip: float = 5.0
    dropout: float = 0.3
    attention_dropout: float = 0.0
    word_dropout: float = 0.0
    entity_weight: float = 1.0
    relation_weight: float = 1.0
    coreference_weight: float = 1.0
    ema: float = 0.995
    freeze_embeddings: bool = True
    bf16: bool = True
    max_span_width: int = 10
    span_width: int = 256
    hidden_width: int = 150
    negatives_per_word: float = 0.15
    evaluate_every: int = 1
    select_by: str = "mean"
    patience: int = 0
    rehearsal: float = 1.0
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
        for key, words in _CHOICES.items():
            _check(self, key, getattr(self, key) in words, f"one of {', '.join(words)}")
        for key in _POSITIVE:
            _check(self, key, getattr(self, key) > 0, "a number above 0")
        for key in _SHARES:
            _check(self, key, 0 <= getattr(self, key) < 1, "at least 0 and below 1")
        for key in _NOT_NEGATIVE:
            _check(self, key, getattr(self, key) >= 0, "at least 0")
        _check(self, "schedule_ratio", self.schedule_ratio >= 1, "at least 1")
        _check(self, "coref_propagation", self.coref_propagation in (0, 1, 2), "0, 1 or 2")

    def to_json(self) -> dict[str, Any]:
        """All settings by name."""
        return asdict(self)


_CHOICES = {"network": NETWORKS, "schedule": SCHEDULES, "select_by": SELECTIONS}
_POSITIVE = (
    "epochs", "batch_documents", "encoder_lr", "head_lr", "clip", "max_span_width",
    "span_width", "hidden_width", "evaluate_every", "width_embedding",
    "relation_spans_per_word", "coref_spans_per_word",
)  # fmt: skip
_SHARES = ("warmup", "dropout", "attention_dropout", "word_dropout", "ema")
_NOT_NEGATIVE = (
    "seed", "encoder_weight_decay", "head_weight_decay", "entity_weight", "relation_weight",
    "coreference_weight", "negatives_per_word", "patience", "rehearsal", "pull",
)  # fmt: skip


def _check(config: TrainConfig, key: str, fine: bool, allowed: str) -> None:
    if not fine:
        value = getattr(config, key)
        raise UsageError(f"training setting {key} = {value!r} is not possible", f"use {allowed}")


def load_config(path: Path, **changes: Any) -> TrainConfig:
    """Reads a recipe (TOML) and replaces single settings.

    Raises:
        InputMissingError: The file does not exist.
        UsageError: It is not TOML, has an unknown setting, or a value that cannot work.
    """
    if not path.is_file():
        raise InputMissingError(f"no recipe at {path}")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", "a recipe is a TOML file in UTF-8") from error
    return config_from({**values, **changes}, str(path))


def config_from(values: dict[str, Any], place: str) -> TrainConfig:
    """A configuration from plain values, each checked for name and type.

    Raises:
        UsageError: Names the key, the value and what is allowed.
    """
    kinds = {field.name: str(field.type) for field in fields(TrainConfig)}
    for key, value in values.items():
        if key not in kinds:
            raise UsageError(f"{place}: unknown setting {key!r}", f"known: {', '.join(kinds)}")
        if not _has_kind(value, kinds[key]):
            raise UsageError(f"{place}: {key} = {value!r} is not of type {kinds[key]}")
    if "encoder" not in values:
        raise UsageError(f"{place}: the setting 'encoder' is missing", "use a hub id or a folder")
    return TrainConfig(**values)


def _has_kind(value: object, kind: str) -> bool:
    if isinstance(value, bool) or kind == "bool":
        return isinstance(value, bool) and kind == "bool"
    if kind == "float":
        return isinstance(value, int | float)
    return isinstance(value, {"int": int, "str": str}[kind])
