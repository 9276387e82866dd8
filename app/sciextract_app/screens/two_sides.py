"""Two sides of an abstract: beside each other where there is room, one above the other elsewhere."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen

from sciextract.store import Project
from sciextract_app.dialogs.guideline import GuidelineDialog
from sciextract_app.keys import key_name
from sciextract_app.presenter.shown import Feedback, Hint, Mode
from sciextract_app.presenter.two_sides.shown import TwoSides
from sciextract_app.screens.too_small import TooSmall, is_too_small
from sciextract_app.widgets.differences_pane import DifferencesPane
from sciextract_app.widgets.footer_bar import FooterBar
from sciextract_app.widgets.message_bar import MessageBar
from sciextract_app.widgets.side_pane import SidePane
from sciextract_app.widgets.sides_bar import SidesBar

NARROW = 100
"""Columns below which the sides stand one above the other."""


class Presenter(Protocol):
    """What such a screen shows, and who gets its keys."""

    mode: Mode

    def press(self, key: str) -> Feedback:
        """Do what a key means now."""
        ...

    def view(self) -> TwoSides:
        """Everything that is drawn."""
        ...

    def footer(self) -> tuple[Hint, ...]:
        """Keys that mean something now."""
        ...


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

    def __init__(self, project: Project, presenter: Presenter) -> None:
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
        if event.key.startswith("ctrl+") and event.key != "ctrl+r":
            return
        event.stop()
        if not is_too_small(*self.size):
            self.press(key_name(event))

    def press(self, key: str) -> None:
        """Do what a key does, and show what came of it."""
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
                self.app.push_screen(GuidelineDialog((*schema.entities, *schema.relations)))
            case "palette":
                self.app.action_command_palette()
            case "quit":
                self.app.call_later(self.app.action_quit)
