"""A network that remembers what it said, for decoding the same texts with many settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from sciextract.inference.network import Network, PairInput, PairScores, WordStates
from sciextract.inference.pieces import EncoderInput


class RememberingNetwork:
    """Runs another network once per window and per list of pairs.

    What is remembered stays as long as the object, about 3.4 KB per word with 384 hidden units: meant for some
    dozens of abstracts.

    Args:
        network: The network that is asked.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._states: dict[tuple[bytes, ...], WordStates] = {}
        self._scores: dict[tuple[bytes, ...], PairScores] = {}

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States and span scores of each window."""
        keys = [_key(window) for window in windows]
        new = {
            key: window
            for key, window in zip(keys, windows, strict=True)
            if key not in self._states
        }
        if new:
            self._states.update(zip(new, self._network.encode(list(new.values())), strict=True))
        return [self._states[key] for key in keys]

    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Relation and antecedent scores."""
        key = _key(pairs)
        if key not in self._scores:
            self._scores[key] = self._network.score_pairs(pairs)
        return self._scores[key]


def _key(arrays: EncoderInput | PairInput) -> tuple[bytes, ...]:
    return tuple(getattr(arrays, field.name).tobytes() for field in fields(arrays))
