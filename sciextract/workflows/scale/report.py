"""What a run over many abstracts tells: while it is under way, and at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sciextract.documents.document import ModelId
from sciextract.errors import ExitCode
from sciextract.workflows.scale.seam import ChunkResult, Counts, Problem


class ManyListener:
    """Hears what happens during a run; override what is of interest."""

    def note(self, message: str) -> None:
        """Something that the user may want to know."""

    def problem(self, problem: Problem) -> None:
        """A record is missing from the results."""

    def before(self, records: int) -> None:
        """So many records were done by an earlier run."""

    def under_way(self, records: int) -> None:
        """So many more are done, and not written yet."""

    def done(self, result: ChunkResult, counts: Counts) -> None:
        """A chunk was written; with it, this run has done so much."""


@dataclass(frozen=True, slots=True)
class ManyReport:
    """What a run did.

    Attributes:
        counts: What this run did.
        resumed: Documents that an earlier run had done.
        left_out: Records that are missing from the results of all runs: bad ones, quarantined ones.
        seconds: From the start of the workers to the last result.
        model: The model.
        export: Format of the results.
        output: File or folder; ``None`` for standard output.
        quarantine: Where quarantined records are kept; empty without any.
        losses: What the format could not hold, by kind.
    """

    counts: Counts
    resumed: int
    left_out: tuple[int, int]
    seconds: float
    model: ModelId
    export: str
    output: str | None
    quarantine: str
    losses: Mapping[str, int]

    @property
    def exit_code(self) -> ExitCode:
        """Done, partly done, or nothing usable."""
        if not self.counts.documents + self.resumed:
            return ExitCode.FAILED
        return ExitCode.PARTIAL if any(self.left_out) else ExitCode.DONE

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        rate = self.counts.documents / self.seconds if self.seconds else 0.0
        return {
            "documents": self.counts.documents,
            "resumed": self.resumed,
            "bad": self.left_out[0],
            "quarantined": self.left_out[1],
            "entities": self.counts.entities,
            "relations": self.counts.relations,
            "clusters": self.counts.clusters,
            "other_language": self.counts.other_language,
            "seconds": round(self.seconds, 3),
            "documents_per_second": round(rate, 2),
            "model": {"name": self.model.name, "hash": self.model.hash},
            "models": dict(self.counts.models),
            "export": self.export,
            "output": self.output,
            "quarantine": self.quarantine or None,
            "losses": dict(self.losses),
        }
