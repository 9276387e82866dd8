"""Whether one model may replace another: the paired bootstrap over held-out documents.

Both models are scored under the same draws of documents (Koehn 2004, "Statistical Significance Tests for
Machine Translation Evaluation", section 4.2), so that a hard document weighs equally on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from sciextract.documents.annotations import Layer
from sciextract.metrics.counts import NOTHING, Scorable, compare_by_label
from sciextract.metrics.scorer import (
    HEADLINES,
    Floats,
    ScorePath,
    Tallies,
    counts_of,
    f1_of,
    relation_keys,
    resample_f1,
    share_better,
    tally,
)

Verdict = Literal["promote", "keep", "worse", "too few"]

# Of the draws of documents: equal documents give equal reports.
_SEED = 0


@dataclass(frozen=True, slots=True)
class Standard:
    """What a comparison has to meet before it may put a model in use.

    Attributes:
        documents: Documents with a complete layer, below which there is no interval to decide by.
        entities: Gold entities in them, likewise.
        items: Gold items of another layer (relations, clusters) below which that layer does not decide.
        probability: How likely the later model must be better; 0.95 is a 90 % interval above zero.
        name: What the documents are called.
        many: Documents and entities from which on less is required.
        probability_of_many: How likely the later model must be better there.
    """

    documents: int
    entities: int
    items: int
    probability: float
    name: str
    many: tuple[int, int]
    probability_of_many: float

    def is_met(self, documents: int, entities: int) -> bool:
        """Whether that much has an interval that can decide."""
        return documents >= self.documents and entities >= self.entities

    def decides(self, task: str, gold: int) -> bool:
        """Whether a task has enough gold items for its interval to say something."""
        return gold >= (self.entities if task == "entity" else self.items)

    def has_many(self, documents: int, entities: int) -> bool:
        """Whether that much tells small differences, too."""
        return documents >= self.many[0] and entities >= self.many[1]

    def required(self, documents: int, entities: int) -> float:
        """How likely the later model must be better on that much."""
        return self.probability_of_many if self.has_many(documents, entities) else self.probability


# For documents that were held out and predicted by the later model itself.
HELD_OUT = Standard(5, 30, 24, 0.95, "gate documents", (30, 300), 0.8)

# For few documents, each predicted by a model that was trained without it.
#
# The bootstrap is too sure of few documents, and the models of the folds resemble each other: hence the higher
# probability. Of two equal models, normal differences of ten documents reach it in 8 % of all cases, of twenty in 7 %.
CROSS_VALIDATED = Standard(10, 50, 24, 0.95, "finished abstracts", (10, 50), 0.95)


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """One score of both models.

    Attributes:
        documents: Documents that were scored: those whose layer is complete.
        gold: Gold items in them; clusters for coreference.
        before: F1 of the earlier model, 0 to 100.
        after: F1 of the later model, 0 to 100.
        low: Lower end of the 90 % interval of the difference, in F1.
        high: Upper end of it.
        probability: How likely the later model is better on other documents of the kind, 0 to 1.
    """

    documents: int
    gold: int
    before: float
    after: float
    low: float
    high: float
    probability: float

    @property
    def difference(self) -> float:
        """F1 of the later model less that of the earlier one."""
        return self.after - self.before

    def to_json(self) -> dict[str, float]:
        return {
            name: value
            if isinstance(value, int)
            else round(value, 3 if name == "probability" else 2)
            for name, value in {**asdict(self), "difference": self.difference}.items()
        }


@dataclass(frozen=True, slots=True)
class Compared:
    """Two models on some documents.

    Attributes:
        documents: Documents with a complete layer.
        target: The mean over the tasks that decide, or over all with gold where none does; ``None`` without gold.
        tasks: ``entity``, ``relation`` and ``coreference``, as far as they have gold.
        labels: The same by label, of entities and relations.
    """

    documents: int
    target: ScoreDifference | None
    tasks: Mapping[str, ScoreDifference]
    labels: Mapping[str, Mapping[str, ScoreDifference]]

    @property
    def entities(self) -> int:
        return self.tasks["entity"].gold if "entity" in self.tasks else 0

    def to_json(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "target": self.target and self.target.to_json(),
            "tasks": {name: task.to_json() for name, task in self.tasks.items()},
            "labels": {
                task: {name: label.to_json() for name, label in labels.items()}
                for task, labels in self.labels.items()
            },
        }


@dataclass(frozen=True, slots=True)
class GateReport(Compared):
    """Two models on the same held-out documents, and what follows.

    Attributes:
        verdict: ``promote``, ``keep`` (the earlier one), ``worse`` (by far), or ``too few`` (documents to tell).
        reasons: Why, in sentences, and what to mind.
        tolerances: F1 that each task may lose at the lower end of its interval.
        samples: How many times documents were drawn.
        cross_validated: How many of the documents were predicted by a model that was trained without them, instead
            of by the later model itself.
    """

    verdict: Verdict
    reasons: list[str]
    tolerances: dict[str, float]
    samples: int
    cross_validated: int = 0

    def to_json(self) -> dict[str, Any]:
        """The report as nested plain values; ``cross_validated`` only where there is some."""
        more = {"cross_validated": self.cross_validated} if self.cross_validated else {}
        decided = {"verdict": self.verdict, "reasons": list(self.reasons)}
        how = {"tolerances": self.tolerances, "samples": self.samples}
        return {**decided, **Compared.to_json(self), **how, **more}


# F1 that each task may lose at the lower end of its interval.
#
# Twice the standard error that fifty documents leave in the difference (0.8, 1.5 and 2.5 F1 between two models on
# SciERC dev): with less, chance alone would keep out a model that is not worse.
TOLERANCES: Mapping[str, float] = {"entity": 1.5, "relation": 3.0, "coreference": 5.0}

# F1 below which the whole interval of the mean must lie for a model to be far worse.
FAR = 5.0

FAVOURS = "documents that were corrected from a model's suggestions favour that model: annotators keep many suggestions unchanged"


class _Task(NamedTuple):
    """A task: the layer that must be done, its place in tallies, the metrics whose F1 it averages."""

    layer: Layer
    place: str
    paths: tuple[ScorePath, ...]
    counted: ScorePath


_UNORDERED, _CONLL = ("relation", "boundaries", "unordered"), HEADLINES["coreference.conll"]
TASKS = (
    _Task(Layer.ENTITIES, "ner", (("ner", "all"),), ("ner", "all")),
    _Task(Layer.RELATIONS, "relation", (_UNORDERED,), _UNORDERED),
    _Task(Layer.COREFERENCE, "coreference", _CONLL, ("coreference", "clusters")),
)
TITLES = {layer.task: layer.value for layer in Layer}


def compare_models(
    gold: Sequence[Scorable],
    before: Sequence[Scorable],
    after: Sequence[Scorable],
    symmetric: frozenset[str],
    *,
    complete: Sequence[frozenset[Layer]],
    samples: int = 1000,
    suggested: Sequence[bool] | None = None,
    standard: Standard = HELD_OUT,
) -> GateReport:
    """Hold a later model against an earlier one on documents that neither was trained on.

    Relations count boundaries, those of ``symmetric`` labels without direction; coreference is the mean of
    MUC, B3 and CEAFe.

    Args:
        gold: The held-out documents.
        before: The same documents as the earlier model predicts them, in the same order.
        after: The same as the later model predicts them.
        symmetric: Relation labels without direction.
        complete: Per document the layers that are done. It counts in the tasks of these layers only.
        samples: How many times documents are drawn with replacement.
        suggested: Per document whether it was corrected from a model's suggestions; ``None`` when that is
            unknown.
        standard: How much gold, and how sure a difference, the verdict requires.

    Raises:
        ValueError: The sequences differ in length.
    """
    sides: list[list[Tallies]] = []
    for side in (before, after):
        sides.append([])
        for one, layers, predicted in zip(gold, complete, side, strict=True):
            counted = tally(one, predicted, symmetric)
            keys = (
                relation_keys(known.relations, symmetric, strict=False)
                for known in (one, predicted)
            )
            for label, counts in compare_by_label(*keys).items():
                counted["relation", "labels", label] = counts
            # In a layer that is not done, what is missing from gold may be right: its task is not counted.
            kept = {task.place for task in TASKS if task.layer in layers}
            sides[-1].append({path: tally for path, tally in counted.items() if path[0] in kept})
    whole = _compare(sides, complete, samples, standard)
    verdict, reasons = _decide(whole, standard)
    for name, title in TITLES.items():
        if name not in whole.tasks:
            why = f"none of the {standard.name} that are done there has gold"
            reasons.append(f"{title}: not compared, for {why}")
        elif name != "entity" and not standard.decides(name, whole.tasks[name].gold):
            few = f"{whole.tasks[name].gold} gold items are too few to decide"
            reasons.append(f"{title}: {few}; {standard.items} are the minimum")
    if suggested is None and whole.documents:
        reasons.append(FAVOURS)
    elif count := sum(map(bool, suggested or ())):
        reasons.append(f"{count} of {whole.documents} {standard.name}: {FAVOURS}")
    both = (whole.documents, whole.target, whole.tasks, whole.labels)
    return GateReport(*both, verdict, reasons, dict(TOLERANCES), samples)


def _compare(
    sides: Sequence[Sequence[Tallies]],
    complete: Sequence[frozenset[Layer]],
    samples: int,
    standard: Standard,
) -> Compared:
    documents = sum(bool(layers) for layers in complete)
    scores = _score_rows(sides, samples) if documents else {}
    tasks = {
        task.layer.task: scores[task, ""] for task in TASKS if scores and scores[task, ""].gold
    }
    target = None
    if tasks:
        deciding = [task for name, task in tasks.items() if standard.decides(name, task.gold)]
        counted = deciding or list(tasks.values())
        whole = [float(np.mean([task.whole[side] for task in counted])) for side in (0, 1)]
        drawn = [np.mean([task.drawn[side] for task in counted], axis=0) for side in (0, 1)]
        gold = sum(task.gold for task in counted)
        target = _Scores(documents, gold, (whole[0], whole[1]), (drawn[0], drawn[1])).difference()
    labels: dict[str, dict[str, ScoreDifference]] = {task.layer.task: {} for task in TASKS[:2]}
    for (task, label), found in scores.items():
        if label:
            labels[task.layer.task][label] = found.difference()
    return Compared(
        documents, target, {name: task.difference() for name, task in tasks.items()}, labels
    )


class _Scores(NamedTuple):
    """F1 of both models, 0 to 100: on all documents, and on every resample, *shape* (samples,)."""

    documents: int
    gold: int
    whole: tuple[float, float]
    drawn: tuple[Floats, Floats]

    def difference(self) -> ScoreDifference:
        """What they say of the two models."""
        before, after = self.drawn
        # Of the difference, not of each model: what is hard for both cancels out.
        low, high = map(float, np.percentile(after - before, [5, 95]))
        better = share_better(after, before)
        return ScoreDifference(self.documents, self.gold, *self.whole, low, high, better)


def _score_rows(
    sides: Sequence[Sequence[Tallies]], samples: int
) -> dict[tuple[_Task, str], _Scores]:
    """The scores by task and label, with no label those of the whole task; all under the same draws."""
    found = {path for side in sides for tallies in side for path in tallies}
    rows: dict[tuple[_Task, str], tuple[ScorePath, ...]] = {}
    for task in TASKS:
        rows[task, ""] = task.paths
        for path in sorted([path for path in found if path[:2] == (task.place, "labels")]):
            rows[task, path[2]] = (path,)
    # One table for all rows, cut afterwards: 1,000 draws cost the same for one score as for twenty.
    ends = np.cumsum([len(paths) for paths in rows.values()])[:-1]
    counts = [
        counts_of(side, [path for paths in rows.values() for path in paths]) for side in sides
    ]
    drawn = [np.split(draws, ends, axis=1) for draws in resample_f1(counts, samples, _SEED)]
    whole = [np.split(f1_of(side.sum(axis=0)), ends) for side in counts]
    scores = {}
    for place, ((task, label), paths) in enumerate(rows.items()):
        gold = paths[0] if label else task.counted
        scores[task, label] = _Scores(
            sum(task.counted in tallies for tallies in sides[0]),
            sum(int(tallies.get(gold, NOTHING).gold) for tallies in sides[0]),
            (float(whole[0][place].mean()), float(whole[1][place].mean())),
            (drawn[0][place].mean(axis=1), drawn[1][place].mean(axis=1)),
        )
    return scores


def _decide(compared: Compared, standard: Standard) -> tuple[Verdict, list[str]]:
    target = compared.target
    tasks = {
        name: found for name, found in compared.tasks.items() if standard.decides(name, found.gold)
    }
    enough = standard.is_met(compared.documents, compared.entities)
    few = [] if enough else [_too_few(compared, standard)]
    # First: a collapse shows on few documents, too, and is worth more than "too few to decide".
    if target is not None and target.high < -FAR:
        lost = f"the mean of the tasks falls by {-target.difference:.2f} F1"
        interval = f"90 % interval {target.low:+.2f} to {target.high:+.2f}"
        return "worse", [f"{lost} ({interval}): far worse than what predicts now", *few]
    # The verdict needs an interval that means something, whatever the means say.
    if target is None or few:
        return "too few", [_too_few(compared, standard)]
    required = standard.required(compared.documents, compared.entities)
    improves = target.probability >= required
    falling = {name: task.low for name, task in tasks.items() if task.low < -TOLERANCES[name]}
    titles = ", ".join(TITLES[name] for name in tasks)
    chance = f"the mean of {titles} improves with probability {target.probability:.2f}"
    reasons = [f"{chance}; at least {required:.2f} is required"]
    reasons += [
        f"{TITLES[name]} may lose {-low:.2f} F1 (90 % interval); {TOLERANCES[name]:.2f} are tolerated"
        for name, low in falling.items()
    ]
    if not falling:
        most = ", ".join(f"{TITLES[name]} {TOLERANCES[name]:.1f}" for name in tasks)
        reasons.append(f"no task is likely to lose more F1 than tolerated: {most}")
    return ("promote" if improves and not falling else "keep"), reasons


def _too_few(compared: Compared, standard: Standard) -> str:
    return (
        f"{compared.documents} {standard.name} with {compared.entities} gold entities are too few to decide; "
        f"{standard.documents} with {standard.entities} entities are the minimum"
    )
