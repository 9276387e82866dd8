"""Thresholds of a model, and the scale of its scores, fitted on dev one task after the other.

The scale is Platt's: a temperature and a shift per task make scores say how often predictions are right.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline, RawPrediction
from sciextract.inference.results import calibrated_scores, given_of
from sciextract.inference.settings import TASKS, DecodeSettings, Rescue, calibrated_score
from sciextract.store.statistics import BINS, calibration_error, count_bins
from sciextract_trainer.data.examples import Targets, gold_targets
from sciextract_trainer.evaluate import LAYER_OF, DevScores, Serve, dev_scores, serve_pipeline

Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEAST_SCORE = 0.05
"""Score from which on something is an item; the served candidates begin there too."""


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
        return Items(self.plain[rows], self.hits[rows], self.owners[rows])

    def scores(self, temperature: float, shift: float) -> Reals:
        """What the desk shows for each item."""
        # Not through log-odds and back, which would move scores by rounding.
        if (temperature, shift) == (1, 0):
            return self.plain
        scores = calibrated_scores(self.plain.astype(np.float32), temperature, shift)
        return scores.astype(np.float64)


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
    gold = dict(zip(_to_pairs(targets.spans), targets.types, strict=True))
    for span, likely in zip(_to_pairs(raw.mentions.spans), raw.mentions.types, strict=True):
        yield _best(likely, gold.get(span))


def _pairs(raw: RawPrediction, targets: Targets) -> Scored:
    names, spans = _to_pairs(targets.spans), _to_pairs(raw.mentions.spans)
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
    names, spans = _to_pairs(targets.spans), _to_pairs(raw.mentions.spans)
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


def _to_pairs(spans: NDArray[np.int64]) -> list[tuple[int, int]]:
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
    """

    temperature: float
    shift: float
    items: int
    ece_before: float
    ece_after: float
    ece_held_out: float | None

    def to_json(self) -> dict[str, Any]:
        """What a model's configuration states, four digits."""
        known = {key: value and round(value, 4) for key, value in asdict(self).items()}
        return known | {"bins": BINS}


def calibrate_task(items: Items) -> TaskCalibration | None:
    """Scale and errors of one task; ``None`` without any item."""
    if not len(items):
        return None
    error, held_out = _error(items.plain, items) or 0.0, _held_out(items)
    helps = held_out is not None and held_out < error
    scale = (fit_scale(items) if helps else None) or AS_IT_IS
    after = _error(items.scores(*scale), items) or 0.0
    return TaskCalibration(*scale, len(items), error, after, held_out)


def _error(scores: Reals, items: Items) -> float | None:
    """The expected calibration error, over the bins that ``sciextract stats`` shows of a project."""
    return calibration_error(count_bins(zip(scores.tolist(), items.hits.tolist(), strict=True)))


def _held_out(items: Items) -> float | None:
    """The error of all items, each scored by a scale of the other half of the documents; ``None`` for too few."""
    scores = np.zeros(len(items))
    for fold in range(FOLDS):
        mine = np.asarray(items.owners % FOLDS == fold)
        scale = fit_scale(items.of(~mine))
        if scale is None:
            return None
        scores[mine] = items.of(mine).scores(*scale)
    return _error(scores, items)


ENTITY_GRID = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
RELATION_GRID = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
COREFERENCE_GRID = (0.3, 0.4, 0.5, 0.6, 0.7)
RESCUED_ENTITY_GRID = (0.15, 0.2, 0.25)
RESCUING_RELATION_GRID = (0.4, 0.5, 0.6)
ABOUT = 1.0
"""F1 by which settings of entities may be worse than the best: less than fifty documents can tell."""

LEAST_NESTED = 0.02
"""Share of gold entities inside others from which on predictions may overlap: below it, overlaps are clutter that gains by chance."""

LEAST_GAIN = 0.2
"""F1, mean of the tasks, that rescued entities have to bring: else there are none."""

GRIDS = {"entity": ENTITY_GRID, "relation": RELATION_GRID, "coreference": COREFERENCE_GRID}


Calibrations = dict[str, TaskCalibration]
"""By task; tasks without any item are left out."""


@dataclass(frozen=True, slots=True)
class Dev:
    """What settings are fitted on.

    Attributes:
        documents: Gold documents.
        complete: Complete layers of each; all of them when ``None``.
        given: Whether entities are given instead of predicted.
        serve: Makes a pipeline with settings to something that annotates documents.
    """

    documents: Sequence[AnnotatedDocument]
    complete: Sequence[Collection[Layer]] | None = None
    given: bool = False
    serve: Serve = serve_pipeline

    def complete_in(self, task: str) -> list[AnnotatedDocument]:
        """The documents that are complete in the layer of a task."""
        if self.given and task != "relation":
            return []
        layers = self.complete or [frozenset(Layer)] * len(self.documents)
        both = zip(self.documents, layers, strict=True)
        return [item for item, done in both if LAYER_OF[task] in done]


def fit_settings(pipeline: Pipeline, dev: Dev, start: DecodeSettings) -> DecodeSettings:
    """The settings with the best dev F1: overlap rule and entities with relations, then coreference.

    A lower threshold of entities costs few of them and gives relations their ends. So of all settings of entities
    that are about as good as the best, the one is taken that has the best mean of the three tasks, with a threshold of
    relations fitted for each. Then entities below the threshold may be rescued by relations, where that raises the
    mean. Grids are coarse on purpose: fifty documents do not tell 0.42 from 0.44. Where no document is complete in
    a layer, its settings stay.
    """
    fit = _Fit(pipeline, dev)
    with_relations = [fit.task("relation", near) for near in fit.about_best("entity", start)]
    best = max(with_relations, key=lambda settings: fit.scores(settings).mean)
    return fit.rescue(fit.task("coreference", best))


