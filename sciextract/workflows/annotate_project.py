"""``annotate`` on a project: bring in what is named, predict what needs it, export what holds then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sciextract.errors import ExitCode
from sciextract.formats.base import STDIN
from sciextract.store import open_project
from sciextract.workflows.export_project import ExportJob, ExportReport
from sciextract.workflows.import_files import ImportListener, ImportReport, import_files
from sciextract.workflows.model_choice import ModelChoice
from sciextract.workflows.predict_project import PredictReport, predict_project


def _ignore(_: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class ProjectReport:
    """What a run did.

    Attributes:
        project: The file.
        imported: What was brought in, if anything was named.
        predicted: What was predicted.
        exported: What was exported, if that was asked for.
    """

    project: str
    imported: ImportReport | None
    predicted: PredictReport
    exported: ExportReport | None

    @property
    def exit_code(self) -> ExitCode:
        """Done, or partly done when records were bad."""
        partly = self.imported is not None and self.imported.bad
        return ExitCode.PARTIAL if partly else ExitCode.DONE

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return {
            "project": self.project,
            "imported": self.imported and self.imported.to_json(),
            "predicted": self.predicted.to_json(),
            "exported": self.exported and self.exported.to_json(),
        }


@dataclass(frozen=True, slots=True)
class ProjectJob:
    """What to bring in, which model predicts, and what to export.

    Attributes:
        project: The file.
        choice: The model and its settings; candidates are always kept.
        inputs: Files, folders, ``-`` to bring in first.
        input_format: Their format; their content decides when ``None``.
        export: What to write in the end.
        author: Who acts.
    """

    project: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    inputs: tuple[str, ...] = ()
    input_format: str | None = None
    export: ExportJob | None = None
    author: str | None = None

    def run(
        self,
        listener: ImportListener,
        on_progress: Callable[[int, int], None],
        on_model: Callable[[str], None] = _ignore,
    ) -> ProjectReport:
        """Do it all. What was imported and predicted stays when a later step fails.

        Args:
            listener: Hears of the import.
            on_progress: Called with documents predicted and documents in all.
            on_model: Told which model predicts, when somebody chose another than the default.

        Raises:
            SciextractError: A step cannot be done.
        """
        with open_project(self.project, self.author) as project:
            if self.export:
                self.export.check(project, (each for each in self.inputs if each != STDIN))
            imported = None
            if self.inputs:
                imported = import_files(
                    project, list(self.inputs), self.input_format, listener=listener
                )
            predictor = self.choice.load(project)
            if told := self.choice.told(project):
                on_model(told)
            settings = {"thresholds": dict(self.choice.thresholds)}
            predicted = predict_project(project, predictor, settings, on_progress=on_progress)
            exported = self.export.run(project) if self.export else None
        return ProjectReport(str(self.project), imported, predicted, exported)
