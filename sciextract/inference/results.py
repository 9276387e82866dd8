"""From predictions in word indices to typed annotations in characters, with calibrated scores; also between given entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    LinkCandidate,
    PairCandidate,
    Relation,
    Span,
    SpanCandidate,
    State,
    stable_id,
)
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.inference.decoding import Mentions, direct_relation
from sciextract.inference.network import Floats
from sciextract.inference.pipeline import Labels, Pipeline, RawPrediction
from sciextract.inference.settings import DecodeSettings, calibrated_score

if TYPE_CHECKING:
    from sciextract.inference.adapter.model import Adapter


def calibrate(raw: RawPrediction, settings: DecodeSettings) -> RawPrediction:
    """The same predictions with the scores that are shown."""
    if not settings.calibrated:
        return raw
    warm, shift = settings.temperatures, settings.shifts
    link = (warm.coreference, shift.coreference)
    relation = (warm.relation, shift.relation)
    types = calibrated_scores(raw.mentions.types, warm.entity, shift.entity)
    return RawPrediction(
        replace(raw.mentions, types=types),
        [replace(found, score=calibrated_score(found.score, *relation)) for found in raw.relations],
        [
            replace(c, scores=tuple(calibrated_score(score, *link) for score in c.scores))
            for c in raw.clusters
        ],
        replace(raw.pairs, probabilities=calibrated_scores(raw.pairs.probabilities, *relation)),
        replace(raw.links, probabilities=calibrated_scores(raw.links.probabilities, *link)),
    )


def calibrated_scores(probabilities: Floats, temperature: float, shift: float) -> Floats:
    """Probabilities with divided and shifted log-odds, elementwise."""
    if (temperature, shift) == (1, 0):
        return probabilities
    # In float32 like the probabilities: float64 could change the last digit that is shown.
    power = np.float32(1 / temperature)
    right = np.float32(np.exp(shift)) * probabilities**power
    return np.asarray(right / (right + (1 - probabilities).clip(min=0) ** power))


SCORE_DIGITS = 4
MOST_ALTERNATIVES = 3
LEAST_ALTERNATIVE = 0.02


def annotate(
    pipeline: Pipeline, document: Document, settings: DecodeSettings, model: ModelId | None = None
) -> AnnotatedDocument:
    """Predicts one document.

    Args:
        pipeline: Network, tokenizer, labels.
        document: The document; its tokens are used as they are.
        settings: Thresholds and whether candidates are reported.
        model: Recorded as the source of every item.
    """
    raw = pipeline.predict(document, settings)
    return annotate_raw(document, raw, pipeline.labels, settings, model)


def annotate_raw(
    document: Document,
    raw: RawPrediction,
    labels: Labels,
    settings: DecodeSettings,
    model: ModelId | None,
    given: Mapping[tuple[int, int], Entity] | None = None,
) -> AnnotatedDocument:
    """A document with the items that raw predictions mean.

    Args:
        document: The document.
        raw: What was predicted.
        labels: What the classes mean.
        settings: Whether candidates are reported, and what scores say.
        model: Recorded as the source of every item.
        given: Entities by first and last word that were not predicted but given: they keep their ids.
    """
    items = _Items(document, calibrate(raw, settings), labels, model, given or {})
    return AnnotatedDocument(document, items.build(settings), model)


class _Items:
    """Builds the items of one document; ids depend on document, model and item only."""

    def __init__(
        self,
        document: Document,
        raw: RawPrediction,
        labels: Labels,
        model: ModelId | None,
        given: Mapping[tuple[int, int], Entity],
    ) -> None:
        self._document = document
        self._raw = raw
        self._labels = labels
        self._source = f"model:{model}" if model else ""
        words = document.tokens.spans
        ranges = raw.mentions.spans.tolist()
        self._spans = [
            Span(words[first].char_start, words[last].char_end) for first, last in ranges
        ]
        self._given = [given.get((first, last)) for first, last in ranges]

    def build(self, settings: DecodeSettings) -> Annotations:
        """All items; candidates only where the settings ask for them."""
        entities: dict[int, Entity] = {}
        for row in np.flatnonzero(self._raw.mentions.predicted).tolist():
            if (given := self._given[row]) is not None:
                entities[row] = given
                continue
            span, (best, *others) = self._spans[row], self._ranked_types(row, MOST_ALTERNATIVES)
            own = self._id("entity", span.char_start, span.char_end, best.label)
            likely = tuple(e for e in others if e.label and e.score >= LEAST_ALTERNATIVE)
            typed = (own, (span,), best.label, best.score)
            entities[row] = Entity(*typed, source=self._source, alternatives=likely)
        # A mention without a type is nothing by itself.
        linked = {row for cluster in self._raw.clusters for row in cluster.mentions}
        linked |= {row for pair in self._raw.relations for row in (pair.head, pair.tail)}
        entities = {row: e for row, e in entities.items() if e.label or row in linked}
        ids = {row: entity.id for row, entity in entities.items()}
        ranked = self._pair_labels() if self._raw.relations else {}
        relations = []
        for relation in self._raw.relations:
            head, tail = ids[relation.head], ids[relation.tail]
            found = ranked.get((relation.head, relation.tail), [])
            others = [other for other in found if other.label != relation.label]
            score, best_others = round(relation.score, SCORE_DIGITS), others[:MOST_ALTERNATIVES]
            says = (self._id("relation", head, tail, relation.label), head, tail, relation.label)
            made = Relation(*says, score, source=self._source, alternatives=tuple(best_others))
            relations.append(made)
        clusters = []
        for cluster in self._raw.clusters:
            mentions = tuple(ids[mention] for mention in cluster.mentions)
            scores = tuple(round(score, SCORE_DIGITS) for score in cluster.scores)
            own, mean = self._id("cluster", *mentions), sum(scores) / len(scores)
            score = round(mean, SCORE_DIGITS)
            clusters.append(
                Cluster(own, mentions, score, source=self._source, mention_scores=scores)
            )
        considered = self._candidates(settings.candidate_score) if settings.candidates else None
        return Annotations(tuple(entities.values()), tuple(relations), tuple(clusters), considered)

    def _id(self, kind: str, *parts: object) -> str:
        return stable_id(kind, self._document.doc_key, self._source, *parts)

    def _ranked_types(self, row: int, most: int | None = None) -> list[LabelScore]:
        scores = self._raw.mentions.types[row, 1:].tolist()
        pairs = sorted(zip(scores, self._labels.entities, strict=True), key=lambda p: -p[0])
        return [LabelScore(label, round(score, SCORE_DIGITS)) for score, label in pairs[:most]]

    def _pair_labels(
        self, least: float = LEAST_ALTERNATIVE
    ) -> dict[tuple[int, int], list[LabelScore]]:
        """Labels of every directed pair above a score, best first."""
        found: dict[tuple[int, int], list[LabelScore]] = {}
        scored = self._raw.pairs
        rows, classes = np.nonzero(scored.probabilities[:, 1:] >= least)
        for row, label_class in zip(rows.tolist(), (classes + 1).tolist(), strict=True):
            score = float(scored.probabilities[row, label_class])
            pair = (int(scored.pairs[row, 0]), int(scored.pairs[row, 1]))
            item = direct_relation(pair, label_class, score, self._labels.relations)
            found.setdefault((item.head, item.tail), []).append(
                LabelScore(item.label, round(score, SCORE_DIGITS))
            )
        return {pair: sorted(labels, key=lambda s: -s.score) for pair, labels in found.items()}

    def _candidates(self, floor: float) -> Candidates:
        """What was considered, from the least score on that is reported."""
        spans = [
            SpanCandidate(span, labels)
            for row, span in enumerate(self._spans)
            if (labels := tuple(l for l in self._ranked_types(row) if l.label and l.score >= floor))
        ]
        pairs = [
            PairCandidate(self._spans[head], self._spans[tail], tuple(labels))
            for (head, tail), labels in sorted(self._pair_labels(floor).items())
        ]
        ends, scores = self._raw.links.links.tolist(), self._raw.links.probabilities.tolist()
        links = [
            LinkCandidate(self._spans[mention], self._spans[antecedent], round(score, SCORE_DIGITS))
            for (mention, antecedent), score in zip(ends, scores, strict=True)
            if score >= floor
        ]
        return Candidates(tuple(spans), tuple(pairs), tuple(links))


@dataclass(frozen=True, slots=True)
class Given:
    """The given entities of one document as the network takes them.

    Attributes:
        mentions: Each word range once, in text order; types are certain.
        entities: By first and last word (inclusive): the first entity there.
        left_out: Entities that touch no word.
        unknown: Labels that the network does not know, with their count; they count as "no type".
    """

    mentions: Mentions
    entities: dict[tuple[int, int], Entity]
    left_out: int
    unknown: dict[str, int]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the result should know."""
        found = []
        if self.left_out:
            found.append(
                f"{self.left_out} given entities contain no word and are ignored for relations"
            )
        if self.unknown:
            named = ", ".join(f"{label} ({count})" for label, count in self.unknown.items())
            found.append(f"given entities with types that the model does not know: {named}")
        return tuple(found)


