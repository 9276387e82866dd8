"""How far the person agrees with other sources, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sciextract.metrics.agreement_report import AgreementReport, F1Agreement
from sciextract.workflows.source_agreement import WithSource


@dataclass(frozen=True, slots=True)
class AgreementBar:
    """One figure.

    Attributes:
        name: What it measures, or a source where there is no value.
        share: 0 to 1; ``None`` for a line of words.
        after: The figure with its 95 % interval.
    """

    name: str
    share: float | None = None
    after: str = ""


def agreement_bars(found: WithSource) -> list[AgreementBar]:
    """A source's name and its figures."""
    name = _name(found.name)
    if found.report is None:
        return [AgreementBar(f"{name}: no abstract that both have decided")]
    report = found.report
    many = (
        f"{report.documents:,} of {found.comparable:,}"
        if found.comparable > report.documents
        else f"{report.documents:,}"
    )
    word = "abstract" if many == "1" else "abstracts"
    return [AgreementBar(f"{name}: {many} {word}"), *_figures(report)]


def _name(source: str) -> str:
    """A source for people: the kind, then its name without the number of the run.

    >>> _name("model:sci@1f0c2a9b/01M7Y"), _name("import:maria.sciextract")
    ('model sci@1f0c2a9b', 'file maria.sciextract')
    """
    kind, _, rest = source.partition(":")
    return f"model {rest.partition('/')[0]}" if kind == "model" else f"file {rest}"


def _figures(report: AgreementReport) -> Iterator[AgreementBar]:
    yield _f1("entities, exact", report.spans.exact)
    yield _f1("entities, overlapping", report.spans.overlap)
    kappa = report.tokens.all
    if kappa.kappa is not None:
        spread = kappa.interval
        around = f" [{spread.low:.2f} to {spread.high:.2f}]" if spread else ""
        yield AgreementBar(
            "tokens, Cohen's kappa", max(0.0, kappa.kappa), f"{kappa.kappa:.2f}{around}"
        )
    yield _f1("relations", report.relations.strict)
    yield _f1("relations, shared spans", report.relations.shared_spans)
    yield _f1("coreference (CoNLL)", report.coreference.conll)


def _f1(name: str, found: F1Agreement) -> AgreementBar:
    if found.f1 is None:
        return AgreementBar(name, 0.0, "none")
    around = f" [{found.interval.low:.1f} to {found.interval.high:.1f}]" if found.interval else ""
    return AgreementBar(name, found.f1 / 100, f"{found.f1:.1f}{around}")
