"""Whether one model may replace another: the paired bootstrap over held-out documents.

Both models are scored under the same draws of documents (Koehn 2004, "Statistical Significance Tests for
Machine Translation Evaluation", section 4.2), so that a hard document weighs equally on both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np

from sciextract.metrics.bootstrap import Floats, counts_of, f1_of, resampled_f1, share_better
from sciextract.metrics.counts import NOTHING, Scorable
from sciextract.metrics.relations import relation_label_tallies
from sciextract.metrics.scorer import CONLL_METRICS, ScorePath, Tallies, tally

Verdict = Literal["promote", "keep", "worse", "too few"]
_CHANCE = "probability"


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


HELD_OUT = Standard(5, 30, 24, 0.95, "gate documents", (30, 300), 0.8)
"""For documents that were held out and predicted by the later model itself."""

CROSS_VALIDATED = Standard(10, 50, 24, 0.95, "finished abstracts", (10, 50), 0.95)
"""For few documents, each predicted by a model that was trained without it.

The bootstrap is too sure of few documents, and the models of the folds resemble each other: hence the higher
probability. Of two equal models, normal differences of ten documents reach it in 8 % of all cases, of twenty in 7 %.
"""


@dataclass(frozen=True, slots=True)
class Difference:
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
        """Plain values; scores with two digits."""
        return {
            name: value if isinstance(value, int) else round(value, 3 if name == _CHANCE else 2)
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
    target: Difference | None
    tasks: Mapping[str, Difference]
    labels: Mapping[str, Mapping[str, Difference]]

    @property
    def entities(self) -> int:
        """Gold entities."""
        return self.tasks["entity"].gold if "entity" in self.tasks else 0

    def to_json(self) -> dict[str, Any]:
        """Nested plain values."""
        return {
            "documents": self.documents,
            "target": self.target and self.target.to_json(),
            "tasks": {name: each.to_json() for name, each in self.tasks.items()},
            "labels": {
                task: {name: each.to_json() for name, each in labels.items()}
                for task, labels in self.labels.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Blind:
    """Two models on the documents that were not corrected from a model's suggestions.

    Attributes:
        compared: The scores.
        few: Whether these documents are too few to tell which model is better.
        message: What they are worth, in a sentence.
    """

    compared: Compared
    few: bool
    message: str

    def to_json(self) -> dict[str, Any]:
        """Nested plain values."""
        return {**self.compared.to_json(), "few": self.few, "told": self.message}


@dataclass(frozen=True, slots=True)
class GateReport:
    """Two models on the same held-out documents, and what follows.

    Attributes:
        verdict: ``promote``, ``keep`` (the earlier one), ``worse`` (by far), or ``too few`` (documents to tell).
        reasons: Why, in sentences, and what to mind.
        documents: Documents with a complete layer.
        target: The mean over the tasks that decide, or over all with gold where none does; ``None`` without gold.
        tasks: ``entity``, ``relation`` and ``coreference``, as far as they have gold.
        labels: The same by label, of entities and relations.
        tolerances: F1 that each task may lose at the lower end of its interval.
        samples: How many times documents were drawn.
        blind: The documents without suggestions apart; ``None`` where they were not requested.
        cross_validated: How many of the documents were predicted by a model that was trained without them, instead
            of by the later model itself.
    """

    verdict: Verdict
    reasons: list[str]
    documents: int
    target: Difference | None
    tasks: Mapping[str, Difference]
    labels: Mapping[str, Mapping[str, Difference]]
    tolerances: dict[str, float]
    samples: int
    blind: Blind | None = None
    cross_validated: int = 0

    @property
    def compared(self) -> Compared:
        """Both models on all documents."""
        return Compared(self.documents, self.target, self.tasks, self.labels)

    def to_json(self) -> dict[str, Any]:
        """The report as nested plain values; ``blind`` and ``cross_validated`` only where there is some."""
        more: dict[str, Any] = {} if self.blind is None else {"blind": self.blind.to_json()}
        if self.cross_validated:
            more["cross_validated"] = self.cross_validated
        return {
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            **self.compared.to_json(),
            "tolerances": self.tolerances,
            "samples": self.samples,
            **more,
        }


TOLERANCES: Mapping[str, float] = {"entity": 1.5, "relation": 3.0, "coreference": 5.0}
"""F1 that each task may lose at the lower end of its interval.

