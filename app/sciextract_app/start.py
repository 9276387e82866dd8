"""The start screen: where to go when no project is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sciextract_app.opening import look_at
from sciextract_app.shared.actions import key_of
from sciextract_app.widgets.bars import TooSmall
from sciextract_app.widgets.cells import bar, padded
from sciextract_app.widgets.dialogs import ask, plain

_OPEN, _IMPORT, _PASTE = "open", "import", "paste"
_SAMPLE, _PROJECT = "sample", "project-"
_NAME, _BAR = 24, 6
"""Cells of a project's name, and of the bar behind it."""


def first_keys() -> str:
    """The keys of the first abstract, those of its relations first: to accept one accepts its ends, too."""
    keys = map(key_of, ("relations", "accept", "reject", "done", "help"))
    words = "At the desk: {} relations first, {} accept, {} reject, {} done, {} keys"
    return words.format(*keys)


def project_text(path: Path) -> Text:
    """A project with the share that is done and the day of the last change, above its folder."""
    documents, done = look_at(path)
    share = bar(done / documents, _BAR) if documents else " " * _BAR
    progress = f"{done:,} of {documents:,} done" if documents else ""
    try:
        day = f"{datetime.fromtimestamp(path.stat().st_mtime):%Y-%m-%d}"
    except (OSError, ValueError):
        day = ""
    line = Text(padded(path.name, _NAME), "bold").append(
        f" {share} {progress:>20}  {day}", "not bold"
    )
    return line.append_text(plain(f"\n{path.parent}", "dim not bold"))


class StartScreen(Screen[None]):
    """Recent projects, and the ways to another one.

    Args:
        projects: Projects to offer, the likeliest first.
        message: What the person should know, empty for nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", f"choose('{_OPEN}')", "open", id="start.open"),
        Binding("i", f"choose('{_IMPORT}')", "import", id="start.import"),
        Binding("p", f"choose('{_PASTE}')", "paste", id="start.paste"),
        Binding("s", f"choose('{_SAMPLE}')", "sample", id="start.sample"),
        Binding("j", "focused.cursor_down", "next", id="start.next"),
        Binding("k", "focused.cursor_up", "previous", id="start.previous"),
        Binding("escape", "back", "back", id="start.back"),
        Binding("q", "app.quit", "quit", id="start.quit"),
    ]

    @dataclass
    class Chosen(Message):
        """The person wants something opened, imported or made.

        Attributes:
            what: A project or a file of abstracts, or abstracts that were pasted; ``None`` for the sample project.
        """

        what: Path | str | None

    def __init__(self, projects: Sequence[Path], message: str = "") -> None:
        super().__init__()
        self._projects = list(projects)
        self._message = message
        self._left: Path | None = None

    def compose(self) -> ComposeResult:
        """Title, choices, and the keys."""
        with Vertical(id="start"):
            yield Static("sciextract  the review desk", id="start-title")
            yield Static(plain(self._message), id="start-message")
            yield OptionList(*self._options(), id="start-list")
            yield Static(
                "Enter chooses   o open   i import   p paste   s sample   q quit", id="start-keys"
            )
            yield Static(first_keys(), id="start-first")
        yield TooSmall()

    def on_mount(self) -> None:
        """The list takes the keys."""
        self.query_one(OptionList).focus()
        self.query_one("#start-message").display = bool(self._message)

    def offer(self, projects: Sequence[Path], left: Path) -> None:
        """Offer other projects than before, and the way back to the one that was left."""
        self._projects, self._left = list(projects), left
        message = self.query_one("#start-message", Static)
        message.update(plain(f"Esc: back to {left.name}"))
        message.display = True
        choices = self.query_one(OptionList)
        choices.clear_options().add_options(self._options())
        choices.highlighted = 0

    @on(OptionList.OptionSelected)
    def _choose_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_choose(event.option_id or "")

    def action_choose(self, what: str) -> None:
        """Open a project, or ask for a path first."""
        if what.startswith(_PROJECT):
            self.post_message(self.Chosen(self._projects[int(what.removeprefix(_PROJECT))]))
        elif what == _PASTE:
            self._ask_paste("")
        elif what == _SAMPLE:
            self.post_message(self.Chosen(None))
        else:
            from sciextract_app.widgets.dialogs import PathDialog

            title = "Open a project" if what == _OPEN else "Import abstracts into a new project"
            dialog = PathDialog(title, Path.cwd())
            ask(self.app, dialog, lambda path: self.post_message(self.Chosen(path)))

    def action_back(self) -> None:
        """Open the project again that was left last."""
        if self._left is not None:
            self.post_message(self.Chosen(self._left))

    def on_paste(self, event: events.Paste) -> None:
        """A text was pasted: it may be abstracts."""
        event.stop()
        self._ask_paste(event.text)

    def _ask_paste(self, text: str) -> None:
        from sciextract_app.paste import PasteDialog

        dialog = PasteDialog(text, "a new project")
        ask(self.app, dialog, lambda pasted: self.post_message(self.Chosen(pasted)))

    def _options(self) -> list[Option | None]:
        found: list[Option | None] = [
            Option(project_text(path), id=f"{_PROJECT}{place}")
            for place, path in enumerate(self._projects)
        ]
        return [
            *found,
            *([None] if found else []),
            Option("Open a project…", id=_OPEN),
            Option("Import abstracts (.bib, .ris, .nbib, .csv, .txt, …)", id=_IMPORT),
            Option("Paste abstracts into a new project", id=_PASTE),
            Option("Try the sample project: 26 invented abstracts", id=_SAMPLE),
        ]
