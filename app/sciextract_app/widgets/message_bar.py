"""The line that says what came of a key."""

from __future__ import annotations

from rich.text import Text

from sciextract_app.presenter.shown import Feedback
from sciextract_app.widgets.glyphs import fit
from sciextract_app.widgets.lines import LineBar


class MessageBar(LineBar):
    """Draws a message; one that says why nothing was done begins with an exclamation mark."""

    DEFAULT_CSS = """
    MessageBar { background: $background; color: $foreground; }
    MessageBar.-problem { color: $warning; text-style: bold; }
    """

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._feedback = Feedback()

    def show(self, feedback: Feedback) -> None:
        """Draw a message, or an empty line."""
        if feedback != self._feedback:
            self._feedback = feedback
            self.set_class(feedback.problem and bool(feedback.message), "-problem")
            self.refresh()

    def line(self, width: int) -> Text:
        """The line."""
        return message_text(self._feedback, width)


def message_text(feedback: Feedback, width: int) -> Text:
    """A message in so many cells."""
    if not feedback.message:
        return Text()
    sign = " ! " if feedback.problem else " "
    return Text(sign + fit(feedback.message, width - len(sign)))
