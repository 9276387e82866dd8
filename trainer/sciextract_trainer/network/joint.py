"""The joint network: one encoder pass over the whole abstract, three tasks."""

from __future__ import annotations

from torch import Tensor, nn

from sciextract.inference.pipeline import Labels
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.network.encoder import WordEncoder
from sciextract_trainer.network.heads import PairHead, SpanHead


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
        """First-piece states, last-piece states (words, hidden) and span logits (words, width, types)."""
        first, last = self.words(input_ids, attention_mask, word_first, word_last)
        return first, last, self.spans(first, last)
