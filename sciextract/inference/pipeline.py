"""One document through a network: windows, mentions, relations, clusters. No I/O, no engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sciextract.documents.document import Document
from sciextract.inference import pairs as pairing
from sciextract.inference.clusters import (
    AntecedentScores,
    PredictedCluster,
    antecedent_probabilities,
    predict_clusters,
)
from sciextract.inference.layout import RelationLayout
from sciextract.inference.mentions import Mentions, select_mentions
from sciextract.inference.network import Floats, Ints, Network, PairInput, WordStates
from sciextract.inference.pieces import EncoderInput, PieceEncoder
from sciextract.inference.relations import (
    PredictedRelation,
    ScoredPairs,
    combine_directions,
    predict_relations,
)
from sciextract.inference.settings import DecodeSettings
from sciextract.inference.spans import sentence_ends, span_mask
from sciextract.inference.windows import Window, plan_windows

NO_PAIRS = np.zeros((0, 2), dtype=np.int64)
NO_DISTANCES = np.zeros(0, dtype=np.int64)

LINKS_PER_CALL = 5_000
"""Antecedent links scored in one call, so that a text of 100,000 words stays within memory."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What the classes of a network mean.

    Attributes:
        entities: Entity labels; label ``k`` is class ``k + 1`` of the entity head.
        relations: The classes of the relation head.
        coreference: Whether the network links mentions.
        max_span_width: Most words of a predicted entity.
    """

    entities: tuple[str, ...]
    relations: RelationLayout
    coreference: bool
    max_span_width: int


@dataclass(frozen=True, slots=True)
class RawPrediction:
    """Predictions in word indices, with everything the network considered.

    Attributes:
        mentions: Spans in text order, predictions and candidates.
        relations: Predicted relations between predicted mentions.
        clusters: Predicted clusters of predicted mentions.
        pairs: Probabilities of all scored pairs.
        links: Probabilities of all scored links.
    """

    mentions: Mentions
    relations: list[PredictedRelation]
    clusters: list[PredictedCluster]
    pairs: ScoredPairs
    links: AntecedentScores


@dataclass(frozen=True, slots=True)
class _Plan:
    """One window of one of several documents; ``ends`` are its sentence ends, counted from its start."""

    row: int
    window: Window
    frame: EncoderInput
    ends: Ints


@dataclass(frozen=True, slots=True)
class _WindowResult:
    mentions: Mentions
    first: Floats
    last: Floats
    pairs: ScoredPairs


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A network with its tokenizer and labels.

    Attributes:
        network: Runs the graphs.
        pieces: Splits words into pieces.
        labels: What the classes mean.
        piece_limit: Most pieces a window may hold, special tokens not counted.
    """

    network: Network
    pieces: PieceEncoder
    labels: Labels
    piece_limit: int

    def predict(self, document: Document, settings: DecodeSettings) -> RawPrediction:
        """All predictions of one document."""
        return self.predict_batch([document], settings)[0]

    def predict_batch(
        self, documents: Sequence[Document], settings: DecodeSettings, batch_size: int = 1
    ) -> list[RawPrediction]:
        """All predictions of some documents.

        Args:
            documents: The documents.
            settings: Thresholds and candidates.
            batch_size: Windows per encoder call.
        """
        plans = [
            plan for row, document in enumerate(documents) for plan in self._plan(row, document)
        ]
        results: list[list[_WindowResult]] = [[] for _ in documents]
        for start in range(0, len(plans), batch_size):
            chunk = plans[start : start + batch_size]
            for plan, states in zip(
                chunk, self.network.encode([p.frame for p in chunk]), strict=True
            ):
                results[plan.row].append(self._window(plan, states, settings))
        return [self._joined(windows, settings) for windows in results]

    def _plan(self, row: int, document: Document) -> Iterator[_Plan]:
        pieces = self.pieces.split(document.tokens.slices(document.text))
        ends = sentence_ends(document.tokens.sentences, len(document.tokens))
        for window in plan_windows(pieces.counts, document.tokens.sentences, self.piece_limit):
            start, end = window.seen.token_start, window.seen.token_end
            frame = self.pieces.frame(pieces, start, end)
            yield _Plan(row, window, frame, np.minimum(ends[start:end], end) - start)

    def _window(self, plan: _Plan, states: WordStates, settings: DecodeSettings) -> _WindowResult:
        offset, kept = plan.window.seen.token_start, plan.window.kept
        allowed = span_mask(plan.ends, self.labels.max_span_width)
        allowed[: kept.token_start - offset] = False
        allowed[kept.token_end - offset :] = False
        mentions = select_mentions(states.span_logits, allowed, settings)
        pairs = self._relations(states, mentions, plan.ends[mentions.spans[:, 0]], settings)
        first = states.first[mentions.spans[:, 0]]
        last = states.last[mentions.spans[:, 1]]
        moved = Mentions(mentions.spans + offset, mentions.types, mentions.predicted)
        return _WindowResult(moved, first, last, pairs)

    def _relations(
        self, states: WordStates, mentions: Mentions, sentences: Ints, settings: DecodeSettings
    ) -> ScoredPairs:
        pairs = pairing.relation_pairs(mentions.spans, sentences)
        if not self.labels.relations.labels or not len(pairs):
            return ScoredPairs(NO_PAIRS, np.zeros((0, 1), dtype=np.float32))
        scores = self.network.score_pairs(
            PairInput(
                span_first=states.first[mentions.spans[:, 0]],
                span_last=states.last[mentions.spans[:, 1]],
                span_width=mentions.spans[:, 1] - mentions.spans[:, 0],
                span_types=mentions.types,
                words=states.last,
                relation_pairs=pairs,
                relation_between=pairing.between_words(mentions.spans, pairs),
                relation_distance=pairing.relation_distances(mentions.spans, pairs),
                link_pairs=NO_PAIRS,
                link_distance=NO_DISTANCES,
            )
        )
        return combine_directions(
            pairs, scores.relation_logits, self.labels.relations, settings.temperatures.relation
        )

    def _joined(self, results: list[_WindowResult], settings: DecodeSettings) -> RawPrediction:
        mentions = _concatenated(results, 1 + len(self.labels.entities))
        pairs = _all_pairs(results)
        predicted = mentions.predicted
        relations = predict_relations(
            _between(pairs, predicted), self.labels.relations, settings.thresholds.relation
        )
        links, clusters = self._clusters(results, mentions, settings)
        return RawPrediction(mentions, relations, clusters, pairs, links)

    def _clusters(
        self, results: list[_WindowResult], mentions: Mentions, settings: DecodeSettings
    ) -> tuple[AntecedentScores, list[PredictedCluster]]:
        rows = np.flatnonzero(mentions.predicted)
        links = pairing.antecedent_pairs(len(rows), settings.max_antecedents)
        if not self.labels.coreference or not len(links):
            return AntecedentScores(NO_PAIRS, np.zeros(0, dtype=np.float32)), []
        scores = self._link_scores(results, mentions, rows, links)
        scored = antecedent_probabilities(
            links, scores, len(rows), settings.temperatures.coreference
        )
        clusters = predict_clusters(scored, len(rows), settings.thresholds.coreference)
        renumbered = [
            PredictedCluster(tuple(int(rows[m]) for m in cluster.mentions), cluster.scores)
            for cluster in clusters
        ]
        return AntecedentScores(rows[scored.links], scored.probabilities), renumbered

    def _link_scores(
        self, results: list[_WindowResult], mentions: Mentions, rows: Ints, links: Ints
    ) -> Floats:
        """Scores of all links; long texts take several calls, each with the mentions it needs."""
        first = np.concatenate([result.first for result in results])[rows]
        last = np.concatenate([result.last for result in results])[rows]
        spans, types = mentions.spans[rows], mentions.types[rows]
        scores = []
        for start in range(0, len(links), LINKS_PER_CALL):
            chunk = links[start : start + LINKS_PER_CALL]
            low, high = int(chunk.min()), int(chunk.max()) + 1
            scores.append(
                self.network.score_pairs(
                    _link_input(
                        spans[low:high],
                        first[low:high],
                        last[low:high],
                        types[low:high],
                        chunk - low,
                    )
                ).link_scores
            )
        return np.concatenate(scores)