Twice the standard error that fifty documents leave in the difference (0.8, 1.5 and 2.5 F1 between two models on
SciERC dev): with less, chance alone would keep out a model that is not worse.
"""

FAR = 5.0
"""F1 below which the whole interval of the mean must lie for a model to be far worse."""

FAVOURS = "documents that were corrected from a model's suggestions favour that model: annotators keep many suggestions unchanged"


class _Task(NamedTuple):
    """A task: the layer that must be done, its place in tallies, the metrics whose F1 it averages."""

    name: str
    title: str
    layer: str
    place: str
    paths: tuple[ScorePath, ...]
    counted: ScorePath


TASKS = (
    _Task("entity", "entities", "entities", "ner", (("ner", "all"),), ("ner", "all")),
    _Task(
        "relation",
        "relations",
        "relations",
        "relation",
        (("relation", "boundaries", "unordered"),),
        ("relation", "boundaries", "unordered"),
    ),
    _Task(
        "coreference",
        "coreference",
        "coreference",
        "coreference",
        tuple([("coreference", name) for name in CONLL_METRICS]),
        ("coreference", "clusters"),
    ),
)
TITLES = {task.name: task.title for task in TASKS}


def compare_models(
    gold: Sequence[Scorable],
    before: Sequence[Scorable],
    after: Sequence[Scorable],
    symmetric: frozenset[str],
    *,
    complete: Sequence[frozenset[str]],
    samples: int = 1000,
    seed: int = 0,
    tolerances: Mapping[str, float] = TOLERANCES,
    suggested: Sequence[bool] | None = None,
    blind: bool = False,
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
        complete: Per document the layers that are done: ``entities``, ``relations``, ``coreference``. A
            document counts in the tasks of its complete layers only.
        samples: How many times documents are drawn with replacement.
        seed: Of the draws; equal seeds give equal reports.
        tolerances: F1 that each task may lose at the lower end of its interval.
        suggested: Per document whether it was corrected from a model's suggestions; ``None`` when that is
            unknown.
        blind: Whether to report the documents without suggestions apart, too. The verdict is by all documents.
        standard: How much gold, and how sure a difference, the verdict requires.

    Raises:
        ValueError: The sequences differ in length, or documents without suggestions are wanted but not known.
    """
    sides = [
        [_tally(*each, symmetric) for each in zip(gold, complete, side, strict=True)]
        for side in (before, after)
    ]
    whole = _compared(sides, complete, samples, seed, standard)
    verdict, reasons = _verdict(whole, tolerances, standard)
    count = None if suggested is None else sum(map(bool, suggested))
    return GateReport(
        verdict,
        [*reasons, *_left_out(whole.tasks, standard), *_favours(count, whole.documents, standard)],
        whole.documents,
        whole.target,
        whole.tasks,
        whole.labels,
        dict(tolerances),
        samples,
        _without(suggested, sides, complete, samples, seed, standard) if blind else None,
    )


def _without(
    suggested: Sequence[bool] | None,
    sides: Sequence[Sequence[Tallies]],
    complete: Sequence[frozenset[str]],
    samples: int,
    seed: int,
    standard: Standard,
) -> Blind:
    """Both models on the documents that nobody corrected from suggestions."""
    if suggested is None:
        raise ValueError("blind needs to know which documents were corrected from suggestions")
    kept = [not each for each in suggested]
    chosen = [list(compress(side, kept)) for side in sides]
    compared = _compared(chosen, list(compress(complete, kept)), samples, seed, standard)
    return Blind(compared, _few(compared, standard), _of_blind(compared, standard))


def _compared(
    sides: Sequence[Sequence[Tallies]],
    complete: Sequence[frozenset[str]],
    samples: int,
    seed: int,
    standard: Standard,
) -> Compared:
    documents = sum(bool(layers) for layers in complete)
    scores = _scores(sides, samples, seed) if documents else {}
    tasks = {task.name: scores[task, ""] for task in TASKS if scores and scores[task, ""].gold}
    deciding = [each for name, each in tasks.items() if standard.decides(name, each.gold)]
    averaged = deciding or list(tasks.values())
    target = _mean(averaged, documents).difference() if tasks else None
    labelled = [task for task in TASKS if task.name in ("entity", "relation")]
    return Compared(
        documents,
        target,
        {name: each.difference() for name, each in tasks.items()},
        {task.name: _by_label(scores, task) for task in labelled},
    )


class _Scores(NamedTuple):
    """F1 of both models, 0 to 100: on all documents, and on every resample, *shape* (samples,)."""

    documents: int
    gold: int
    whole: tuple[float, float]
    drawn: tuple[Floats, Floats]

    def difference(self) -> Difference:
        """What they say of the two models."""
        before, after = self.drawn
        low, high = map(float, np.percentile(after - before, [5, 95]))
        better = share_better(after, before)
        return Difference(self.documents, self.gold, *self.whole, low, high, better)


_Row = tuple[_Task, str]
"""A task and one of its labels; no label for the task as a whole."""


def _tally(
    gold: Scorable, layers: frozenset[str], predicted: Scorable, symmetric: frozenset[str]
) -> Tallies:
    """What is counted in one document, without the tasks whose layer is not complete."""
    counted = tally(gold, predicted, symmetric)
    for label, counts in relation_label_tallies(gold, predicted, symmetric).items():
        counted["relation", "labels", label] = counts
    kept = {task.place for task in TASKS if task.layer in layers}
    return {path: counts for path, counts in counted.items() if path[0] in kept}


def _rows(sides: Sequence[Sequence[Tallies]]) -> Iterator[tuple[_Row, tuple[ScorePath, ...]]]:
    """All rows of the table with the metrics whose F1 each averages."""
    paths = {path for side in sides for tallies in side for path in tallies}
    for task in TASKS:
        yield (task, ""), task.paths
        for path in sorted([path for path in paths if path[:2] == (task.place, "labels")]):
            yield (task, path[2]), (path,)


