"""The desk: abstracts beside the passage, over relations, clusters and the inspector."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from sciextract.store import Project
from sciextract.store.review import Sort
from sciextract.store.search import Query
from sciextract.store.sqlite import replaced
from sciextract_app.dialogs.base import QuestionDialog, plain
from sciextract_app.presenters.actions import keymap
from sciextract_app.presenters.desk import Desk
from sciextract_app.presenters.document_order import Listing
from sciextract_app.presenters.queue import Order
from sciextract_app.presenters.session import Messages
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.screens.lower import LowerPanes
from sciextract_app.settings import SHELL, key_name
from sciextract_app.widgets.bars import FooterBar, HeaderBar, MessageBar, TooSmall, is_too_small
from sciextract_app.widgets.document_list import DocumentList
from sciextract_app.widgets.passage_view import PassageView

if TYPE_CHECKING:
    from sciextract_app.presenters.adjudication import Adjudication

NARROW = 100
"""Columns below which the list is a drawer and the lower panes are one strip."""
LOOK_SECONDS = 0.5
_SEEDS = 1 << 31
_OF_LIST = frozenset({"up", "down", "pageup", "pagedown", "home", "end", "enter"})


class DeskScreen(Screen[None], inherit_bindings=False):
    """Shows what the presenter says, and hands it every key.

    Args:
        project: The open project.
        keys: Keys of the person's own choice, by action.

    Attributes:
        desk: The presenter.
        listing: The rows of the list.
        searched: What was looked for last.
        keys: What each key does.
        messages: What is and was said.
        training: The epoch of a training and how many there will be, ``None`` when none runs.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(SHELL)
    AUTO_FOCUS = ""  # nothing: keys are the desk's

    @dataclass
    class Requested(Message):
        """The desk wants something that only the app can do.

        Attributes:
            what: Such as ``help`` or ``search``.
        """

        what: str

    class SaveBeside(Message):
        """Another file has taken the project's place; what is open shall go on in a file beside it."""

    def __init__(self, project: Project, keys: Mapping[str, str]) -> None:
        super().__init__()
        self.project = project
        self.desk = Desk(project, keys=keys)
        self.listing = Listing(project)
        self.searched = ""
        self.keys = keymap(keys)
        self.own_keys = keys
        self.messages = Messages()
        self.training: tuple[int, int] | None = None
        self._model = ""
        self._just_opened = True
        self._asked_to_save = False

    def compose(self) -> ComposeResult:
        """All panes; the stylesheet arranges them."""
        yield HeaderBar(id="header")
        with Horizontal(id="body"):
            yield DocumentList(self.listing, id="list")
            with Vertical(id="right"):
                yield Static(plain("No abstracts yet. F5 imports files."), id="empty")
                yield PassageView(id="passage")
                yield LowerPanes(id="lower")
        yield MessageBar(id="message")
        yield FooterBar(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        """Show the abstract where the person stopped, and watch the file."""
        self.draw()
        self.set_interval(LOOK_SECONDS, self.look_for_changes)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the width."""
        self.set_class(event.size.width < NARROW, "-narrow")
        self.query_one(TooSmall).look()

    def on_key(self, event: events.Key) -> None:
        """Hand a key to the desk, whatever its mode; the list keeps its own while it has the focus."""
        in_list = self.focused is not None
        if in_list and event.key in _OF_LIST:
            return
        if event.key.startswith("ctrl+") and event.key not in self.keys:
            return
        event.stop()
        if in_list and event.key == "escape":
            self.leave_list()
        elif not is_too_small(*self.size):
            self.press(key_name(event))

    def press(self, key: str) -> None:
        """Do what a key does, and show what came of it."""
        self._just_opened = False
        self.after(self.desk.press(key))

    def do(self, action: str) -> None:
        """Do an action of the registry, as its key does."""
        self.press(self._key_of(action))

    def _key_of(self, action: str) -> str:
        return next((key for key, each in self.keys.items() if each.id == action), "")

    def after(self, feedback: Feedback) -> None:
        """Show the state after an action of the desk."""
        self._just_opened = self._just_opened or feedback.moved
        self.draw(rows=feedback.changed or feedback.moved)
        self.tell(feedback)
        if feedback.problem and self.project.is_replaced():
            self.offer_to_save_beside()
        if feedback.request:
            self.post_message(self.Requested(feedback.request))

    def tell(self, feedback: Feedback) -> None:
        """Answer a key, or clear the last answer."""
        self.messages.reply(feedback)
        self._show_messages()

    def inform(self, feedback: Feedback, *, passing: bool = False) -> None:
        """Show what no key asked for, beside the answer to the last key.

        Args:
            feedback: The message.
            passing: Whether it only says how far something is.
        """
        self.messages.inform(feedback, passing=passing)
        self._show_messages()

    def _show_messages(self) -> None:
        self.query_one(MessageBar).show(self.messages.answer, self.messages.news)

    def hint(self, message: str) -> None:
        """Show a message that is no problem."""
        self.tell(Feedback(message))

    def draw(self, rows: bool = True) -> None:
        """Show everything as it is now; the list only if its rows may have changed."""
        desk = self.desk
        self.set_class(not desk.number, "-empty")
        self.draw_header()
        self.query_one(FooterBar).show(desk.footer(), desk.mode)
        if desk.number:
            self.query_one(PassageView).show(desk.passage())
            self.query_one(LowerPanes).show(desk)
        if rows:
            self.draw_list()

    def draw_header(self) -> None:
        """Show progress and model."""
        found = self.desk.header()
        self.query_one(HeaderBar).show(
            replace(found, model=self._model or found.model, training=self.training)
        )

    def draw_list(self) -> None:
        """Show the rows as they are now."""
        self.query_one(DocumentList).reload(self.desk.number)

    def predicting(self, progress: tuple[int, int] | None, model: str = "") -> None:
        """Show how far the prediction is; ``None`` when nothing runs."""
        self.desk.predicting = progress
        self._model = model or self._model
        self.draw_header()

    def look_for_changes(self) -> None:
        """Show what another process or a worker wrote; the focus stays where it is."""
        if self.project.is_replaced():
            if not self._asked_to_save:
                self.offer_to_save_beside()
            return
        if not self.desk.is_stale():
            return
        known = self.desk.totals.documents
        feedback = self.desk.refresh()
        if self.desk.totals.documents != known:
            self.listing.load()
        if self._just_opened and self.desk.focus is None and self.desk.waiting:
            self.desk.press(
                self._key_of("next-undecided")
            )  # there was nothing to look at before: this is no jump
        self.draw()
        self.inform(feedback)

    def offer_to_save_beside(self) -> None:
        """Ask whether to go on in a file beside the one that has taken the project's place."""
        self._asked_to_save = True
        error = replaced(self.project.path)
        explained = (
            f"{error.message}. Nothing can be saved into it from here.\n\n"
            "What is open, with all decisions until then, can be saved as a project beside it."
        )
        title = "The project's file is another one now"
        self.app.push_screen(QuestionDialog(title, explained, "saves it beside"), self._answered)

    def _answered(self, yes: bool | None) -> None:
        if yes:
            self.post_message(self.SaveBeside())

    def search(self, typed: str, query: Query) -> None:
        """Let the list show what fits a query, and the next abstracts come from it."""
        self.searched = typed
        self.list_by(query=query)
        self.hint(f"{self.listing.count():,} abstracts" if typed.strip() else "all abstracts")
        self.action_list(to_list=True)

    def list_by(self, sort: Sort | None = None, query: Query | None = None) -> None:
        """Give the list another order or query; the next abstracts come in its order, unless a queue is followed."""
        seed = secrets.randbelow(_SEEDS) if sort is Sort.RANDOM else None
        self.listing.load(sort, query, seed)
        self.desk.follow(None if self.listing.is_plain else self.listing.numbers)
        self.draw_list()

    def review_by(self, order: Order) -> None:
        """Give the undecided items of abstracts another order."""
        self.after(self.desk.set_order(order))

    def adjudicated(self, left: Adjudication) -> None:
        """Show the abstract in which somebody left adjudication, at the difference if the project has it."""
        if left.number and left.number != self.desk.number:
            self.desk.open(left.number)
        else:
            self.desk.refresh()
        if left.item is not None:
            self.desk.mouse.focus(left.item)
        self.after(Feedback(changed=True))

    def remember(self) -> None:
        """Note where the person stops."""
        self.desk.remember()

    @on(DocumentList.Opened)
    def _opened(self, event: DocumentList.Opened) -> None:
        feedback = self.desk.open(event.number)
        self.leave_list()
        self.after(feedback)

    def action_list(self, to_list: bool = False) -> None:
        """Go to the list, or back; where there is no room for it, it slides over the passage."""
        found = self.query_one(DocumentList)
        if found.has_focus and not to_list:
            self.leave_list()
        else:
            self.add_class("-drawer")
            found.focus()

    def leave_list(self) -> None:
        """Back to the passage."""
        self.remove_class("-drawer")
        self.set_focus(None)

    def action_strip(self) -> None:
        """Show the next of the lower panes."""
        self.query_one(LowerPanes).next()
