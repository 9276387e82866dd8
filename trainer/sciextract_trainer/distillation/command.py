"""``sciextract-trainer distill encoder``: a small encoder learns from a large one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sciextract.workflows.events import Report
from sciextract_trainer.distillation.config import DistilConfig
from sciextract_trainer.distillation.loop import distil
from sciextract_trainer.distillation.pair import load_pair
from sciextract_trainer.pretrain.command import room_of
from sciextract_trainer.pretrain.result import write_encoder
from sciextract_trainer.slices import deadline


def run_distillation(
    config: DistilConfig,
    shards: Sequence[Path],
    most: int,
    folder: Path,
    report: Report,
    minutes: float = float("inf"),
) -> Path:
    """Distil on unlabelled abstracts and write the student's encoder and head as a Hugging Face folder.

    Args:
        config: The recipe.
        shards: JSON Lines with ``id``, ``title`` and ``abstract``, packed with gzip.
        most: Abstracts to take, in the order of the shards.
        folder: Blocks, checkpoints and, in ``encoder/``, the result.
        report: Called with a dictionary every few steps.
        minutes: Stop after this time; the same call goes on.

    Returns:
        The student's folder; before the last step it holds the weights so far.

    Raises:
        InputMissingError: A shard does not exist.
        ModelNotFoundError: An encoder cannot be loaded, or the teacher has no head.
        ModelMismatchError: Teacher and student do not fit each other.
        UsageError: Too little text, or the folder belongs to a distillation with other settings.
        OutputError: Something cannot be written; the last whole checkpoint stays.
    """
    until = deadline(minutes)
    pair = load_pair(config)
    room = room_of(config, config.student, shards, most, folder, report)
    student = distil(config, pair, room, folder, report, until)
    return write_encoder(student, config.student, folder / "encoder")