def _scores(sides: Sequence[Sequence[Tallies]], samples: int, seed: int) -> dict[_Row, _Scores]:
    """The scores of all rows, all under the same draws."""
    rows = dict(_rows(sides))
    ends = np.cumsum([len(paths) for paths in rows.values()])[:-1]
    counts = [
        counts_of(side, [path for paths in rows.values() for path in paths]) for side in sides
    ]
    drawn = [np.split(each, ends, axis=1) for each in resampled_f1(counts, samples, seed)]
    whole = [np.split(f1_of(each.sum(axis=0)), ends) for each in counts]
    return {
        row: _Scores(
            sum(row[0].counted in tallies for tallies in sides[0]),
            _gold(sides[0], paths[0] if row[1] else row[0].counted),
            (float(whole[0][place].mean()), float(whole[1][place].mean())),
            (drawn[0][place].mean(axis=1), drawn[1][place].mean(axis=1)),
        )
        for place, (row, paths) in enumerate(rows.items())
    }


def _gold(documents: Sequence[Tallies], path: ScorePath) -> int:
    return sum(int(tallies.get(path, NOTHING).gold) for tallies in documents)


def _by_label(scores: Mapping[_Row, _Scores], wanted: _Task) -> dict[str, Difference]:
    return {
        label: found.difference()
        for (task, label), found in scores.items()
        if task == wanted and label
    }


def _mean(scores: Sequence[_Scores], documents: int) -> _Scores:
    """The mean of some scores, as a score."""
    whole = [float(np.mean([each.whole[side] for each in scores])) for side in (0, 1)]
    drawn = [np.mean([each.drawn[side] for each in scores], axis=0) for side in (0, 1)]
    gold = sum(each.gold for each in scores)
    return _Scores(documents, gold, (whole[0], whole[1]), (drawn[0], drawn[1]))


def _verdict(
    compared: Compared, tolerances: Mapping[str, float], standard: Standard
) -> tuple[Verdict, list[str]]:
    target = compared.target
    tasks = {
        name: each for name, each in compared.tasks.items() if standard.decides(name, each.gold)
    }
    few = [_too_few(compared, standard)] if _few(compared, standard) else []
    if target is not None and target.high < -FAR:
        lost = f"the mean of the tasks falls by {-target.difference:.2f} F1"
        interval = f"90 % interval {target.low:+.2f} to {target.high:+.2f}"
        return "worse", [f"{lost} ({interval}): far worse than what predicts now", *few]
    if target is None or few:
        return "too few", [_too_few(compared, standard)]
    required = standard.required(compared.documents, compared.entities)
    improves = target.probability >= required
    falling = {name: each.low for name, each in tasks.items() if each.low < -tolerances[name]}
    titles = ", ".join(TITLES[name] for name in tasks)
    chance = f"the mean of {titles} improves with probability {target.probability:.2f}"
    reasons = [f"{chance}; at least {required:.2f} is required"]
    reasons += [
        f"{TITLES[name]} may lose {-low:.2f} F1 (90 % interval); {tolerances[name]:.2f} are tolerated"
        for name, low in falling.items()
    ]
    if not falling:
        most = ", ".join(f"{TITLES[name]} {tolerances[name]:.1f}" for name in tasks)
        reasons.append(f"no task is likely to lose more F1 than tolerated: {most}")
    return ("promote" if improves and not falling else "keep"), reasons


def _few(compared: Compared, standard: Standard) -> bool:
    return not standard.is_met(compared.documents, compared.entities)


def _of_blind(compared: Compared, standard: Standard) -> str:
    """What the documents without suggestions are worth, in a sentence."""
    if not compared.documents:
        return f"without suggestions: none of the {standard.name}; all were corrected from a model's suggestions"
    if _few(compared, standard):
        return f"without suggestions: {_too_few(compared, standard)}"
    return (
        f"without suggestions: {compared.documents} {standard.name}; the verdict is by all of them"
    )


def _too_few(compared: Compared, standard: Standard) -> str:
    return (
        f"{compared.documents} {standard.name} with {compared.entities} gold entities are too few to decide; "
        f"{standard.documents} with {standard.entities} entities are the minimum"
    )


def _left_out(tasks: Mapping[str, Difference], standard: Standard) -> Iterator[str]:
    for name, title in TITLES.items():
        if name not in tasks:
            yield f"{title}: not compared, for none of the {standard.name} that are done there has gold"
        elif name != "entity" and not standard.decides(name, tasks[name].gold):
            few = f"{tasks[name].gold} gold items are too few to decide"
            yield f"{title}: {few}; {standard.items} are the minimum"


def _favours(suggested: int | None, documents: int, standard: Standard) -> Iterator[str]:
    if suggested is None and documents:
        yield FAVOURS
    elif suggested:
        yield f"{suggested} of {documents} {standard.name}: {FAVOURS}"
