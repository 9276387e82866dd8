"""``python -m research pretrain``: continued pretraining of an encoder on abstracts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from research.pretraining.blocks import packed_blocks
from research.pretraining.network import (
    HEAD,
    MaskedLanguageModel,
    head_weights,
    read_head,
)
from research.pretraining.steps import (
    Batch,
    BlockSettings,
    PretrainConfig,
    Room,
    start_state,
    train_on_blocks,
)
from research.reporting import Report
from research.unlabelled import unlabelled_texts
from sciextract_trainer.build import load_subword_rules
from sciextract_trainer.checkpoint import deadline, explaining, replacing
from sciextract_trainer.encoders.loading import load_encoder, load_pretrained
from sciextract_trainer.hardware import has_fast_bf16


def pretrain(
    config: PretrainConfig, room: Room, folder: Path, report: Report, until: float = float("inf")
) -> MaskedLanguageModel:
    """Train to the last step of the recipe, or until the clock says so; gives the network as it is then.

    A head that lies next to the encoder's weights continues learning; otherwise it begins fresh.

    Args:
        config: The recipe.
        room: Tokenizer and blocks.
        folder: Checkpoints.
        report: Called with a dictionary every few steps.
        until: ``time.monotonic()`` at which to stop after a checkpoint.

    Raises:
        UsageError: There are fewer blocks than one step needs, or a checkpoint of other settings is there.
        ModelNotFoundError: The encoder cannot be loaded.
        ModelMismatchError: The head next to it is of another encoder.
        OutputError: A checkpoint cannot be written; the one before it stays.
    """
    torch.manual_seed(config.seed)
    bf16 = config.bf16 and has_fast_bf16(room.device)
    network = MaskedLanguageModel(load_encoder(config.encoder), bf16)
    read_head(network, config.encoder)
    # Each text is read about once, so dropout only slows learning (Geiping and Goldstein 2023, Cramming,
    # arXiv 2212.14034, section 4.3): evaluation mode, though it is trained.
    network.to(room.device).eval()
    # On a processor the backward pass of fused attention is slow: 2,600 subwords/s instead of 3,500.
    if room.device.type == "cpu":
        network.encoder.set_attn_implementation("eager")
    state = start_state(network, room, config.to_json())

    def losses(batch: Batch) -> dict[str, Tensor]:
        logits = network(batch.input_ids, batch.positions)
        return {"loss": nn.functional.cross_entropy(logits, batch.targets)}

    train_on_blocks(state, room, losses, folder, report, until)
    return network


def write_encoder(
    network: MaskedLanguageModel, source: str, folder: Path, head: bool = True
) -> Path:
    """Writes encoder, tokenizer and head, so that trainings, pretrainings and students can start from them.

    Args:
        network: Encoder and head.
        source: Folder or hub id of the tokenizer.
        folder: Where to; files of an earlier state are replaced.
        head: Whether the head is worth keeping; a fresh one is not.

    Raises:
        OutputError: It cannot be written, for example on a full disk.
    """
    from transformers import AutoTokenizer

    encoder = network.encoder
    weights = {name: value.contiguous().cpu() for name, value in encoder.state_dict().items()}
    with explaining(folder):
        load_pretrained(AutoTokenizer, source, use_fast=True).save_pretrained(folder)
        encoder.config.save_pretrained(folder)
    parts = {"model.safetensors": weights} | ({HEAD: head_weights(network)} if head else {})
    for name, tensors in parts.items():
        with replacing(folder / name) as temporary:
            save_file(tensors, temporary, metadata={"format": "pt"})
    return folder


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
        minutes: Stop after this time; the same call continues.

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
        report: Gets how many there are.

    Raises:
        InputMissingError: A shard does not exist.
        ModelNotFoundError: The tokenizer cannot be loaded.
        OutputError: The blocks cannot be written.
    """
    rules = load_subword_rules(encoder)
    described = {"texts": [shard.name for shard in shards], "most": most}
    blocks = packed_blocks(unlabelled_texts(shards, most), rules, config.length, folder, described)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    bf16 = config.bf16 and has_fast_bf16(device)
    size = {"blocks": len(blocks), "subwords": int(blocks.size)}
    report({"event": "blocks", **size, "device": str(device), "bf16": bf16})
    return Room(config, rules, blocks, device)
