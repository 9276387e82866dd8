"""The mouse of a real terminal: its reports, as xterm and all that follow it send them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.store import open_project
from tests.e2e.desks import FIRST, Start, library, starting
from tests.e2e.terminal import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("terminal")]
LEFT, RIGHT, DRAG, WHEEL_DOWN = 0, 2, 32, 65


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with starting(library(tmp_path)) as begin:
        yield begin


def cell_of(terminal: Terminal, words: str) -> tuple[int, int]:
    """Column and line of some words, from one."""
    lines = terminal.text.splitlines()
    y = next((y for y, line in enumerate(lines) if words in line), None)
    assert y is not None, f"{words!r} is not shown:\n{terminal.text}"
    return lines[y].index(words) + 1, y + 1


def texts(folder: Path) -> list[str]:
    """The mentions of the first abstract, as another process sees them."""
    with open_project(folder / "refs.sciextract", read=True) as project:
        doc = project.document_state(1)
        return [entity.surface(doc.text) for entity in doc.entities]


def test_click_drag_menu_and_wheel(start: Start, tmp_path: Path) -> None:
    terminal = start("refs.bib", "--no-predict", columns=120, rows=24)
    terminal.wait_for(FIRST)
    terminal.mouse(LEFT, *cell_of(terminal, "lexicons"))
    terminal.wait_for("‹lexicons›")  # the pane of the focus names what was clicked
    # The list has the title, too, but not all of it.
    (x, y), (end, _) = cell_of(terminal, "borrowed lexicons"), cell_of(terminal, "lexicons")
    terminal.mouse(LEFT, x, y, "M")
    terminal.mouse(LEFT + DRAG, end + 3, y, "M")
    terminal.mouse(LEFT, end + 3, y, "m")
    terminal.wait_for("selected: ‹borrowed lexicons›")
    terminal.press("2")
    terminal.wait_for("added as Method")
    assert texts(tmp_path) == ["borrowed lexicons"]
    terminal.mouse(RIGHT, x + 2, y)
    terminal.wait_for("x  reject")
    terminal.mouse(LEFT, *cell_of(terminal, "x  reject"))
    terminal.wait_for(lambda: texts(tmp_path) == [])
    first = terminal.text.splitlines()[2][:30]
    for _ in range(3):
        terminal.mouse(WHEEL_DOWN, 5, 10, "M")
    terminal.wait_for(lambda: terminal.text.splitlines()[2][:30] != first)
    terminal.press("ctrl+q")
    assert terminal.wait_for_end() == 0
    assert terminal.is_restored()
