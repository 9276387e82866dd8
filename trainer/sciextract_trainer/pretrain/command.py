"""``sciextract-trainer pretrain``: an encoder goes on reading, in the language of abstracts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from sciextract_trainer.build import load_piece_rules
from sciextract_trainer.pretrain.config import PretrainConfig
from sciextract_trainer.pretrain.loop import Room, pretrain
from sciextract_trainer.pretrain.packing import packed_blocks
from sciextract_trainer.unlabelled import unlabelled_texts


def run_pretraining(
    config: PretrainConfig,
    shards: Sequence[Path],
    most: int,
    folder: Path,
    report: Callable[[dict[str, Any]], None],
    minutes: float = float("inf"),
) -> Path:
    """Pretrain on unlabelled abstracts and write the encoder as a Hugging Face folder.

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
    """
    until = time.monotonic() + 60 * minutes
    rules = load_piece_rules(config.encoder)
    described = {"texts": [shard.name for shard in shards], "most": most}
    texts = unlabelled_texts(shards, most)
    blocks = packed_blocks(texts, rules, config.length, folder, described)
    report({"event": "blocks", "blocks": len(blocks), "pieces": int(blocks.size)})
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = pretrain(Room(config, rules, blocks, device), folder, report, until)
    return _save(encoder, config.encoder, folder / "encoder")


def _save(encoder: Any, source: str, folder: Path) -> Path:
    from transformers import AutoTokenizer

    AutoTokenizer.from_pretrained(source, use_fast=True).save_pretrained(folder)
    encoder.config.save_pretrained(folder)
    weights = {name: value.contiguous().cpu() for name, value in encoder.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
