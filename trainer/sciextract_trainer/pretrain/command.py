"""``sciextract-trainer pretrain``: an encoder goes on reading, in the language of abstracts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from sciextract.workflows.events import Report
from sciextract_trainer.build import load_piece_rules
from sciextract_trainer.pretrain.config import BlockSettings, PretrainConfig
from sciextract_trainer.pretrain.loop import pretrain
from sciextract_trainer.pretrain.packing import packed_blocks
from sciextract_trainer.pretrain.result import write_encoder
from sciextract_trainer.pretrain.steps import Room
from sciextract_trainer.slices import deadline
from sciextract_trainer.unlabelled import unlabelled_texts


def run_pretraining(
    config: PretrainConfig,
    shards: Sequence[Path],
    most: int,
    folder: Path,
    report: Report,
    minutes: float = float("inf"),
) -> Path:
    """Pretrain on unlabelled abstracts and write encoder and head as a Hugging Face folder.

    Args:
        config: The recipe.
        shards: JSON Lines with ``id``, ``title`` and ``abstract``, packed with gzip.
        most: Abstracts to take, in the order of the shards.
        folder: Blocks, checkpoints and, in ``encoder/``, the result.
        report: Called with a dictionary every few steps.
        minutes: Stop after this time; the same call goes on.

    Returns:
        The encoder's folder; before the last step it holds the weights so far.

    Raises:
        InputMissingError: A shard does not exist.
        ModelNotFoundError: The encoder cannot be loaded.
        UsageError: Too little text, or the folder belongs to a pretraining with other settings.
        OutputError: Something cannot be written; the last whole checkpoint stays.
    """
    until = deadline(minutes)
    room = room_of(config, config.encoder, shards, most, folder, report)
    network = pretrain(config, room, folder, report, until)
    return write_encoder(network, config.encoder, folder / "encoder")


def room_of(
    config: BlockSettings,
    encoder: str,
    shards: Sequence[Path],
    most: int,
    folder: Path,
    report: Report,
) -> Room:
    """The texts as packed blocks, with what every step on them reads.

    Args:
        config: How a network learns from them.
        encoder: Folder or hub id of the tokenizer.
        shards: JSON Lines with ``id``, ``title`` and ``abstract``, packed with gzip.
        most: Abstracts to take, in the order of the shards.
        folder: Where the blocks are kept.
        report: Told how many there are.

    Raises:
        InputMissingError: A shard does not exist.
        ModelNotFoundError: The tokenizer cannot be loaded.
        OutputError: The blocks cannot be written.
    """
    rules = load_piece_rules(encoder)
    described = {"texts": [shard.name for shard in shards], "most": most}
    blocks = packed_blocks(unlabelled_texts(shards, most), rules, config.length, folder, described)
    report({"event": "blocks", "blocks": len(blocks), "pieces": int(blocks.size)})
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return Room(config, rules, blocks, device)
