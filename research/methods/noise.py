"""What wrong labels cost an adapter: some finished types are flipped, and heads are trained in three ways.

``python -m research.methods.noise --data FOLDER`` prints a table: F1 of entities on abstracts with right labels, after
learning from others of which a share of the types is exchanged for another type. ``plain`` trains a head as ``learn`` does,
``smoothed`` with a tenth of each target spread over all classes, ``co-teaching`` (Han et al. 2018, arXiv 1804.06872) two
heads, each on the positive spans of a step that the other one finds likely: the share of flipped ones is left out. Each is
scored at the best of some thresholds, for smoothed heads are less sure of everything.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import dropout, relu

from benchmarks.learning import SETS, DataSet, documents, with_spread
from sciextract import Extractor
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.adapter.head import Head
from sciextract.inference.adapter.states import EncoderStates
from sciextract.learning import adapter
from sciextract.learning.head import Examples, HeadTraining
from sciextract.metrics.counts import scorable
from sciextract.metrics.scorer import score
from sciextract.snapshot.documents import TrainingDocument

SHARES = (0.0, 0.1, 0.2, 0.4)
WAYS = ("plain", "smoothed", "co-teaching")
SMOOTHING = 0.1
THRESHOLDS = (0.15, 0.25, 0.4, 0.6)


def flip(
    document: AnnotatedDocument, share: float, labels: Sequence[str], random: Random
) -> AnnotatedDocument:
    """The document with about that share of its entities under another label."""
    entities = tuple(
        replace(entity, label=random.choice([label for label in labels if label != entity.label]))
        if random.random() < share
        else entity
        for entity in document.annotations.entities
    )
    return replace(document, annotations=replace(document.annotations, entities=entities))


def row_losses(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy of each row with its targets, of which a share is spread over all classes. Shape: (rows,)."""
    spread = (1 - smoothing) * targets / targets.sum(dim=1, keepdim=True)
    spread = spread + smoothing / targets.shape[1]
    return -(spread * logits.log_softmax(dim=1)).sum(dim=1)


def trusted(losses: Tensor, targets: Tensor, share: float) -> Tensor:
    """1 for rows to learn from: all without an entity, and of the others those with the smallest losses."""
    positive = torch.nonzero(targets[:, 0] == 0)[:, 0]
    order = positive[losses[positive].argsort()]
    kept = torch.ones_like(losses)
    kept[order[len(order) - round(share * len(order)) :]] = 0
    return kept


@dataclass(frozen=True, slots=True)
class NoisyTraining(HeadTraining):
    """Trains a head by one of ``WAYS``; ``noise`` is the share of flipped labels, which co-teaching knows."""

    way: str = "plain"
    noise: float = 0.0

    def fit(self, head: Head, examples: Examples) -> None:
        """Fit a head to examples; of two that teach each other the first one is kept."""
        torch.manual_seed(self.seed)
        random = np.random.default_rng(self.seed + 1)
        other = Head.untrained(len(head.linear), head.narrow, self.hidden, self.seed + 1)
        heads = [head, other] if self.way == "co-teaching" else [head]
        weights = [[torch.from_numpy(part).requires_grad_() for part in h.weights] for h in heads]
        first = [[part.detach().clone() for part in parts] for parts in weights]
        rows, order = len(examples), np.empty(0, np.int64)
        steps = min(max(self.least_steps, self.epochs * -(-rows // self.batch)), self.most_steps)
        optimiser = torch.optim.Adam([part for parts in weights for part in parts], self.rate)
        pull = min(1.0, 1_000 / float(examples.weights.sum()))
        for step in range(steps):
            if len(order) < min(self.batch, rows):
                order = np.concatenate([order, random.permutation(rows)])
            chosen, order = order[: self.batch], order[self.batch :]
            losses = self._losses(weights, examples, chosen, step / steps)
            rate = optimiser.param_groups[0]["lr"] = self.rate * (1 - step / steps)
            optimiser.zero_grad()
            losses.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            with torch.no_grad():
                for parts, starts in zip(weights, first, strict=True):
                    torch._foreach_lerp_(parts[:1], starts[:1], rate * self.decay_narrow * pull)
                    torch._foreach_lerp_(parts[1:], starts[1:], rate * self.decay_wide * pull)

    def _losses(
        self, weights: Sequence[Any], examples: Examples, rows: Any, progress: float
    ) -> Tensor:
        """The mean losses of a step, those of all heads added up."""
        wide, narrow, targets, shares = (
            torch.from_numpy(getattr(examples, name)[rows])
            for name in ("wide", "narrow", "targets", "weights")
        )
        smoothing = SMOOTHING if self.way == "smoothed" else 0.0
        losses = []
        for of_narrow, linear, inner, bias, outer in weights:
            seen = wide * dropout(torch.ones(wide.shape[1]), self.dropout)
            hidden = dropout(relu(seen @ inner + bias), self.dropout)
            logits = narrow @ of_narrow + seen @ linear + hidden @ outer
            losses.append(row_losses(logits, targets, smoothing))
        # At first all are learned from: heads find right labels before they remember wrong ones.
        left_out = self.noise * min(1.0, 4 * progress) if len(losses) > 1 else 0.0
        kept = [trusted(peer.detach(), targets, left_out) * shares for peer in losses[::-1]]
        means = [(loss * k).sum() / k.sum() for loss, k in zip(losses, kept, strict=True)]
        return torch.stack(means).sum()


def measure(data: DataSet, seed: int, states: EncoderStates, options: Any) -> Iterator[Any]:
    """Way, share and F1 of every training of one draw."""
    items, schema = documents(data, options.data, options.cache)
    Random(seed).shuffle(items)
    test, pool = items[: options.test], items[options.test :][: options.finished]
    for share in SHARES:
        noisy = [
            flip(item, share, schema.entity_labels, Random(f"{seed} {n}"))
            for n, item in enumerate(pool)
        ]
        done = [TrainingDocument(item, data.layers) for item in noisy]
        for way in WAYS:
            with patch.object(
                adapter, "FROM_SCRATCH", NoisyTraining(seed=seed, way=way, noise=share)
            ):
                model = adapter.learn(done, schema, states, adapter.WRITTEN)
            yield way, share, max(f1_at(model, threshold, test) for threshold in THRESHOLDS)


def f1_at(model: Extractor, threshold: float, test: Sequence[AnnotatedDocument]) -> float:
    """F1 of entities at a threshold."""
    at = model.with_settings({"entity": threshold})
    found = [scorable(at.annotate(item.document)) for item in test]
    return score([scorable(item) for item in test], found, frozenset()).ner.all.f1


def main() -> None:
    """Print the table of each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cache", type=Path, default=Path("build/noise"))
    parser.add_argument("--finished", type=int, default=60, help="abstracts to learn from")
    parser.add_argument("--test", type=int, default=60, help="abstracts to score")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    states = EncoderStates(Extractor.load("sci", threads=1), limit_mib=512)
    print("| data | way |", " | ".join(f"{share:.0%} flipped" for share in SHARES), "|")
    print("|---|---|" + "---|" * len(SHARES))
    for data in SETS[:2]:
        found = [r for seed in range(options.seeds) for r in measure(data, seed, states, options)]
        for way in WAYS:
            cells = [
                with_spread([f1 for w, s, f1 in found if (w, s) == (way, share)])
                for share in SHARES
            ]
            print(f"| {data.name} | {way} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
