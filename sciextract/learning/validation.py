"""How good an adapter is on abstracts that it has not learned from, and what more of them would bring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.papers import first_of_each
from sciextract.documents.schema import LabelSchema
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.extractor import Extractor
from sciextract.inference.settings import TASKS
from sciextract.learning.adapter import WRITTEN, learn
from sciextract.metrics.counts import scorable
from sciextract.metrics.scorer import (
    CONLL_METRICS,
    Floats,
    ScorePath,
    Tallies,
    counts_of,
    draws,
    f1_of,
    tally,
)
from sciextract.snapshot.documents import TrainingDocument, covered_part, in_folds, positive_part

FOLDS = 10
LEAST = 4
"""Finished abstracts below which nothing is left to measure on."""

SIZES = (5, 10, 20, 50, 100, 200)
_CURVE_PAIRS = 3
"""Pairs of folds that the points of the curve are measured on: a point is as many trainings."""

_USUAL_SLOPE = (3.0, 2.5)
"""F1 by the natural logarithm of the number of abstracts, and how far corpora differ: from 20 to 40 abstracts the mean of three
seeds gained -1 (ten fields), 2 (SciREX) and 6 (GENIA) by this unit."""

_RESAMPLES, _SEED = 1000, 0
_LOWEST = dict.fromkeys(TASKS, 0.05)
_STATED = {Layer.ENTITIES: "ner", Layer.RELATIONS: "relation", Layer.COREFERENCE: "coreference"}
"""What the configurations of models call the scores."""

_PATHS: Mapping[Layer, tuple[ScorePath, ...]] = {
    Layer.ENTITIES: (("ner", "all"),),
    Layer.RELATIONS: (("relation", "boundaries", "ordered"),),
    Layer.COREFERENCE: tuple(("coreference", name) for name in CONLL_METRICS),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """An F1 score, 0 to 100, with its 90 % bootstrap interval over abstracts."""

    f1: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LayerScores:
    """What is known of one layer.

    Attributes:
        score: Of all abstracts together.
        labels: F1 by label; empty for coreference.
        curve: F1 after so many abstracts, on the same abstracts for each number; the last one is of all folds.
        more: What twenty more abstracts would bring; ``None`` where the curve has fewer than two points.
    """

    score: Estimate
    labels: Mapping[str, float] = field(default_factory=dict)
    curve: Mapping[int, float] = field(default_factory=dict)
    more: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Validation:
    """What cross-validation says of an adapter.

    Attributes:
        documents: The finished abstracts, in the order of their folds.
        predicted: Each one as an adapter predicts it that has not learned from it, down to low scores.
        shown: The same with the thresholds of the adapter.
        layers: Scores of each layer that is complete in some abstract and has gold.
    """

    documents: tuple[TrainingDocument, ...] = ()
    predicted: tuple[AnnotatedDocument, ...] = ()
    shown: tuple[AnnotatedDocument, ...] = ()
    layers: Mapping[Layer, LayerScores] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """What a model's configuration keeps: scores of the adapter by cross-validation, as plain values."""
        if not self.layers:
            return {}
        score = {_STATED[layer]: found.score.f1 for layer, found in self.layers.items()}
        details = {}
        for layer, found in self.layers.items():
            curve = {str(size): f1 for size, f1 in found.curve.items()}
            own = {"f1": found.score.f1, "interval": [found.score.low, found.score.high]}
            more = {"with 20 more": [found.more.low, found.more.high]} if found.more else {}
            details[layer.value] = {**own, "labels": dict(found.labels), "curve": curve, **more}
        about = {"split": "cross-validation", "documents": len(self.documents)}
        return about | {"heads": score, "validation": details}

    def lines(self) -> list[str]:
        """The same in Markdown, for people."""
        found = []
        for layer, scores in self.layers.items():
            score, more = scores.score, scores.more
            found.append(
                f"- {layer.value}: F1 {score.f1:.0f} ({score.low:.0f} to {score.high:.0f}), "
                f"{len(self.documents)} abstracts, each predicted by a model that had not learned from it"
            )
            if scores.labels:
                found.append(
                    f"  - by label: {', '.join(f'{k} {v:.0f}' for k, v in scores.labels.items())}"
                )
            if scores.curve:
                points = ", ".join(f"{size}: {f1:.0f}" for size, f1 in scores.curve.items())
                found.append(f"  - F1 by abstracts learned from: {points}")
            if more:
                found.append(f"  - finish 20 more: about {more.low:.0f} to {more.high:.0f}")
        return found


