"""Promised precision: thresholds such that what is written is right as often as asked for, with stated confidence.

Thresholds are chosen on predictions for abstracts that the model has not learned from. A threshold is a hypothesis, "the
precision is below the promise", that has to be rejected (Learn then Test: Angelopoulos et al. 2021, arXiv 2110.01052,
section 4); from the strictest threshold down, each failure ends a sequence, so that many small steps cost no error. Items of
one abstract resemble each other: the bound is that of Korn and Graubard (1998, "Confidence intervals for proportions with
small expected number of positive counts estimated from survey data", Survey Methodology 24) with abstracts as clusters.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, inf, lgamma
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.annotations import Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import SciextractError, UsageError
from sciextract.inference.held_out import HeldOut, HeldOutItem
from sciextract.inference.settings import ATTRIBUTE, PROMISED

ANY = "of any label"
"""In place of a label where a precision is promised for all items of a task together."""

LEAST_ABSTRACTS = 5
"""Abstracts with items below which their spread says nothing."""

_FIRST, _SHARE, _STARTS = 20, 0.05, 2
"""Items above the strictest threshold, their least share of all, which is also how many more are above the next one, and
with how many thresholds a sequence of tests may begin, each with its share of the allowed error."""

_MOST_FURTHER = 64

Columns = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelPromise:
    """What is promised of one label, or of all together.

    Attributes:
        task: ``entity`` or ``relation``.
        label: The label, or ``ANY``.
        threshold: Least score of what is written; ``None`` where nothing can be promised, and nothing is written.
        precision: Share of right ones among the held-out items above the threshold; among all where there is none.
        recall: Share of the held-out gold that is found; 0 where nothing is written.
        further: How many more finished abstracts of the kind the promise would take; ``None`` where it is made, or
            where no threshold comes near it.
        lower: Where all are promised together: labels whose own precision is known to be lower, with the held-out one.
        unknown: Likewise labels of which neither is known.
    """

    task: str
    label: str
    threshold: float | None
    precision: float
    recall: float
    further: int | None = None
    lower: Mapping[str, float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def by_itself(self) -> str:
        """What is known of single labels where all are promised together, for people; empty where each is promised."""
        parts = {
            "lower by themselves": [f"{name} {share:.2f}" for name, share in self.lower.items()],
            "not known by themselves": self.unknown,
        }
        return "".join(f"; {words}: {', '.join(names)}" for words, names in parts.items() if names)


@dataclass(frozen=True, slots=True)
class Promise:
    """Thresholds that keep a promise.

    Attributes:
        wanted: The least precision by task.
        confidence: With which it holds for the items of a task, or for each label, 0 to 1.
        source: The abstracts that it was chosen on.
        labels: What is promised of each label, or of all together.
    """

    wanted: Mapping[str, float]
    confidence: float
    source: str
    labels: tuple[LabelPromise, ...]

    @property
    def thresholds(self) -> tuple[tuple[str, str, float], ...]:
        """Task, label and least score of what is written; one above 1 where nothing is."""
        return tuple(
            (part.task, part.label, inf if part.threshold is None else part.threshold)
            for part in self.labels
        )


def make_promise(
    held: HeldOut, wanted: Mapping[str, float], confidence: float, by_label: bool = False
) -> Promise:
    """Choose thresholds.

    Args:
        held: Predictions for abstracts that the model has not learned from.
        wanted: The least precision by task, 0 to 1.
        confidence: With which it shall hold.
        by_label: Whether it shall hold for each label by itself.

    Raises:
        UsageError: A task or a number is not possible.
    """
    for name, value in {**wanted, "confidence": confidence}.items():
        if name not in (*PROMISED, ATTRIBUTE, "confidence") or not 0 < value < 1:
            raise UsageError(
                f"a promise of {name}={value:g} is not possible",
                f"tasks are {', '.join((*PROMISED, ATTRIBUTE))}; precision and confidence lie between 0 and 1, both excluded",
            )
    found: list[LabelPromise] = []
    for task in held.items:
        if task not in wanted:
            continue
        gold = {label: count for label, count in held.gold[task].items() if label}
        items = sorted((e for e in held.items[task] if e.label), key=lambda item: -item.score)
        if found:  # a relation is written only where both of its ends are
            made = {("entity", e.label): e.threshold for e in found if e.threshold is not None}
            items = [
                item
                for item in items
                if all(score >= least_score(made, "entity", label) for label, score in item.ends)
            ]
        labels, allowed = sorted({*gold, *(item.label for item in items)}), 1 - confidence
        parts = {label: _columns(e for e in items if e.label == label) for label in labels}
        groups = parts if by_label else {ANY: _columns(items)} if labels else {}
        for label, columns in groups.items():
            best, further = _choose(columns, wanted[task], allowed, held.documents)
            shown = best or _above(columns, -inf, held.documents)
            of_all = gold.get(label, 0) if by_label else sum(gold.values())
            recall = shown.right / max(1, of_all) if best else 0.0
            precision = shown.right / max(1, shown.count)
            threshold = best.threshold if best else None
            alone = parts if best and not by_label else {}
            single = _of_single(alone, shown.threshold, wanted[task], allowed, held.documents)
            found.append(LabelPromise(task, label, threshold, precision, recall, further, *single))
    return Promise(dict(wanted), confidence, held.source, tuple(found))


class NoPromiseError(SciextractError):
    """What is asked for cannot be promised."""


def keepable_promise(
    held: HeldOut, wanted: Mapping[str, float], confidence: float, by_label: bool = False
) -> Promise:
    """Choose thresholds as :func:`make_promise` does, one at least.

    Raises:
        UsageError: A task or a number is not possible.
        NoPromiseError: None can be kept; says what could.
    """
    if lacking := ", ".join(wanted.keys() & {ATTRIBUTE} - held.items.keys()):
        known = " and ".join(held.items)
        raise UsageError(
            f"no {lacking} was predicted of {held.source}",
            f"promise {known}; table promises attributes of a project",
        )
    promise = make_promise(held, wanted, confidence, by_label)
    if any(part.threshold is not None for part in promise.labels):
        return promise
    asked = ", ".join(f"{task}={precision:g}" for task, precision in wanted.items())
    problem = f"{asked} cannot be promised{' of any label' * by_label} with a confidence of {confidence:g}; nothing was predicted"
    for percent in range(95, 0, -5):
        lower = {task: min(precision, percent / 100) for task, precision in wanted.items()}
        if lower != wanted:
            labels = make_promise(held, lower, confidence, by_label).labels
            if kept := [f"{e.task} {e.label}" for e in labels if e.threshold is not None]:
                words = ",".join(f"{task}={precision:g}" for task, precision in lower.items())
                raise NoPromiseError(
                    problem, f"--promise {words} could be kept by {', '.join(kept)}"
                )
    raise NoPromiseError(problem, "finish more abstracts and learn again, or choose by --threshold")


def least_score(thresholds: Mapping[tuple[str, str], float], task: str, label: str) -> float:
    """The least score of what a promise covers of a label."""
    return thresholds.get((task, label), thresholds.get((task, ANY), inf))


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

    def is_kept(task: str, item: Entity | Relation) -> bool:
        if task not in tasks or not item.label:  # a mention without a type is no entity
            return True
        return (item.score or 0.0) >= least_score(least, task, item.label)

    own = found.annotations
    entities = tuple(entity for entity in own.entities if is_kept("entity", entity))
    ids = {entity.id for entity in entities}
    relations = tuple(
        relation
        for relation in own.relations
        if {relation.head, relation.tail} <= ids and is_kept("relation", relation)
    )
    left = (cluster.only(ids) for cluster in own.clusters)
    clusters = tuple(cluster for cluster in left if len(cluster.mentions) > 1)
    linked = {mention for cluster in clusters for mention in cluster.mentions}
    linked |= {end for relation in relations for end in (relation.head, relation.tail)}
    entities = tuple(entity for entity in entities if entity.label or entity.id in linked)
    counts = Counter(f"entity {entity.label}" for entity in own.entities if entity.id not in ids)
    written = {relation.id for relation in relations}
    counts.update(
        f"relation {relation.label}" for relation in own.relations if relation.id not in written
    )
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
    columns: Columns, wanted: float, allowed: float, documents: int
) -> tuple[_Above | None, int | None]:
    """The lowest threshold that keeps the promise, and else how many more abstracts one would take."""
    step = max(1.0, _SHARE * len(columns))
    sizes = [*map(ceil, np.arange(max(_FIRST, step), len(columns), step)), len(columns)]
    tried = [_above(columns, columns[size - 1, 0], documents) for size in sizes if size]
    best, budget = None, 0.0
    for place, above in enumerate(tried):
        # An error that was not spent goes on to the next threshold (fallback procedure: Wiens 2003, section 2).
        budget += allowed / _STARTS if place < _STARTS else 0.0
        if budget and above.error(wanted) <= budget:
            best = above
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
        bisect_left(factors, True, key=lambda times: above.error(wanted, times) <= share)
        for above in tried
    ]
    first = min(needed, default=len(factors))
    return None, ceil((factors[first] - 1) * documents) if first < len(factors) else None


def _columns(items: Iterable[HeldOutItem]) -> Columns:
    """Scores, abstracts and whether they are right, from the highest score down."""
    return np.array([(item.score, item.document, item.right) for item in items]).reshape(-1, 3)


def _above(columns: Columns, threshold: float, documents: int) -> _Above:
    """What stands above a threshold; all that are equal to it count."""
    count = int(np.searchsorted(-columns[:, 0], -threshold, side="right"))
    owners, right_ones = columns[:count, 1].astype(int), columns[:count, 2]
    counts, rights = (np.bincount(owners, of, documents) for of in (None, right_ones))
    right = int(rights.sum())
    share = right / max(1, count)
    effective = float(count)
    if 0 < right < count:
        spread = ((rights - share * counts) ** 2).sum() / count**2
        by_cluster = spread * documents / max(1, documents - 1)
        effective = count / max(1.0, by_cluster / (share * (1 - share) / count))
    return _Above(float(threshold), count, right, int((counts > 0).sum()), effective)


def _of_single(
    parts: Mapping[str, Columns], threshold: float, wanted: float, allowed: float, documents: int
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Labels that are known not to keep a promise by themselves, with their precision, and those of which neither is."""
    lower, unknown = {}, []
    for label, columns in parts.items():
        above = _above(columns, threshold, documents)
        wrong = replace(above, right=above.count - above.right)
        if wrong.error(1 - wanted) <= allowed:
            lower[label] = above.right / above.count
        elif above.error(wanted) > allowed:
            unknown.append(label)
    return lower, tuple(unknown)


def _t_quantile(freedom: float) -> float:
    """The 95th percentile of Student's t (Abramowitz and Stegun 1964, 26.7.5)."""
    z = NormalDist().inv_cdf(0.95)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


_ODDS = np.linspace(-40, 40, 8001)
_LOG_SHARES = np.logaddexp(0, -_ODDS), np.logaddexp(0, _ODDS)


def _beta_below(value: float, a: float, b: float) -> float:
    """The share of a beta distribution below a value, 0 to 1, by the trapezoidal rule on the log-odds."""
    if a <= 0:
        return 1.0
    logs = -a * _LOG_SHARES[0] - b * _LOG_SHARES[1]
    density = np.exp(logs - (lgamma(a) + lgamma(b) - lgamma(a + b)))
    below = np.searchsorted(_ODDS, np.log(value / (1 - value)), side="right")
    return float(min(1.0, density[:below].sum() * (_ODDS[1] - _ODDS[0])))
