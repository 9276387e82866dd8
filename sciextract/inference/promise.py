"""Promised precision: thresholds by label such that what is written is right as often as asked for, with stated confidence.

Thresholds are chosen on predictions for abstracts that the model has not learned from. A threshold is a hypothesis, "the
precision is below the promise", that has to be rejected (Learn then Test: Angelopoulos et al. 2021, arXiv 2110.01052,
section 4); from the strictest threshold down, each failure ends a sequence, so that trying several does not make a lucky one
likely. Items of one abstract resemble each other: the bound is that of Korn and Graubard (1998, "Confidence intervals for
proportions with small expected number of positive counts estimated from survey data", Survey Methodology 24) with abstracts
as clusters.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, lgamma, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from sciextract import atomic
from sciextract.codec import decode, plain
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.errors import ModelDamagedError, SciextractError, UsageError
from sciextract.inference.model_folder import listed_files
from sciextract.inference.settings import PROMISED
from sciextract.resources import bundled_models

ANY = "of any label"
"""In place of a label where a precision is promised for all labels of a task together."""

LEAST_ABSTRACTS = 5
"""Abstracts with items of a label below which their spread says nothing."""

_FIRST, _FIRST_SHARE, _STEP, _STARTS = 20, 0.05, sqrt(2), 3
"""Items above the strictest threshold, and their least share of all, how many times as many are above the next one, and
with how many thresholds a sequence of tests may begin, each with its share of the allowed error."""

_MOST_FURTHER = 64


class HeldOutItem(NamedTuple):
    """A predicted item of an abstract that the model had not learned from.

    Attributes:
        document: Number of the abstract.
        label: The predicted label.
        score: 0 to 1.
        right: Whether the gold has it: the same span and label; for a relation the same spans of both ends and label.
        ends: Of a relation: labels and scores of head and tail, without which it is not written.
    """

    document: int
    label: str
    score: float
    right: bool
    ends: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a promise is chosen on.

    Attributes:
        source: Which abstracts these are, for people.
        documents: How many there are.
        items: Predictions down to low scores, by task.
        gold: How many gold items there are, by task and label.
    """

    source: str
    documents: int
    items: Mapping[str, tuple[HeldOutItem, ...]]
    gold: Mapping[str, Mapping[str, int]]

    def pooled(self) -> HeldOut:
        """The same without labels, for a promise about all items of a task together."""
        items = {
            task: tuple(
                each._replace(label=ANY, ends=tuple((ANY, score) for _, score in each.ends))
                for each in found
            )
            for task, found in self.items.items()
        }
        gold = {task: {ANY: sum(counts.values())} for task, counts in self.gold.items() if counts}
        return replace(self, items=items, gold={task: gold.get(task, {}) for task in items})


@dataclass(frozen=True, slots=True)
class LabelPromise:
    """What is promised of one label.

    Attributes:
        task: ``entity`` or ``relation``.
        label: The label, or ``ANY``.
        threshold: Least score of what is written; ``None`` where nothing can be promised, and nothing is written.
        precision: Share of right ones among the held-out items above the threshold; among all where there is none.
        recall: Share of the held-out gold that is found; 0 where nothing is written.
        further: How many more finished abstracts of the kind the promise would take; ``None`` where it is made, or
            where no threshold comes near it.
    """

    task: str
    label: str
    threshold: float | None
    precision: float
    recall: float
    further: int | None = None


@dataclass(frozen=True, slots=True)
class Promise:
    """Thresholds that keep a promise.

    Attributes:
        wanted: The least precision by task.
        confidence: With which it holds for each label, 0 to 1.
        source: The abstracts that it was chosen on.
        labels: What is promised of each label.
    """

    wanted: Mapping[str, float]
    confidence: float
    source: str
    labels: tuple[LabelPromise, ...]

    @property
    def thresholds(self) -> tuple[tuple[str, str, float], ...]:
        """Task, label and least score of what is written; one above 1 where nothing is."""
        return tuple(
            (each.task, each.label, inf if each.threshold is None else each.threshold)
            for each in self.labels
        )


