"""Two sides of an abstract: next to each other where there is room, one above the other elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import sleep
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.screen import Screen

from sciextract.store import Project, open_project
from sciextract.workflows.disagreements import Decisions, OtherSource, other_sources
from sciextract_app.adjudication.backlog import read_abstract
from sciextract_app.adjudication.presenter import CHOOSE, Adjudication, help_rows
from sciextract_app.adjudication.sides import DifferenceLine, SideBySide, SideView, source_words
from sciextract_app.settings import key_name
from sciextract_app.shared.actions import key_label, keymap
from sciextract_app.shared.jobs import BREATH_SECONDS, Job, start_job
from sciextract_app.shared.view_models import Feedback
from sciextract_app.widgets.bars import FooterBar, MessageBar, SidesBar, TooSmall, is_too_small
from sciextract_app.widgets.dialogs import ChoiceDialog, ask
from sciextract_app.widgets.help import GuidelineDialog, KeysDialog
from sciextract_app.widgets.lines import FOCUS, LineBar, RowsPane, fit, padded
from sciextract_app.widgets.passage_view import DrawnPassage

NARROW = 100
"""Columns below which the sides stand one above the other."""


MERGED = "merged"
"""The choice of all merged projects."""


class SideTitle(LineBar):
    """Draws the name of a side; the one in focus is marked and reversed."""

    DEFAULT_CSS = """
    SideTitle { background: $panel; color: $foreground; }
    """

    _shown = ("", False)

    def show(self, name: str, focused: bool) -> None:
        """Draw this name."""
        self.keep((name, focused))

    def line(self, width: int) -> Text:
        """The line."""
        name, focused = self._shown
        sign = FOCUS if focused else " "
        return Text(f"{sign} {fit(name, width - 3)} ", "bold reverse" if focused else "bold")


class SaidPane(RowsPane[str]):
    """Draws what a side says, a line each; the first is the most important."""

    DEFAULT_CSS = """
    SaidPane { height: 2; border-top: none; scrollbar-size-vertical: 0; }
    """

    NOTHING = ""

    def line(self, y: int, width: int) -> Text:
        """One of them."""
        return Text(fit(self._rows[y], width), "" if y else "bold") if self._rows else Text()


class SidePane(Vertical):
    """A side: title, text, and what it says."""

    DEFAULT_CSS = """
    SidePane { height: 1fr; width: 1fr; }
    SidePane DrawnPassage { height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        """The parts, one below the other."""
        yield SideTitle()
        yield DrawnPassage()
        yield SaidPane()

    def show(self, side: SideView) -> None:
        """Draw a side; its part of the difference is scrolled into sight."""
        self.query_one(SideTitle).show(side.name, side.focused)
        self.query_one(DrawnPassage).show(side.passage)
        self.query_one(SaidPane).show(side.summary)


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


class TwoSidesScreen(Screen[None], inherit_bindings=False):
    """Shows what a presenter says, and hands it every key.

    Args:
        project: The open project.
        presenter: Decides what is shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "app.quit", "leave", priority=True, show=False)
    ]
    AUTO_FOCUS = ""  # nothing: keys are the presenter's
    DEFAULT_CSS = """
    TwoSidesScreen { layout: vertical; }
    TwoSidesScreen #sides { layout: horizontal; height: 1fr; }
    TwoSidesScreen #here { border-right: vkey $panel; }
    TwoSidesScreen #differences { height: 30%; min-height: 4; }
    TwoSidesScreen.-narrow #sides { layout: vertical; }
    TwoSidesScreen.-narrow #here { border-right: none; }
    TwoSidesScreen.-narrow SaidPane { height: 1; }
    TwoSidesScreen.-narrow #differences { height: 20%; }
    """

    def __init__(self, project: Project, presenter: Adjudication | SideBySide) -> None:
        super().__init__()
        self.project = project
        self.presenter = presenter

    def compose(self) -> ComposeResult:
        """All panes; the stylesheet arranges them."""
        yield SidesBar(id="title")
        with Container(id="sides"):
            yield SidePane(id="here")
            yield SidePane(id="there")
        yield DifferencesPane(id="differences")
        yield MessageBar(id="message")
        yield FooterBar(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        """Show everything."""
        self.draw()

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the width."""
        self.set_class(event.size.width < NARROW, "-narrow")
        self.query_one(TooSmall).look()

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
        self.after(self.presenter.press(key))

    def after(self, feedback: Feedback) -> None:
        """Show the state after a key."""
        self.draw()
        self.query_one(MessageBar).show(feedback)
        if feedback.request:
            self.answer(feedback.request)

    def draw(self) -> None:
        """Show everything as it is now."""
        view = self.presenter.view()
        self.query_one(SidesBar).show(view.title, view.counts)
        self.query_one("#here", SidePane).show(view.here)
        self.query_one("#there", SidePane).show(view.there)
        self.query_one(DifferencesPane).show(view.lines)
        self.query_one(FooterBar).show(self.presenter.footer(), self.presenter.mode)

    def answer(self, request: str) -> None:
        """Do what only the app can do."""
        match request:
            case "leave":
                self.dismiss()
            case "guideline":
                schema = self.project.schema
                self.app.push_screen(GuidelineDialog[None](schema))
            case "palette":
                self.app.action_command_palette()
            case "quit":
                self.app.call_later(self.app.action_quit)


LOOK_SECONDS = 0.5
COUNTED_AT_ONCE = 20
"""Abstracts whose differences are counted before they are shown: every redraw costs the keys a moment."""
Left = Callable[[Adjudication], object]


class AdjudicationScreen(TwoSidesScreen):
    """The differences between the project and others.

    Args:
        project: The open project.
        adjudication: Decides what is shown.
        keys: Keys of the person's own choice, by action.
        left: Told when the person goes back.
    """

    def __init__(
        self, project: Project, adjudication: Adjudication, keys: Mapping[str, str], left: Left
    ) -> None:
        super().__init__(project, adjudication)
        self.adjudication = adjudication
        self._keys = keys
        self._left = left

    def on_mount(self) -> None:
        """Count what waits elsewhere, and watch the file."""
        self.set_interval(LOOK_SECONDS, self.look_for_changes)
        self.call_after_refresh(self.count)

    def look_for_changes(self) -> None:
        """Show what another process wrote; the focus stays where it is."""
        if self.adjudication.is_stale():
            self.after(self.adjudication.refresh())

    def count(self) -> None:
        """Count in the background, from the open abstract on."""
        path, sides, here = self.project.path, self.adjudication.sides, self.adjudication.number
        numbers = self.adjudication.backlog.numbers
        # What the person comes to next is counted first.
        ordered = [*(n for n in numbers if n > here), *(n for n in numbers if n <= here)]

        def work(job: Job) -> None:
            counts: dict[int, int] = {}
            with open_project(path, read=True) as project:
                decisions = Decisions(project)
                for number in ordered:
                    if job.is_cancelled:
                        return
                    found = read_abstract(project, number, sides, decisions)
                    counts[number] = len(found.waiting) if found else 0
                    if len(counts) == COUNTED_AT_ONCE:
                        job.call(learn, counts)
                        counts = {}
                    sleep(BREATH_SECONDS)  # the interpreter is shared: keys are handled meanwhile
            job.call(learn, counts)

        def learn(counts: dict[int, int]) -> None:
            # Counts of sides that were left meanwhile may still arrive.
            if sides == self.adjudication.sides:
                self.adjudication.learn(counts)
                self.draw()

        def show(feedback: Feedback) -> None:
            self.query_one(MessageBar).show(feedback)

        start_job(
            self,
            "the count of differences",
            work,
            lambda _: None,  # a project that cannot be read is explained by the next key
            show,
            exclusive=True,
        )

    @on(DifferencesPane.RowClicked)
    def _row_clicked(self, event: DifferencesPane.RowClicked) -> None:
        self.after(self.adjudication.go_to(event.index))

    def answer(self, request: str) -> None:
        """Choose another side, show the keys, or go back to the desk."""
        if request == "leave":
            self.workers.cancel_node(self)
            self.dismiss()
            self._left(self.adjudication)
        elif request == CHOOSE:
            sides = other_sources(self.project, self.adjudication.decisions)
            ask(self.app, side_dialog(sides), lambda name: self._choose(chosen(sides, name)))
        elif request == "help":
            keys: dict[str, str] = {}  # of each action, as people write them
            for key, action in keymap(self._keys).items():
                keys[action.id] = f"{keys.get(action.id, '')} {key_label(key)}".strip()
            self.app.push_screen(KeysDialog(help_rows(keys)))
        else:
            super().answer(request)

    def _choose(self, sides: Sequence[OtherSource]) -> None:
        self.after(self.adjudication.choose(sides))
        self.count()


def side_dialog(sides: Sequence[OtherSource]) -> ChoiceDialog:
    """Ask whom to hold the project against."""
    choices = []
    for each in sides:
        kind = "" if each.name.startswith("model:") else "   imported file"
        kind = "   merged project" if each.merged else kind
        choices.append((each.name, source_words(each.name) + kind))
    merged = sum(each.merged for each in sides)
    if merged > 1:
        choices.insert(0, (MERGED, f"all {merged} merged projects"))
    return ChoiceDialog("Compare the project with", "Enter chooses, Esc back", choices)


def chosen(sides: Sequence[OtherSource], name: str) -> list[OtherSource]:
    """The side of that name, or all merged ones."""
    return [each for each in sides if (each.merged if name == MERGED else each.name == name)]


_ROWS = (
    ("Tab", "next difference", "comparison"),
    ("Shift+Tab", "previous one", "comparison"),
    ("d Esc", "back to the desk", "comparison"),
    ("", "reversed brackets: only this side has it so; ✗ ✗: rejected", "comparison"),
)


class ComparisonScreen(TwoSidesScreen):
    """A model and a person side by side."""

    def answer(self, request: str) -> None:
        """Help of its own."""
        if request == "help":
            self.app.push_screen(KeysDialog(_ROWS))
        else:
            super().answer(request)
