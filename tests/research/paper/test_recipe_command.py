"""``python -m research recipe``: listing and showing need no torch; mistakes are said before any work."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from research.__main__ import main
from research.commands.recipes import grid_report, line_of
from research.paper.events import CellScored, CellStarted, CellTaken
from sciextract.errors import ExitCode
from sciextract.retraining.events import DevScored, MeanLosses, Resumed, Step
from tests.cli.conftest import Command, Outcome


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*words: object) -> Outcome:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        return Outcome(int(str(ended.value.code or 0)), *capsys.readouterr())

    return run


def test_the_list_tells_each_recipe_in_one_line(command: Command) -> None:
    outcome = command("recipe", "list")
    lines = outcome.out.splitlines()
    names = [line.split()[0] for line in lines]
    assert {"scierc-joint", "sci-gold", "paper-table2", "paper-figure4"} <= set(names)
    assert all(len(line.split()) > 3 for line in lines) and outcome.code == ExitCode.DONE


@pytest.mark.parametrize("name", ["relations-given", "sci-gold", "paper-table5"])
def test_show_prints_the_file(command: Command, name: str) -> None:
    outcome = command("recipe", "show", name)
    assert outcome.out.startswith("# ") and tomllib.loads(outcome.out)


def test_an_unknown_name_lists_the_known_ones(command: Command) -> None:
    outcome = command("recipe", "show", "paper-table9")
    assert outcome.code == ExitCode.MISSING
    assert "'paper-table9'" in outcome.err and "paper-table5" in outcome.err


def test_lists_and_shows_without_torch(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    assert command("recipe", "list").code == ExitCode.DONE
    assert command("recipe", "show", "paper-table2").code == ExitCode.DONE


class TestRun:
    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        pytest.importorskip("torch")

    def test_a_training_recipe_is_no_grid(self, command: Command) -> None:
        outcome = command("recipe", "run", "scierc-joint", "--data", "x")
        assert outcome.code == ExitCode.USAGE
        assert "--recipe" in outcome.err and "grids begin with paper-" in outcome.err

    def test_an_encoder_that_is_not_there(self, command: Command, tmp_path: Path) -> None:
        outcome = command(
            "recipe", "run", "paper-table5", "--data", tmp_path, "--encoder", f"A={tmp_path}/gone"
        )
        assert outcome.code == ExitCode.MISSING and "gone" in outcome.err

    def test_data_that_is_not_there(self, command: Command, tmp_path: Path) -> None:
        (tmp_path / "encoder").mkdir()
        outcome = command(
            "recipe", "run", "paper-table5", "--data", tmp_path / "data",
            "--encoder", f"A={tmp_path / 'encoder'}",
        )  # fmt: skip
        assert outcome.code == ExitCode.MISSING and "train.jsonl" in outcome.err

    @pytest.mark.parametrize("option", ["--runs", "--epochs", "--documents"])
    def test_nothing_is_refused(self, command: Command, option: str) -> None:
        outcome = command("recipe", "run", "paper-table5", "--data", "x", option, "0")
        assert outcome.code == ExitCode.USAGE and option in outcome.err


CELL: dict[str, Any] = {"cell": "A [red]/NER, seed 1", "number": 1, "of": 2}
STEP = Step(
    epoch=1,
    documents=1,
    of=2,
    loss=MeanLosses(entity=1.0, relation=1.0, coreference=1.0),
    documents_per_second=1.0,
)


class TestScreen:
    def test_every_event_has_its_words(self) -> None:
        scored = CellScored(scores={"entity": 61.25}, seconds=75.0, **CELL)
        assert line_of(scored) == "1 of 2 A [red]/NER, seed 1: entity 61.2; 1 min 15 s"
        assert line_of(STEP) == line_of(DevScored(epoch=1)) == ""
        assert "epoch 3" in line_of(Resumed(epoch=3))

    def test_names_are_no_markup(self, capfd: pytest.CaptureFixture[str]) -> None:
        with grid_report() as report:
            report(CellStarted(epochs=4, **CELL))
            report(STEP)
            report(CellTaken(**{**CELL, "cell": "B\x1b[31m"}))
        told = capfd.readouterr().err
        assert "A [red]/NER, seed 1: up to 4 epochs" in told and "\x1b[31m" not in told
