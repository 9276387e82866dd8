"""Two sides of an abstract: next to each other where there is room, one above the other elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from sciextract.text.characters import visible
from sciextract.workflows.disagreements import OtherSource, other_sources
from sciextract_app.adjudication.presenter import Adjudication
from sciextract_app.adjudication.sides import DifferenceLine, SideView, source_words
from sciextract_app.settings import key_name
from sciextract_app.shared.view_models import Feedback
from sciextract_app.widgets.bars import FooterBar, MessageBar, TooSmall, is_too_small
from sciextract_app.widgets.cells import fit, padded
from sciextract_app.widgets.dialogs import ChoiceDialog, ask
from sciextract_app.widgets.help import GuidelineDialog, KeysDialog
from sciextract_app.widgets.lines import FOCUS, RowsPane
from sciextract_app.widgets.passage_view import DrawnPassage

MERGED = "merged"
"""The choice of all merged projects."""


class SidePane(Vertical):
    """A side: its name, marked and reversed where it has the focus, the text, and what it says."""

    DEFAULT_CSS = """
    SidePane { height: 1fr; width: 1fr; }
    SidePane DrawnPassage { height: 1fr; }
    SidePane Static { text-wrap: nowrap; text-overflow: ellipsis; }
    SidePane .name { background: $panel; }
    SidePane .said { height: 2; padding: 0 1; }
    """

    def compose(self) -> ComposeResult:
        """The parts, one below the other."""
        yield Static(classes="name")
        yield DrawnPassage()
        yield Static(classes="said")

    def show(self, side: SideView) -> None:
        """Draw a side; its part of the difference is scrolled into sight."""
        name = Text(f"{FOCUS if side.focused else ' '} {visible(side.name)} ")
        name.stylize("bold reverse" if side.focused else "bold")
        self.query_one(".name", Static).update(name, layout=False)
        self.query_one(DrawnPassage).show(side.passage)
        first, *rest = map(visible, side.summary or ("",))
        said = Text(first, "bold").append("\n".join(["", *rest]), "not bold")
        self.query_one(".said", Static).update(said, layout=False)


_MOST_KIND = 34
_BETWEEN = " │ "


class DifferencesPane(RowsPane[DifferenceLine]):
    """Draws how the two sides differ, what holds here, and what the other side says."""

    BORDER_TITLE = "Differences: here │ there"

    @dataclass
    class RowClicked(Message):
        """A difference was clicked.

        Attributes:
            index: Its place among all.
        """

        index: int

    _widest = 0

    @property
    def focused_line(self) -> int | None:
        """The present difference."""
        return next((y for y, row in enumerate(self._rows) if row.focused), None)

    def show(self, rows: Sequence[DifferenceLine]) -> None:
        """Draw these; the present one is scrolled into sight."""
        self._widest = max((cell_len(fit(row.kind, _MOST_KIND)) for row in rows), default=0)
        self._rows = rows
        self.redraw(
            self.focused_line
        )  # also after a key that changes nothing: back to the difference

    def row_text(self, row: DifferenceLine, width: int) -> Text:
        """A difference."""
        # A copy: the text is kept for the next time, and whoever draws it may change it.
        return difference_text(row, min(self._widest, width // 3), width).copy()

    def click(self, y: int, x: int, width: int) -> None:
        """Tell which one was clicked."""
        if 0 <= y < len(self._rows):
            self.post_message(self.RowClicked(y))


@lru_cache(maxsize=512)
def difference_text(row: DifferenceLine, kinds: int, width: int) -> Text:
    """A difference in so many cells; kept, since most lines stay as they are.

    Args:
        row: The difference.
        kinds: Cells for how they differ.
        width: All cells.
    """
    room = max(2, width - len("▸ ") - kinds - 2 - len(_BETWEEN))
    here = room // 2
    line = Text(f"{FOCUS} " if row.focused else "  ")
    line.append(padded(row.kind, kinds), "bold").append("  ")
    line.append(padded(row.here, here)).append(_BETWEEN, "dim")
    line.append(padded(row.there, room - here))
    if row.focused:
        line.stylize("reverse")
    return line


LOOK_SECONDS = 0.5
_LEAST_TITLE = 20
Left = Callable[[Adjudication], object]


class AdjudicationScreen(Screen[None], inherit_bindings=False):
    """The differences between the project and others; the presenter takes every key.

    Args:
        adjudication: Decides what is shown.
        left: Told when the person goes back.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "app.quit", "leave", priority=True, show=False)
    ]
    AUTO_FOCUS = ""  # nothing: keys are the presenter's
    DEFAULT_CSS = """
    AdjudicationScreen { layout: vertical; }
    AdjudicationScreen #title { background: $panel; text-wrap: nowrap; text-overflow: ellipsis; }
    AdjudicationScreen #sides { layout: horizontal; height: 1fr; }
    AdjudicationScreen #here { border-right: vkey $panel; }
    AdjudicationScreen #differences { height: auto; min-height: 4; max-height: 40%; }
    AdjudicationScreen.-narrow #sides { layout: vertical; }
    AdjudicationScreen.-narrow #here { border-right: none; }
    AdjudicationScreen.-narrow .said { height: 1; }
    AdjudicationScreen.-narrow #differences { max-height: 25%; }
    """

    def __init__(self, adjudication: Adjudication, left: Left) -> None:
        super().__init__()
        self.adjudication = adjudication
        self._left = left

    def compose(self) -> ComposeResult:
        """All panes; the stylesheet arranges them."""
        yield Static(id="title")
        with Container(id="sides"):
            yield SidePane(id="here")
            yield SidePane(id="there")
        yield DifferencesPane(id="differences")
        yield MessageBar(id="message")
        yield FooterBar(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        """Show everything, and watch the file."""
        self.draw()
        self.set_interval(LOOK_SECONDS, self.look_for_changes)

    def on_key(self, event: events.Key) -> None:
        """Hand a key to the presenter."""
        # Such keys are the app's, but for redo.
        if event.key.startswith("ctrl+") and event.key != "ctrl+r":
            return
        event.stop()
        if not is_too_small(*self.size):
            self.press(key_name(event))

    def press(self, key: str) -> None:
        """Do what a key does, and show the result."""
        self.after(self.adjudication.press(key))

    def after(self, feedback: Feedback) -> None:
        """Show the state after a key."""
        self.draw()
        self.query_one(MessageBar).tell(feedback)
        if feedback.request:
            self.answer(feedback.request)

    def draw(self) -> None:
        """Show everything as it is now."""
        view = self.adjudication.view()
        title = fit(view.title, max(_LEAST_TITLE, self.size.width // 2))
        line = Text(" ").append(title, "bold").append("".join(f"   {part}" for part in view.counts))
        self.query_one("#title", Static).update(line, layout=False)
        self.query_one("#here", SidePane).show(view.here)
        self.query_one("#there", SidePane).show(view.there)
        self.query_one(DifferencesPane).show(view.lines)
        self.query_one(FooterBar).show((self.adjudication.footer(), self.adjudication.mode))

    def look_for_changes(self) -> None:
        """Show what another process wrote; the focus stays where it is."""
        if self.adjudication.is_stale():
            self.after(self.adjudication.refresh())

    @on(DifferencesPane.RowClicked)
    def _go_to_clicked(self, event: DifferencesPane.RowClicked) -> None:
        self.after(self.adjudication.go_to(event.index))

    def answer(self, request: str) -> None:
        """Do what only the app can do."""
        project = self.adjudication.project
        match request:
            case "leave":
                self.dismiss()
                self._left(self.adjudication)
            case "adjudicate":
                sides = other_sources(project, self.adjudication.decisions)
                ask(self.app, side_dialog(sides), lambda name: self._choose(chosen(sides, name)))
            case "help":
                self.app.push_screen(KeysDialog(self.adjudication.help_rows()))
            case "guideline":
                schema = project.schema
                self.app.push_screen(GuidelineDialog[None](schema))
            case "palette":
                self.app.action_command_palette()
            case "quit":
                self.app.call_later(self.app.action_quit)

    def _choose(self, sides: Sequence[OtherSource]) -> None:
        self.after(self.adjudication.choose(sides))


def side_dialog(sides: Sequence[OtherSource]) -> ChoiceDialog:
    """Ask whom to hold the project against."""
    choices = []
    for side in sides:
        kind = "" if side.name.startswith("model:") else "   imported file"
        kind = "   merged project" if side.merged else kind
        choices.append((side.name, source_words(side.name) + kind))
    merged = sum(side.merged for side in sides)
    if merged > 1:
        choices.insert(0, (MERGED, f"all {merged} merged projects"))
    return ChoiceDialog("Compare the project with", "Enter chooses, Esc back", choices)


def chosen(sides: Sequence[OtherSource], name: str) -> list[OtherSource]:
    """The side of that name, or all merged ones."""
    return [side for side in sides if (side.merged if name == MERGED else side.name == name)]
