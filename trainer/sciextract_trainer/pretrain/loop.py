"""Masked-language training of an encoder on packed blocks."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from sciextract.workflows.events import Report
from sciextract_trainer.network.encoder import load_encoder
from sciextract_trainer.pretrain.config import PretrainConfig
from sciextract_trainer.pretrain.head import read_head
from sciextract_trainer.pretrain.network import MaskedLanguageModel
from sciextract_trainer.pretrain.steps import Batch, Room, start_state, train_on_blocks


def pretrain(
    config: PretrainConfig, room: Room, folder: Path, report: Report, until: float = float("inf")
) -> MaskedLanguageModel:
    """Train to the last step of the recipe, or until the clock says so; gives the network as it is then.

    A head that lies beside the encoder's weights goes on learning; otherwise it begins fresh.

    Args:
        config: The recipe.
        room: Tokenizer and blocks.
        folder: Checkpoints.
        report: Called with a dictionary every few steps.
        until: ``time.monotonic()`` at which to stop after a checkpoint.

    Raises:
        UsageError: There are fewer blocks than one step needs, or a checkpoint of other settings is there.
        ModelNotFoundError: The encoder cannot be loaded.
        ModelMismatchError: The head beside it is of another encoder.
        OutputError: A checkpoint cannot be written; the one before it stays.
    """
    torch.manual_seed(config.seed)
    network = MaskedLanguageModel(load_encoder(config.encoder), config.bf16)
    read_head(network, config.encoder)
    network.to(room.device).train()
    state = start_state(network, room, config.to_json())

    def losses(batch: Batch) -> dict[str, Tensor]:
        logits = network(batch.input_ids, batch.positions)
        return {"loss": nn.functional.cross_entropy(logits, batch.targets)}

    train_on_blocks(state, room, losses, folder, report, until)
    return network
