"""Scores and agreement as typed results, and as the JSON of ``evaluate --json`` and ``agree --json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any, Generic, TypeVar

from sciextract.metrics.counts import Tally

_NAME_WIDTH = 52


@dataclass(frozen=True, slots=True)
class PRF:
    """Precision, recall and F1 with what they were computed from.

    Attributes:
        precision: 0 to 100; 0 when nothing was predicted.
        recall: 0 to 100; 0 when there is no gold.
        f1: Harmonic mean, 0 to 100.
        gold: Items in the gold documents, each once.
        predicted: Items in the predicted documents, each once.
        correct: Items in both.
    """

    precision: float
    recall: float
    f1: float
    gold: int
    predicted: int
    correct: int

    @classmethod
    def of(cls, tally: Tally) -> PRF:
        """The score of a set comparison."""
        return cls(tally.precision, tally.recall, tally.f1, *_counts(tally))


@dataclass(frozen=True, slots=True)
class ClusterPRF(PRF):
    """A coreference score; ``gold``, ``predicted`` and ``correct`` count whole clusters.

    Attributes:
        gold_mentions: Mentions in gold clusters.
        predicted_mentions: Mentions in predicted clusters.
        correct_mentions: Mentions in both.
    """

    gold_mentions: int
    predicted_mentions: int
    correct_mentions: int

    @classmethod
    def of_metrics(cls, metrics: Sequence[Tally], clusters: Tally, mentions: Tally) -> ClusterPRF:
        """The mean of one metric or more, as the CoNLL average is the mean of three."""
        names = ("precision", "recall", "f1")
        precision, recall, f1 = (fmean([getattr(t, name) for t in metrics]) for name in names)
        return cls(precision, recall, f1, *_counts(clusters), *_counts(mentions))


@dataclass(frozen=True, slots=True)
class NerScores:
    """Entities: all gold, gold of at most eight tokens (the DyGIE++ rule), and by label."""

    all: PRF
    width8: PRF
    labels: Mapping[str, PRF]


_Score = TypeVar("_Score")


@dataclass(frozen=True, slots=True)
class Variants(Generic[_Score]):
    """Relations under the rules for symmetric labels; ``directed`` is that of DyGIE++ and PURE, which knows none."""

    ordered: _Score
    unordered: _Score
    doubled: _Score
    directed: _Score


@dataclass(frozen=True, slots=True)
class RelationScores:
    """Relations without and with the types of their arguments, and by label (boundaries, ordered)."""

    boundaries: Variants[PRF]
    strict: Variants[PRF]
    labels: Mapping[str, PRF]


@dataclass(frozen=True, slots=True)
class ByMetric(Generic[_Score]):
    """Clusters of two and more mentions; ``conll`` is the mean of MUC, B3 and CEAFe."""

    muc: _Score
    b3: _Score
    ceafe: _Score
    lea: _Score
    conll: _Score


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % confidence interval of an F1, 0 to 100."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """All scores of one evaluation.

    Attributes:
        documents: How many documents were compared.
        intervals: Bootstrap intervals of F1 by dotted place, such as ``relation.strict.ordered``; empty
            when none were computed.
        warnings: Remarks on the input, such as documents without a prediction.
    """

    documents: int
    ner: NerScores
    relation: RelationScores
    coreference: ByMetric[ClusterPRF]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How much each side holds."""
        clusters = self.coreference.conll
        entities, relations = self.ner.all, self.relation.boundaries.ordered
        return {
            side: {
                "entities": getattr(entities, side),
                "relations": getattr(relations, side),
                "clusters": getattr(clusters, side),
                "mentions": getattr(clusters, f"{side}_mentions"),
            }
            for side in ("gold", "predicted")
        }

    def to_json(self) -> dict[str, Any]:
        """The report as nested plain values, the object that ``evaluate --json`` prints."""
        # Counts come second, where they have always been in the JSON.
        values = asdict(self)
        return {"documents": values.pop("documents"), "counts": self.counts, **values}


def _counts(tally: Tally) -> tuple[int, int, int]:
    return int(tally.gold), int(tally.predicted), int(tally.recall_hits)


@dataclass(frozen=True, slots=True)
class F1Agreement:
    """F1 of one annotator's items against the other's; the same in both directions. ``None`` is what nothing can tell.

    Attributes:
        f1: 0 to 100; ``None`` when neither has such an item.
        first: Items of the first annotator.
        second: Items of the second annotator.
        both: Items that both have.
        interval: 95 % interval of ``f1``; ``None`` with fewer than two documents that have such items.
    """

    f1: float | None
    first: int
    second: int
    both: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class ClusterAgreement(F1Agreement):
    """A coreference score; ``first``, ``second`` and ``both`` count whole clusters.

    Attributes:
        first_mentions: Mentions in clusters of the first annotator.
        second_mentions: Mentions in clusters of the second annotator.
        both_mentions: Mentions in clusters of both.
    """

    first_mentions: int
    second_mentions: int
    both_mentions: int


