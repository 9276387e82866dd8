"""Learning curves: what is read from a run's events, and the figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from sciextract.errors import install_command
from sciextract.retraining import curves
from sciextract.retraining.curves import draw_curves, figure_of, origin_of
from sciextract.retraining.run_folder import METRICS, Run
from sciextract_trainer.curves import Curves, draw, main

PNG = b"\x89PNG\r\n\x1a\n"


def step(epoch: int, documents: int, entity: Any = 2.0) -> dict[str, Any]:
    loss = {"entity": entity, "relation": 1.0, "coreference": 0.5}
    counts = {"epoch": epoch, "documents": documents, "of": 10, "documents_per_second": 1.0}
    return {"event": "step", **counts, "loss": loss}


def dev(epoch: int, **scores: Any) -> dict[str, Any]:
    known = {"entity": 60.0, "relation": 30.0, "unordered": 31.0, "coreference": None, "mean": 45.0}
    return {"event": "dev", "epoch": epoch, **known, **scores}


def run_of(folder: Path, *events: dict[str, Any]) -> Run:
    folder.mkdir(exist_ok=True)
    run = Run(folder)
    for event in events:
        run.append(event)
    return run


class TestReading:
    def test_losses_stand_where_the_epoch_has_come_to_and_scores_at_its_end(self) -> None:
        found = Curves.of(
            [step(1, 5), step(1, 10, 1.5), dev(1), step(2, 5, 1.0), dev(2, entity=64)]
        )
        assert found.losses["entity"] == [(1.0, 1.5), (1.5, 1.0)]
        assert found.scores["entity"] == [(1.0, 60.0), (2.0, 64.0)]
        assert "coreference" not in found.scores

    def test_an_epoch_that_was_cut_and_began_again_counts_once(self) -> None:
        found = Curves.of([step(1, 10), step(2, 5, 9.0), step(2, 3, 7.0), step(2, 10, 1.0)])
        assert found.losses["entity"] == [(1.0, 2.0), (2.0, 1.0)]

    @pytest.mark.parametrize("value", [float("nan"), "x", True, [1]])
    def test_events_with_what_is_no_number_are_left_out(self, value: Any) -> None:
        assert Curves.of([step(1, 5, value), dev(1, entity=value)]) == Curves()

    def test_foreign_events(self) -> None:
        odd: list[dict[str, Any]] = [
            {},
            {"event": "step"},
            {"event": "step", "loss": 3},
            {"event": "dev"},
        ]
        assert Curves.of(odd) == Curves()


class TestFigures:
    @pytest.fixture(autouse=True)
    def _matplotlib(self) -> None:
        pytest.importorskip("matplotlib")

    def test_both_are_written_and_nothing_else(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "r", step(1, 5), dev(1))
        figures = draw(run)
        assert [each.name for each in figures] == ["curves.png", "curves.svg"]
        assert figures[0].read_bytes().startswith(PNG)
        assert sorted(each.name for each in run.folder.iterdir()) == sorted(
            ["curves.png", "curves.svg", METRICS]
        )

    def test_names_are_text_and_no_formulas(self, tmp_path: Path) -> None:
        start = {
            "event": "start",
            "start_model": "a_b<$x^2$>&\x1b[31m",
            "device": "cpu",
            "epochs": 1,
        }
        run = run_of(tmp_path / "p_$1$", start, dev(1))
        svg = draw(run)[1].read_text("utf-8")
        assert "p_$1$, from a_b&lt;$x^2$&gt;&amp;" in svg and "\x1b" not in svg
        for words in ("F1 on dev (0 to 100)", "epochs of training", "relations, unordered"):
            assert words in svg
        assert "loss" not in svg  # there is none

    def test_the_same_run_gives_the_same_figure(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "r", step(1, 5), dev(1))
        first = [each.read_bytes() for each in draw(run)]
        assert [each.read_bytes() for each in draw(run, tmp_path)] == first

    def test_a_process_of_its_own_draws_them(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "r", step(1, 5))
        drawn = draw_curves(run)
        assert drawn.figure == run.folder / "curves.png" and not drawn.problem
        assert figure_of(run) == str(drawn.figure)
        assert origin_of(drawn, "r") == {"learning curves": "curves.png in the run folder r"}


class TestNoFigure:
    def test_nothing_to_draw_yet(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "r", {"event": "start"})
        assert draw(run) == [] and main([str(run.folder)]) == 1
        drawn = draw_curves(run)
        assert drawn.figure is None and "no losses" in drawn.problem and figure_of(run) is None
        assert origin_of(drawn, "r") == {}

    def test_without_matplotlib_there_is_one_sentence(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run = run_of(tmp_path / "r", dev(1))
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert main([str(run.folder)]) == 1
        printed = capsys.readouterr().err
        assert "matplotlib is not installed" in printed
        assert install_command("train") in printed
        assert figure_of(run) is None

    def test_a_process_that_cannot_draw_is_no_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = run_of(tmp_path / "r", dev(1))
        (tmp_path / "file").touch()
        assert draw_curves(run, tmp_path / "file").problem.startswith(
            "no learning curves are drawn"
        )
        monkeypatch.setattr(curves, "MODULE", "no_such_module_here")
        assert "no_such_module_here" in draw_curves(run).problem
