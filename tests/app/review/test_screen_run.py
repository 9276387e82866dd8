"""How the run of the app ends for the command line."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from sciextract.errors import InputMissingError
from sciextract_app.app import DeskApp, run_desk
from tests.app.screens_support import made_project


def ending(monkeypatch: pytest.MonkeyPatch, failure: Exception | None, code: int | None) -> None:
    def run(self: DeskApp) -> None:
        self.failure, self._return_code = failure, code

    monkeypatch.setattr(DeskApp, "run", run)


def test_the_failure_comes_out_of_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ending(monkeypatch, ValueError("x"), 1)
    with pytest.raises(ValueError):
        run_desk([str(made_project(tmp_path))], predict=False)


@pytest.mark.parametrize(("code", "expected"), [(None, 0), (0, 0), (143, 143)])
def test_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int | None, expected: int
) -> None:
    ending(monkeypatch, None, code)
    frozen = gc.get_freeze_count()
    assert run_desk([str(made_project(tmp_path))], predict=False) == expected
    assert gc.get_freeze_count() <= frozen


def test_a_missing_file_is_told_before_the_screen_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ending(monkeypatch, AssertionError("the app must not run"), None)
    with pytest.raises(InputMissingError):
        run_desk(["nothing.bib"])
