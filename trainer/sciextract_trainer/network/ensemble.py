"""Several networks as one: the teacher of a distillation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sciextract.inference.mentions import softmax
from sciextract.inference.network import Network, PairInput, PairScores, WordStates
from sciextract.inference.pieces import EncoderInput


class Ensemble:
    """Averages the entity probabilities, relation probabilities and antecedent scores of its members.

    The states of all members stand side by side in ``WordStates``, so that each member scores pairs with
    its own states.

    Args:
        members: Networks with the same labels, tokenizer and hidden size.
    """

    def __init__(self, members: Sequence[Network]) -> None:
        self._members = tuple(members)

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States (words, members * hidden) and log mean probabilities of spans."""
        outputs = [member.encode(windows) for member in self._members]
        return [
            WordStates(
                np.concatenate([states.first for states in same], axis=1),
                np.concatenate([states.last for states in same], axis=1),
                _log_mean([states.span_logits for states in same]),
            )
            for same in zip(*outputs, strict=True)
        ]

    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Log mean probabilities of relations and mean antecedent scores."""
        count = len(self._members)
        first = np.split(pairs.span_first, count, axis=1)
        last = np.split(pairs.span_last, count, axis=1)
        words = np.split(pairs.words, count, axis=1)
        scores = [
            member.score_pairs(
                replace(pairs, span_first=first[row], span_last=last[row], words=words[row])
            )
            for row, member in enumerate(self._members)
        ]
        links = np.stack([score.link_scores for score in scores]).mean(axis=0)
        return PairScores(_log_mean([score.relation_logits for score in scores]), links)


def _log_mean(logits: Sequence[np.ndarray]) -> np.ndarray:
    mean = np.mean([softmax(one) for one in logits], axis=0, dtype=np.float32)
    return np.log(mean + np.float32(1e-9))
