"""Counting differences in a thread, while the person decides on others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract.workflows.agreement import Cancelled, WithSource, agree_with, sides
from sciextract.workflows.disagreements import Decisions, OtherSource
from sciextract_app.messages import DifferencesCounted
from sciextract_app.presenters.adjudication_documents import read_abstract
from sciextract_app.presenters.dashboard import Page, gather
from sciextract_app.workers.host import IsCancelled

_AT_A_TIME = 20
_REST = 0.002
"""Seconds between two abstracts, in which keys are handled."""


@dataclass(frozen=True, slots=True)
class CountingJob:
    """What a count needs.

    Attributes:
        path: The project.
        sides: Whom it is held against.
        numbers: The abstracts, in the order in which they are wanted.
        is_cancelled: Whether to stop; checked before every abstract.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    sides: tuple[OtherSource, ...]
    numbers: Sequence[int]
    is_cancelled: IsCancelled
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
                if self.is_cancelled():
                    return
                found = read_abstract(project, number, self.sides, decisions)
                counts[number] = len(found.waiting) if found else 0
                if len(counts) == _AT_A_TIME:
                    self.post(DifferencesCounted(self.sides, counts))
                    counts = {}
                time.sleep(_REST)
        self.post(DifferencesCounted(self.sides, counts))


@dataclass
class PageReady(Message):
    """One page of the statistics is there.

    Attributes:
        name: Which one.
        page: What it shows.
    """

    name: str
    page: Page


@dataclass
class PagesFailed(Message):
    """The project cannot be read.

    Attributes:
        error: Why.
    """

    error: SciextractError


@dataclass
class AgreementProgress(Message):
    """Some more abstracts are read for the comparison with other sources.

    Attributes:
        words: What is being compared, and how far.
    """

    words: str

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, AgreementProgress)


@dataclass
class AgreementReady(Message):
    """The comparison with one more source is there.

    Attributes:
        found: It; ``None`` at the end.
        error: Why it ended early.
    """

    found: WithSource | None
    error: SciextractError | None = None


@dataclass(frozen=True, slots=True)
class ChartsJob:
    """What the statistics need.

    Attributes:
        path: The project.
        is_cancelled: Whether to stop; checked between abstracts.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    is_cancelled: IsCancelled
    post: Callable[[Message], object]

    def gather(self) -> None:
        """Read everything but the agreement."""
        try:
            with open_project(self.path, read=True) as project:
                for name, page in gather(project):
                    self.post(PageReady(name, page))
                    if self.is_cancelled():
                        return
        except SciextractError as error:
            self.post(PagesFailed(error))

    def agree(self) -> None:
        """Compare with all other sources, one after the other."""
        try:
            with open_project(self.path, read=True) as project:
                for side in sides(project):
                    self.post(AgreementReady(agree_with(project, side, self._progress(side.name))))
        except Cancelled:
            return
        except SciextractError as error:
            self.post(AgreementReady(None, error))
        else:
            self.post(AgreementReady(None))

    def _progress(self, name: str) -> Callable[[int, int], bool]:
        def post(done: int, of: int) -> bool:
            self.post(AgreementProgress(f"comparing with {name}: {done:,} of {of:,} abstracts"))
            return not self.is_cancelled()

        return post