@dataclass(frozen=True, slots=True)
class _Fit:
    """What settings are tried on."""

    pipeline: Pipeline
    dev: Dev

    def scores(self, settings: DecodeSettings) -> DevScores:
        """Dev F1 of all tasks."""
        symmetric, predict = self.pipeline.labels.relations.symmetric, self.dev.serve
        predictor = predict(self.pipeline, settings)
        return dev_scores(predictor, self.dev.documents, symmetric, self.dev.complete)

    def task(self, task: str, start: DecodeSettings) -> DecodeSettings:
        """The settings with the best F1 of a task."""
        return max(self._try_settings(task, start), key=lambda pair: pair[0])[1]

    def about_best(self, task: str, start: DecodeSettings) -> list[DecodeSettings]:
        """The settings whose F1 of a task is as good as the best one, as far as dev can tell; the best first."""
        tried = sorted(self._try_settings(task, start), key=lambda pair: -pair[0])
        return [settings for value, settings in tried if value >= tried[0][0] - ABOUT]

    def rescue(self, start: DecodeSettings) -> DecodeSettings:
        """The settings with the rescue that has the best mean; those to start with where none is worth it."""
        before = self.scores(start)
        if before.relation is None or before.entity is None:
            return start
        # Less likely entities by surer relations than the thresholds ask for.
        least = start.thresholds
        tried = []
        for entity, relation in product(RESCUED_ENTITY_GRID, RESCUING_RELATION_GRID):
            if entity < least.entity and relation > least.relation:
                candidate = replace(start, rescue=Rescue(entity, relation))
                tried.append((self.scores(candidate).mean, candidate))
        best, found = max(tried, key=lambda pair: pair[0], default=(0.0, start))
        return found if best >= before.mean + LEAST_GAIN else start

    def _try_settings(self, task: str, start: DecodeSettings) -> list[tuple[float, DecodeSettings]]:
        """F1 of a task by settings; those to start with alone where no document is complete in its layer."""
        found: list[tuple[float, DecodeSettings]] = []
        candidates = [start.with_thresholds({task: value}) for value in GRIDS[task]]
        if task == "entity":
            rules = (False, True) if _nests(self.dev.documents) else (False,)
            candidates = [
                replace(candidate, nesting=nesting) for nesting in rules for candidate in candidates
            ]
        for candidate in candidates:
            value: float | None = getattr(self.scores(candidate), task)
            if value is None:
                return [(0.0, start)]
            found.append((value, candidate))
        return found


def _nests(documents: Sequence[AnnotatedDocument]) -> bool:
    """Whether enough of the gold entities lie inside others."""
    inside = count = 0
    for item in documents:
        spans = {(e.span.char_start, e.span.char_end) for e in item.annotations.entities}
        count += len(spans)
        inside += sum(
            any(a <= start and end <= b and (a, b) != (start, end) for a, b in spans)
            for start, end in spans
        )
    return inside >= LEAST_NESTED * count > 0


def fit_calibrated(
    pipeline: Pipeline, dev: Dev, start: DecodeSettings
) -> tuple[DecodeSettings, Calibrations]:
    """Thresholds with the best F1, then the scale; what is predicted depends on the thresholds alone."""
    return calibrated_settings(pipeline, dev, fit_settings(pipeline, dev, start.plain))


def calibrated_settings(
    pipeline: Pipeline, dev: Dev, settings: DecodeSettings
) -> tuple[DecodeSettings, Calibrations]:
    """Settings that predict the same, with scores that say how often predictions are right.

    A task with too few dev documents keeps the network's own probabilities. So do entities with groups of labels,
    for it is not said which labels each document was annotated for.
    """
    found: Calibrations = {}
    for task in TASKS:
        unknown = task == "entity" and pipeline.labels.groups
        documents = [] if unknown else dev.complete_in(task)
        calibration = calibrate_task(items_of(task, pipeline, documents, settings, dev.given))
        if calibration is not None:
            found[task] = calibration
    return scale_settings(settings.plain, found), found


def scale_settings(plain: DecodeSettings, calibrations: Calibrations) -> DecodeSettings:
    """Settings of the network's own probabilities with the scales of some tasks; thresholds move along."""

    def calibrated(task: str, probability: float) -> float:
        if (scale := calibrations.get(task)) is None:
            return probability
        return calibrated_score(probability, scale.temperature, scale.shift)

    moved = {task: calibrated(task, getattr(plain.thresholds, task)) for task in TASKS}
    rescue = plain.rescue
    if rescue is not None:
        rescue = Rescue(
            calibrated("entity", rescue.entity), calibrated("relation", rescue.relation)
        )
    warm = {task: scale.temperature for task, scale in calibrations.items()}
    shifts = {task: scale.shift for task, scale in calibrations.items()}
    return replace(
        plain.with_thresholds(moved),
        temperatures=replace(plain.temperatures, **warm),
        shifts=replace(plain.shifts, **shifts),
        rescue=rescue,
    )


def calibrations_to_json(calibrations: Calibrations) -> dict[str, Any]:
    """What a model's configuration states of its calibration."""
    return {task: scale.to_json() for task, scale in calibrations.items()}
