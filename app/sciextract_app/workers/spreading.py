"""A decision for the whole project, counted and done in a thread with a connection of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract.store.actions.spreading import Count, counting, spreading
from sciextract.store.incoming.context import Outcome
from sciextract_app.messages import SpreadCounted, SpreadEnded, SpreadProgress
from sciextract_app.presenter.everywhere import Spread
from sciextract_app.workers.outcome import sentence

TELL_SECONDS = 0.2
"""How often it is told how far it is."""
BREATH_SECONDS = 0.002
"""Between transactions, so that a key that waits to write finds its turn: SQLite's waiting is no queue."""


@dataclass(slots=True)
class SpreadJob:
    """What it needs.

    Attributes:
        path: The project.
        author: Who works on it.
        spread: The decision.
        stopped: Whether to stop; asked after every few abstracts.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    spread: Spread
    stopped: Callable[[], bool]
    post: Callable[[Message], object]
    _told: float = 0.0

    def count(self) -> None:
        """Look what it would change, and tell; nothing when it was told to stop."""
        try:
            count = self._count()
        except (SciextractError, KeyError) as error:
            self.post(SpreadEnded(self.spread, why=_why(error)))
        else:
            if count is not None:
                self.post(SpreadCounted(self.spread, count))

    def do(self, count: Count) -> None:
        """Do it, and say how it ended."""
        outcome, stopped = Outcome(None, 0, 0), False
        try:
            with open_project(self.path, self.author) as project:
                for outcome in spreading(project, *self._mention, count):
                    stopped = outcome.documents < len(count.numbers) and self.stopped()
                    if stopped:
                        break
                    self._tell(outcome.documents, len(count.numbers))
                    time.sleep(BREATH_SECONDS)
        except (SciextractError, KeyError) as error:
            self.post(SpreadEnded(self.spread, outcome, why=_why(error)))
        else:
            self.post(SpreadEnded(self.spread, outcome, stopped))

    @property
    def _mention(self) -> tuple[int, str]:
        return self.spread.number, self.spread.entity_id

    def _count(self) -> Count | None:
        found = None
        with open_project(self.path, self.author) as project:
            for found in counting(project, *self._mention):
                if self.stopped():
                    return None
                self._tell(found.looked, found.total)
        return found

    def _tell(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told >= TELL_SECONDS:
            self._told = now
            self.post(SpreadProgress(self.spread, done, total))


def _why(error: SciextractError | KeyError) -> str:
    if isinstance(error, SciextractError):
        return sentence(error)
    return "the abstract is not in the project any more"
