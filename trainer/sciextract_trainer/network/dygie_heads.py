"""Heads of the DyGIE++ network: spans, relations between pruned spans, antecedents with propagation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sciextract.inference.pairs import DISTANCE_BUCKETS, antecedent_pairs, bucket
from sciextract_trainer.network.losses import antecedent_log_probabilities

MAX_ANTECEDENTS = 100


def scorer(inputs: int, hidden: int, outputs: int, dropout: float) -> nn.Sequential:
    """Two hidden layers with ReLU and dropout, then a linear layer."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(dropout),
        nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout),
        nn.Linear(hidden, outputs),
    )  # fmt: skip


def with_null(scores: Tensor) -> Tensor:
    """Logits (items, 1 + labels): "none" in front, fixed at 0."""
    return torch.cat([scores.new_zeros(len(scores), 1), scores], dim=1)


def best_rows(scores: Tensor, count: int) -> Tensor:
    """Rows of the ``count`` best scores, ascending, so that spans stay in text order."""
    return torch.topk(scores, min(count, len(scores))).indices.sort().values


class SpanVectors(nn.Module):
    """Spans as [first word; last word; width embedding]."""

    def __init__(self, hidden: int, max_width: int, width_embedding: int) -> None:
        super().__init__()
        self.width = nn.Embedding(max_width, width_embedding)
        self.size = 2 * hidden + width_embedding

    def forward(self, words: Tensor, spans: Tensor) -> Tensor:
        """Vectors (spans, size) from words (words, hidden) and inclusive spans (spans, 2)."""
        first, last = spans[:, 0], spans[:, 1]
        return torch.cat([words[first], words[last], self.width(last - first)], dim=1)


class RelationHead(nn.Module):
    """Scores ordered pairs of the best spans of each sentence.

    Args:
        size: Size of a span vector.
        hidden: Width of the hidden layers.
        labels: Number of relation labels; each is scored in the annotated direction only.
        spans_per_word: Share of a sentence's words as the number of spans kept.
        dropout: Dropout of the hidden layers.
    """

    def __init__(
        self, size: int, hidden: int, labels: int, spans_per_word: float, dropout: float
    ) -> None:
        super().__init__()
        self.spans_per_word = spans_per_word
        self.pruner = scorer(size, hidden, 1, dropout)
        self.pair = scorer(3 * size, hidden, labels, dropout)

    def forward(self, vectors: Tensor, sentences: list[list[int]]) -> tuple[Tensor, Tensor]:
        """Pairs (pairs, 2) of span rows and their logits (pairs, 1 + labels).

        A span is paired with itself too, as the published code does; such pairs learn "none".
        """
        scores = self.pruner(vectors)[:, 0]
        pairs = torch.cat([self._pairs(scores, *sentence) for sentence in sentences])
        heads, tails = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
        mentions = scores[pairs[:, 0]] + scores[pairs[:, 1]]
        logits = self.pair(torch.cat([heads, tails, heads * tails], dim=1)) + mentions[:, None]
        return pairs, with_null(logits)

    def _pairs(self, scores: Tensor, start: int, end: int, words: int) -> Tensor:
        kept = start + best_rows(scores[start:end], math.ceil(self.spans_per_word * words))
        return torch.cartesian_prod(kept, kept).view(-1, 2)


@dataclass(frozen=True, slots=True)
class Antecedents:
    """What the coreference head says about one document.

    Attributes:
        mentions: int64 (mentions,), rows of the kept spans, ascending.
        links: int64 (links, 2), mention and earlier mention, as places in ``mentions``.
        scores: float32 (links,); "no antecedent" scores 0.
    """

    mentions: Tensor
    links: Tensor
    scores: Tensor


class CoreferenceHead(nn.Module):
    """Scores antecedents of the best spans of a document, and lets antecedents change the spans.

    Args:
        size: Size of a span vector.
        hidden: Width of the hidden layers.
        spans_per_word: Share of the document's words as the number of spans kept.
        propagation: Rounds of propagation (Wadden et al. 2019, section 2.2).
        dropout: Dropout of the hidden layers.
    """

    def __init__(
        self, size: int, hidden: int, spans_per_word: float, propagation: int, dropout: float
    ) -> None:
        super().__init__()
        self.spans_per_word, self.propagation = spans_per_word, propagation
        self.pruner = scorer(size, hidden, 1, dropout)
        self.distance = nn.Embedding(DISTANCE_BUCKETS, DISTANCE_BUCKETS)
        self.pair = scorer(3 * size + DISTANCE_BUCKETS, hidden, 1, dropout)
        self.gate = nn.Linear(2 * size, size)

    def forward(self, vectors: Tensor, word_count: int) -> tuple[Antecedents, Tensor]:
        """Antecedents of the last round, and all span vectors with the kept ones updated."""
        pruned = self.pruner(vectors)[:, 0]
        kept = best_rows(pruned, max(2, math.ceil(self.spans_per_word * word_count)))
        links = torch.from_numpy(antecedent_pairs(len(kept), MAX_ANTECEDENTS)).to(kept.device)
        mentions = vectors[kept]
        scores = self._link_scores(mentions, pruned[kept], links)
        for _ in range(self.propagation):
            mentions = self._propagated(mentions, links, scores)
            scores = self._link_scores(mentions, self.pruner(mentions)[:, 0], links)
        return Antecedents(kept, links, scores), vectors.index_copy(0, kept, mentions)

    def _link_scores(self, mentions: Tensor, pruned: Tensor, links: Tensor) -> Tensor:
        """Pair score plus both mention scores; the distance counts kept spans, not words."""
        late, early = links[:, 0], links[:, 1]
        buckets = torch.from_numpy(bucket((late - early).cpu().numpy())).to(links.device)
        left, right = mentions[late], mentions[early]
        features = torch.cat([left, right, left * right, self.distance(buckets)], dim=1)
        scores: Tensor = self.pair(features)[:, 0] + pruned[late] + pruned[early]
        return scores

    def _propagated(self, mentions: Tensor, links: Tensor, scores: Tensor) -> Tensor:
        """Each mention mixed with its expected antecedent by a gate."""
        logs = antecedent_log_probabilities(scores, links, len(mentions))
        expected = logs.exp()[:, 1:] @ mentions  # "no antecedent" adds nothing
        gate = torch.sigmoid(self.gate(torch.cat([mentions, expected], dim=1)))
        return gate * mentions + (1 - gate) * expected
