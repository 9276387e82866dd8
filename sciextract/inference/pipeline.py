"""One document through a network: windows, mentions, relations, clusters. No I/O, no engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sciextract.documents.document import Document
from sciextract.inference import candidates
from sciextract.inference.batching import SINGLE, Batching
from sciextract.inference.candidates import link_inputs, relation_input, sentence_ends, span_mask
from sciextract.inference.decoding import (
    AntecedentScores,
    Columns,
    Mentions,
    PredictedCluster,
    PredictedRelation,
    RelationLayout,
    ScoredPairs,
    antecedent_probabilities,
    columns_of,
    combine_directions,
    predict_clusters,
    predict_relations,
    rescue_mentions,
    select_mentions,
    without_classes,
)
from sciextract.inference.lexical import MentionWords
from sciextract.inference.network import NO_PAIRS, Floats, Ints, Network, WordStates
from sciextract.inference.settings import DecodeSettings
from sciextract.inference.tokenization import EncoderInput, SubwordTokenizer, Window, plan_windows


@dataclass(frozen=True, slots=True)
class Labels:
    """What the classes of a network mean.

    Attributes:
        entities: Entity labels; label ``k`` is class ``k + 1`` of the entity head. An empty one stands for mentions
            without a type ("we", "which"), which are predicted as members of clusters only.
        relations: The classes of the relation head.
        coreference: Whether the network links mentions.
        max_span_width: Most words of a predicted entity.
        groups: Groups of entity labels that exclude each other; all do when there are no groups.
    """

    entities: tuple[str, ...]
    relations: RelationLayout
    coreference: bool
    max_span_width: int
    groups: tuple[tuple[str, ...], ...] = ()

    @property
    def types(self) -> tuple[str, ...]:
        """The entity labels that a reader sees."""
        return tuple(filter(None, self.entities))

    @property
    def group_columns(self) -> Columns:
        """The groups as classes of the entity head."""
        return columns_of(self.entities, self.groups)

    def classes_without(self, wanted: frozenset[str]) -> list[int]:
        """Classes of the entity labels that are not wanted; none when all are wanted."""
        classes = enumerate(self.entities, 1)
        return [number for number, label in classes if wanted and label not in wanted]


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
        tokenizer: Splits words into subwords.
        labels: What the classes mean.
        subword_limit: Most subwords a window may hold, special tokens not counted.
    """

    network: Network
    tokenizer: SubwordTokenizer
    labels: Labels
    subword_limit: int

    def predict(self, document: Document, settings: DecodeSettings) -> RawPrediction:
        return self.predict_batch([document], settings)[0]

    def predict_batch(
        self,
        documents: Sequence[Document],
        settings: DecodeSettings,
        batching: Batching = SINGLE,
        given: Sequence[Mentions] | None = None,
    ) -> list[RawPrediction]:
        """All predictions of some documents, with probabilities as the network has them.

        Args:
            documents: The documents.
            settings: Thresholds and candidates.
            batching: Which windows share a call of the encoder.
            given: The mentions of each document, in words; predicted where ``None``.
        """
        # Thresholds are on the scale of the scores that are shown; here the network's own are compared.
        settings = settings.plain
        plans = [
            plan for row, document in enumerate(documents) for plan in self._plan(row, document)
        ]
        found: dict[int, _WindowResult] = {}
        for index, states in self._encode(plans, batching):
            mentions = None if given is None else given[plans[index].row]
            found[index] = self._score_window(plans[index], states, settings, mentions)
        results: list[list[_WindowResult]] = [[] for _ in documents]
        for index, plan in enumerate(plans):
            results[plan.row].append(found[index])
        return [
            self._join(windows, settings, document)
            for windows, document in zip(results, documents, strict=True)
        ]

    def word_states(
        self, documents: Sequence[Document], batching: Batching = SINGLE
    ) -> list[WordStates]:
        """States and span scores of all words of each document; each word's come from the window that decides about it.

        A span that leaves its sentence has scores, too, which mean nothing.
        """
        plans = [
            plan for row, document in enumerate(documents) for plan in self._plan(row, document)
        ]
        kept: list[list[tuple[Floats, Floats, Floats]]] = [[] for _ in documents]
        # Windows of similar length share a call, so they come out of order.
        for index, states in sorted(self._encode(plans, batching), key=lambda window: window[0]):
            rows, mine = plans[index].window.kept_rows, kept[plans[index].row]
            mine.append((states.first[rows], states.last[rows], states.span_logits[rows]))
        none = np.zeros((0, 0), dtype=np.float32)
        nothing = WordStates(none, none, none[None])
        return [
            WordStates(*map(np.concatenate, zip(*parts, strict=True))) if parts else nothing
            for parts in kept
        ]

    def _encode(
        self, plans: Sequence[_Plan], batching: Batching
    ) -> Iterator[tuple[int, WordStates]]:
        """The states of each window with its number."""
        for call in batching.calls([len(plan.frame.input_ids) for plan in plans]):
            yield from zip(
                call, self.network.encode([plans[index].frame for index in call]), strict=True
            )

    def _plan(self, row: int, document: Document) -> Iterator[_Plan]:
        subwords = self.tokenizer.split(document.tokens.slices(document.text))
        ends = sentence_ends(document.tokens.sentences, len(document.tokens))
        for window in plan_windows(subwords.counts, document.tokens.sentences, self.subword_limit):
            start, end = window.seen.token_start, window.seen.token_end
            frame = self.tokenizer.frame(subwords, start, end)
            yield _Plan(row, window, frame, np.minimum(ends[start:end], end) - start)

    def _score_window(
        self, plan: _Plan, states: WordStates, settings: DecodeSettings, given: Mentions | None
    ) -> _WindowResult:
        """The mentions that a window decides about, and the pairs of them, counted from the start of the document."""
        offset, kept = plan.window.seen.token_start, plan.window.kept_rows
        if given is None:
            allowed = span_mask(plan.ends, self.labels.max_span_width)
            allowed[: kept.start] = False
            allowed[kept.stop :] = False
            logits = without_classes(states.span_logits, self.labels.classes_without(settings.only))
            mentions = select_mentions(logits, allowed, settings, self.labels.group_columns)
        else:
            first, last = (given.spans - offset).T
            mine = (first >= kept.start) & (first < kept.stop) & (last < len(plan.ends))
            within = given.at(np.flatnonzero(mine))
            mentions = replace(within, spans=within.spans - offset)
        spans, pairs = mentions.spans, ScoredPairs.none()
        found = candidates.relation_pairs(spans, plan.ends[spans[:, 0]])
        if self.labels.relations.labels and len(found):
            pair_input = relation_input(states, mentions, found, self.labels.max_span_width)
            logits = self.network.score_pairs(pair_input).relation_logits
            pairs = combine_directions(found, logits, self.labels.relations)
        first_states, last_states = states.first[spans[:, 0]], states.last[spans[:, 1]]
        return _WindowResult(
            replace(mentions, spans=spans + offset), first_states, last_states, pairs
        )

    def _join(
        self, results: list[_WindowResult], settings: DecodeSettings, document: Document
    ) -> RawPrediction:
        """The predictions of a document from those of its windows; mentions of all of them may corefer."""
        none = np.zeros((0, 1 + len(self.labels.entities)), np.float32)
        parts = [result.mentions for result in results] or [
            Mentions(NO_PAIRS, none, np.zeros(0, np.bool_))
        ]
        columns = zip(*((e.spans, e.types, e.predicted) for e in parts), strict=True)
        mentions = Mentions(*map(np.concatenate, columns))
        offsets = np.cumsum([0] + [len(part) for part in parts]).tolist()
        scored = [
            (result.pairs.pairs + offset, result.pairs.probabilities)
            for result, offset in zip(results, offsets, strict=False)
            if len(result.pairs.pairs)
        ]
        pairs = ScoredPairs.none()
        if scored:  # without any pair there is no telling how many classes there are
            pairs = ScoredPairs(*map(np.concatenate, zip(*scored, strict=True)))
        mentions = rescue_mentions(mentions, pairs, settings)
        between = pairs.between(mentions.predicted)
        relations = predict_relations(between, self.labels.relations, settings.thresholds.relation)
        rows = np.flatnonzero(mentions.predicted)
        links = candidates.antecedent_pairs(len(rows), settings.max_antecedents)
        if not self.labels.coreference or not len(links):
            return RawPrediction(mentions, relations, [], pairs, AntecedentScores.none())
        first = np.concatenate([result.first for result in results])[rows]
        last = np.concatenate([result.last for result in results])[rows]
        scores = self.link_scores(mentions.at(rows), first, last, links, document)
        chances = antecedent_probabilities(links, scores, len(rows))
        clusters = [
            cluster.renumbered(rows)
            for cluster in predict_clusters(chances, len(rows), settings.thresholds.coreference)
        ]
        return RawPrediction(mentions, relations, clusters, pairs, chances.renumbered(rows))

    def link_scores(
        self, mentions: Mentions, first: Floats, last: Floats, links: Ints, document: Document
    ) -> Floats:
        """The scores of links between mentions of a document. Shape: (links,).

        Args:
            mentions: The mentions.
            first: float32 (mentions, hidden), state of each one's first word.
            last: float32 (mentions, hidden), state of its last word.
            links: (links, 2), mention and antecedent, grouped by mention.
            document: Where they are.
        """
        tokens = document.tokens
        ends = sentence_ends(tokens.sentences, len(tokens))
        words = MentionWords.of(tokens.slices(document.text), mentions.spans, ends)
        calls = link_inputs(mentions, first, last, links, self.labels.max_span_width, words)
        return np.concatenate([self.network.score_pairs(call).link_scores for call in calls])