def validate(
    finished: Sequence[TrainingDocument],
    schema: LabelSchema,
    states: EncoderStates,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> Validation:
    """Cross-validate over abstracts: each is predicted by an adapter that learned from the others.

    Args:
        finished: Abstracts with decisions. Only those with a complete layer are scored, all are learned from.
        schema: The labels.
        states: The encoder, and states that are known already.
        on_progress: Called with the trainings done and all that there will be.
    """
    # The place of an abstract depends on its text, so that a finished one more does not move the others.
    ordered = sorted(finished, key=lambda document: document.annotated.document.text_sha256)
    judged = [place for place, document in enumerate(ordered) if document.complete]
    if len(judged) < LEAST:
        return Validation()
    # Nor do two texts of one paper: what has learned from one knows the other.
    papers = first_of_each(document.annotated.document for document in ordered)
    dealt = in_folds([papers[place] for place in judged], FOLDS)
    folds = [[judged[index] for index in fold] for fold in dealt]
    kept = len(ordered) - max(map(len, folds))
    sizes = [size for size in SIZES if size < 0.8 * kept]
    starts = range(0, min(2 * _CURVE_PAIRS, len(folds)), 2)
    pairs = [[place for fold in folds[start : start + 2] for place in fold] for start in starts]
    jobs = len(folds) + len(sizes) * len(pairs)
    done = 0

    def learn_without(left_out: Sequence[int], size: int | None = None) -> Extractor:
        nonlocal done
        on_progress(done, jobs)
        done += 1
        known = {papers[place] for place in left_out}
        rest = [document for place, document in enumerate(ordered) if papers[place] not in known]
        return learn(rest[:size], schema, states, WRITTEN)

    documents: list[TrainingDocument] = []
    low: list[AnnotatedDocument] = []
    shown: list[AnnotatedDocument] = []
    by_size: dict[int, list[AnnotatedDocument]] = {size: [] for size in sizes}
    for fold in folds:
        held_out = [ordered[place] for place in fold]
        texts = [document.annotated.document for document in held_out]
        adapter = learn_without(fold)
        documents += held_out
        shown += adapter.stream(texts)
        low += adapter.with_settings(_LOWEST).stream(texts)
    for pair in pairs:
        texts = [ordered[place].annotated.document for place in pair]
        for size in sizes:
            by_size[size] += learn_without(pair, size).stream(texts)
    on_progress(jobs, jobs)
    symmetric, base = schema.symmetric_labels, states.extractor.pipeline.labels
    learned_layers = {Layer.ENTITIES}
    if not set(schema.relation_labels) <= set(base.relations.labels):
        learned_layers.add(Layer.RELATIONS)
    if not base.coreference:
        learned_layers.add(Layer.COREFERENCE)
    layers = {}
    for layer in Layer:
        is_learned = layer in learned_layers
        scores = _layer_scores(layer, documents, shown, by_size, kept, symmetric, is_learned)
        if scores:
            layers[layer] = scores
    return Validation(tuple(documents), tuple(low), tuple(shown), layers)


def _layer_scores(
    layer: Layer,
    documents: Sequence[TrainingDocument],
    shown: Sequence[AnnotatedDocument],
    by_size: Mapping[int, Sequence[AnnotatedDocument]],
    kept: int,
    symmetric: frozenset[str],
    learned: bool,
) -> LayerScores | None:
    """The scores of a layer; ``None`` where no abstract has gold in it.

    Args:
        layer: The layer.
        documents: The abstracts.
        shown: What is predicted for them.
        by_size: The same by adapters that learned from fewer abstracts, of the first folds.
        kept: How many abstracts an adapter of a fold learned from.
        symmetric: Relation labels without direction.
        learned: Whether the layer has heads of its own; else more abstracts bring nothing.
    """
    complete = np.array([layer in document.complete for document in documents])
    gold = [scorable(positive_part(document)) for document in documents]

    def tallies(predicted: Sequence[AnnotatedDocument]) -> list[Tallies]:
        judged = map(covered_part, predicted, documents)
        pairs = zip(gold, map(scorable, judged), strict=False)
        return [tally(one, other, symmetric) for one, other in pairs]

    of_all = tallies(shown)
    paths = _PATHS[layer]
    counts = counts_of(of_all, paths) * complete[:, None, None]
    if not counts[..., 3].any():
        return None
    labels = {}
    if layer is not Layer.COREFERENCE:
        for path in sorted(
            {path for tally in of_all for path in tally if path[:2] == (paths[0][0], "labels")}
        ):
            found = counts_of(of_all, [path]) * complete[:, None, None]
            if found[..., 3].any():
                labels[path[2]] = round(float(f1_of(found.sum(axis=0)).mean()), 2)
    first = min((len(predicted) for predicted in by_size.values()), default=0)
    points = {size: counts_of(tallies(predicted), paths) for size, predicted in by_size.items()}
    points[kept] = counts[:first]
    points = {size: rows * complete[:first, None, None] for size, rows in points.items()}
    curve = (
        {size: round(_f1(rows.sum(axis=0)), 2) for size, rows in points.items()} if by_size else {}
    )
    resampled = [_f1(np.tensordot(weights, counts, 1)) for weights in _draws(len(documents))]
    score = Estimate(round(_f1(counts.sum(axis=0)), 2), *_ends(resampled))
    more = None
    if learned and len(curve) > 1:
        more = _more(points, resampled, float(np.log(len(documents) + 20) - np.log(kept)))
    return LayerScores(score, labels, curve, more)


def _more(points: Mapping[int, Floats], levels: Sequence[float], further: float) -> Estimate:
    """What twenty more abstracts would bring, if F1 goes on growing with the logarithm of their number.

    A slope that is fitted to a dozen abstracts is mostly noise: it is drawn to what three corpora have, the more so the
    noisier it is (Gelman et al. 2013, Bayesian Data Analysis, section 2.5: a normal mean with a normal prior).

    Args:
        points: Counts of each abstract by the number of abstracts learned from.
        levels: Today's score on resamples of abstracts, whose uncertainty goes into the interval, too.
        further: How far the number grows, in its logarithm, from that of today's score on.
    """
    sizes = np.log([*points])
    fitted = np.polyfit(sizes, [_f1(rows.sum(axis=0)) for rows in points.values()], 1)[0]
    slopes = [
        np.polyfit(sizes, [_f1(np.tensordot(drawn, rows, 1)) for rows in points.values()], 1)[0]
        for drawn in _draws(len(next(iter(points.values()))))
    ]
    spread = max(float(np.var(slopes)), 1e-6)
    usual, deviation = _USUAL_SLOPE
    trust = deviation**2 / (deviation**2 + spread)
    slope = trust * float(fitted) + (1 - trust) * usual
    drawn_slopes = np.random.default_rng(_SEED).normal(slope, np.sqrt(trust * spread), len(levels))
    values = np.minimum(100, np.array(levels) + further * np.maximum(0, drawn_slopes))
    return Estimate(round(float(np.mean(values)), 2), *_ends(values.tolist()))


def _f1(summed: Floats) -> float:
    return float(f1_of(summed).mean())


def _draws(documents: int) -> Iterator[Floats]:
    for block in draws(documents, _RESAMPLES, _SEED):
        yield from block


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = np.percentile(values, [5, 95])
    return round(float(low), 2), round(float(high), 2)
