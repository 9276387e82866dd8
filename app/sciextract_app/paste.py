"""Abstracts that are pasted: what they are recognised as, and whether to import them."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Button, Static, TextArea

from sciextract.text.characters import visible
from sciextract.text.english import counted
from sciextract.workflows.pasted import Recognised, look
from sciextract_app.shared.jobs import Job, error_line, start_job
from sciextract_app.widgets.dialogs import Dialog, plain

MOST_SHOWN = 50_000
"""Characters of a longer paste that are shown; the others are only imported."""
_PAUSE_SECONDS = 0.15
_NOTHING = "Paste or type abstracts: BibTeX, RIS, NBIB, JSONL, CSV, plain text by paragraph, …"


class PasteArea(TextArea):
    """Shows what is pasted into it with symbols for control characters; the first text goes to the dialog."""

    def on_paste(self, event: events.Paste) -> None:
        """Insert a text next to others; one that is alone or long is taken as a whole."""
        event.prevent_default()
        if self.text and not self.read_only and len(event.text) <= MOST_SHOWN:
            event.stop()
            shown = visible(with_line_feeds(event.text), keep="\n\t")
            self.replace(shown, *self.selection)


class PasteDialog(Dialog[str]):
    """Gives the text to import.

    What is shown has symbols for control characters; as long as nobody edits it, the text is given exactly
    as it was pasted.

    Args:
        pasted: The text, empty where it is still to come.
        into: Where it goes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "bring_in", "import", id="paste.import", priority=True)
    ]

    def __init__(self, pasted: str, into: str) -> None:
        super().__init__(f"Paste abstracts into {into}", "Ctrl+S imports, Esc back")
        self._pasted, self._begun = exact_and_preview(pasted)
        self._found: Recognised | None = None
        self._pause: Timer | None = None

    def content(self) -> list[Widget]:
        """The text, what is in it, and the button."""
        area = PasteArea(self._begun, id="pasted", read_only=self._is_long)
        return [area, Static("", id="recognised"), Button("Import", id="paste-import")]

    def on_mount(self) -> None:
        """Enter imports what was pasted already; else the person can paste or type at once."""
        self.query_one(Button if self._pasted else TextArea).focus()
        self._look()

    def on_paste(self, event: events.Paste) -> None:
        """Take a text as a whole, in place of what was there."""
        event.stop()
        self._pasted, self._begun = exact_and_preview(event.text)
        area = self.query_one(TextArea)
        area.load_text(self._begun)
        area.read_only = self._is_long
        self.query_one(Button).focus()

    @property
    def _is_long(self) -> bool:
        return len(self._pasted) > MOST_SHOWN

    @property
    def text(self) -> str:
        """What would be imported."""
        shown = self.query_one(TextArea).text
        return self._pasted if shown == self._begun else shown

    def action_bring_in(self) -> None:
        """Give the text, once something in it was recognised."""
        if self._found is not None and self._found.documents:
            self.dismiss(self.text)

    @on(Button.Pressed)
    def _press_button(self) -> None:
        self.action_bring_in()

    @on(TextArea.Changed)
    def _look_soon(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        # Not with every key: to recognise a format takes longer than to type a letter.
        self._pause = self.set_timer(_PAUSE_SECONDS, self._look)

    def _look(self) -> None:
        self._found = None
        text = self.text
        self._show_summary("looking…" if text.strip() else _NOTHING)
        if not text.strip():
            return

        def recognise(job: Job) -> None:
            found = None
            for found in look(text):
                if job.is_cancelled:
                    return
                job.progress(self._show, found, False)
            if found is not None:
                job.call(self._show, found, True)

        start_job(
            self,
            "the look at the text",
            recognise,
            lambda error: self._show_summary(error_line(error)),
            exclusive=True,
        )

    def _show(self, found: Recognised, ended: bool) -> None:
        self._found = found
        self._show_summary(summary(found, ended, self._is_long))

    def _show_summary(self, text: str) -> None:
        self.query_one("#recognised", Static).update(plain(text, "bold"))


def summary(found: Recognised, ended: bool, cut: bool) -> str:
    """What a paste is recognised as, in words.

    Args:
        found: What was found.
        ended: Whether that is everything.
        cut: Whether only its beginning is shown.
    """
    words = counted(found.documents, "abstract") + ("" if ended else " so far")
    if found.bad:
        words += f", {counted(found.bad, 'record')} that cannot be read"
    words += f" · {found.problem or found.title}"
    return f"{words} · only the start is shown" if cut else words


def exact_and_preview(text: str) -> tuple[str, str]:
    """A pasted text as it is imported, and what of it is shown."""
    exact = with_line_feeds(text)
    return exact, visible(exact[:MOST_SHOWN], keep="\n\t")


def with_line_feeds(text: str) -> str:
    """Terminals send what was copied with a carriage return where a line ends.

    >>> with_line_feeds("TY  - JOUR\\rER  - \\r\\n")
    'TY  - JOUR\\nER  - \\n'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")
