"""Platt scaling: a temperature and a shift per task make scores say how often predictions are right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline, RawPrediction
from sciextract.inference.results import calibrated_scores, given_of
from sciextract.inference.settings import DecodeSettings
from sciextract.store.statistics import BINS, ReliabilityBin, count_bins
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
        # Not through log-odds and back, which would move scores by rounding.
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
    candidates = raw.pairs.between(raw.mentions.predicted)
    for (head, tail), likely in zip(
        candidates.pairs.tolist(), candidates.probabilities, strict=True
    ):
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


LEAST_ITEMS = 50
"""Items from which on a scale is fitted; fewer would bend the scores by chance."""

LEAST_ANSWERS = 10
"""Right ones and wrong ones among them, at least."""

FOLDS = 2
TEMPERATURES = (0.25, 4.0)
"""Beyond these the scores say next to nothing, or next to no one score differs from another."""

_STEPS = 25
_LEAST_ODDS = 1e-4


class Scale(NamedTuple):
    """What is done to the log-odds of scores: divided, then shifted."""

    temperature: float
    shift: float


AS_IT_IS = Scale(1.0, 0.0)


def fit_scale(items: Items) -> Scale | None:
    """Temperature and shift with the least negative log-likelihood of right and wrong, four digits.

    Newton's method on a logistic regression with Platt's targets, which keep it finite (Platt 1999, Probabilistic
    Outputs for Support Vector Machines, section 2.2; Guo et al. 2017, arXiv 1706.04599, section 4.1).

    Returns:
        ``None`` where there are too few items, or where higher scores are not more often right.
    """
    right = int(items.hits.sum())
    wrong = len(items) - right
    if len(items) < LEAST_ITEMS or min(right, wrong) < LEAST_ANSWERS:
        return None
    bounded = np.clip(items.plain, _LEAST_ODDS, 1 - _LEAST_ODDS)
    targets = np.where(items.hits, (right + 1) / (right + 2), 1 / (wrong + 2))
    odds = np.log(bounded / (1 - bounded))
    columns = np.stack([odds, np.ones_like(odds)], axis=1)
    solution = np.array([1.0, 0.0])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(columns @ solution, -50, 50)))  # beyond, exp overflows
        # The small diagonal keeps the curvature invertible where all odds are alike.
        curvature = columns.T @ (columns * (likely * (1 - likely))[:, None]) + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, columns.T @ (targets - likely))
        loss = _cross_entropy(columns @ solution, targets)
        while (  # a step that would raise the loss is halved
            _cross_entropy(columns @ (solution + step), targets) > loss and abs(step).max() > 1e-9
        ):
            step = step / 2
        solution = solution + step
    slope, shift = float(solution[0]), float(solution[1])
    low, high = TEMPERATURES
    # A slope near 0 or below says that higher scores are not more often right.
    if not 1 / high <= slope <= 1 / low:
        return None
    return Scale(round(1 / slope, 4), round(shift, 4))


def _cross_entropy(odds: Reals, targets: Reals) -> float:
    return float((np.logaddexp(0, odds) - targets * odds).sum())


@dataclass(frozen=True, slots=True)
class TaskCalibration:
    """How far the scores of a task are from the share that is right.

    Attributes:
        temperature: Divisor of the log-odds, fitted on all items; 1 with shift 0 where a scale fitted on one half
            of the documents does not lower the error of the other half.
        shift: What is added to the divided log-odds.
        items: Number of items.
        ece_before: Expected calibration error of the network's own probabilities, 0 to 1.
        ece_after: The same of the scores, on the items that the scale was fitted on.
        ece_held_out: The same with scales fitted on one half of the documents for the other half; ``None`` where a
            half is too small to fit on.
        nll_before: Mean negative log-likelihood of the network's own probabilities.
        nll_after: The same of the scores.
        before: Reliability of the network's own probabilities.
        after: Reliability of the scores.
    """

    temperature: float
    shift: float
    items: int
    ece_before: float
    ece_after: float
    ece_held_out: float | None
    nll_before: float
    nll_after: float
    before: tuple[ReliabilityBin, ...]
    after: tuple[ReliabilityBin, ...]

    def to_json(self) -> dict[str, Any]:
        """What a model's configuration states, four digits."""
        return {key: _rounded(value) for key, value in asdict(self).items()} | {"bins": BINS}


def calibrate_task(items: Items) -> TaskCalibration | None:
    """Scale and errors of one task; ``None`` without any item."""
    if not len(items):
        return None
    before, held_out = _bins(items.plain, items), _held_out(items)
    error = _error(before) or 0.0
    helps = held_out is not None and held_out < error
    scale = (fit_scale(items) if helps else None) or AS_IT_IS
    after = _bins(items.scores(*scale), items)
    return TaskCalibration(
        temperature=scale.temperature,
        shift=scale.shift,
        items=len(items),
        ece_before=error,
        ece_after=_error(after) or 0.0,
        ece_held_out=held_out,
        nll_before=items.loss(*AS_IT_IS),
        nll_after=items.loss(*scale),
        before=before,
        after=after,
    )


def _bins(scores: Reals, items: Items) -> tuple[ReliabilityBin, ...]:
    """The bins that ``sciextract stats`` shows of a project, empty ones left out."""
    found = count_bins(zip(scores.tolist(), items.hits.tolist(), strict=True))
    return tuple(each for each in found if each.count)


def _error(bins: Sequence[ReliabilityBin]) -> float | None:
    """Expected calibration error: the mean gap of claim and truth, weighted by the bins' sizes."""
    gaps = [
        (each.count, abs(each.mean_score - each.accepted))
        for each in bins
        if each.mean_score is not None and each.accepted is not None
    ]
    total = sum(count for count, _ in gaps)
    return sum(count * gap for count, gap in gaps) / total if total else None


def _held_out(items: Items) -> float | None:
    """The error of all items, each scored by a scale of the other half of the documents; ``None`` for too few."""
    scores = np.zeros(len(items))
    for fold in range(FOLDS):
        mine = np.asarray(items.owners % FOLDS == fold)
        scale = fit_scale(items.of(~mine))
        if scale is None:
            return None
        scores[mine] = items.of(mine).scores(*scale)
    return _error(_bins(scores, items))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(each) for each in value]
    return value
