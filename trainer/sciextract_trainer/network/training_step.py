"""One forward pass with losses: which spans and pairs are scored, and against what.

What a mask leaves out never reaches a loss: cells are not selected, pairs and links are not scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from sciextract.documents.annotations import Layer
from sciextract.inference import candidates
from sciextract.inference.decoding import Columns, RelationLayout
from sciextract.inference.lexical import FEATURES, MentionWords
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Batch, Bools, Example, Floats, Ints
from sciextract_trainer.network.joint import JointNetwork


def soft_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Summed cross-entropy of distributions. Shapes: both (items, classes)."""
    return -(targets * functional.log_softmax(logits, dim=-1)).sum()


def antecedent_log_probabilities(scores: Tensor, links: Tensor, count: int) -> Tensor:
    """Scores (links,) as log-probabilities (mentions, 1 + mentions); column 0 is "no antecedent"."""
    table = scores.new_full((count, count + 1), float("-inf"))
    table[:, 0] = 0.0
    table = table.index_put((links[:, 0], links[:, 1] + 1), scores)
    return functional.log_softmax(table, dim=-1)


def marginal_link_loss(scores: Tensor, links: Tensor, gold: Tensor, count: int) -> Tensor:
    """Negative marginal log-likelihood of the gold antecedents (Lee et al. 2017, section 5).

    Args:
        scores: (links,) antecedent scores.
        links: int64 (links, 2), mention and antecedent.
        gold: bool (links,), whether both belong to one gold cluster.
        count: Number of mentions; those without a gold antecedent should choose "none".
    """
    logs = antecedent_log_probabilities(scores, links, count)
    right = torch.zeros_like(logs, dtype=torch.bool)
    right[links[gold, 0], links[gold, 1] + 1] = True
    right[:, 0] = ~right.any(dim=1)
    return -torch.logsumexp(logs.masked_fill(~right, float("-inf")), dim=1).sum()


def soft_link_loss(scores: Tensor, links: Tensor, weights: Tensor, count: int) -> Tensor:
    """Cross-entropy against a teacher's antecedent probabilities; the rest is "no antecedent".

    Args:
        scores: (links,) antecedent scores.
        links: int64 (links, 2).
        weights: (links,) probability of each link, 0 where the teacher has none.
        count: Number of mentions.
    """
    logs = antecedent_log_probabilities(scores, links, count)
    mass = scores.new_zeros(count).index_add(0, links[:, 0], weights)
    chosen = logs[links[:, 0], links[:, 1] + 1]
    return -(weights * chosen).sum() - ((1 - mass).clamp(min=0) * logs[:, 0]).sum()


def likely_types(logits: Tensor, groups: Columns) -> Tensor:
    """Type probabilities (words, max width, types) as inference has them, without a way back for gradients."""
    logits = logits.detach()
    if not groups:
        return torch.softmax(logits, dim=-1)
    found = torch.empty_like(logits)
    none = torch.ones_like(logits[..., 0])
    for classes in groups:
        within = torch.softmax(logits[..., [0, *classes]], dim=-1)
        found[..., list(classes)] = within[..., 1:]
        none = torch.minimum(none, within[..., 0])
    found[..., 0] = none
    return found


def taught_entity_loss(
    logits: Tensor, targets: Floats, known: Bools, batch: Batch, groups: Columns
) -> Tensor:
    """Summed cross-entropy of the softmax over "no entity" and the types that a document teaches, group by group.

    Args:
        logits: (words, max width, types).
        targets: float32 (words, max width, types), target distributions.
        known: bool (words, max width), cells whose type is known.
        batch: The documents.
        groups: Classes that exclude each other; all do when there are none.
    """
    wanted = torch.from_numpy(targets).to(logits.device)
    cells = torch.from_numpy(known).to(logits.device)
    if not groups and all(example.targets.taught is None for example in batch.examples):
        return soft_cross_entropy(logits[cells], wanted[cells])
    loss = logits.new_zeros(())
    for example, start, end in zip(batch.examples, batch.offsets, batch.offsets[1:], strict=False):
        here = cells[start:end]
        own, aims = logits[start:end][here], wanted[start:end][here]
        taught = example.targets.taught
        for group in groups or (tuple(range(1, logits.shape[-1])),):
            classes = [label for label in group if taught is None or taught[label]]
            if classes:  # a group of which the document teaches nothing has nothing to say
                chosen = aims[:, classes]
                # The other classes count as "no entity" here.
                rest = torch.cat([1 - chosen.sum(dim=1, keepdim=True), chosen], dim=1)
                loss = loss + soft_cross_entropy(own[:, [0, *classes]], rest)
    return loss


