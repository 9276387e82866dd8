"""What the mouse does: the same actions, pointed at instead of typed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sciextract.store.actions.api import ItemRef
from sciextract_app.presenter import relating, selecting
from sciextract_app.presenter.shown import Feedback, Mode
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import problem

Guard = Callable[[Callable[[], Feedback]], Feedback]


class Pointing:
    """Clicks and drags.

    Args:
        situation: The desk's state.
        guard: Runs work so that refusals come back as problems.
    """

    def __init__(self, situation: Situation, guard: Guard) -> None:
        self._now = situation
        self._guard = guard

    def click(self, char: int) -> Feedback:
        """Put cursor and focus on what is at a character; while relating, choose that mention.

        While a mention gets a further part, only the cursor moves.
        """
        return self._guard(partial(self._click, char))

    def focus(self, item: ItemRef) -> Feedback:
        """Make an item the focus: a row of a pane."""
        return self._guard(partial(self._focus, item))

    def drag(self, char_start: int, char_end: int) -> Feedback:
        """Select the tokens under some characters."""
        return self._guard(partial(self._drag, char_start, char_end))

    def relate(self, head_char: int, tail_char: int) -> Feedback:
        """A relation between the mentions at two characters; its type is asked for."""
        return self._guard(partial(self._relate, head_char, tail_char))

    def _click(self, char: int) -> Feedback:
        now = self._now
        if now.scene is None:
            return Feedback()
        if now.mode in (Mode.RELATE, Mode.RELATE_TYPE):
            return self._ask(now.pending.head, char)
        if now.mode is Mode.FRAGMENT:
            now.pending.start, now.cursor = None, now.scene.token_at(char)
            return Feedback()
        now.leave_mode()
        now.alike = None  # a and & speak of what was clicked
        selecting.focus_token(now, char)
        return Feedback()

    def _ask(self, head: str, char: int) -> Feedback:
        under = [row for row in self._now.here.covering(char) if row.id != head]
        if not under:
            return problem("There is no other mention; Esc leaves")
        return relating.ask_type(self._now, head, under[0].id)

    def _focus(self, item: ItemRef) -> Feedback:
        if self._now.scene is None or self._now.scene.row(item) is None:
            return problem("The item is not there any more")
        self._now.leave_mode()
        self._now.alike = None
        self._now.look_at(item)
        return Feedback()

    def _drag(self, char_start: int, char_end: int) -> Feedback:
        now = self._now
        if now.scene is None or not len(now.scene.tokens):
            return Feedback()
        low, high = sorted((char_start, char_end))
        if now.mode is not Mode.FRAGMENT:
            now.leave_mode()
            now.mode = Mode.SELECT
        now.pending.start = now.scene.token_at(low)
        now.cursor = now.scene.token_at(max(low, high - 1))
        return Feedback()

    def _relate(self, head_char: int, tail_char: int) -> Feedback:
        under = self._now.scene.covering(head_char) if self._now.scene else []
        if not under:
            return problem("There is no mention")
        self._now.leave_mode()
        return self._ask(under[0].id, tail_char)
