"""Pictures of two sides at the two usual sizes, and without colours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sciextract.store import EntityRef, open_project
from sciextract_app.app import DeskApp
from sciextract_app.opening import plan
from tests.app.adjudication.merged import merged_project

Compare = Callable[..., bool]
BOTH = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])


def _app(path: Path) -> DeskApp:
    return DeskApp(plan([str(path)]), "ann", None)


@BOTH
def test_adjudication(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    keys = ["<", "W", "tab", "tab"]
    assert snap_compare(_app(merged_project(tmp_path)), terminal_size=size, press=keys)


@BOTH
def test_comparison(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    path = merged_project(tmp_path)
    with open_project(path, "ann") as project:
        project.actions.reject(1, EntityRef("task"))
        project.actions.move_edge(1, "corpus", "start", 1)
    assert snap_compare(_app(path), terminal_size=size, press=["<", "d", "tab", "tab"])


def test_without_colours(
    snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    keys = ["<", "W", "tab", "tab"]
    assert snap_compare(_app(merged_project(tmp_path)), terminal_size=(100, 24), press=keys)
