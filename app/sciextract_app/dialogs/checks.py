"""The dialog of the consistency checks, which counts while it is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract.store.quality_checks import Check, Finding, find
from sciextract_app.dialogs.base import Dialog, plain, words
from sciextract_app.messages import error_line

_CHECKS = tuple(Check)


class ChecksDialog(Dialog[tuple[Check, Sequence[Finding]]]):
    """Gives the chosen check with what it has found.

    Args:
        path: The project.
    """

    @dataclass
    class Found(Message):
        """One check is through.

        Attributes:
            check: Which.
            found: What it has found.
        """

        check: Check
        found: Sequence[Finding]

    @dataclass
    class Failed(Message):
        """The project cannot be read.

        Attributes:
            why: The error in a line.
        """

        why: str

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
        """The list takes the keys; counting begins."""
        self.query_one(OptionList).focus()
        self.run_worker(self._count, thread=True, exit_on_error=False)

    def _line(self, check: Check) -> str:
        count = f"{len(self._found[check]):,}" if check in self._found else "…"
        return f"{count:>7}  {check}"

    def _count(self) -> None:
        worker = get_current_worker()
        try:
            with open_project(self._path, read=True) as project:
                for check in _CHECKS:
                    if worker.is_cancelled:
                        return
                    self.post_message(self.Found(check, find(project, check)))
        except SciextractError as error:
            self.post_message(self.Failed(error_line(error)))

    @on(Found)
    def _show(self, event: Found) -> None:
        self._found[event.check] = event.found
        place = _CHECKS.index(event.check)
        options = self.query_one(OptionList)
        options.replace_option_prompt_at_index(place, self._line(event.check))

    @on(Failed)
    def _fail(self, event: Failed) -> None:
        self.query_one("#checks-problem", Static).update(plain(event.why, "bold"))

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        check = _CHECKS[event.option_index]
        if self._found.get(check):
            self.dismiss((check, self._found[check]))
        else:
            still = "nothing was found" if check in self._found else "still counting"
            self.query_one("#checks-problem", Static).update(plain(still))
