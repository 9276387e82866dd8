"""From the start of a process to its first text in a real terminal, with a warm and with an emptied page cache."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.store_large import forget_pages
from benchmarks.tui_bare import WORDS
from benchmarks.tui_keys import stop_at
from benchmarks.tui_terminal import BARE, DESK, ROOT, Size, started

LIBRARY = ROOT / "sample_data" / "library.bib"
IN_LIBRARY = "endangered"
"""A word of its first abstract."""
SIZE: Size = (120, 40)


@dataclass(frozen=True)
class Opening:
    """How long a start took.

    Attributes:
        first: Seconds to the first character on the screen.
        text: Seconds to the text of the abstract.
    """

    first: float
    text: float


Openings = dict[str, list[Opening]]


def measure(folder: Path, project: Path, number: int, repeats: int, *, cold: bool) -> Openings:
    """Starts of the desk and of the bare app in turns, so that load meets all of them alike.

    Args:
        folder: Where files are put and settings lie.
        project: A project of many abstracts.
        number: The abstract of it that is opened.
        repeats: How often each is started.
        cold: Whether the page cache is emptied before each start.
    """
    found: Openings = {}
    for turn in range(repeats):
        for name, start in _contenders(folder, project, number).items():
            if cold and not forget_pages():
                return {}
            found.setdefault(name, []).append(start(turn))
    return found


def _contenders(folder: Path, project: Path, number: int) -> dict[str, Callable[[int], Opening]]:
    return {
        "bare app": lambda _: _open(BARE, folder, WORDS),
        "fresh .bib": lambda turn: _fresh(folder, turn),
        "project of 26 abstracts": lambda _: _small(folder),
        "large project": lambda _: _open(
            (*DESK, project.name, "--no-predict"), project.parent, stop_at(project, number)
        ),
    }


def _fresh(folder: Path, turn: int) -> Opening:
    """A library that no project was made of yet; the model begins to work once the text is shown."""
    place = folder / f"fresh-{turn}-{len(list(folder.glob('fresh-*')))}"
    place.mkdir()
    shutil.copy(LIBRARY, place / "refs.bib")
    return _open((*DESK, "refs.bib"), place, IN_LIBRARY)


def _small(folder: Path) -> Opening:
    place = folder / "small"
    if not place.exists():
        place.mkdir()
        shutil.copy(LIBRARY, place / "refs.bib")
        with started((*DESK, "refs.bib", "--no-predict"), place, SIZE) as terminal:
            terminal.open(IN_LIBRARY)
            terminal.settle()
            terminal.leave()
    return _open((*DESK, "refs.sciextract", "--no-predict"), place, IN_LIBRARY)


def _open(command: tuple[str, ...], folder: Path, words: str) -> Opening:
    with started(command, folder, SIZE) as terminal:
        opening = Opening(*terminal.open(words))
        terminal.settle()
        terminal.leave()
    return opening
