"""The line that says what came of a key, and what works beside."""

from __future__ import annotations

from rich.text import Text

from sciextract_app.presenter.shown import Feedback
from sciextract_app.widgets.glyphs import fit
from sciextract_app.widgets.lines import LineBar

_BETWEEN = "   │"
_LEAST_NEWS = 16
"""Cells below which news are left out beside an answer: nobody could make sense of them."""


class MessageBar(LineBar):
    """Draws the answer to a key and, to its right, news; one that is a problem begins with an exclamation mark."""

    DEFAULT_CSS = """
    MessageBar { background: $background; color: $foreground; }
    MessageBar.-problem { color: $warning; text-style: bold; }
    """

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._shown = (Feedback(), Feedback())

    def show(self, answer: Feedback, news: Feedback | None = None) -> None:
        """Draw an answer and news, or an empty line."""
        wanted = answer, news or Feedback()
        if wanted != self._shown:
            self._shown = wanted
            first = answer if answer.message else wanted[1]
            self.set_class(first.problem and bool(first.message), "-problem")
            self.refresh()

    def line(self, width: int) -> Text:
        """The line."""
        return bar_text(*self._shown, width)


def bar_text(answer: Feedback, news: Feedback, width: int) -> Text:
    """Both in so many cells: the answer whole, news in what it leaves; alone they have the line."""
    line = message_text(answer, width)
    if not line:
        return message_text(news, width)
    room = width - line.cell_len - len(_BETWEEN)
    if not news.message or room < _LEAST_NEWS:
        return line
    told = message_text(news, room)
    gap = " " * (room - told.cell_len)
    style = "not dim" if news.problem else "dim"
    return line.append(gap).append(_BETWEEN, "dim").append(told.plain, style)


def message_text(feedback: Feedback, width: int) -> Text:
    """A message in so many cells."""
    if not feedback.message:
        return Text()
    sign = " ! " if feedback.problem else " "
    return Text(sign + fit(feedback.message, width - len(sign)))
