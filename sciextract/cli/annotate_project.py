"""``sciextract annotate --project``: the project's side of the command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import typer

from sciextract.cli.console import ProgressLine, is_terminal, say
from sciextract.cli.words import counted, report, warn_of_network
from sciextract.errors import as_command

if TYPE_CHECKING:
    from pathlib import Path

    from sciextract.workflows.annotate_project import ProjectReport
    from sciextract.workflows.model_choice import ModelChoice


def annotate_project(
    project: Path,
    inputs: list[str],
    input_format: str | None,
    choice: ModelChoice,
    export: str | None,
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> NoReturn:
    """Import, predict, export; then leave with the exit code of what was done.

    Raises:
        SciextractError: A step cannot be done.
    """
    from dataclasses import replace

    from sciextract.cli.import_screen import ImportScreen
    from sciextract.workflows.annotate_project import ProjectJob
    from sciextract.workflows.export_project import ExportJob

    wanted = ExportJob(export, output, undecided=True, force=force) if export else None
    job = ProjectJob(project, replace(choice, candidates=True), tuple(inputs), input_format, wanted)
    shown = not quiet and is_terminal(sys.stderr)
    if not quiet:
        warn_of_network(project)
    screen, progress = ImportScreen(shown=shown), _Progress(shown)
    try:
        done = job.run(screen.listener(), progress.update, _quiet if quiet else _say_model)
    finally:
        screen.end()
        progress.end()
    aside = export is not None and output is None
    report(done.to_json(), _in_words(done), as_json=as_json, aside=aside, quiet=quiet)
    raise typer.Exit(done.exit_code)


def _say_model(told: str) -> None:
    say("Note", told)


def _quiet(_: str) -> None:
    """Nobody listens."""


class _Progress:
    """The progress line of the prediction."""

    def __init__(self, shown: bool) -> None:
        self._total: int | None = None
        self._line = ProgressLine(shown, lambda: self._total)

    def update(self, done: int, total: int) -> None:
        self._total = total
        self._line.update(done)

    def end(self) -> None:
        self._line.clear()


def _in_words(done: ProjectReport) -> str:
    words = ""
    if done.imported is not None:
        words = f"{counted(done.imported.counts.documents, 'new abstract')}; "
        if done.imported.bad:
            words += f"{counted(done.imported.bad, 'bad record')} left out; "
    words += f"{counted(done.predicted.documents, 'abstract')} predicted by {done.predicted.model}"
    if done.predicted.skipped:
        words += f", {done.predicted.skipped:,} did not need it"
    if done.exported is None:
        project = as_command("--project", done.project)
        return f"{words}; next: sciextract export, or sciextract status, {project}"
    words += f"; {counted(done.exported.documents, 'abstract')} exported"
    for kind, count in done.exported.losses.items():
        words += f"; {done.exported.format} cannot hold {kind}: {count}"
    return words
