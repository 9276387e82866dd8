"""How far two annotators of the same texts agree: entities, tokens, relations, coreference; and Cohen's kappa.

Neither annotator is right: every score is the same when the two change places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, pairwise
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from sciextract.documents.annotations import NOT_REJECTED, Span
from sciextract.documents.document import AnnotatedDocument, TokenTable
from sciextract.documents.schema import AttributeType
from sciextract.metrics.counts import (
    NOTHING,
    HasLabel,
    Scorable,
    Tally,
    compare,
    compare_by_label,
    mention_of,
    scorable,
)
from sciextract.metrics.differences import count_matches, pair_attributes
from sciextract.metrics.report import (
    AgreementReport,
    AlphaAgreement,
    AttributeAgreement,
    ByMetric,
    ClusterAgreement,
    F1Agreement,
    Interval,
    KappaAgreement,
    RelationAgreement,
    RelationLabelAgreement,
    SpanAgreement,
    SpanLabelAgreement,
    TokenAgreement,
    TokenAlpha,
)
from sciextract.metrics.scorer import (
    CONLL_METRICS,
    RESAMPLES,
    SEED,
    Floats,
    ScorePath,
    Tallies,
    coreference_tallies,
    draws,
    interval,
    relation_keys,
)

#: The labels of a document's units, once for each annotator; of equal length.
UnitLabels: TypeAlias = Sequence[Sequence[Hashable]]


def kappa(
    documents: Sequence[UnitLabels], resamples: int = RESAMPLES, seed: int = SEED
) -> KappaAgreement:
    """Cohen's kappa over the units of all documents, with a bootstrap interval over documents.

    With ``o`` the share of units with equal labels and ``e`` the sum over labels of the product of both
    annotators' shares of it, kappa is ``(o - e) / (1 - e)``. Resamples in which it has no value are left out
    of the interval (Cohen 1960, "A Coefficient of Agreement for Nominal Scales").

    Args:
        documents: Labels of each document.
        resamples: How many times documents are drawn with replacement; 0 for no interval.
        seed: Of the random draws.
    """
    counts = _counts([document for document in documents if document[0]])
    total = counts.sum(axis=0, keepdims=True)
    units = int(total[0, 0])
    observed, expected = _shares(total)
    if not units:
        return KappaAgreement(None, None, None, 0, None)
    whole = float(_kappas(total)[0])
    value = None if np.isnan(whole) else whole
    spread = _spread(counts, _kappas, resamples, seed)
    return KappaAgreement(value, float(observed[0]), float(expected[0]), units, spread)


def _spread(
    counts: Floats, statistic: Callable[[Floats], Floats], resamples: int, seed: int
) -> Interval | None:
    """The interval of a statistic over documents; samples in which it has no value are left out."""
    if len(counts) < 2 or not resamples:
        return None
    drawn = [statistic(weights @ counts) for weights in draws(len(counts), resamples, seed)]
    values = np.concatenate(drawn)
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(float(low), float(high))


def _counts(documents: Sequence[UnitLabels]) -> Floats:
    """Per document: units, equal ones, how often the first has each label, how often the second.

    Returns:
        *Shape:* (documents, 2 + 2 * labels).
    """
    index: dict[Hashable, int] = {}
    coded = [
        [[index.setdefault(label, len(index)) for label in side] for side in document]
        for document in documents
    ]
    counts = np.zeros((len(documents), 2 + 2 * len(index)))
    for row, (first, second) in zip(counts, coded, strict=True):
        row[0] = len(first)
        row[1] = np.equal(first, second).sum()
        row[2 : 2 + len(index)] = np.bincount(first, minlength=len(index))
        row[2 + len(index) :] = np.bincount(second, minlength=len(index))
    return counts


def _shares(summed: Floats) -> tuple[Floats, Floats]:
    """Observed and expected agreement, 0 to 1. *Shape:* (samples, 2 + 2 * labels) to (samples,) twice."""
    units = np.maximum(summed[:, 0], 1)
    first, second = np.split(summed[:, 2:] / units[:, None], 2, axis=1)
    return summed[:, 1] / units, (first * second).sum(axis=1)


def _kappas(summed: Floats) -> Floats:
    """Kappa of each sample, NaN where all units have one label. *Shape:* (samples, ...) to (samples,)."""
    first, second = np.split(summed[:, 2:], 2, axis=1)
    # Chance agrees on everything then: 0 / 0, and rounding would make it any number.
    single = (first * second).sum(axis=1) == summed[:, 0] ** 2
    observed, expected = _shares(summed)
    beyond = np.where(single, np.nan, 1 - expected)
    return np.asarray((observed - expected) / beyond, dtype=np.float64)


def alpha(documents: Sequence[UnitLabels]) -> AlphaAgreement:
    """Krippendorff's alpha for nominal data, with a bootstrap interval over documents.

    Computed from counts as in Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section D: with
    ``n_uc`` how many of the ``m_u`` annotators of unit u give it label c, and their sums ``n_c`` and ``n``,
    alpha is ``1 - (n - 1) sum_u (m_u^2 - sum_c n_uc^2) / (m_u - 1) / (n^2 - sum_c n_c^2)``. Packages for it give no
    interval over documents.

    Args:
        documents: Of each document the labels of its units, once for each annotator who has it; of equal length.
    """
    index: dict[Hashable, int] = {}
    rows = []
    for document in documents:
        if len(document) > 1 and document[0]:
            coded = np.array(
                [[index.setdefault(label, len(index)) for label in side] for side in document]
            )
            same = sum((coded == side).sum() for side in coded)  # sum over units of sum_c n_uc^2
            apart = (coded.size * len(coded) - same) / (len(coded) - 1)
            rows.append((apart, np.bincount(coded.ravel())))
    counts = np.zeros((len(rows), 1 + len(index)))
    for row, (apart, labels) in zip(counts, rows, strict=True):
        row[0], row[1 : 1 + len(labels)] = apart, labels
    value = float(_alphas(counts.sum(axis=0, keepdims=True))[0])
    units = sum(len(document[0]) for document in documents if len(document) > 1)
    spread = _spread(counts, _alphas, RESAMPLES, SEED)
    return AlphaAgreement(None if np.isnan(value) else value, units, spread)


def _alphas(summed: Floats) -> Floats:
    """Alpha of each sample, NaN where all units have one label. *Shape:* (samples, 1 + labels) to (samples,)."""
    labels = summed[:, 1:]
    total = labels.sum(axis=1)
    pairs = total**2 - (labels**2).sum(axis=1)
    apart = (total - 1) * summed[:, 0] / np.where(pairs == 0, np.nan, pairs)
    return np.asarray(1 - apart, dtype=np.float64)


def token_alpha(groups: Sequence[Sequence[AnnotatedDocument]]) -> TokenAlpha:
    """Alpha on the tokens of documents, each as several annotators have it."""
    labelled, by_label = _label_tokens(groups)
    of_each = {name: alpha(sides) for name, sides in by_label.items()}
    return TokenAlpha(alpha(labelled), of_each)


_CLUSTER_METRICS = ("muc", "b3", "ceafe", "lea")
_RELATION_KINDS = ("strict", "boundaries", "shared_spans")
_CLUSTERS, _MENTIONS = ("coreference", "clusters"), ("coreference", "mentions")


def agreement(
    first: Sequence[AnnotatedDocument],
    second: Sequence[AnnotatedDocument],
    symmetric_labels: frozenset[str] = frozenset(),
    *,
    attributes: Sequence[Collection[AttributeType]] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> AgreementReport:
    """Compare two annotators. Rejected items are left out, equal items of one annotator count once.

    Args:
        first: The documents as the first annotator has them.
        second: The same texts in the same order as the second annotator has them.
        symmetric_labels: Relation labels without direction (``LabelSchema.symmetric_labels``).
        attributes: Of each document those that both have looked for; without them, none is compared.
        resamples: How many times documents are drawn for the intervals; 0 for no intervals.
        seed: Of the random draws; equal seeds give equal intervals.

    Raises:
        ValueError: The two sides have different numbers of documents, or two texts differ.
    """
    for one, other in zip(first, second, strict=True):
        if one.document.text != other.document.text:
            raise ValueError(f"{one.document.doc_key!r}: the two annotators have different texts")
    pairs = list(zip(first, second, strict=True))
    scores = _Scores([_count(*pair, symmetric_labels) for pair in pairs], resamples, seed)
    span_labels = {
        label: SpanLabelAgreement(**scores.kinds(("exact", "overlap"), "spans", "labels", label))
        for label in scores.labels("spans")
    }
    relation_labels = {
        label: RelationLabelAgreement(**scores.kinds(_RELATION_KINDS, "relations", "labels", label))
        for label in scores.labels("relations")
    }
    clusters = {name: scores.clusters(name) for name in _CLUSTER_METRICS}
    answers: dict[str, list[UnitLabels]] = {}
    for pair, kinds in zip(pairs, attributes, strict=bool(attributes)):
        said = defaultdict[str, tuple[list[Hashable], list[Hashable]]](lambda: ([], []))
        for label, mine, theirs in pair_attributes(*pair, kinds, symmetric_labels):
            said[label][0].append(mine.value_of(label))
            said[label][1].append(theirs.value_of(label))
        for label, both in said.items():
            answers.setdefault(label, []).append(both)
    kappas = {label: kappa(answers[label], resamples, seed) for label in sorted(answers)}
    return AgreementReport(
        documents=len(pairs),
        spans=SpanAgreement(
            **scores.kinds(("exact", "boundaries", "overlap"), "spans"), labels=span_labels
        ),
        tokens=_token_agreement(pairs, resamples, seed),
        relations=RelationAgreement(
            **scores.kinds(_RELATION_KINDS, "relations"), labels=relation_labels
        ),
        coreference=ByMetric(**clusters, conll=scores.clusters(*CONLL_METRICS)),
        attributes={
            label: AttributeAgreement(found.kappa, found.observed, found.tokens, found.interval)
            for label, found in kappas.items()
        },
    )


def _count(
    first: AnnotatedDocument, second: AnnotatedDocument, symmetric: frozenset[str]
) -> Tallies:
    """Everything that is counted in one document; the second annotator stands where predictions do."""
    sides = (scorable(first), scorable(second))
    tallies = coreference_tallies(*sides)
    entities = [side.entities for side in sides]
    tallies |= _count_labelled(("spans", "exact"), *entities)
    boundaries = [frozenset([entity.mention for entity in side]) for side in entities]
    tallies["spans", "boundaries"] = compare(*boundaries)
    tallies["spans", "overlap"] = NOTHING
    for label in {entity.label for side in entities for entity in side}:
        places = [[entity.mention for entity in side if entity.label == label] for side in entities]
        both = count_matches(*places)
        counts = Tally(both, len(places[1]), both, len(places[0]))
        tallies["spans", "labels", label, "overlap"] = counts
        tallies["spans", "overlap"] = tallies["spans", "overlap"].plus(counts)
    # Whoever lacks a mention cannot have its relations: the last kind asks about those of shared mentions alone.
    live = (
        {mention_of(item) for item in side.annotations.in_states(NOT_REJECTED).entities}
        for side in (first, second)
    )
    shared = set.intersection(*live)
    strict = [relation_keys(side.relations, symmetric, strict=True) for side in sides]
    loose = [relation_keys(side.relations, symmetric, strict=False) for side in sides]
    between = [
        frozenset([key for key in keys if {key.head.mention, key.tail.mention} <= shared])
        for keys in loose
    ]
    for kind, keys in zip(_RELATION_KINDS, (strict, loose, between), strict=True):
        tallies |= _count_labelled(("relations", kind), *keys)
    return tallies


def _count_labelled(
    path: ScorePath, first: frozenset[HasLabel], second: frozenset[HasLabel]
) -> Tallies:
    """The tally of two sets, and by label under ``(task, "labels", label, kind)``."""
    task, kind = path
    labels = compare_by_label(first, second)
    compared: Tallies = {path: compare(first, second)}
    return compared | {(task, "labels", label, kind): counts for label, counts in labels.items()}


@dataclass(frozen=True, slots=True)
class _Scores:
    """Scores over documents, by the path of what was counted, with their intervals."""

    documents: Sequence[Tallies]
    resamples: int
    seed: int

    def f1(self, *path: str) -> F1Agreement:
        """The score of one path."""
        rows = self._rows([path])
        return F1Agreement(_mean_f1(rows), *self._counts(path), self._interval(rows))

    def kinds(self, kinds: Sequence[str], *path: str) -> dict[str, F1Agreement]:
        """The scores of several kinds below one path."""
        return {kind: self.f1(*path, kind) for kind in kinds}

    def clusters(self, *names: str) -> ClusterAgreement:
        """The mean of one coreference metric or more."""
        rows = self._rows([("coreference", name) for name in names])
        spread = self._interval(rows)
        counts, mentions = self._counts(_CLUSTERS), self._counts(_MENTIONS)
        return ClusterAgreement(_mean_f1(rows), *counts, spread, *mentions)

    def labels(self, task: str) -> list[str]:
        """The labels that occur in a task, sorted."""
        paths = chain.from_iterable(self.documents)
        return sorted({path[2] for path in paths if path[:2] == (task, "labels")})

    def _rows(self, paths: Sequence[ScorePath]) -> list[list[Tally]]:
        """The tallies of each document in which one of the two has something to count."""
        rows = [[tallies.get(path, NOTHING) for path in paths] for tallies in self.documents]
        return [row for row in rows if any(map(any, row))]

    def _counts(self, path: ScorePath) -> tuple[int, int, int]:
        total = _sum([tallies.get(path, NOTHING) for tallies in self.documents])
        return int(total.gold), int(total.predicted), int(total.recall_hits)

    def _interval(self, rows: Sequence[Sequence[Tally]]) -> Interval | None:
        # One document gives the same sample every time: an interval of no width, which would look certain.
        if len(rows) < 2 or not self.resamples:
            return None
        return interval(np.array(rows, dtype=np.float64), self.resamples, self.seed)


def _mean_f1(rows: Sequence[Sequence[Tally]]) -> float | None:
    """The mean over metrics of the F1 of all documents together."""
    return fmean([_sum(column).f1 for column in zip(*rows, strict=True)]) if rows else None


def _sum(tallies: Iterable[Tally]) -> Tally:
    return reduce(Tally.plus, tallies, NOTHING)


def _token_agreement(
    pairs: Sequence[tuple[AnnotatedDocument, AnnotatedDocument]], resamples: int, seed: int
) -> TokenAgreement:
    labelled, by_label = _label_tokens(pairs)
    of_each = {name: kappa(sides, resamples, seed) for name, sides in by_label.items()}
    return TokenAgreement(kappa(labelled, resamples, seed), of_each)


_Labelled: TypeAlias = list[list[list[Any]]]


def _label_tokens(
    groups: Sequence[Sequence[AnnotatedDocument]],
) -> tuple[_Labelled, dict[str, _Labelled]]:
    """Of each document and annotator the labels of the tokens, and by label whether each token has it."""
    labelled: _Labelled = []
    for group in groups:
        units = reduce(_shared_units, [document.document.tokens for document in group])
        labelled.append([_token_labels(scorable(document), units) for document in group])
    names = {name for sides in labelled for side in sides for labels in side for name in labels}
    return labelled, {
        name: [[[name in labels for labels in side] for side in sides] for sides in labelled]
        for name in sorted(names)
    }


def _shared_units(first: TokenTable, second: TokenTable) -> TokenTable:
    """What both label: the tokens; where the two tables differ, the pieces between the edges of both."""
    if first.spans == second.spans:
        return first
    edges = sorted(
        {edge for s in (*first.spans, *second.spans) for edge in (s.char_start, s.char_end)}
    )
    pieces = [Span(start, end) for start, end in pairwise(edges)]
    # A piece that no token of either side touches is white space, on which nobody can disagree.
    held = [piece for piece in pieces if first.covering(piece) or second.covering(piece)]
    return TokenTable(tuple(held), ())


def _token_labels(side: Scorable, units: TokenTable) -> list[frozenset[str]]:
    """The labels of all entities that touch each token; none for a token outside of entities."""
    labels: list[set[str]] = [set() for _ in range(len(units))]
    for mention, label in side.entities:
        for fragment in map(Span, mention[::2], mention[1::2]):
            tokens = units.covering(fragment)
            if tokens is not None:
                for index in range(tokens.token_start, tokens.token_end):
                    labels[index].add(label)
    return [frozenset(names) for names in labels]