FILE = "held_out.json"
"""In the folder of an adapter; those of bundled models lie in a folder of their own, by hash."""


def write_held_out(path: Path, held: HeldOut) -> None:
    """Write a file of held-out predictions."""
    atomic.write(path, json.dumps(plain(held)))


def read_held_out(model: ModelId, folder: Path | None) -> HeldOut:
    """The held-out predictions that come with a model.

    Args:
        model: The model.
        folder: Its verified folder; ``None`` where it has none.

    Raises:
        UsageError: It has none.
        ModelDamagedError: They cannot be understood.
    """
    bundled = bundled_models() / "held_out" / f"{model.hash[:8]}.json"
    # A file that the manifest does not name may be anybody's.
    listed = folder is not None and FILE in listed_files(folder)
    path = folder / FILE if folder and listed else bundled
    if not path.is_file():
        raise UsageError(
            f"no precision can be promised of {model}: it has no predictions for abstracts that it has not learned from",
            "sciextract learn --project DB makes a model that has some, from 4 finished abstracts on; so have the bundled models",
        )
    held = decode(path.read_bytes(), HeldOut, path, error=ModelDamagedError)
    for each in (item for items in held.items.values() for item in items):
        if not (0 <= each.document < held.documents and 0 <= each.score <= 1):
            raise ModelDamagedError(
                f"{path}: {each} is no prediction for one of {held.documents} abstracts",
                "learn again, or get the model again",
            )
    return held


def held_out(
    source: str, gold: Sequence[AnnotatedDocument], predicted: Sequence[AnnotatedDocument]
) -> HeldOut:
    """What a promise is chosen on, from gold and predictions down to low scores for the same documents.

    Args:
        source: Which abstracts these are.
        gold: Their positive items.
        predicted: The same documents in the same order.
    """
    items: dict[str, list[HeldOutItem]] = {task: [] for task in PROMISED}
    counts: dict[str, dict[str, int]] = {task: {} for task in PROMISED}
    for number, (true, found) in enumerate(zip(gold, predicted, strict=True)):
        entities = {each.id: each for each in found.annotations.entities}
        wanted = {(each.fragments, each.label) for each in true.annotations.entities}
        places = {each.id: each.fragments for each in true.annotations.entities}
        related = {
            (places[each.head], places[each.tail], each.label)
            for each in true.annotations.relations
        }
        for task, golden in (("entity", wanted), ("relation", related)):
            # A set has another order in every process: the same abstracts shall give the same file.
            for label in sorted(each[-1] for each in golden):
                counts[task][label] = counts[task].get(label, 0) + 1
        for each in entities.values():
            right = (each.fragments, each.label) in wanted
            items["entity"].append(HeldOutItem(number, each.label, each.score or 0.0, right))
        for relation in found.annotations.relations:
            head, tail = entities[relation.head], entities[relation.tail]
            right = (head.fragments, tail.fragments, relation.label) in related
            ends = ((head.label, head.score or 0.0), (tail.label, tail.score or 0.0))
            score = relation.score or 0.0
            items["relation"].append(HeldOutItem(number, relation.label, score, right, ends))
    return HeldOut(source, len(gold), {task: tuple(each) for task, each in items.items()}, counts)


