"""What came of a correction round, in values and in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sciextract.errors import as_command
from sciextract.metrics.gate_report import GateReport
from sciextract.workflows.models import KnownModel


@dataclass(frozen=True, slots=True)
class Ending:
    """What came of a round.

    Attributes:
        model: The registered model.
        report: Both models on the gate.
        promoted: Whether it predicts in the project now.
        told: What happened, in a sentence.
        hint: What to do next.
    """

    model: KnownModel
    report: GateReport
    promoted: bool
    told: str
    hint: str


def ending_of(
    model: KnownModel, report: GateReport, promoted: bool, problem: str, path: Path
) -> Ending:
    """The end of a round with its next step.

    Args:
        model: The new model.
        report: The gate's report.
        promoted: Whether it is in use now.
        problem: Why a better one could not be put in use; empty when it could, or is not better.
        path: The project file.
    """
    project = ("--project", path)
    if promoted:
        told = f"{model.id} is better and predicts in this project from now on"
        again = as_command("sciextract", "annotate", *project)
        back = as_command("sciextract", "models", "rollback", *project)
        return Ending(model, report, True, told, f"{again} predicts again; {back} goes back")
    why = {
        "promote": f"{model.id} is better, but could not be put in use: {problem}",
        "keep": f"{model.id} is not clearly better; the model before stays in use",
        "too few": f"too few held-out abstracts to tell whether {model.id} is better; "
        "the model before stays",
    }
    use = as_command("sciextract", "models", "use", model.id, *project)
    return Ending(model, report, False, why[report.verdict], f"{use} takes it all the same")
