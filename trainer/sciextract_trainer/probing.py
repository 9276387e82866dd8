"""Heads before the encoder: new labels are learned on states that do not change, computed once.

Fine-tuning from heads that know nothing distorts what the encoder knows; heads that fit its states first keep it
(linear probing, then fine-tuning: Kumar et al. 2022, arXiv 2202.10054, section 4). An epoch takes about a tenth of
the time, for the encoder is not run.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sciextract.inference.pipeline import Labels
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.warm_start import StartModel


class RememberedStates(nn.Module):
    """An encoder that does not learn and runs once per window; in half precision, 0.3 MB for 400 subwords.

    Args:
        encoder: A Hugging Face encoder.
    """

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self._known: dict[bytes, Tensor] = {}

    def train(self, mode: bool = True) -> RememberedStates:
        """The encoder never drops anything, whatever the mode."""
        return super().train(False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor]:
        """States (windows, subwords, hidden), zero where a window is padded."""
        counts = attention_mask.sum(dim=1).tolist()
        keys = [
            ids[:count].cpu().numpy().tobytes()
            for ids, count in zip(input_ids, counts, strict=True)
        ]
        if new := [row for row, key in enumerate(keys) if key not in self._known]:
            with torch.no_grad():
                states = self.encoder(input_ids=input_ids[new], attention_mask=attention_mask[new])[
                    0
                ]
            for row, each in zip(new, states, strict=True):
                # In bfloat16, as the encoder runs where it is fast, states are rougher than halves are.
                self._known[keys[row]] = each[: counts[row]].half()
        hidden = self._known[keys[0]].shape[1]
        found = torch.zeros(*input_ids.shape, hidden, device=input_ids.device)
        for row, key in enumerate(keys):
            found[row, : counts[row]] = self._known[key]
        return (found,)


def probe(
    network: JointNetwork,
    start: StartModel,
    config: TrainConfig,
    data: TrainingData,
    folder: Path,
    device: torch.device,
) -> None:
    """Trains the heads of a network that is trained on from another one, where that one lacks labels.

    Heads of layers whose labels the start model knows are at their best already and stay as they are.

    Args:
        network: The network with the weights of the start model; changed in place.
        start: The start model, with the labels that are wanted.
        config: The recipe.
        data: What is learned from; neither rehearsal nor dev documents are.
        folder: Keeps checkpoints, so that an interrupted run goes on.
        device: Where to train.
    """
    known: Labels = start.folder.config.labels
    relations = start.labels.relations.labels
    learned: dict[str, Any] = {
        "relation_weight": float(not set(relations) <= set(known.relations.labels)),
        "coreference_weight": float(start.labels.coreference and not known.coreference),
        "select_by": "mean",
    }
    heads = replace(
        config, epochs=config.probe_epochs, word_dropout=0.0, pull=0.0, layer_decay=1.0, patience=0,
        **learned,
    )  # fmt: skip
    rules: SubwordRules = start.rules
    encoder: nn.Module = network.words.encoder
    learning = [each for each in encoder.parameters() if each.requires_grad]
    for each in learning:
        each.requires_grad_(False)
    # In place of the encoder: dropout of states and the heads stay what they are in the training that follows.
    network.words.encoder = RememberedStates(encoder)
    try:
        alone = TrainingData(data.examples, [])
        train(heads, start.labels, rules, alone, folder, lambda event: None, network, device)
    finally:
        network.words.encoder = encoder
        for each in learning:
            each.requires_grad_(True)
