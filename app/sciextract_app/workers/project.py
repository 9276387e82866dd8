"""Work on the whole project in threads: decisions for many abstracts, and the check after an unclean close."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError, as_command
from sciextract.store import Project, open_project
from sciextract.store.actions.bulk import Count, counting, spreading
from sciextract.store.context import Outcome
from sciextract.store.maintenance.doctor import BackgroundCheck, background_check
from sciextract_app.messages import SpreadCounted, SpreadEnded, SpreadProgress
from sciextract_app.presenters.bulk import BulkDecision
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.workers.importing import sentence

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
    spread: BulkDecision
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


class Watch:
    """Starts the check where it is needed, and tells what it found.

    Args:
        project: The project that was opened.
    """

    def __init__(self, project: Project) -> None:
        self._name = project.path.name
        self._check: BackgroundCheck | None = background_check(project)

    @property
    def runs(self) -> bool:
        """Whether something is still being checked."""
        return self._check is not None

    def news(self) -> Feedback | None:
        """What was found, once; ``None`` as long as there is nothing to tell."""
        if self._check is None or not self._check.done:
            return None
        check, self._check = self._check, None
        if check.problems:
            words = f"{self._name} is damaged: {check.problems[0]}"
            doctor = as_command("sciextract", "doctor", "--project", self._name)
            return Feedback(f"{words}; leave, then: {doctor}", problem=True)
        if check.failed:
            return Feedback(f"{self._name} could not be checked: {check.failed}", problem=True)
        return Feedback(f"{self._name} was not closed cleanly last time; nothing is wrong with it")

    def cancel(self) -> None:
        """End the check before its end."""
        if self._check is not None:
            self._check.cancel()
            self._check = None
