"""The box that all dialogs share, and the small ones: an error, a question, a line to type, a menu, a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import DirectoryTree, Input, OptionList, Static
from textual.widgets.option_list import Option

from sciextract.errors import SciextractError
from sciextract.text.characters import visible
from sciextract_app.shared.jobs import error_line

Result = TypeVar("Result")


class Dialog(ModalScreen[Result | None]):
    """A box over the screen, scrolled by key; Escape leaves it without a result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", id="dialog.leave"),
        Binding("down,j", "step(1)", "down", id="dialog.down"),
        Binding("up,k", "step(-1)", "up", id="dialog.up"),
        Binding("pagedown,space", "page(1)", "page down", id="dialog.page-down"),
        Binding("pageup", "page(-1)", "page up", id="dialog.page-up"),
        Binding("home", "end(-1)", "first line", id="dialog.home"),
        Binding("end", "end(1)", "last line", id="dialog.end"),
    ]

    FIRST: ClassVar[str] = ""
    """What takes the keys at first: not AUTO_FOCUS, which is left out while a browser's page has no focus."""

    def __init__(self, title: str, hint: str = "Esc back") -> None:
        super().__init__(classes="dialog")
        self._title = title
        self._hint = hint

    def on_mount(self) -> None:
        """Give the keys to what takes them first."""
        for found in self.query(self.FIRST) if self.FIRST else ():
            found.focus()

    def compose(self) -> ComposeResult:
        """The box with the dialog's own widgets."""
        with VerticalScroll(classes="dialog-box", can_focus=False) as box:
            box.border_title = plain(self._title)
            box.border_subtitle = self._hint
            yield from self.content()

    def content(self) -> list[Widget]:
        """What is in the box."""
        return []

    @property
    def box(self) -> VerticalScroll:
        """What scrolls."""
        return self.query_one(".dialog-box", VerticalScroll)

    def action_leave(self) -> None:
        """Leave without a result."""
        self.dismiss(None)

    def action_step(self, lines: int) -> None:
        """Scroll by lines; where a list of choices has the focus, move in it."""
        if isinstance(self.focused, OptionList):
            (self.focused.action_cursor_down if lines > 0 else self.focused.action_cursor_up)()
        else:
            self.box.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by what is in sight, less a line."""
        height = self.box.scrollable_content_region.height
        self.box.scroll_relative(y=pages * max(1, height - 1), animate=False)

    def action_end(self, end: int) -> None:
        """Scroll to the first or the last line."""
        self.box.scroll_to(y=0 if end < 0 else self.box.max_scroll_y, animate=False)


def ask(app: App[Any], dialog: Dialog[Result], then: Callable[[Result], object]) -> None:
    """Show a dialog, and hand on its result unless it is left without one."""

    def hand_on(result: Result | None) -> None:
        if result is not None:
            then(result)

    app.push_screen(dialog, hand_on)


def plain(text: str, style: str = "") -> Text:
    """Text of any origin, safe to show: neither markup nor terminal escapes in it mean anything."""
    return Text(visible(text, keep="\n"), style)


def words(text: str | Text, classes: str = "") -> Static:
    """Words in a dialog; a text with looks of its own holds nothing that a terminal would obey."""
    return Static(plain(text) if isinstance(text, str) else text, classes=classes)


class TextDialog(Dialog[None]):
    """Words to read.

    Args:
        title: What they are about.
        parts: Words with the name of their look, empty for the usual one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "leave", "back", id="dialog.close")]

    def __init__(self, title: str, parts: Iterable[tuple[str | Text, str]]) -> None:
        super().__init__(title, "↑ ↓ PgDn scroll, Enter or Esc closes")
        self._parts = parts

    def content(self) -> list[Widget]:
        """The words."""
        return [words(*part) for part in self._parts]


class ErrorDialog(TextDialog):
    """An error with its hint."""

    def __init__(self, title: str, error: SciextractError) -> None:
        hint = [(error.hint, "hint")] if error.hint else []
        super().__init__(title, [(error.message, "problem"), *hint])