def _link_input(spans: Ints, first: Floats, last: Floats, types: Floats, links: Ints) -> PairInput:
    return PairInput(
        span_first=first,
        span_last=last,
        span_width=spans[:, 1] - spans[:, 0],
        span_types=types,
        words=last,
        relation_pairs=NO_PAIRS,
        relation_between=NO_PAIRS,
        relation_distance=NO_DISTANCES,
        link_pairs=links,
        link_distance=pairing.antecedent_distances(spans, links),
    )


def _concatenated(results: list[_WindowResult], classes: int) -> Mentions:
    if not results:
        return Mentions(NO_PAIRS, np.zeros((0, classes), np.float32), np.zeros(0, np.bool_))
    parts = [result.mentions for result in results]
    return Mentions(
        np.concatenate([part.spans for part in parts]),
        np.concatenate([part.types for part in parts]),
        np.concatenate([part.predicted for part in parts]),
    )


def _all_pairs(results: list[_WindowResult]) -> ScoredPairs:
    """Pairs of all windows, numbered by the mentions of the document."""
    offsets = np.cumsum([0] + [len(result.mentions) for result in results]).tolist()
    parts = [
        (result.pairs.pairs + offset, result.pairs.probabilities)
        for result, offset in zip(results, offsets, strict=False)
        if len(result.pairs.pairs)
    ]
    if not parts:
        return ScoredPairs(NO_PAIRS, np.zeros((0, 1), dtype=np.float32))
    return ScoredPairs(
        np.concatenate([pairs for pairs, _ in parts]),
        np.concatenate([probabilities for _, probabilities in parts]),
    )


def _between(pairs: ScoredPairs, predicted: np.ndarray) -> ScoredPairs:
    """Only the pairs whose two spans are predictions."""
    if not len(pairs.pairs) or predicted.all():
        return pairs
    rows = np.flatnonzero(predicted[pairs.pairs].all(axis=1))
    return ScoredPairs(pairs.pairs[rows], pairs.probabilities[rows])
