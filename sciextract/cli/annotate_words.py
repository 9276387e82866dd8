"""How ``sciextract annotate`` tells what it has done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sciextract.workflows.annotate_job import Report, Target
    from sciextract.workflows.scale.report import ManyReport


class Found(Protocol):
    """Counts of annotations."""

    @property
    def documents(self) -> int:
        """Documents."""

    @property
    def entities(self) -> int:
        """Entities."""

    @property
    def relations(self) -> int:
        """Relations."""

    @property
    def clusters(self) -> int:
        """Clusters."""


def interrupted(target: Target, documents: int) -> tuple[str, str]:
    """What was done before Ctrl-C, and how to go on."""
    if target.path is None:
        return f"interrupted after {counted(documents, 'abstract')}", ""
    return (
        f"interrupted; {target.path} ends with a complete line, {documents} of them from this run",
        "to go on: the same command with --resume" + (" instead of --force" * target.force),
    )


def in_words(report: Report) -> str:
    """A run of one process."""
    words = f"{_found(report.summary)}; {report.seconds:.1f} s, {report.model}"
    if report.resumed:
        words += f"; {report.resumed} were done before"
    if report.summary.bad:
        words += f"; {counted(report.summary.bad, 'bad record')} left out"
    return words + _lost(report.losses, report.target.export)


def many_in_words(report: ManyReport) -> str:
    """A run of several workers."""
    bad, quarantined = report.left_out
    words = f"{_found(report.counts)}; {report.seconds:.1f} s, {report.model}"
    if report.resumed:
        words += f"; {report.resumed} were done before"
    if bad:
        words += f"; {counted(bad, 'bad record')} left out"
    if quarantined:
        kept = f": {report.quarantine}" if report.quarantine else ""
        words += f"; {quarantined} quarantined{kept}"
    return words + _lost(report.losses, report.export)


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def _found(counts: Found) -> str:
    found = ", ".join(
        [
            counted(counts.entities, "entity", "entities"),
            counted(counts.relations, "relation"),
            counted(counts.clusters, "cluster"),
        ]
    )
    return f"{counted(counts.documents, 'abstract')}: {found}"


def _lost(losses: Mapping[str, int], export: str | None) -> str:
    return "".join(f"; {export} cannot hold {kind}: {count}" for kind, count in losses.items())