def make_promise(held: HeldOut, wanted: Mapping[str, float], confidence: float) -> Promise:
    """Choose thresholds.

    Args:
        held: Predictions for abstracts that the model has not learned from.
        wanted: The least precision by task, 0 to 1.
        confidence: With which it shall hold for each label.

    Raises:
        UsageError: A task or a number is not possible.
    """
    for name, value in {**wanted, "confidence": confidence}.items():
        if name not in (*PROMISED, "confidence") or not 0 < value < 1:
            raise UsageError(
                f"a promise of {name}={value:g} is not possible",
                f"tasks are {' and '.join(PROMISED)}; precision and confidence lie between 0 and 1, both excluded",
            )
    found: list[LabelPromise] = []
    entities: dict[str, float] | None = None
    for task in PROMISED:
        if task not in wanted:
            continue
        items = held.items[task]
        if entities is not None:  # a relation is written only where both of its ends are
            items = tuple(
                each
                for each in items
                if all(score >= entities.get(label, inf) for label, score in each.ends)
            )
        gold = held.gold[task]
        for label in sorted(filter(None, {*gold, *(each.label for each in items)})):
            own = [each for each in items if each.label == label]
            chosen = _choose(own, wanted[task], 1 - confidence, held.documents)
            found.append(_described(task, label, chosen, own, gold.get(label, 0)))
        if task == "entity":
            entities = {each.label: each.threshold for each in found if each.threshold is not None}
    return Promise(dict(wanted), confidence, held.source, tuple(found))


class NoPromiseError(SciextractError):
    """What is asked for can be promised of no label."""


def keepable_promise(held: HeldOut, wanted: Mapping[str, float], confidence: float) -> Promise:
    """Choose thresholds as :func:`make_promise` does, for one label at least.

    Raises:
        UsageError: A task or a number is not possible.
        NoPromiseError: No label can keep it; says what some label could.
    """
    promise = make_promise(held, wanted, confidence)
    if any(each.threshold is not None for each in promise.labels):
        return promise
    asked = ", ".join(f"{task}={precision:g}" for task, precision in wanted.items())
    problem = f"{asked} can be promised of no label with a confidence of {confidence:g}; nothing was predicted"
    for percent in range(95, 0, -5):
        lower = {task: min(precision, percent / 100) for task, precision in wanted.items()}
        if lower != wanted:
            labels = make_promise(held, lower, confidence).labels
            if kept := [f"{e.task} {e.label}" for e in labels if e.threshold is not None]:
                words = ",".join(f"{task}={precision:g}" for task, precision in lower.items())
                raise NoPromiseError(
                    problem, f"--promise {words} could be kept by {', '.join(kept)}"
                )
    raise NoPromiseError(problem, "finish more abstracts and learn again, or choose by --threshold")


def keep_promise(
    found: AnnotatedDocument, thresholds: Iterable[tuple[str, str, float]]
) -> AnnotatedDocument:
    """A predicted document without what a promise does not cover, which is counted; candidates stay as they are.

    Args:
        found: The document.
        thresholds: See :attr:`Promise.thresholds`. Of a task that is promised, labels without a threshold go.
    """
    least = {(task, label): score for task, label, score in thresholds}
    tasks = {task for task, _ in least}

    def kept(task: str, label: str, score: float | None) -> bool:
        if task not in tasks or not label:  # a mention without a type is no entity
            return True
        return (score or 0.0) >= least.get((task, label), least.get((task, ANY), inf))

    own = found.annotations
    entities = tuple(each for each in own.entities if kept("entity", each.label, each.score))
    ids = {each.id for each in entities}
    relations = tuple(
        each
        for each in own.relations
        if {each.head, each.tail} <= ids and kept("relation", each.label, each.score)
    )
    left = (each.only(ids) for each in own.clusters)
    clusters = tuple(each for each in left if len(each.mentions) > 1)
    linked = {mention for each in clusters for mention in each.mentions}
    linked |= {end for each in relations for end in (each.head, each.tail)}
    entities = tuple(each for each in entities if each.label or each.id in linked)
    counts = Counter(f"entity {each.label}" for each in own.entities if each.id not in ids)
    written = {each.id for each in relations}
    counts.update(f"relation {each.label}" for each in own.relations if each.id not in written)
    left_over = replace(own, entities=entities, relations=relations, clusters=clusters)
    return replace(found, annotations=left_over, held_back=dict(counts))


