"""The settings of an encoder distillation: frozen and validated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciextract_trainer.distillation.objectives import METHODS
from sciextract_trainer.pretrain.config import BlockSettings, load_settings, require
from sciextract_trainer.settings_file import packaged_file

RECIPES = Path(__file__).resolve().parent.parent / "recipes"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilConfig(BlockSettings):
    """Everything that decides the outcome of an encoder distillation, apart from the texts.

    Attributes:
        teacher: Hugging Face id or folder of an encoder with a head that tells hidden pieces.
        student: Folder of the encoder that learns.
        method: ``distilbio``, ``tinybio`` or ``compactbio``.
        layers: The teacher layer that each layer of the student follows, counted from 1; none named: the last
            layer of each of as many equal blocks as the student has layers.
        temperature: Of the output distributions.
        mlm_weight: Of the masked-language loss.
        output_weight: Of the soft outputs.
        hidden_weight: Of the hidden states.
        attention_weight: Of the attention maps.
        embedding_weight: Of the embeddings.
    """

    teacher: str
    student: str
    method: str
    layers: tuple[int, ...] = ()
    temperature: float = 1.0
    mlm_weight: float = 1.0
    output_weight: float = 1.0
    hidden_weight: float = 1.0
    attention_weight: float = 1.0
    embedding_weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuses values that cannot work.

        Raises:
            UsageError: Names the setting, the value and the values allowed.
        """
        BlockSettings.__post_init__(self)
        require(self, "method", self.method in METHODS, ", ".join(METHODS))
        require(self, "temperature", self.temperature > 0, "a number above 0")
        layerwise = METHODS[self.method].layerwise
        require(self, "layers", layerwise or not self.layers, "none, for the last one is compared")
        for part, weight in self.weights.items():
            require(self, f"{part}_weight", weight >= 0, "at least 0")

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each part of the method's loss."""
        return {part: getattr(self, f"{part}_weight") for part in METHODS[self.method].parts}


def load_distil_config(recipe: str, **changes: Any) -> DistilConfig:
    """The settings of a recipe, with changes.

    Args:
        recipe: ``distilbio``, ``tinybio``, ``compactbio`` or a TOML file.
        **changes: Settings that replace the recipe's.

    Raises:
        InputMissingError: Neither a file nor a packaged recipe; names the packaged ones.
        UsageError: A setting is unknown, of another type or cannot work.
    """
    file = packaged_file(recipe, RECIPES, "distillation recipe", prefix="distil-")
    return load_settings(DistilConfig, file, **changes)
