"""Dialogs of the review: a note, a search, queues, consistency checks, places, messages, bad records."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from sciextract.documents.annotations import State
from sciextract.errors import FormatError, UsageError
from sciextract.store import open_project
from sciextract.store.quality_checks import Check, Finding, find
from sciextract.store.review import StringContext
from sciextract.store.search import Place, Query
from sciextract.text.characters import visible
from sciextract.text.english import counted
from sciextract_app.review.model.saved_queues import QueueLine
from sciextract_app.shared.actions import key_of
from sciextract_app.shared.jobs import Job, error_line, start_job
from sciextract_app.shared.session import PastMessage
from sciextract_app.widgets.dialogs import Dialog, QuestionDialog, TextDialog, plain, words


class NoteDialog(Dialog[str]):
    """Gives the new text of a note, or of an attribute.

    Args:
        text: The text as it is.
        title: What it is.
    """

    FIRST = "TextArea"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "keep", "keep", id="note.keep", priority=True)
    ]

    def __init__(self, text: str, title: str = "Note of this abstract") -> None:
        super().__init__(title, "Ctrl+S saves it, Esc discards changes")
        self._text = text
        self._asked_for = text

    def content(self) -> list[Widget]:
        """The text to edit."""
        return [TextArea(self._text, id="note")]

    def action_keep(self) -> None:
        """Keep what was typed."""
        self.dismiss(self.query_one(TextArea).text)

    def action_leave(self) -> None:
        """Leave without a result; what was typed goes only with a second Esc."""
        typed = self.query_one(TextArea).text
        # The second Esc finds the text that the warning was about.
        if typed in (self._text, self._asked_for):
            self.dismiss(None)
        else:
            self._asked_for = typed
            self.box.border_subtitle = "Ctrl+S saves what you typed, Esc again discards it"


HELP = 'words, "a phrase", begin*   in:title|mentions|notes   label:NAME or label:"TWO WORDS"   state:undecided   below:0.5   is:flagged|disputed   (empty: all abstracts)'
SURE_HELP = "The share of what is accepted that shall be right, 50 to 99 %; then the score that decides where nothing can be promised, 0 to 1"
_PIECE = re.compile(r'[a-z]+:"[^"]*"|\S+')


def parse_sure(text: str) -> tuple[float, float]:
    """A share and a score as a person typed them.

    Raises:
        UsageError: They are not two numbers in their ranges.

    >>> parse_sure("90 % 0.85")
    (0.9, 0.85)
    """
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
    if len(numbers) != 2 or not (50 <= numbers[0] <= 99 and 0 <= numbers[1] <= 1):
        raise UsageError(f"{text!r} is not a share and a score in these ranges")
    return numbers[0] / 100, numbers[1]


def parse_query(text: str, labels: Collection[str]) -> Query:
    """What a person typed as a query.

    Args:
        text: Words and filters.
        labels: The types of the project.

    Raises:
        UsageError: A filter has a value that is not allowed; names those that are.

    >>> parse_query("parser state:undecided", [])
    Query(words='parser', place='text', label=None, state='undecided', score_below=None, disagreement=False, flagged=False)
    """
    words: list[str] = []
    filters: dict[str, Any] = {}
    for piece in _PIECE.findall(text):
        name, _, value = piece.partition(":")
        value = value.strip('"')
        match name if value else "":
            case "in":
                filters["place"] = _one_of(name, value, get_args(Place))
            case "label":
                filters["label"] = _one_of(name, value, labels)
            case "state":
                filters["state"] = _one_of(name, value, tuple(State))
            case "below":
                try:
                    filters["score_below"] = float(value)
                except ValueError:
                    problem = f"below:{value} is not a number"
                    raise UsageError(problem, "for example below:0.5") from None
            case "is":
                disputed = _one_of(name, value, ("flagged", "disputed")) == "disputed"
                filters["disagreement" if disputed else "flagged"] = True
            case _:  # a word may have a colon, as in "self-supervised:"
                words.append(piece)
    return Query(" ".join(words), **filters)


def _one_of(name: str, value: str, allowed: Collection[str]) -> str:
    """The allowed value that is meant, whatever its case."""
    for known in allowed:
        if known.casefold() == value.casefold():
            return str(known)
    raise UsageError(f"{name}:{value} is not known", f"there are: {', '.join(allowed)}")


Wish = tuple[Literal["start", "leave", "forget"], str]
"""What to do with which queue."""


class QueuesDialog(Dialog[Wish]):
    """Gives what to do with which queue.

    Args:
        lines: The queues.
        active: The queue or check that is worked on, empty for none.
    """

    FIRST = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x,delete", "forget", "forget", id="queues.forget")
    ]

    def __init__(self, lines: Sequence[QueueLine], active: str = "") -> None:
        super().__init__("Queues", "Enter opens it, x x deletes it, Esc back")
        self._lines = list(lines)
        self._active = active
        self._asked = ""

    def content(self) -> list[Widget]:
        """The queues, or how to make one."""
        if not self._lines and not self._active:
            saves = f"{key_of('app.save-queue')} saves the list as it is: search and sort first"
            return [words(f"No queue is saved yet. {saves}")]
        options = [Option(plain(queue_text(line))) for line in self._lines]
        if self._active:
            options.append(Option(plain(f"  leave {self._active}: all abstracts in their order")))
        return [OptionList(*options), words("", "hint")]

    @on(OptionList.OptionSelected)
    def _choose_selected(self, event: OptionList.OptionSelected) -> None:
        place = event.option_index
        if place < len(self._lines):
            self.dismiss(("start", self._lines[place].name))
        else:
            self.dismiss(("leave", ""))

    def action_forget(self) -> None:
        """Forget the queue under the cursor, the second time that it is asked for."""
        place = next((found.highlighted for found in self.query(OptionList)), None)
        if place is None or place >= len(self._lines):
            return
        name = self._lines[place].name
        if self._asked == name:
            self.dismiss(("forget", name))
            return
        self._asked = name
        hint = self.query(Static).filter(".hint").last()
        hint.update(plain(f"x again deletes {name}; its abstracts stay as they are"))


def queue_text(line: QueueLine) -> str:
    """A queue in one line."""
    sign = "▸" if line.active else " "
    return f"{sign} {line.name}   {line.place:,} of {line.length:,}, {line.done:,} done"


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
        options = [Option(self._line(check), id=check.name) for check in _CHECKS]
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

        start_job(self, "the check", count, lambda error: explain(error_line(error)))

    def _line(self, check: Check) -> str:
        count = f"{len(self._found[check]):,}" if check in self._found else "…"
        return f"{count:>7}  {check}"

    def _show(self, check: Check, found: Sequence[Finding]) -> None:
        self._found[check] = found
        options = self.query_one(OptionList)
        place = _CHECKS.index(check)
        options.replace_option_prompt_at_index(place, self._line(check))
        if found and not any(self._found.get(earlier) for earlier in _CHECKS[:place]):
            options.highlighted = place

    @on(OptionList.OptionSelected)
    def _choose_selected(self, event: OptionList.OptionSelected) -> None:
        check = _CHECKS[event.option_index]
        if self._found.get(check):
            self.dismiss((check, self._found[check]))
        else:
            still = "nothing was found" if check in self._found else "still counting"
            self.query_one("#checks-problem", Static).update(plain(still))


class PlacesDialog(QuestionDialog):
    """Where a decision would change something, each with its abstract; then the question.

    Args:
        question: What would be decided.
        surface: The string.
        places: Where it stands.
        left: How many more abstracts there are.
    """

    def __init__(
        self, question: str, surface: str, places: Sequence[StringContext], left: int
    ) -> None:
        super().__init__(f"{question}?", "", "confirms")
        self._surface = surface
        self._places = places
        self._left = left

    def content(self) -> list[Widget]:
        """Title and surroundings of each place."""
        shown = Text()
        for place in self._places:
            shown.append(visible(place.title), "dim").append("\n  …")
            shown.append(visible(place.before)).append(visible(self._surface), "bold reverse")
            shown.append(visible(place.after)).append("…\n")
        if self._left:
            shown.append(f"and {self._left:,} more")
        return [Static(shown)]


def messages_dialog(history: Sequence[PastMessage]) -> TextDialog:
    """Past messages, the latest first."""
    lines = [f"{said.at} {'!' if said.problem else ' '} {said.message}" for said in history]
    return TextDialog("Messages", [("\n".join(lines) or "No messages yet", "")])


def bad_records_dialog(bad: Sequence[FormatError], count: int) -> TextDialog:
    """Records that could not be read; everything else is in the project.

    Args:
        bad: Those that are shown.
        count: All of them.
    """
    parts = [part for one in bad for part in ((one.message, "problem"), (one.hint, "hint"))]
    if count > len(bad):
        parts.append((f"and {count - len(bad):,} more", "hint"))
    title = f"{counted(count, 'record')} left out; the rest is imported"
    return TextDialog(title, filter(itemgetter(0), parts))
