"""The check of a project that was not closed cleanly."""

from __future__ import annotations

from sciextract.errors import as_command
from sciextract.store import Project
from sciextract.store.health.doctor import BackgroundCheck, background_check
from sciextract_app.presenter.shown import Feedback


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
