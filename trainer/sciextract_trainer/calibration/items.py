"""What scores are about: spans, pairs and mentions of gold documents, with the answers that gold allows.

Every item has a score, which is what the desk shows:

- **Entities**: every span whose best label has a probability of at least 0.05, predicted or not. Its score is that
  probability; it is right when gold has this very span with this label.
- **Relations**: every pair of *predicted* mentions of a sentence whose best label has at least 0.05. Its score is
  that probability; it is right when gold relates these very spans so, in this direction.
- **Coreference**: every *predicted* mention that has some antecedent with at least 0.05. Its score is the
  probability of having one; it is right when its best antecedent is in its gold cluster.

The 0.05 are the network's own, before any temperature, so that items before and after are the same; they are chosen by
what the network says alone, never by what is right. What it gives less than 0.05 is no item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.calibrated import calibrated_scores
from sciextract.inference.given import given_of
from sciextract.inference.pipeline import Pipeline, RawPrediction
from sciextract.inference.settings import DecodeSettings
from sciextract_trainer.data.examples import Targets, gold_targets

Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEAST_SCORE = 0.05
"""Score from which on something is an item; the served candidates begin there too."""

_LEAST_LIKELY = 1e-30


@dataclass(frozen=True, slots=True)
class Items:
    """The items of one task.

    Attributes:
        plain: float64 (items,), scores as the network has them, 0 to 1.
        hits: bool (items,), whether each is right.
        owners: int64 (items,), row of the document that each is from.
    """

    plain: Reals
    hits: Bools
    owners: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.plain)

    def of(self, rows: Bools) -> Items:
        """Some of the items."""
        return Items(self.plain[rows], self.hits[rows], self.owners[rows])

    def scores(self, temperature: float, shift: float) -> Reals:
        """What the desk shows for each item."""
        if (temperature, shift) == (1, 0):
            return self.plain
        scores = calibrated_scores(self.plain.astype(np.float32), temperature, shift)
        return scores.astype(np.float64)

    def loss(self, temperature: float, shift: float) -> float:
        """Mean negative log-likelihood of what the scores say: right, or not."""
        scores = self.scores(temperature, shift)
        likely = np.where(self.hits, scores, 1 - scores)
        return float(-np.log(np.maximum(likely, _LEAST_LIKELY)).mean())


def joined(parts: Sequence[Items]) -> Items:
    """The items of several lists of documents, one behind the other.

    Documents keep different owners: those of a list are numbered on from the list before.
    """
    if not parts:
        return Items(np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64))
    owners, first = [], 0
    for part in parts:
        owners.append(part.owners + first)
        first = int(owners[-1].max(initial=first - 1)) + 1
    return Items(
        np.concatenate([part.plain for part in parts]),
        np.concatenate([part.hits for part in parts]),
        np.concatenate(owners),
    )


Scored = Iterable[tuple[float, float, bool]]
"""Probability that decides whether something is an item, score, whether it is right."""


def items_of(
    task: str, pipeline: Pipeline, gold: Sequence[AnnotatedDocument], settings: DecodeSettings,
    given: bool = False,
) -> Items:  # fmt: skip
    """The items of one task in gold documents.

    Args:
        task: ``entity``, ``relation`` or ``coreference``.
        pipeline: The model.
        gold: Documents that are complete in the layer of the task.
        settings: What is predicted; the scores are the network's own all the same.
        given: Whether entities are given instead of predicted.
    """
    scored, plain = _SCORED[task], replace(settings.plain, candidates=task == "entity")
    found: list[tuple[int, float, bool]] = []
    for owner, item in enumerate(gold):
        mentions = [given_of(item, pipeline.labels).mentions] if given else None
        wide = replace(plain, candidate_score=LEAST_SCORE)
        [raw] = pipeline.predict_batch([item.document], wide, given=mentions)
        targets = gold_targets(item, pipeline.labels)
        found += [
            (owner, score, hit)
            for least, score, hit in scored(raw, targets)
            if least >= LEAST_SCORE
        ]
    owners, scores, hits = zip(*found, strict=True) if found else ((), (), ())
    return Items(
        np.array(scores, dtype=np.float64), np.array(hits, dtype=np.bool_),
        np.array(owners, dtype=np.int64),
    )  # fmt: skip


def _spans(raw: RawPrediction, targets: Targets) -> Scored:
    gold = dict(zip(_named(targets.spans), targets.types, strict=True))
    for span, likely in zip(_named(raw.mentions.spans), raw.mentions.types, strict=True):
        yield _best(likely, gold.get(span))


def _pairs(raw: RawPrediction, targets: Targets) -> Scored:
    names, spans = _named(targets.spans), _named(raw.mentions.spans)
    gold = {
        (names[head], names[tail]): classes
        for (head, tail), classes in zip(targets.pairs.tolist(), targets.relations, strict=True)
    }
    told = raw.pairs.between(raw.mentions.predicted)
    for (head, tail), likely in zip(told.pairs.tolist(), told.probabilities, strict=True):
        yield _best(likely, gold.get((spans[head], spans[tail])))


def _links(raw: RawPrediction, targets: Targets) -> Scored:
    names, spans = _named(targets.spans), _named(raw.mentions.spans)
    gold = {(names[mention], names[earlier]) for mention, earlier in targets.links.tolist()}
    links, likely = raw.links.links, raw.links.probabilities
    for mention in np.unique(links[:, 0]).tolist():
        rows = np.flatnonzero(links[:, 0] == mention)
        best = int(rows[np.argmax(likely[rows])])
        right = (spans[mention], spans[int(links[best, 1])]) in gold
        yield float(likely[best]), min(1.0, float(likely[rows].sum())), right


_SCORED: dict[str, Callable[[RawPrediction, Targets], Scored]] = {
    "entity": _spans, "relation": _pairs, "coreference": _links,
}  # fmt: skip


def _named(spans: NDArray[np.int64]) -> list[tuple[int, int]]:
    return [(first, last) for first, last in spans.tolist()]


def _best(
    likely: NDArray[np.float32], gold: NDArray[np.float32] | None
) -> tuple[float, float, bool]:
    """The best class but "none", and whether gold has it."""
    best = 1 + int(np.argmax(likely[1:]))
    score = float(likely[best])
    return score, score, gold is not None and bool(gold[best] > 0)
