"""The dialog of the consistency checks, which counts while it is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual import on
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sciextract.store import open_project
from sciextract.store.quality_checks import Check, Finding, find
from sciextract_app.dialogs.base import Dialog, plain, words
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.workers.jobs import Job, error_line, start_job

_CHECKS = tuple(Check)


class ChecksDialog(Dialog[tuple[Check, Sequence[Finding]]]):
    """Gives the chosen check with what it has found.

    Args:
        path: The project.
    """

    FIRST = "OptionList"

    def __init__(self, path: Path) -> None:
        super().__init__("Consistency", "Enter works through it, Esc back")
        self._path = path
        self._found: dict[Check, Sequence[Finding]] = {}

    def content(self) -> list[Widget]:
        """The checks with what they have found so far."""
        hint = "Of what is accepted, edited, added or imported, in the whole project:"
        options = [Option(self._line(each), id=each.name) for each in _CHECKS]
        return [words(hint, "hint"), OptionList(*options), Static("", id="checks-problem")]

    def on_mount(self) -> None:
        """Begin to count."""

        def count(job: Job) -> None:
            with open_project(self._path, read=True) as project:
                for check in _CHECKS:
                    if job.is_cancelled:
                        return
                    job.call(self._show, check, find(project, check))

        def explain(words: str) -> None:
            self.query_one("#checks-problem", Static).update(plain(words, "bold"))

        def crashed(feedback: Feedback) -> None:
            explain(feedback.message)

        start_job(self, "the check", count, lambda error: explain(error_line(error)), crashed)

    def _line(self, check: Check) -> str:
        count = f"{len(self._found[check]):,}" if check in self._found else "…"
        return f"{count:>7}  {check}"

    def _show(self, check: Check, found: Sequence[Finding]) -> None:
        self._found[check] = found
        options = self.query_one(OptionList)
        options.replace_option_prompt_at_index(_CHECKS.index(check), self._line(check))

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        check = _CHECKS[event.option_index]
        if self._found.get(check):
            self.dismiss((check, self._found[check]))
        else:
            still = "nothing was found" if check in self._found else "still counting"
            self.query_one("#checks-problem", Static).update(plain(still))
