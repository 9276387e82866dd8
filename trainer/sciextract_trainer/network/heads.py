"""Heads of the joint network: entity types of spans, relations and antecedents of pairs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sciextract.inference.pairs import DISTANCE_BUCKETS, RELATION_DISTANCES


class SpanHead(nn.Module):
    """Scores every span of up to ``max_width`` words.

    A span is the sum of a projection of its first word, one of its last word and a width embedding
    (the additive form of the endpoint representation of Lee et al. 2017, section 4), so that the cost
    per span is one addition.

    With ``fixed_none`` the logit of "no entity" is 0, as in DyGIE++: what a data set says of its own types
    then leaves the other types alone.
    """

    def __init__(
        self,
        hidden: int,
        width: int,
        inner: int,
        max_width: int,
        classes: int,
        dropout: float,
        fixed_none: bool = False,
    ) -> None:
        super().__init__()
        self.max_width = max_width
        self.fixed_none = fixed_none
        self.first = nn.Linear(hidden, width)
        self.last = nn.Linear(hidden, width, bias=False)
        self.width = nn.Embedding(max_width, width)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Sequential(
            nn.GELU(), nn.Linear(width, inner),
            nn.GELU(), nn.Dropout(dropout), nn.Linear(inner, classes),
        )  # fmt: skip
        nn.init.normal_(self.width.weight, std=0.1)
        _expect_none(self.out[-1], fixed_none)

    def forward(self, first: Tensor, last: Tensor) -> Tensor:
        """Logits (words, max width, classes) from word states (words, hidden)."""
        words = torch.arange(first.shape[0], device=first.device)
        widths = torch.arange(self.max_width, device=first.device)
        ends = (words[:, None] + widths[None, :]).clamp(
            max=first.shape[0] - 1
        )  # (words, max width)
        starts = self.dropout(self.first(first))[:, None, :] + self.width.weight[None, :, :]
        logits: Tensor = self.out(starts + self.dropout(self.last(last))[ends])
        if self.fixed_none:
            return torch.cat([torch.zeros_like(logits[..., :1]), logits[..., 1:]], dim=-1)
        return logits


class PairScorer(nn.Module):
    """Scores ordered pairs: GELU(A a + B b + C (a * b) + extras), then a linear layer."""

    def __init__(self, width: int, distances: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.left = nn.Linear(width, width)
        self.right = nn.Linear(width, width, bias=False)
        self.product = nn.Linear(width, width, bias=False)
        self.distance = nn.Embedding(distances, width)
        self.out = nn.Sequential(nn.GELU(), nn.Dropout(dropout), nn.Linear(width, classes))
        nn.init.normal_(self.distance.weight, std=0.1)

    def forward(
        self, spans: Tensor, pairs: Tensor, distance: Tensor, extra: Tensor | None
    ) -> Tensor:
        """Logits (pairs, classes) from spans (spans, width) and pairs (pairs, 2)."""
        left, right = spans[pairs[:, 0]], spans[pairs[:, 1]]
        hidden = self.left(spans)[pairs[:, 0]] + self.right(spans)[pairs[:, 1]]
        hidden = hidden + self.product(left * right) + self.distance(distance)
        logits: Tensor = self.out(hidden if extra is None else hidden + extra)
        return logits


def _expect_none(layer: nn.Module, fixed_none: bool) -> None:
    """Starts a classifier near the truth that almost all of its items are of class 0, "none"."""
    if isinstance(layer, nn.Linear):
        with torch.no_grad():
            if fixed_none:
                layer.bias.sub_(4.0)
            else:
                layer.bias[0] = 4.0


class PairHead(nn.Module):
    """Relations and antecedents over a list of spans, with the entity head's opinion as a feature."""

    def __init__(
        self, hidden: int, width: int, max_width: int, types: int, relations: int, dropout: float
    ) -> None:
        super().__init__()
        self.relation_span = SpanProjection(hidden, width, max_width, types, dropout)
        self.link_span = SpanProjection(hidden, width, max_width, types, dropout)
        self.context = nn.Linear(hidden, width, bias=False)
        self.relation = PairScorer(width, RELATION_DISTANCES, relations, dropout)
        self.link = PairScorer(width, DISTANCE_BUCKETS, 1, dropout)

    def forward(
        self,
        span_first: Tensor,
        span_last: Tensor,
        span_width: Tensor,
        span_types: Tensor,
        words: Tensor,
        relation_pairs: Tensor,
        relation_between: Tensor,
        relation_distance: Tensor,
        link_pairs: Tensor,
        link_distance: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Relation logits (pairs, classes) and antecedent scores (links,); arguments as in ``PairInput``."""
        spans = (span_first, span_last, span_width, span_types)
        context = self.between(words, relation_between)
        relations = self.relation(
            self.relation_span(*spans), relation_pairs, relation_distance, context
        )
        links = self.link(self.link_span(*spans), link_pairs, link_distance, None)
        return relations, links[:, 0]

    def between(self, words: Tensor, between: Tensor) -> Tensor:
        """Mean of the projected words in each range [start, end), zero for empty ones: (pairs, width)."""
        projected = self.context(words)
        sums = torch.cat([torch.zeros_like(projected[:1]), projected.cumsum(0)])
        count = (between[:, 1] - between[:, 0]).clamp(min=1).unsqueeze(1)
        return (sums[between[:, 1]] - sums[between[:, 0]]) / count


class SpanProjection(nn.Module):
    """Span vectors for pairs: endpoints, width and type probabilities."""

    def __init__(self, hidden: int, width: int, max_width: int, types: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(hidden, width)
        self.last = nn.Linear(hidden, width, bias=False)
        self.width = nn.Embedding(max_width, width)
        self.types = nn.Linear(types, width, bias=False)
        self.out = nn.Sequential(nn.GELU(), nn.Dropout(dropout))
        nn.init.normal_(self.width.weight, std=0.1)

    def forward(self, first: Tensor, last: Tensor, width: Tensor, types: Tensor) -> Tensor:
        """Vectors (spans, width)."""
        mixed = self.first(first) + self.last(last) + self.width(width) + self.types(types)
        out: Tensor = self.out(mixed)
        return out