MAX_ANTECEDENTS = 100
_LEAST_LIKELY = 0.02
"""A span that is less likely is no mention at any threshold that is fitted, and would only cost time."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Summed losses of a batch, per task."""

    entity: Tensor
    relation: Tensor
    coreference: Tensor

    def total(self, config: TrainConfig) -> Tensor:
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
    """Losses of all three tasks over one batch; a task of weight 0 is not computed."""
    first, last, logits = network(
        batch.input_ids, batch.attention_mask, batch.word_first, batch.word_last
    )
    nothing = logits.new_zeros(())
    entity = nothing
    if config.entity_weight:
        entity = taught_entity_loss(logits, *_entity_targets(batch, logits), batch, network.groups)
    if not (config.relation_weight or config.coreference_weight):
        return Losses(entity, nothing, nothing)
    if (
        config.given_entities
    ):  # their types, as inference between given entities has them; else zeros
        known = np.zeros(logits.shape, dtype=np.float32)
        for example, offset in zip(batch.examples, batch.offsets, strict=False):
            spans = example.targets.spans
            widths = np.minimum(spans[:, 1] - spans[:, 0], known.shape[1] - 1)
            known[spans[:, 0] + offset, widths] = example.targets.types
        types = torch.from_numpy(known).to(logits.device)
    else:
        types = likely_types(logits, network.groups)
    scored = [
        _scored_spans(batch, row, types, config, layout) for row in range(len(batch.examples))
    ]
    relation_logits, link_scores = _pair_scores(network, batch, scored, first, last, types)
    relation_logits = _taught_relation_logits(relation_logits, batch, scored)
    relation = soft_cross_entropy(
        relation_logits,
        torch.from_numpy(np.concatenate([s.relation_targets for s in scored])).to(first.device),
    )
    if not config.coreference_weight:
        return Losses(entity, relation, nothing)
    coreference, start = nothing, 0
    for example, part in zip(batch.examples, scored, strict=True):
        end = start + len(part.links)
        links = torch.from_numpy(part.links).to(link_scores.device)
        weights = torch.from_numpy(part.link_weights).to(link_scores.device)
        count = len(part.spans)
        if example.targets.soft:
            loss = soft_link_loss(link_scores[start:end], links, weights, count)
        else:
            loss = marginal_link_loss(link_scores[start:end], links, weights > 0.5, count)
        coreference, start = coreference + loss, end
    return Losses(entity, relation, coreference)


def _taught_relation_logits(logits: Tensor, batch: Batch, scored: Sequence[_Scored]) -> Tensor:
    """Logits (pairs, classes) without the relations that a document was not annotated for, as far as they are not its own."""
    if all(example.targets.taught_relations is None for example in batch.examples):
        return logits
    closed = [
        np.zeros((len(part.pairs), logits.shape[-1]), dtype=np.bool_)
        if example.targets.taught_relations is None
        else ~example.targets.taught_relations & (part.relation_targets == 0)
        for example, part in zip(batch.examples, scored, strict=True)
    ]
    return logits.masked_fill(torch.from_numpy(np.concatenate(closed)).to(logits.device), -1e4)


def _entity_targets(batch: Batch, logits: Tensor) -> tuple[Floats, Bools]:
    """Target distributions (words, max width, types), and the cells (words, max width) that are known."""
    words, width, classes = logits.shape
    targets = np.zeros((words, width, classes), dtype=np.float32)
    targets[:, :, 0] = 1.0
    known = np.concatenate([example.allowed for example in batch.examples])
    for example, offset, end in zip(batch.examples, batch.offsets, batch.offsets[1:], strict=False):
        spans, mask = example.targets.spans, example.targets.mask
        widths = spans[:, 1] - spans[:, 0]
        fits = widths < width
        targets[spans[fits, 0] + offset, widths[fits]] = example.targets.types[fits]
        if mask is not None:  # what is not known stays out of the loss
            cells = np.full_like(example.allowed, Layer.ENTITIES in mask.complete)
            cells[spans[fits, 0], widths[fits]] = mask.counted[fits]
            known[offset:end] &= cells
    return targets, known


def _scored_spans(
    batch: Batch, row: int, types: Tensor, config: TrainConfig, layout: RelationLayout
) -> _Scored:
    example, offset, end = batch.examples[row], batch.offsets[row], batch.offsets[row + 1]
    mask = example.targets.mask
    pairwise = {Layer.RELATIONS, Layer.COREFERENCE}
    if (
        mask is not None
        and not mask.complete & pairwise
        and not any(known.any() for known in (mask.known_pairs, mask.known_links, mask.settled))
    ):
        # Nothing is known of relations and links, so no pair has to be scored.
        none = np.zeros((0, 2), dtype=np.int64)
        classes = np.zeros((0, layout.class_count), dtype=np.float32)
        return _Scored(none, none, classes, none, np.zeros(0, dtype=np.float32))
    spans = _with_likely(example, types[offset:end], config)
    rows = {(int(a), int(b)): i for i, (a, b) in enumerate(spans)}
    new_row = np.array(
        [rows.get((int(a), int(b)), -1) for a, b in example.targets.spans], dtype=np.int64
    )
    pairs, relations = _relation_targets(example, spans, new_row, layout)
    links, weights = _link_targets(example, spans, new_row)
    if not (config.relation_weight and layout.labels):
        pairs, relations = pairs[:0], relations[:0]
    if not config.coreference_weight:
        links, weights = links[:0], weights[:0]
    return _Scored(spans, pairs, relations, links, weights)


