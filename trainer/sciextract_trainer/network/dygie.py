"""The DyGIE++ network (Wadden et al. 2019, arXiv 1909.03546), as the published code runs it.

It is here so that published rows can be compared like with like: one sentence an encoder pass, pruned
spans, coreference propagation. The product ships the joint network, which scores better with a small
encoder; this one is trained, resumed and scored, and has no ONNX export.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sciextract.inference.pipeline import Labels
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.network.dygie_data import SentenceBatch, SentenceExample
from sciextract_trainer.network.dygie_heads import (
    Antecedents,
    CoreferenceHead,
    RelationHead,
    SpanVectors,
    scorer,
    with_null,
)


@dataclass(frozen=True, slots=True)
class DocumentScores:
    """Scores of one document; a task that is not trained has none.

    Attributes:
        entities: (spans, 1 + entity labels), logits; "no entity" is 0.
        pairs: int64 (pairs, 2), rows of head and tail span.
        relations: (pairs, 1 + relation labels), logits; "no relation" is 0.
        antecedents: Scored links between kept spans.
    """

    entities: Tensor
    pairs: Tensor
    relations: Tensor
    antecedents: Antecedents | None


class SentenceEncoder(nn.Module):
    """An encoder whose words are the mean of their pieces.

    Args:
        encoder: A Hugging Face encoder.
        bf16: Whether it runs in bfloat16 autocast.
    """

    def __init__(self, encoder: nn.Module, bf16: bool) -> None:
        super().__init__()
        self.encoder = encoder
        self.bf16 = bf16

    def forward(self, batch: SentenceBatch) -> Tensor:
        """Word vectors (words of all documents, hidden)."""
        device = next(self.encoder.parameters()).device
        ids, mask = batch.input_ids.to(device), batch.attention_mask.to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=self.bf16):
            states = self.encoder(input_ids=ids, attention_mask=mask)[0]
        pieces = states.flatten(0, 1).float()[batch.piece_index.to(device)]
        owners = batch.piece_word.to(device)
        counts = torch.bincount(owners)
        sums: Tensor = pieces.new_zeros(len(counts), pieces.shape[1]).index_add(0, owners, pieces)
        return sums / counts[:, None]


class DygieNetwork(nn.Module):
    """Spans of one sentence each, three heads, coreference first because it may change the spans."""

    def __init__(
        self, encoder: nn.Module, hidden: int, labels: Labels, config: TrainConfig
    ) -> None:
        super().__init__()
        inner, dropout, relations = config.hidden_width, config.dropout, labels.relations.labels
        self.words = SentenceEncoder(encoder, config.bf16)
        self.spans = SpanVectors(hidden, labels.max_span_width, config.width_embedding)
        size = self.spans.size
        self.entity = scorer(size, inner, len(labels.entities), dropout)
        self.relation: RelationHead | None = None
        self.coreference: CoreferenceHead | None = None
        if relations and config.relation_weight:
            share = config.relation_spans_per_word
            self.relation = RelationHead(size, inner, len(relations), share, dropout)
        if labels.coreference and config.coreference_weight:
            share, rounds = config.coref_spans_per_word, config.coref_propagation
            self.coreference = CoreferenceHead(size, inner, share, rounds, dropout)
        self._initialise()

    def _initialise(self) -> None:
        """Xavier-normal for every matrix of the heads, width and distance embeddings included."""
        for name, parameter in self.named_parameters():
            if parameter.ndim > 1 and not name.startswith("words."):
                nn.init.xavier_normal_(parameter)

    def forward(self, batch: SentenceBatch) -> list[DocumentScores]:
        """Scores of each document."""
        words = self.words(batch).split([example.word_count for example in batch.examples])
        return [
            self._document(part, example)
            for part, example in zip(words, batch.examples, strict=True)
        ]

    def _document(self, words: Tensor, example: SentenceExample) -> DocumentScores:
        vectors = self.spans(words, torch.from_numpy(example.spans).to(words.device))
        antecedents = None
        if self.coreference is not None and example.word_count > 1:
            antecedents, vectors = self.coreference(vectors, example.word_count)
        pairs = torch.zeros(0, 2, dtype=torch.int64, device=words.device)
        relations = words.new_zeros(0, 1)
        if self.relation is not None:
            pairs, relations = self.relation(vectors, example.sentences.tolist())
        return DocumentScores(with_null(self.entity(vectors)), pairs, relations, antecedents)
