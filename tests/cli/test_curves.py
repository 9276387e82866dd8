"""``sciextract models curves``: which run is meant, and what is said where nothing can be drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from sciextract.retraining.run_folder import Run, RunOutcome, new_run
from sciextract.workflows.models.registry import register
from tests.cli.conftest import Command
from tests.unit.workflows.models.builders import model_folder

DEV = {"event": "dev", "epoch": 1, "entity": 60.0, "relation": 30.0, "mean": 45.0}


def test_a_model_leads_to_the_run_that_made_it(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    known = register(model_folder(tmp_path / "parsing"))
    run = new_run(None)
    run.append(DEV)
    run.note(result=RunOutcome(known.id, str(known.folder), True))
    new_run(None).note(result=RunOutcome("another-12345678", "", False))
    result = command("models", "curves", "parsing")
    assert result.code == 0 and result.out == ""
    assert str(run.folder / "curves.png") in result.err
    assert (run.folder / "curves.svg").is_file()
    result = command(
        "models", "curves", "--run", run.folder, "--output", tmp_path / "new" / "figures"
    )
    assert result.code == 0 and (tmp_path / "new" / "figures" / "curves.png").is_file()


def test_a_folder_trained_from_files_has_its_run_beside_it(
    command: Command, tmp_path: Path
) -> None:
    folder = model_folder(tmp_path / "mine")
    run = Run(tmp_path / "mine.run")
    run.folder.mkdir()
    run.note(config={})
    result = command("models", "curves", folder)
    assert result.code == ExitCode.FAILED and "no losses and no dev scores yet" in result.err


def test_what_is_no_run(command: Command, tmp_path: Path) -> None:
    register(model_folder(tmp_path / "parsing"))
    assert command("models", "curves").code == ExitCode.USAGE
    assert command("models", "curves", "parsing", "--run", tmp_path).code == ExitCode.USAGE
    assert command("models", "curves", "--run", tmp_path / "gone").code == ExitCode.MISSING
    result = command("models", "curves", "parsing")
    assert result.code == ExitCode.MISSING and "--run DIR" in result.err
    assert command("models", "curves", "nosuch").code == ExitCode.MISSING