class ChoiceDialog(Dialog[str]):
    """Gives the chosen value.

    Args:
        title: The question.
        hint: The keys.
        choices: Value and words of each.
    """

    FIRST = "OptionList"

    def __init__(self, title: str, hint: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__(title, hint)
        self._choices = tuple(choices)

    def content(self) -> list[Widget]:
        """The choices."""
        return [OptionList(*(Option(plain(shown)) for _, shown in self._choices))]

    @on(OptionList.OptionSelected)
    def _choose_selected(self, event: OptionList.OptionSelected) -> None:
        # By place: a value may be the name of a file, which cannot be the id of an option.
        self.dismiss(self._choices[event.option_index][0])


class KeyedDialog(ChoiceDialog):
    """Gives the key of the answer; arrows and Enter, or a click, choose one, too.

    Args:
        title: The question.
        explained: What to know before.
        answers: Key and words of each.
    """

    def __init__(self, title: str, explained: str, answers: Sequence[tuple[str, str]]) -> None:
        shown = [(key, f"{key}  {answer}") for key, answer in answers]
        super().__init__(title, "a letter chooses, Esc back", shown)
        self._explained = explained

    def content(self) -> list[Widget]:
        """What to know, and the answers."""
        return [words(self._explained, "hint"), *super().content()]

    def on_key(self, event: Key) -> None:
        """Answer."""
        if event.character in dict(self._choices):
            event.stop()
            self.dismiss(event.character)


class QuestionDialog(Dialog[bool]):
    """Gives ``True`` for yes; Escape is no.

    Args:
        title: The question.
        explained: What a yes leads to.
        yes: What Enter does, in a word or two.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,y", "yes", "yes", id="dialog.yes")]

    def __init__(self, title: str, explained: str, yes: str) -> None:
        super().__init__(title, f"Enter {yes}, Esc back")
        self._explained = explained

    def content(self) -> list[Widget]:
        """What a yes leads to."""
        return [words(self._explained)]

    def action_yes(self) -> None:
        """Leave with a yes."""
        self.dismiss(True)


class LineDialog(Dialog[str]):
    """Gives what was typed or chosen, without blanks around it.

    Args:
        title: What it is for.
        text: What stands there at first.
        explained: What may be typed.
        check: Raises :class:`~sciextract.errors.SciextractError` for what cannot be taken.
        offered: Values to choose below the line, each with its words.
        replaces: Whether typing replaces what stands there.
    """

    def __init__(
        self,
        title: str,
        text: str,
        explained: str,
        check: Callable[[str], object] = str,
        offered: Sequence[tuple[str, str | Text]] = (),
        *,
        replaces: bool = False,
    ) -> None:
        typed = ", or type another one" if offered else ""
        super().__init__(title, f"Enter confirms{typed}, Esc back")
        self._text = text
        self._explained = explained
        self._check = check
        self._offered = tuple(offered)
        self._replaces = replaces

    def content(self) -> list[Widget]:
        """The line, what may be typed, and what is offered."""
        options = [
            Option(plain(shown) if isinstance(shown, str) else shown) for _, shown in self._offered
        ]
        return [
            *([OptionList(*options)] if options else []),
            Input(self._text, id="line", select_on_focus=self._replaces),
            words(self._explained, "hint"),
            Static("", id="line-problem"),
        ]

    def on_mount(self) -> None:
        """What is offered takes the keys; without it the person can type at once."""
        self.query_one(OptionList if self._offered else Input).focus()

    def on_key(self, event: Key) -> None:
        """What is typed while the list has the keys belongs into the line."""
        line = self.query_one(Input)
        if event.is_printable and event.character and not line.has_focus:
            event.stop()
            line.focus()
            line.insert_text_at_cursor(event.character)

    @on(OptionList.OptionSelected)
    def _take_offered(self, event: OptionList.OptionSelected) -> None:
        self._take(self._offered[event.option_index][0])

    @on(Input.Submitted)
    def _take_typed(self, event: Input.Submitted) -> None:
        self._take(event.value.strip())

    def _take(self, value: str) -> None:
        try:
            self._check(value)
        except SciextractError as error:
            self.query_one("#line-problem", Static).update(plain(error_line(error), "bold"))
        else:
            self.dismiss(value)


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
    def _choose_file(self, event: DirectoryTree.FileSelected) -> None:
        self.dismiss(event.path)

    @on(Input.Submitted)
    def _take_typed(self, event: Input.Submitted) -> None:
        # Unlike the methods of Path these two take anything: a name that is too long, a home that is not there.
        path = Path(os.path.expanduser(event.value.strip()))
        if event.value.strip() and os.path.exists(path):
            self.dismiss(path)
        else:
            problem = f"{path}: no such file or folder" if event.value.strip() else "type a path"
            self.query_one("#path-problem", Static).update(plain(problem))