def given_of(annotated: AnnotatedDocument, labels: Labels) -> Given:
    """The entities of a document that nobody rejected, widened to whole words."""
    tokens = annotated.document.tokens
    entities: dict[tuple[int, int], Entity] = {}
    left_out, unknown = 0, Counter[str]()
    for entity in annotated.annotations.entities:
        if entity.state is State.REJECTED:
            continue
        words = tokens.covering(entity.span)
        if words is None:
            left_out += 1
            continue
        entities.setdefault((words.token_start, words.token_end - 1), entity)
        if entity.label and entity.label not in labels.entities:
            unknown[entity.label] += 1
    spans = sorted(entities)
    # Certain types; class 0, "no entity", where the network does not know the label.
    known = {label: 1 + row for row, label in enumerate(labels.entities)}
    classes = [known.get(entities[span].label, 0) for span in spans]
    types = np.eye(1 + len(known), dtype=np.float32)[np.array(classes, dtype=np.int64)]
    every = np.ones(len(spans), dtype=np.bool_)
    mentions = Mentions(np.array(spans, dtype=np.int64).reshape(-1, 2), types, every)
    return Given(mentions, entities, left_out, dict(unknown))


def annotate_given(
    pipeline: Pipeline | Adapter,
    source: AnnotatedDocument,
    settings: DecodeSettings,
    model: ModelId | None = None,
) -> AnnotatedDocument:
    """Predicts relations, and clusters where the model links mentions, between the given entities.

    Args:
        pipeline: Network, tokenizer, labels.
        source: A document with entities; they stay as they are, its relations and clusters are not read.
        settings: Thresholds.
        model: Recorded as the source of every predicted item.
    """
    given = given_of(source, pipeline.labels)
    [raw] = pipeline.predict_batch([source.document], settings, given=[given.mentions])
    found = annotate_raw(
        source.document, raw, pipeline.labels, settings, model, given=given.entities
    )
    items = replace(found.annotations, entities=source.annotations.entities)
    return replace(found, annotations=items, warnings=given.warnings)
