"""The DyGIE++ network (Wadden et al. 2019, arXiv 1909.03546), as the published code runs it.

It is here so that published rows can be compared like with like: one sentence an encoder pass, pruned
spans, coreference propagation. The product ships the joint network, which scores better with a small
encoder; this one is trained, resumed and scored, and has no ONNX export.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from research.dygie.examples import SentenceBatch, SentenceExample
from sciextract.inference.candidates import DISTANCE_BUCKETS, antecedent_pairs, bucket
from sciextract.inference.pipeline import Labels
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.network.training_step import antecedent_log_probabilities

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
        found = []
        for start, end, words in sentences:
            kept = start + best_rows(scores[start:end], math.ceil(self.spans_per_word * words))
            found.append(torch.cartesian_prod(kept, kept).view(-1, 2))
        pairs = torch.cat(found)
        heads, tails = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
        mentions = scores[pairs[:, 0]] + scores[pairs[:, 1]]
        logits = self.pair(torch.cat([heads, tails, heads * tails], dim=1)) + mentions[:, None]
        return pairs, with_null(logits)


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
    """An encoder whose words are the mean of their subwords.

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
        subwords = states.flatten(0, 1).float()[batch.subword_index.to(device)]
        owners = batch.subword_word.to(device)
        counts = torch.bincount(owners)
        sums: Tensor = subwords.new_zeros(len(counts), subwords.shape[1]).index_add(
            0, owners, subwords
        )
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
        # Xavier-normal for every matrix of the heads, width and distance embeddings included.
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
