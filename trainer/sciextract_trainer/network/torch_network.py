"""The core's ``Network`` protocol on torch modules, so that training is scored by the served decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import torch

from sciextract.inference.network import PairInput, PairScores, WordStates
from sciextract.inference.pieces import EncoderInput, pad
from sciextract_trainer.network.joint import JointNetwork


class TorchNetwork:
    """Runs a network in eager torch, one window a call.

    Args:
        network: The network; put into eval mode.
    """

    def __init__(self, network: JointNetwork) -> None:
        self._network = network.eval()
        self._device = next(network.parameters()).device

    @torch.inference_mode()
    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States and span scores of each window."""
        padded = pad(windows)
        arrays = (padded.input_ids, padded.attention_mask, padded.word_first, padded.word_last)
        outputs = self._network(*(torch.from_numpy(array).to(self._device) for array in arrays))
        states, last, logits = (output.float().cpu().numpy() for output in outputs)
        bounds = zip(padded.offsets, padded.offsets[1:], strict=False)
        return [WordStates(states[a:b], last[a:b], logits[a:b]) for a, b in bounds]

    @torch.inference_mode()
    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Relation and antecedent scores."""
        arrays = [
            torch.from_numpy(np.ascontiguousarray(getattr(pairs, field.name))).to(self._device)
            for field in fields(pairs)
        ]
        outputs = self._network.pairs(*arrays)
        return PairScores(*(output.float().cpu().numpy() for output in outputs))
