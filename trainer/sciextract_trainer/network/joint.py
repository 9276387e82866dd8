"""The joint network: one encoder pass over the whole abstract, three tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import torch
from torch import Tensor, nn

from sciextract.inference.candidates import DISTANCE_BUCKETS, RELATION_DISTANCES
from sciextract.inference.lexical import FEATURES
from sciextract.inference.network import Network, PairInput, PairScores, WordStates
from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import EncoderInput, pad
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.encoders.loading import WordEncoder


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
        # torch draws embeddings with a deviation of 1, which would drown the words' states at
        # first.
        nn.init.normal_(self.width.weight, std=0.1)
        # Almost all spans are no entity: the classifier begins near that truth.
        last: nn.Linear = self.out[-1]  # type: ignore[assignment]
        with torch.no_grad():
            if fixed_none:
                last.bias.sub_(4.0)
            else:
                last.bias[0] = 4.0

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
        # As for the widths: small beside the states.
        nn.init.normal_(self.distance.weight, std=0.1)

    def forward(self, spans: Tensor, pairs: Tensor, distance: Tensor, extra: Tensor) -> Tensor:
        """Logits (pairs, classes) from spans (spans, width), pairs (pairs, 2) and what adds to them (pairs, width)."""
        first, second = pairs[:, 0], pairs[:, 1]
        left, right = spans.index_select(0, first), spans.index_select(0, second)  # quick backwards
        hidden = self.left(spans).index_select(0, first) + self.right(spans).index_select(0, second)
        hidden = hidden + self.product(left * right) + self.distance(distance) + extra
        logits: Tensor = self.out(hidden)
        return logits


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
        self.lexical = nn.Linear(len(FEATURES), width, bias=False)
        nn.init.zeros_(self.lexical.weight)  # as if a model without these features went on

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
        link_features: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Relation logits (pairs, classes) and antecedent scores (links,); arguments as in ``PairInput``."""
        spans = (span_first, span_last, span_width, span_types)
        context = self.between(words, relation_between)
        relations = self.relation(
            self.relation_span(*spans), relation_pairs, relation_distance, context
        )
        lexical = self.lexical(link_features)
        links = self.link(self.link_span(*spans), link_pairs, link_distance, lexical)
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


class JointNetwork(nn.Module):
    """Encoder, entity head and pair heads after DyGIE++ (Wadden et al. 2019, arXiv 1909.03546).

    It differs from the published network in what pays with few documents and a small encoder: the whole
    abstract is encoded at once, relations are scored in both directions, and the pair heads see the
    entity head's type probabilities and the words between the spans.
    """

    def __init__(
        self, encoder: nn.Module, hidden: int, labels: Labels, config: TrainConfig
    ) -> None:
        super().__init__()
        types = 1 + len(labels.entities)
        self.groups = labels.group_columns
        self.words = WordEncoder(encoder, config.dropout / 2, config.bf16)
        self.spans = SpanHead(
            hidden,
            config.span_width,
            config.hidden_width,
            labels.max_span_width,
            types,
            config.dropout,
            fixed_none=bool(labels.groups),
        )
        self.pairs = PairHead(
            hidden, config.span_width, labels.max_span_width, types,
            labels.relations.class_count, config.dropout,
        )  # fmt: skip

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_first: Tensor, word_last: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """First-subword states, last-subword states (words, hidden) and span logits (words, width, types)."""
        first, last = self.words(input_ids, attention_mask, word_first, word_last)
        return first, last, self.spans(first, last)


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
        padded = pad(windows)
        arrays = (padded.input_ids, padded.attention_mask, padded.word_first, padded.word_last)
        outputs = self._network(*(torch.from_numpy(array).to(self._device) for array in arrays))
        states, last, logits = (output.float().cpu().numpy() for output in outputs)
        bounds = zip(padded.offsets, padded.offsets[1:], strict=False)
        return [WordStates(states[a:b], last[a:b], logits[a:b]) for a, b in bounds]

    @torch.inference_mode()
    def score_pairs(self, pairs: PairInput) -> PairScores:
        arrays = [
            torch.from_numpy(np.ascontiguousarray(getattr(pairs, field.name))).to(self._device)
            for field in fields(pairs)
        ]
        outputs = self._network.pairs(*arrays)
        return PairScores(*(output.float().cpu().numpy() for output in outputs))


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
        key = _key(pairs)
        if key not in self._scores:
            self._scores[key] = self._network.score_pairs(pairs)
        return self._scores[key]


def _key(arrays: EncoderInput | PairInput) -> tuple[bytes, ...]:
    return tuple(getattr(arrays, field.name).tobytes() for field in fields(arrays))
