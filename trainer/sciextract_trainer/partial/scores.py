"""Dev scores per data set: what a set teaches is what it scores; other types are not decoded at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.given import annotate_given
from sciextract.inference.network import Network, PairInput, PairScores, WordStates
from sciextract.inference.pieces import EncoderInput
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.results import annotate
from sciextract.inference.settings import DecodeSettings
from sciextract.metrics.report import PRF, EvaluationReport, Interval
from sciextract.workflows.evaluate import evaluate
from sciextract_trainer.given import classification_of
from sciextract_trainer.partial.documents import SetDocument
from sciextract_trainer.partial.sets import TaughtSet

NEVER = np.float32(-1e4)
"""A logit that no other one loses to."""


class TypesOnly:
    """A network that knows some of its entity types only.

    Args:
        network: The network that is asked.
        labels: Its labels.
        kept: Labels that may be predicted.
    """

    def __init__(self, network: Network, labels: Labels, kept: Iterable[str]) -> None:
        self._network = network
        wanted = set(kept)
        self._dropped = [1 + row for row, each in enumerate(labels.entities) if each not in wanted]

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States and span scores of each window."""
        return [self._restricted(states) for states in self._network.encode(windows)]

    def _restricted(self, states: WordStates) -> WordStates:
        logits = states.span_logits.copy()
        logits[:, :, self._dropped] = NEVER
        return replace(states, span_logits=logits)

    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Relation and antecedent scores."""
        return self._network.score_pairs(pairs)


@dataclass(frozen=True, slots=True)
class SetScores:
    """What a model scores on a set.

    Attributes:
        documents: Documents.
        entity: Entities of the taught types, exact boundaries and type, micro average.
        labels: F1 (0 to 100) by type.
        interval: 95 % interval of the F1 of entities, documents resampled.
        relation: Relations between predicted entities, boundaries and direction; ``None`` where none are taught.
        given: The same between gold entities.
        given_macro: Mean F1 over relation labels between gold entities.
    """

    documents: int
    entity: PRF
    labels: dict[str, float]
    interval: Interval | None = None
    relation: PRF | None = None
    given: PRF | None = None
    given_macro: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Percentages with two digits, and counts."""
        return {key: _rounded(each) for key, each in asdict(self).items() if each is not None}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, 2) if isinstance(value, float) else value


def set_pipeline(pipeline: Pipeline, taught: TaughtSet) -> Pipeline:
    """The pipeline with the taught types only."""
    narrow = TypesOnly(pipeline.network, pipeline.labels, taught.teaches)
    return replace(pipeline, network=narrow)


def set_settings(settings: DecodeSettings, taught: TaughtSet) -> DecodeSettings:
    """The settings with the set's overlap rule."""
    return replace(settings, nesting=taught.nested, candidates=False)


def score_set(
    pipeline: Pipeline,
    settings: DecodeSettings,
    documents: Sequence[SetDocument],
    taught: TaughtSet,
    *,
    competing: bool = False,
    intervals: bool = False,
) -> SetScores:
    """Scores of a model on a set, types restricted to those it teaches.

    Args:
        pipeline: Network, tokenizer, labels.
        settings: Thresholds.
        documents: Gold documents of the set.
        taught: The set.
        competing: Whether all types are decoded with the settings' overlap rule, as users get them, and those
            that the set does not teach are only left out of the count.
        intervals: Whether documents are resampled for an interval.
    """
    asked = pipeline if competing else set_pipeline(pipeline, taught)
    rules = replace(settings, candidates=False) if competing else set_settings(settings, taught)
    gold = [_taught_only(each.annotated, taught) for each in documents]
    found = report_on(
        gold,
        lambda item: _taught_only(annotate(asked, item.document, rules), taught),
        intervals=intervals,
    )
    labels = {label: prf.f1 for label, prf in found.ner.labels.items()}
    scores = SetScores(len(gold), found.ner.all, labels, found.intervals.get("ner.all"))
    if not taught.relations:
        return scores
    between = report_on(gold, lambda item: annotate_given(asked, item, rules))
    given = classification_of(between)
    return replace(
        scores,
        relation=found.relation.boundaries.ordered,
        given=given.micro,
        given_macro=given.macro_f1,
    )


def report_on(
    gold: Sequence[AnnotatedDocument],
    predict: Callable[[AnnotatedDocument], AnnotatedDocument],
    *,
    intervals: bool = False,
) -> EvaluationReport:
    """The report of a predictor on gold documents."""
    return evaluate(gold, [predict(item) for item in gold], frozenset(), bootstrap=intervals)


def _taught_only(item: AnnotatedDocument, taught: TaughtSet) -> AnnotatedDocument:
    kept = tuple(each for each in item.annotations.entities if each.label in taught.teaches)
    ids = {each.id for each in kept}
    relations = tuple(
        each for each in item.annotations.relations if each.head in ids and each.tail in ids
    )
    return replace(
        item, annotations=replace(item.annotations, entities=kept, relations=relations, clusters=())
    )