def _with_likely(example: Example, types: Tensor, config: TrainConfig) -> Ints:
    """Judged spans plus the likeliest other ones, in text order: what inference may have to judge."""
    width = types.shape[1]
    likely = (1 - types[:, :, 0]).cpu().numpy() * example.allowed
    targets = example.targets.spans
    fits = targets[:, 1] - targets[:, 0] < width
    likely[targets[fits, 0], (targets[:, 1] - targets[:, 0])[fits]] = 0
    mask = example.targets.mask
    # Whether spans that are not listed are known to be none; a teacher says nothing of them.
    negatives = not example.targets.soft if mask is None else Layer.ENTITIES in mask.complete
    count = (
        0
        if config.given_entities or not negatives
        else int(config.negatives_per_word * len(example.ends))
    )
    # Stable: of equal probabilities the first in the text wins, in a resumed run as well.
    best = np.argsort(-likely, axis=None, kind="stable")[:count]
    best = best[likely.ravel()[best] > _LEAST_LIKELY]
    starts, widths = np.unravel_index(best, likely.shape)
    extra = np.stack([starts, starts + widths], axis=1)
    listed = targets if mask is None else targets[mask.judged]
    spans = np.concatenate([listed, extra.astype(np.int64)])
    return spans[np.lexsort((spans[:, 1], spans[:, 0]))]


def _relation_targets(
    example: Example, spans: Ints, new_row: Ints, layout: RelationLayout
) -> tuple[Ints, Floats]:
    """The pairs whose relation is known, and what it is."""
    mask, gold = example.targets.mask, example.targets.pairs
    pairs = candidates.relation_pairs(spans, example.ends[spans[:, 0]])
    source = _listed_at(new_row[gold], len(spans))[pairs[:, 0], pairs[:, 1]]
    if mask is not None:
        known = np.append(mask.known_pairs, Layer.RELATIONS in mask.complete)[source]
        pairs, source = pairs[known], source[known]
    targets = np.zeros((len(pairs), layout.class_count), dtype=np.float32)
    targets[:, 0] = 1.0
    targets[source >= 0] = example.targets.relations[source[source >= 0]]
    return pairs, targets


def _link_targets(example: Example, spans: Ints, new_row: Ints) -> tuple[Ints, Floats]:
    """The links of which is known whether they are right, and their probability."""
    mask = example.targets.mask
    links = candidates.antecedent_pairs(len(spans), MAX_ANTECEDENTS)
    source = _listed_at(new_row[example.targets.links], len(spans))[links[:, 0], links[:, 1]]
    if mask is not None:
        settled = np.full(len(spans), Layer.COREFERENCE in mask.complete)
        settled[new_row[mask.judged]] = mask.settled[mask.judged]
        listed = np.append(mask.known_links, False)[source]
        known = np.where(source >= 0, listed, settled[links].any(axis=1))
        links, source = links[known], source[known]
    return links, np.append(example.targets.link_weights, np.float32(0))[source]


def _listed_at(places: Ints, count: int) -> Ints:
    """Which listed pair stands at (first, second), -1 for none. Shape: (count, count)."""
    where = np.full((count, count), -1, dtype=np.int64)
    both = (places >= 0).all(axis=1)
    where[places[both, 0], places[both, 1]] = np.flatnonzero(both)
    return where


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
        candidates.between_words(p.spans, p.pairs) + o
        for p, o in zip(scored, batch.offsets, strict=False)
    ]
    features = [
        MentionWords.of(example.words, part.spans, example.ends).features(part.links)
        if len(part.links)
        else np.zeros((0, len(FEATURES)), dtype=np.float32)
        for example, part in zip(batch.examples, scored, strict=True)
    ]
    arrays = (
        np.concatenate([p.pairs + c for p, c in zip(scored, counts, strict=False)]),
        np.concatenate(between),
        np.concatenate([candidates.relation_distances(p.spans, p.pairs) for p in scored]),
        np.concatenate([p.links + c for p, c in zip(scored, counts, strict=False)]),
        np.concatenate([candidates.antecedent_distances(p.spans, p.links) for p in scored]),
        np.concatenate(features),
    )
    starts, ends, widths = (
        torch.from_numpy(a).to(device) for a in (spans[:, 0], spans[:, 1], width)
    )
    scores: tuple[Tensor, Tensor] = network.pairs(
        first[starts], last[ends], widths, types[starts, widths], last,
        *(torch.from_numpy(array).to(device) for array in arrays),
    )  # fmt: skip
    return scores