@dataclass(frozen=True, slots=True)
class KappaAgreement:
    """Agreement on tokens, corrected for chance.

    Attributes:
        kappa: -1 to 1; ``None`` without tokens, and when both give all tokens one and the same label.
        observed: Share of tokens with equal labels, 0 to 1; ``None`` without tokens.
        expected: The share that chance alone would give, 0 to 1; ``None`` without tokens.
        tokens: Tokens compared.
        interval: 95 % interval of ``kappa``, -1 to 1; ``None`` with fewer than two documents.
    """

    kappa: float | None
    observed: float | None
    expected: float | None
    tokens: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class AttributeAgreement:
    """What both say of the items that both have, or of the abstract; to say nothing is an answer, too.

    Attributes:
        kappa: -1 to 1; ``None`` without answers, and when both give one and the same everywhere.
        equal: Share of equal answers, 0 to 1; ``None`` without answers.
        compared: Items or abstracts that it may stand on and that both have.
        interval: 95 % interval of ``kappa``; ``None`` with fewer than two documents.
    """

    kappa: float | None
    equal: float | None
    compared: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class AlphaAgreement:
    """Agreement of any number of annotators on tokens, corrected for chance.

    Attributes:
        alpha: At most 1; ``None`` where fewer than two labelled a token, and where all give one and the same label.
        tokens: Tokens that at least two labelled.
        interval: 95 % interval of ``alpha``; ``None`` with fewer than two documents.
    """

    alpha: float | None
    tokens: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class TokenAlpha:
    """Tokens with their sets of labels, and for each label whether they have it."""

    all: AlphaAgreement
    labels: Mapping[str, AlphaAgreement]


@dataclass(frozen=True, slots=True)
class SpanLabelAgreement:
    exact: F1Agreement
    overlap: F1Agreement


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """Entities: equal label and boundaries, equal boundaries, equal label and some overlap."""

    exact: F1Agreement
    boundaries: F1Agreement
    overlap: F1Agreement
    labels: Mapping[str, SpanLabelAgreement]


@dataclass(frozen=True, slots=True)
class TokenAgreement:
    """Tokens: with their sets of labels, and for each label whether they have it."""

    all: KappaAgreement
    labels: Mapping[str, KappaAgreement]


@dataclass(frozen=True, slots=True)
class RelationLabelAgreement:
    """Relations of one label: with and without the types of their arguments, and only those between shared mentions."""

    strict: F1Agreement
    boundaries: F1Agreement
    shared_spans: F1Agreement


@dataclass(frozen=True, slots=True)
class RelationAgreement(RelationLabelAgreement):
    """Relations of all labels, and of each."""

    labels: Mapping[str, RelationLabelAgreement]


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """How far two annotators agree.

    Attributes:
        documents: How many documents were compared.
    """

    documents: int
    spans: SpanAgreement
    tokens: TokenAgreement
    relations: RelationAgreement
    coreference: ByMetric[ClusterAgreement]
    attributes: Mapping[str, AttributeAgreement] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The report as nested plain values, the object that ``agree --json`` prints."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """One line a figure: its name, its value, its 95 % interval."""
        plain = self.to_json()
        for section in ("spans", "tokens", "relations", "coreference", "attributes"):
            yield from figure_lines(section, plain[section])


def figure_lines(path: str, value: Any) -> Iterator[str]:
    """One line a figure of nested plain values: its name, its value, its 95 % interval."""
    if not isinstance(value, dict):
        return
    for figure in ("f1", "kappa", "alpha"):
        if figure in value:
            digits = 1 if figure == "f1" else 2
            shown = "   –" if value[figure] is None else f"{value[figure]:5.{digits}f}"
            line = f"{path + ' ' + figure:<{_NAME_WIDTH}} {shown}"
            if interval := value.get("interval"):
                line += f"  [{interval['low']:.{digits}f}, {interval['high']:.{digits}f}]"
            if compared := value.get("compared"):
                line += f"  {value['equal'] * compared:.0f} of {compared:,} equal"
            yield line
    for name, inner in value.items():
        if isinstance(inner, dict) and name != "interval":
            yield from figure_lines(f"{path} {name}", inner)
