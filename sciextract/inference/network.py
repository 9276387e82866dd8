"""The interface between pipeline and network (ONNX Runtime here, torch in the trainer)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sciextract.inference.tokenization import EncoderInput

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

NO_PAIRS: Ints = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class WordStates:
    """What the encoder and the entity head say about one window.

    Attributes:
        first: float32 (words, hidden), state of each word's first subword.
        last: float32 (words, hidden), state of its last subword.
        span_logits: float32 (words, max width, 1 + entity labels); class 0 is "no entity".
    """

    first: Floats
    last: Floats
    span_logits: Floats


@dataclass(frozen=True, slots=True)
class PairInput:
    """Spans and the pairs of them to score.

    Attributes:
        span_first: float32 (spans, hidden), first-subword state of each span's first word.
        span_last: float32 (spans, hidden), last-subword state of its last word.
        span_width: int64 (spans,), words per span minus one, capped at the max width.
        span_types: float32 (spans, 1 + entity labels), probabilities of the entity head.
        words: float32 (words, hidden), last-subword states that the relation context is averaged over.
        relation_pairs: int64 (pairs, 2), head and tail span.
        relation_between: int64 (pairs, 2), words between as [start, end).
        relation_distance: int64 (pairs,), signed bucket.
        link_pairs: int64 (links, 2), mention and antecedent span.
        link_distance: int64 (links,), bucket.
        link_features: float32 (links, lexical features); graphs of feature version 1 do not take them.
    """

    span_first: Floats
    span_last: Floats
    span_width: Ints
    span_types: Floats
    words: Floats
    relation_pairs: Ints
    relation_between: Ints
    relation_distance: Ints
    link_pairs: Ints
    link_distance: Ints
    link_features: Floats


@dataclass(frozen=True, slots=True)
class PairScores:
    """Scores of the pairs of a :class:`PairInput`.

    Attributes:
        relation_logits: float32 (pairs, relation classes), laid out by ``RelationLayout``.
        link_scores: float32 (links,), antecedent scores; "no antecedent" scores 0.
    """

    relation_logits: Floats
    link_scores: Floats


class Network(Protocol):
    """An encoder with entity head, and the pair heads."""

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States and span scores of each window; all windows run in one call."""
        ...

    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Relation and antecedent scores."""
        ...