@dataclass(frozen=True, slots=True)
class _Above:
    """The items above a threshold: how many, how many are right, and as many independent ones."""

    threshold: float
    count: int
    right: int
    clusters: int
    effective: float

    def error(self, wanted: float, times: float = 1.0) -> float:
        """How likely so many right ones are where the precision is only what is wanted (Korn and Graubard 1998).

        Args:
            wanted: The precision.
            times: How many times as many abstracts are looked at, all else equal.
        """
        if self.clusters * times < LEAST_ABSTRACTS:
            return 1.0
        effective = self.effective * times
        # Few clusters say little about their own spread.
        few = _t_quantile(self.clusters * times - 1) / _t_quantile(max(2.0, self.count * times - 1))
        effective /= few**2
        right = effective * self.right / self.count
        return _beta_below(wanted, right, effective - right + 1)


def _choose(
    items: Sequence[HeldOutItem], wanted: float, allowed: float, documents: int
) -> tuple[_Above | None, int | None]:
    """The lowest threshold that keeps the promise, and else how many more abstracts one would take."""
    ranked = sorted(items, key=lambda each: -each.score)
    sizes = []
    size = max(float(_FIRST), _FIRST_SHARE * len(ranked))
    while size < len(ranked):
        sizes.append(ceil(size))
        size *= _STEP
    sizes.append(len(ranked))
    tried = [_above(ranked, size, documents) for size in sizes if size]
    best, budget = None, 0.0
    for place, each in enumerate(tried):
        # An error that was not spent goes on to the next threshold (fallback procedure: Wiens 2003, section 2).
        budget += allowed / _STARTS if place < _STARTS else 0.0
        if budget and each.error(wanted) <= budget:
            best = each
        else:
            budget = 0.0
            if best is not None:
                break
    if best is not None:
        return best, None
    share = allowed / _STARTS
    factors = np.geomspace(1.05, _MOST_FURTHER, 60).tolist()
    # The error falls with the number of abstracts, so that halving finds the first factor that suffices.
    needed = [
        bisect_left(factors, True, key=lambda times: each.error(wanted, times) <= share)
        for each in tried
    ]
    first = min(needed, default=len(factors))
    return None, ceil((factors[first] - 1) * documents) if first < len(factors) else None


def _above(ranked: Sequence[HeldOutItem], size: int, documents: int) -> _Above:
    """What stands above the threshold that so many items reach; all that are equal to the last one count."""
    threshold = ranked[size - 1].score
    chosen = [each for each in ranked if each.score >= threshold]
    counts = np.zeros((documents, 2))
    for each in chosen:
        counts[each.document] += (each.right, 1)
    count, right = len(chosen), int(counts[:, 0].sum())
    share = right / count
    effective = float(count)
    if 0 < right < count:
        spread = ((counts[:, 0] - share * counts[:, 1]) ** 2).sum() / count**2
        by_cluster = spread * documents / max(1, documents - 1)
        effective = count / max(1.0, by_cluster / (share * (1 - share) / count))
    return _Above(threshold, count, right, int((counts[:, 1] > 0).sum()), effective)


def _described(
    task: str,
    label: str,
    chosen: tuple[_Above | None, int | None],
    items: Sequence[HeldOutItem],
    gold: int,
) -> LabelPromise:
    above, further = chosen
    if above is None:
        right = sum(each.right for each in items)
        return LabelPromise(task, label, None, right / max(1, len(items)), 0.0, further)
    recall = above.right / max(1, gold)
    return LabelPromise(task, label, above.threshold, above.right / above.count, recall)


def _t_quantile(freedom: float) -> float:
    """The 95th percentile of Student's t (Abramowitz and Stegun 1964, 26.7.5)."""
    z = NormalDist().inv_cdf(0.95)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def _beta_below(value: float, a: float, b: float) -> float:
    """The share of a beta distribution below a value, 0 to 1, by the trapezoidal rule on the log-odds."""
    if a <= 0:
        return 1.0
    odds = np.linspace(-40, 40, 8001)
    logs = -a * np.logaddexp(0, -odds) - b * np.logaddexp(0, odds)
    density = np.exp(logs - (lgamma(a) + lgamma(b) - lgamma(a + b)))
    at = np.log(value / (1 - value))
    return float(min(1.0, density[odds <= at].sum() * (odds[1] - odds[0])))
