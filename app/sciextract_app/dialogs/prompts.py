"""Dialogs to answer: a note, a file, a search, a queue, another source."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import DirectoryTree, Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from sciextract.documents.annotations import State
from sciextract.errors import UsageError
from sciextract.store.search import Place, Query
from sciextract_app.dialogs.base import Dialog, plain, words
from sciextract_app.presenters.saved_queues import QueueLine


class NoteDialog(Dialog[str]):
    """Gives the new text of the note.

    Args:
        text: The note as it is.
    """

    FIRST = "TextArea"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "keep", "keep", id="note.keep", priority=True)
    ]

    def __init__(self, text: str) -> None:
        super().__init__("Note of this abstract", "Ctrl+S saves it, Esc discards changes")
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


class PathDialog(Dialog[Path]):
    """Gives the path of something that exists.

    Args:
        title: What it is for.
        folder: Where to begin.
    """

    FIRST = "Input"

    def __init__(self, title: str, folder: Path) -> None:
        super().__init__(title, "Enter chooses, Tab goes between line and folder, Esc back")
        self._folder = folder

    def content(self) -> list[Widget]:
        """The line to type in, and the folder."""
        return [
            Input(placeholder="path, or choose below", id="path"),
            Static("", id="path-problem"),
            DirectoryTree(self._folder, id="folder"),
        ]

    @on(DirectoryTree.FileSelected)
    def _picked(self, event: DirectoryTree.FileSelected) -> None:
        self.dismiss(event.path)

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        # Unlike the methods of Path these two take anything: a name that is too long, a home that is not there.
        path = Path(os.path.expanduser(event.value.strip()))
        if event.value.strip() and os.path.exists(path):
            self.dismiss(path)
        else:
            problem = f"{path}: no such file or folder" if event.value.strip() else "type a path"
            self.query_one("#path-problem", Static).update(plain(problem))


HELP = 'words, "a phrase", begin*   in:title|mentions   label:NAME or label:"TWO WORDS"   state:undecided   below:0.5   is:flagged|disputed'
_PIECE = re.compile(r'[a-z]+:"[^"]*"|\S+')


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
    for each in allowed:
        if each.casefold() == value.casefold():
            return str(each)
    raise UsageError(f"{name}:{value} is not known", f"there are: {', '.join(allowed)}")


class SearchDialog(Dialog[tuple[str, Query]]):
    """Gives what was typed and the query that it means; an empty one shows all abstracts.

    Args:
        typed: What was looked for last.
        labels: The types of the project.
    """

    FIRST = "Input"

    def __init__(self, typed: str, labels: Collection[str]) -> None:
        super().__init__("Search", "Enter shows what fits, empty shows all, Esc back")
        self._typed = typed
        self._labels = labels

    def content(self) -> list[Widget]:
        """The line to type in, and what may be typed."""
        return [
            Input(self._typed, id="search"),
            words(HELP, "hint"),
            Static("", id="search-problem"),
        ]

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        try:
            query = parse_query(event.value, self._labels)
        except UsageError as error:
            self.query_one("#search-problem", Static).update(
                plain(f"{error.message}; {error.hint}", "bold")
            )
        else:
            self.dismiss((event.value, query))


MERGED = "merged"
"""The choice of all merged projects."""


Wish = tuple[Literal["start", "leave", "forget"], str]
"""What to do with which queue."""
_EMPTY = "No queue is saved yet. F4 saves the list as it is: search and sort first, then F4."


class QueueNameDialog(Dialog[str]):
    """Gives the name of a queue to be.

    Args:
        name: A name that is offered.
        count: Abstracts that are listed.
    """

    FIRST = "Input"

    def __init__(self, name: str, count: int) -> None:
        super().__init__("Save the list as a queue", "Enter saves and begins it, Esc back")
        self._suggested = name
        self._count = count

    def content(self) -> list[Widget]:
        """The line to type in."""
        explained = (
            f"{self._count:,} abstracts in the order of the list; the queue stays as it is now."
        )
        return [Input(self._suggested, id="queue-name"), words(explained, "hint")]

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value)


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
            return [words(_EMPTY)]
        options = [Option(plain(queue_text(each))) for each in self._lines]
        if self._active:
            options.append(Option(plain(f"  leave {self._active}: all abstracts in their order")))
        return [OptionList(*options), words("", "hint")]

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
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
