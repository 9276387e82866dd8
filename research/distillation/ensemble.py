"""Several models as one teacher: what they say is averaged over words, whatever their subwords are.

Every member reads a text with its own tokenizer, windows and hidden size. What the members have in common are
the words, so that distributions over spans of words, pairs of these spans and antecedents can be averaged
(an ensemble as teacher: Hinton et al. 2015, arXiv 1503.02531, section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sciextract.documents.document import Document
from sciextract.inference import candidates
from sciextract.inference.candidates import relation_input, sentence_ends, span_mask
from sciextract.inference.decoding import (
    AntecedentScores,
    Columns,
    Mentions,
    PredictedCluster,
    ScoredPairs,
    antecedent_probabilities,
    combine_directions,
    predict_clusters,
    predict_relations,
    rescue_mentions,
    select_mentions,
    type_probabilities,
)
from sciextract.inference.network import Floats, Ints, WordStates
from sciextract.inference.pipeline import Labels, Pipeline, RawPrediction
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.inference.tokenization import EncoderInput, Window, plan_windows

_TINY = np.float32(1e-9)
_NEVER = np.float32(-1e4)


@dataclass(frozen=True, slots=True)
class Member:
    """One model of a ensemble.

    Attributes:
        pipeline: The model with its own tokenizer.
        weight: How much it says, against the weights of the others.
    """

    pipeline: Pipeline
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class _View:
    """What one member makes of a text, by word.

    Attributes:
        states: States of all words; ``span_logits`` are those of the member, and a span that it cannot see in
            one window, or that is too wide for it, is none for sure.
    """

    member: Member
    states: WordStates

    def types(self, temperature: float) -> Floats:
        """Type probabilities (words, max width, 1 + labels)."""
        groups = self.member.pipeline.labels.group_columns
        return type_probabilities(self.states.span_logits / np.float32(temperature), groups)


class Ensemble:
    """A teacher that says the weighted mean of what its members say.

    Entity types are averaged over spans, relations over unordered pairs of spans (each member's two directions
    combined before), antecedents over the earlier mentions and "none". Which spans are mentions, and the type
    probabilities that the pair heads see of them, follow from the mean.

    Args:
        members: Models with the same labels; tokenizers, sizes and widths may differ.
        temperature: Divisor of every logit before the softmax; above 1 the members sound less certain. It
            changes what is said of spans, pairs and links, not which of them are considered.
    """

    def __init__(self, members: Sequence[Member], temperature: float = 1.0) -> None:
        self._members = tuple(members)
        self._temperature = temperature
        total = sum(member.weight for member in members)
        self._shares = [member.weight / total for member in members]

    @property
    def labels(self) -> Labels:
        """The labels of the members; as wide as the widest one."""
        width = max(member.pipeline.labels.max_span_width for member in self._members)
        return replace(self._members[0].pipeline.labels, max_span_width=width)

    def predict(self, document: Document, settings: DecodeSettings) -> RawPrediction:
        """All predictions of one document; the temperatures of ``settings`` do not count."""
        settings = replace(settings, temperatures=PerTask(1.0, 1.0, 1.0))
        ends = sentence_ends(document.tokens.sentences, len(document.tokens))
        views = [
            _View(member, _states(member.pipeline, document, self.labels))
            for member in self._members
        ]
        plain = self._mentions(views, ends, settings)
        pairs = self._relations(views, plain, ends)
        mentions = rescue_mentions(self._softened(views, plain), pairs, settings)
        # The heads of pairs see the types as the members' entity heads say them.
        plain = replace(plain, predicted=mentions.predicted)
        links, clusters = self._links(views, plain, settings, document)
        relations = predict_relations(
            pairs.between(mentions.predicted),
            self.labels.relations,
            settings.thresholds.relation,
        )
        return RawPrediction(mentions, relations, clusters, pairs, links)

    def _mean(self, said: Iterable[Floats]) -> Floats:
        parts = [share * value for share, value in zip(self._shares, said, strict=True)]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float32)

    def _mentions(self, views: Sequence[_View], ends: Ints, settings: DecodeSettings) -> Mentions:
        groups = self.labels.group_columns
        types = self._mean(view.types(1.0) for view in views)
        allowed = span_mask(ends, self.labels.max_span_width)
        return select_mentions(_as_logits(types, groups), allowed, settings, groups)

    def _softened(self, views: Sequence[_View], mentions: Mentions) -> Mentions:
        if self._temperature == 1:
            return mentions
        said = self._mean(view.types(self._temperature) for view in views)
        starts = mentions.spans[:, 0]
        return replace(mentions, types=said[starts, mentions.spans[:, 1] - starts])

    def _relations(self, views: Sequence[_View], mentions: Mentions, ends: Ints) -> ScoredPairs:
        layout = self.labels.relations
        pairs = candidates.relation_pairs(mentions.spans, ends[mentions.spans[:, 0]])
        if not layout.labels or not len(pairs):
            return ScoredPairs.none()
        said = []
        for view in views:
            pipeline = view.member.pipeline
            given = relation_input(view.states, mentions, pairs, pipeline.labels.max_span_width)
            logits = pipeline.network.score_pairs(given).relation_logits
            said.append(combine_directions(pairs, logits / np.float32(self._temperature), layout))
        return ScoredPairs(said[0].pairs, self._mean(scored.probabilities for scored in said))

    def _links(
        self,
        views: Sequence[_View],
        mentions: Mentions,
        settings: DecodeSettings,
        document: Document,
    ) -> tuple[AntecedentScores, list[PredictedCluster]]:
        rows = np.flatnonzero(mentions.predicted)
        links = candidates.antecedent_pairs(len(rows), settings.max_antecedents)
        if not self.labels.coreference or not len(links):
            return AntecedentScores.none(), []
        said, chosen = [], mentions.at(rows)
        for view in views:
            first = view.states.first[chosen.spans[:, 0]]
            last = view.states.last[chosen.spans[:, 1]]
            scores = view.member.pipeline.link_scores(chosen, first, last, links, document)
            said.append(
                antecedent_probabilities(links, scores / np.float32(self._temperature), len(rows))
            )
        mean = AntecedentScores(links, self._mean(scored.probabilities for scored in said))
        clusters = predict_clusters(mean, len(rows), settings.thresholds.coreference)
        return mean.renumbered(rows), [cluster.renumbered(rows) for cluster in clusters]


def _as_logits(types: Floats, groups: Columns) -> Floats:
    """Logits that have these probabilities (..., 1 + labels): "no entity" is 0."""
    logits = np.zeros_like(types)
    for classes in groups or (tuple(range(1, types.shape[-1])),):
        chosen = types[..., list(classes)]
        none = 1 - chosen.sum(axis=-1, keepdims=True)
        logits[..., list(classes)] = np.log(chosen + _TINY) - np.log(np.maximum(none, _TINY))
    return logits


def frames_of(pipeline: Pipeline, document: Document) -> Iterator[tuple[Window, EncoderInput]]:
    """The windows of a text, as its member's encoder gets them."""
    split = pipeline.tokenizer.split(document.tokens.slices(document.text))
    for window in plan_windows(split.counts, document.tokens.sentences, pipeline.subword_limit):
        seen = window.seen
        yield window, pipeline.tokenizer.frame(split, seen.token_start, seen.token_end)


def _states(pipeline: Pipeline, document: Document, labels: Labels) -> WordStates:
    """States of all words, each from the window that decides about it, and logits of all spans."""
    words, width = len(document.tokens), labels.max_span_width
    logits = np.full((words, width, 1 + len(labels.entities)), _NEVER, dtype=np.float32)
    logits[:, :, 0] = 0.0
    first, last = [], []
    for window, frame in frames_of(pipeline, document):
        [states] = pipeline.network.encode([frame])
        kept = window.kept_rows
        first.append(states.first[kept])
        last.append(states.last[kept])
        said = states.span_logits[kept]
        # A span counts where it ends within what the encoder saw.
        starts = np.arange(window.kept.token_start, window.kept.token_end)
        ends = starts[:, None] + np.arange(said.shape[1])[None, :]
        cells = ends < window.seen.token_end
        region = logits[window.kept.token_start : window.kept.token_end, : said.shape[1]]
        region[cells] = said[cells]
    if not first:
        nothing = np.zeros((0, 0), dtype=np.float32)
        return WordStates(nothing, nothing, logits)
    return WordStates(np.concatenate(first), np.concatenate(last), logits)
