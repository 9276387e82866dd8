"""One forward pass with losses: which spans and pairs are scored, and against what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sciextract.inference import pairs as pairing
from sciextract.inference.layout import RelationLayout
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.batches import Batch
from sciextract_trainer.data.examples import Example, Floats, Ints
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.losses import (
    marginal_link_loss,
    soft_cross_entropy,
    soft_link_loss,
)

MAX_ANTECEDENTS = 100


@dataclass(frozen=True, slots=True)
class Losses:
    """Summed losses of a batch, per task."""

    entity: Tensor
    relation: Tensor
    coreference: Tensor

    def total(self, config: TrainConfig) -> Tensor:
        """The weighted sum."""
        return (
            config.entity_weight * self.entity
            + config.relation_weight * self.relation
            + config.coreference_weight * self.coreference
        )


@dataclass(frozen=True, slots=True)
class _Scored:
    """The spans of one document that go to the pair heads, with their targets."""

    spans: Ints
    pairs: Ints
    relation_targets: Floats
    links: Ints
    link_weights: Floats


def batch_losses(
    network: JointNetwork, batch: Batch, config: TrainConfig, layout: RelationLayout
) -> Losses:
    """Losses of all three tasks over one batch."""
    first, last, logits = network(
        batch.input_ids, batch.attention_mask, batch.word_first, batch.word_last
    )
    entity = _entity_loss(logits, batch)
    types = torch.softmax(logits.detach(), dim=-1)
    relation, coreference = logits.new_zeros(()), logits.new_zeros(())
    scored = [
        _scored_spans(batch, row, types, config, layout) for row in range(len(batch.examples))
    ]
    relation_logits, link_scores = _pair_scores(network, batch, scored, first, last, types)
    relation = soft_cross_entropy(
        relation_logits,
        torch.from_numpy(np.concatenate([s.relation_targets for s in scored])).to(first.device),
    )
    start = 0
    for example, part in zip(batch.examples, scored, strict=True):
        end = start + len(part.links)
        coreference = coreference + _link_loss(link_scores[start:end], example, part)
        start = end
    return Losses(entity, relation, coreference)


def _entity_loss(logits: Tensor, batch: Batch) -> Tensor:
    words, width, classes = logits.shape
    targets = np.zeros((words, width, classes), dtype=np.float32)
    targets[:, :, 0] = 1.0
    allowed = np.concatenate([example.allowed for example in batch.examples])
    for example, offset in zip(batch.examples, batch.offsets, strict=False):
        spans = example.targets.spans
        widths = spans[:, 1] - spans[:, 0]
        fits = widths < width
        targets[spans[fits, 0] + offset, widths[fits]] = example.targets.types[fits]
    cells = torch.from_numpy(allowed)
    return soft_cross_entropy(
        logits[cells.to(logits.device)], torch.from_numpy(targets)[cells].to(logits.device)
    )


def _scored_spans(
    batch: Batch, row: int, types: Tensor, config: TrainConfig, layout: RelationLayout
) -> _Scored:
    example, offset, end = batch.examples[row], batch.offsets[row], batch.offsets[row + 1]
    spans = _with_likely(example, types[offset:end], config)
    rows = {(int(a), int(b)): i for i, (a, b) in enumerate(spans)}
    new_row = np.array([rows[int(a), int(b)] for a, b in example.targets.spans], dtype=np.int64)
    pairs = pairing.relation_pairs(spans, example.ends[spans[:, 0]])
    relations = _relation_targets(example, pairs, new_row, len(spans), layout)
    links = pairing.antecedent_pairs(len(spans), MAX_ANTECEDENTS)
    weights = _link_weights(example, links, new_row, len(spans))
    return _Scored(spans, pairs, relations, links, weights)


def _with_likely(example: Example, types: Tensor, config: TrainConfig) -> Ints:
    """Target spans plus the likeliest other ones, in text order: what inference may have to judge."""
    width = types.shape[1]
    likely = (1 - types[:, :, 0]).cpu().numpy() * example.allowed
    targets = example.targets.spans
    fits = targets[:, 1] - targets[:, 0] < width
    likely[targets[fits, 0], (targets[:, 1] - targets[:, 0])[fits]] = 0
    count = 0 if example.targets.soft else int(config.negatives_per_word * len(example.ends))
    best = np.argsort(-likely, axis=None, kind="stable")[:count]
    best = best[likely.ravel()[best] > 0.02]
    starts, widths = np.unravel_index(best, likely.shape)
    extra = np.stack([starts, starts + widths], axis=1)
    spans = np.concatenate([targets, extra.astype(np.int64)])
    return spans[np.lexsort((spans[:, 1], spans[:, 0]))]


def _relation_targets(
    example: Example, pairs: Ints, new_row: Ints, count: int, layout: RelationLayout
) -> Floats:
    where = np.full((count, count), -1, dtype=np.int64)
    gold = new_row[example.targets.pairs]
    where[gold[:, 0], gold[:, 1]] = np.arange(len(gold))
    source = where[pairs[:, 0], pairs[:, 1]]
    targets = np.zeros((len(pairs), layout.class_count), dtype=np.float32)
    targets[:, 0] = 1.0
    known = source >= 0
    targets[known] = example.targets.relations[source[known]]
    return targets


def _link_weights(example: Example, links: Ints, new_row: Ints, count: int) -> Floats:
    weights = np.zeros((count, count), dtype=np.float32)
    gold = new_row[example.targets.links]
    weights[gold[:, 0], gold[:, 1]] = example.targets.link_weights
    return weights[links[:, 0], links[:, 1]]


def _pair_scores(
    network: JointNetwork,
    batch: Batch,
    scored: list[_Scored],
    first: Tensor,
    last: Tensor,
    types: Tensor,
) -> tuple[Tensor, Tensor]:
    """Relation logits and link scores of all documents of the batch, one after the other."""
    device = first.device
    counts = np.cumsum([0] + [len(part.spans) for part in scored])
    spans = np.concatenate([p.spans + o for p, o in zip(scored, batch.offsets, strict=False)])
    width = np.minimum(spans[:, 1] - spans[:, 0], types.shape[1] - 1)
    between = [
        pairing.between_words(p.spans, p.pairs) + o
        for p, o in zip(scored, batch.offsets, strict=False)
    ]
    arrays = (
        np.concatenate([p.pairs + c for p, c in zip(scored, counts, strict=False)]),
        np.concatenate(between),
        np.concatenate([pairing.relation_distances(p.spans, p.pairs) for p in scored]),
        np.concatenate([p.links + c for p, c in zip(scored, counts, strict=False)]),
        np.concatenate([pairing.antecedent_distances(p.spans, p.links) for p in scored]),
    )
    starts, ends, widths = (
        torch.from_numpy(a).to(device) for a in (spans[:, 0], spans[:, 1], width)
    )
    scores: tuple[Tensor, Tensor] = network.pairs(
        first[starts], last[ends], widths, types[starts, widths], last,
        *(torch.from_numpy(array).to(device) for array in arrays),
    )  # fmt: skip
    return scores


def _link_loss(scores: Tensor, example: Example, part: _Scored) -> Tensor:
    links = torch.from_numpy(part.links).to(scores.device)
    weights = torch.from_numpy(part.link_weights).to(scores.device)
    if example.targets.soft:
        return soft_link_loss(scores, links, weights, len(part.spans))
    return marginal_link_loss(scores, links, weights > 0.5, len(part.spans))
