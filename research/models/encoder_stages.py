"""Stages that make encoders: ``pretrain``, ``smaller`` and ``distil-encoder``."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from safetensors import safe_open

from research.distillation.pair import DistilConfig, load_distil_config, run_distillation
from research.distillation.student import StudentPlan, write_student
from research.models.stage import ENCODER_WEIGHTS, Artifact, EncoderArtifact, Stage
from research.pretraining.command import run_pretraining
from research.pretraining.steps import PretrainConfig, load_pretrain_config
from research.recipes import find_recipe
from sciextract import atomic
from sciextract_trainer.checkpoint import WEIGHTS, TimeIsUp

if TYPE_CHECKING:
    from research.models.context import BuildContext


@dataclass(frozen=True, kw_only=True)
class Smaller(Stage):
    """A smaller encoder with the same tokenizer.

    Attributes:
        encoder: The larger one.
        layers: Its layers that the student begins with, counted from 1.
        fresh: So many layers with random weights instead.
        hidden: Hidden size; that of the larger one when 0, like the other sizes.
        heads: Attention heads.
        intermediate: Neurons of a feed-forward layer.
        seed: Seed of random weights.
    """

    makes: ClassVar[type[Artifact]] = EncoderArtifact

    encoder: str
    layers: tuple[int, ...] = ()
    fresh: int = 0
    hidden: int = 0
    heads: int = 0
    intermediate: int = 0
    seed: int = 1

    def uses(self) -> Mapping[str, type[Artifact]]:
        """Earlier stages."""
        return {self.encoder: EncoderArtifact}

    def work(self, context: BuildContext, folder: Path) -> None:
        """Makes it, or goes on."""
        if (folder / "encoder" / ENCODER_WEIGHTS).is_file():
            return
        plan = StudentPlan(
            self.layers, self.fresh or None, hidden=self.hidden or None, heads=self.heads or None,
            intermediate=self.intermediate or None, seed=self.seed,
        )  # fmt: skip
        source = str(context.made(self.encoder, EncoderArtifact).folder)
        with atomic.replacing(folder / "encoder", alone=True) as partial:
            context.report({"event": "student", **write_student(source, plan, partial)})

    def product(self, context: BuildContext, folder: Path) -> EncoderArtifact:
        """What it made."""
        return EncoderArtifact(folder / "encoder")

    def settings(self) -> dict[str, Any]:
        """Those that are given: a size of 0 is the larger encoder's."""
        return {key: value for key, value in Stage.settings(self).items() if value}


def minutes_left(until: float) -> float:
    """Minutes until ``time.monotonic()`` is ``until``."""
    return max(0.0, (until - time.monotonic()) / 60)


def require_last_step(folder: Path, steps: int) -> None:
    """Tells a training that was stopped from a finished one.

    Raises:
        TimeIsUp: Its checkpoint is not that of the last step.
    """
    with safe_open(folder / WEIGHTS, framework="pt") as file:
        state = json.loads(file.metadata()["state"])
    if int(state["schedule_step"]) < steps:
        raise TimeIsUp


@dataclass(frozen=True, kw_only=True)
class Pretrain(Stage):
    """Continued masked-language training.

    Attributes:
        encoder: What it starts from.
        texts: Shards of abstracts, names or patterns in the data folder.
        most: Abstracts to read.
        recipe: Pretraining recipe.
        change: Settings that replace the recipe's.
    """

    makes: ClassVar[type[Artifact]] = EncoderArtifact

    encoder: str
    texts: tuple[str, ...]
    most: int
    recipe: str
    change: Mapping[str, Any] = field(default_factory=dict)

    def uses(self) -> Mapping[str, type[Artifact]]:
        """Earlier stages."""
        return {self.encoder: EncoderArtifact}

    def inputs(self, context: BuildContext) -> dict[str, str]:
        """Files and recipe."""
        return context.hashes(context.texts(self.texts)) | {
            "recipe": str(self._config("").to_json())
        }

    def work(self, context: BuildContext, folder: Path) -> None:
        """Makes it, or goes on."""
        config = self._config(str(context.made(self.encoder, EncoderArtifact).folder))
        texts, left = context.texts(self.texts), minutes_left(context.until)
        run_pretraining(config, texts, self.most, folder, context.report, left)
        require_last_step(folder, config.steps)

    def product(self, context: BuildContext, folder: Path) -> EncoderArtifact:
        """What it made."""
        return EncoderArtifact(folder / "encoder")

    def _config(self, encoder: str) -> PretrainConfig:
        return load_pretrain_config(find_recipe(self.recipe), encoder=encoder, **self.change)


@dataclass(frozen=True, kw_only=True)
class DistilEncoder(Stage):
    """Distillation of an encoder on unlabelled abstracts.

    Attributes:
        teacher: The large encoder, with the head of its pretraining.
        student: The small one.
        texts: Shards of abstracts, names or patterns in the data folder.
        most: Abstracts to read.
        recipe: ``distilbio``, ``tinybio`` or ``compactbio``.
        change: Settings that replace the recipe's.
    """

    makes: ClassVar[type[Artifact]] = EncoderArtifact

    teacher: str
    student: str
    texts: tuple[str, ...]
    most: int
    recipe: str
    change: Mapping[str, Any] = field(default_factory=dict)

    def uses(self) -> Mapping[str, type[Artifact]]:
        """Earlier stages."""
        return {self.teacher: EncoderArtifact, self.student: EncoderArtifact}

    def learns_heads_of(self) -> tuple[str, ...]:
        """The teacher."""
        return (self.teacher,)

    def inputs(self, context: BuildContext) -> dict[str, str]:
        """Files and recipe."""
        return context.hashes(context.texts(self.texts)) | {
            "recipe": str(self._config("", "").to_json())
        }

    def work(self, context: BuildContext, folder: Path) -> None:
        """Makes it, or goes on."""
        teacher, student = (
            str(context.made(name, EncoderArtifact).folder) for name in (self.teacher, self.student)
        )
        config = self._config(teacher, student)
        texts, left = context.texts(self.texts), minutes_left(context.until)
        run_distillation(config, texts, self.most, folder, context.report, left)
        require_last_step(folder, config.steps)

    def product(self, context: BuildContext, folder: Path) -> EncoderArtifact:
        """What it made."""
        return EncoderArtifact(folder / "encoder")

    def _config(self, teacher: str, student: str) -> DistilConfig:
        return load_distil_config(self.recipe, teacher=teacher, student=student, **self.change)
