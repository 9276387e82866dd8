"""What two annotators agree on, as typed results and as JSON. ``None`` stands for what nothing can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sciextract.metrics.report import Interval


@dataclass(frozen=True, slots=True)
class F1Agreement:
    """F1 of one annotator's items against the other's; the same in both directions.

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
class SpanLabelAgreement:
    """Entities of one label."""

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
    """Relations of one label."""

    strict: F1Agreement
    boundaries: F1Agreement
    shared_spans: F1Agreement


@dataclass(frozen=True, slots=True)
class RelationAgreement:
    """Relations: with and without the types of their arguments, and only those between shared mentions."""

    strict: F1Agreement
    boundaries: F1Agreement
    shared_spans: F1Agreement
    labels: Mapping[str, RelationLabelAgreement]


@dataclass(frozen=True, slots=True)
class CoreferenceAgreement:
    """Clusters of two and more mentions; ``conll`` is the mean of MUC, B3 and CEAFe."""

    muc: ClusterAgreement
    b3: ClusterAgreement
    ceafe: ClusterAgreement
    lea: ClusterAgreement
    conll: ClusterAgreement


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
    coreference: CoreferenceAgreement

    def to_json(self) -> dict[str, Any]:
        """The report as nested plain values, the object that ``agree --json`` prints."""
        return asdict(self)
