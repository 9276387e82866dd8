"""Stages that were made by hand, taken over into a run folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sciextract.errors import InputMissingError, SciextractError, UsageError
from sciextract_trainer.distillation.task import LABELS
from sciextract_trainer.files import explained
from sciextract_trainer.loop import BEST
from sciextract_trainer.making.products import (
    ENCODER_WEIGHTS,
    EncoderMade,
    LabelsMade,
    NetworkMade,
    Product,
)
from sciextract_trainer.making.stages.label import read_labels
from sciextract_trainer.making.stages.network_folder import write_checked_model
from sciextract_trainer.making.workshop import Workshop
from sciextract_trainer.pretraining.network import HEAD, has_head

WANTED: Mapping[type[Product], str] = {
    EncoderMade: f"encoder/{ENCODER_WEIGHTS}",
    NetworkMade: BEST,
    LabelsMade: "soft-*.npz",
}
"""What a folder has to hold so that a stage can be taken over from it."""


def adopt(shop: Workshop, name: str, source: Path, fingerprint: dict[str, Any]) -> None:
    """Copies what a finished training or labelling made, and records it as taken over.

    That the folder was made with the settings of the plan is for the caller to know: the record says so.

    Args:
        shop: The plan, and where it is carried out.
        name: A stage that is not finished.
        source: A run folder of ``pretrain``, ``distill encoder`` or a training, or a folder of soft labels.
        fingerprint: What the stage depends on.

    Raises:
        UsageError: The plan has no such stage, or the labels are not of the plan's texts.
        InputMissingError: The folder does not hold what the stage makes, or what later stages need of it.
        OutputError: The disk is full.
    """
    stage, folder = shop.plan.stages[name], shop.folder(name)
    if not list(source.glob(WANTED[stage.makes])):
        raise InputMissingError(
            f"{source} holds no {WANTED[stage.makes]}, which stage {name} makes",
            "give the folder of a finished run",
        )
    if stage.makes is EncoderMade:
        _require_head(shop, name, source)
    with explained(folder):
        _copy(stage.makes, source, folder)
        made = stage.product(shop, folder)
        if isinstance(made, NetworkMade):
            write_checked_model(shop, made)
        elif isinstance(made, LabelsMade):
            _require_these_texts(made, source)
    facts = {"adopted": source.name, **fingerprint, **stage.outcome(folder)}
    shop.record.finish_stage(name, sha256=made.sha256(), **facts)


def require_stages(shop: Workshop, names: Mapping[str, Path]) -> None:
    """Refuses names that are no stages of the plan.

    Raises:
        UsageError: Names the one, and those there are.
    """
    for name in names:
        if name not in shop.plan.stages:
            raise UsageError(
                f"plan {shop.plan.name} has no stage {name!r}",
                f"stages: {', '.join(shop.plan.stages)}",
            )


def _require_head(shop: Workshop, name: str, source: Path) -> None:
    """Refuses an encoder without the head that later stages learn from, before they are reached."""
    learning = [key for key, each in shop.plan.stages.items() if name in each.learns_heads_of()]
    if learning and not has_head(str(source / "encoder")):
        raise InputMissingError(
            f"{source / 'encoder'} has no head that tells hidden pieces, which stage {learning[0]} learns "
            f"from as that of {name}: it lacks {HEAD}",
            "give the run folder of a pretraining that kept it, or leave the stage to the plan",
        )


def _require_these_texts(made: LabelsMade, source: Path) -> None:
    """Refuses labels of other texts than those of the plan, and leaves none of them behind."""
    try:
        read_labels(made)
    except SciextractError as error:
        shutil.rmtree(made.folder)
        raise UsageError(
            f"{source} cannot be taken over: {error.message}",
            "give a folder with the labels of the plan's texts, all of them and no others",
        ) from error


def _copy(kind: type[Product], source: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if kind is EncoderMade:
        shutil.copytree(source / "encoder", folder / "encoder")
    elif kind is NetworkMade:
        for name in (BEST, "metrics.jsonl"):
            if (source / name).is_file():
                shutil.copyfile(source / name, folder / name)
    else:
        (folder / LABELS).mkdir()
        for shard in sorted(source.glob("soft-*.npz")):
            shutil.copyfile(shard, folder / LABELS / shard.name)
