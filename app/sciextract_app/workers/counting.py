"""Counting differences in a thread, while the person decides on others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract.workflows.decisions import Decisions
from sciextract.workflows.other_sides import OtherSide
from sciextract_app.messages import Counted
from sciextract_app.presenter.adjudicating.abstract import read_abstract

_AT_A_TIME = 20
_REST = 0.002
"""Seconds between two abstracts, in which keys are answered."""


@dataclass(frozen=True, slots=True)
class CountingJob:
    """What a count needs.

    Attributes:
        path: The project.
        sides: Whom it is held against.
        numbers: The abstracts, in the order in which they are wanted.
        stopped: Whether to stop; asked before every abstract.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    sides: tuple[OtherSide, ...]
    numbers: Sequence[int]
    stopped: Callable[[], bool]
    post: Callable[[Message], object]

    def run(self) -> None:
        """Count abstract by abstract; where the project cannot be read, the person finds out by a key."""
        try:
            self._count()
        except SciextractError:
            return

    def _count(self) -> None:
        counts: dict[int, int] = {}
        with open_project(self.path, read=True) as project:
            decisions = Decisions(project)
            for number in self.numbers:
                if self.stopped():
                    return
                found = read_abstract(project, number, self.sides, decisions)
                counts[number] = len(found.waiting) if found else 0
                if len(counts) == _AT_A_TIME:
                    self.post(Counted(self.sides, counts))
                    counts = {}
                time.sleep(_REST)
        self.post(Counted(self.sides, counts))
