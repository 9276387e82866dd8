"""The screen of one question at a time: a card with the question, over the last answers."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text
from textual.containers import Container, Vertical
from textual.widget import Widget

from sciextract.text.characters import visible
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.keys.questions import Answer, Questions
from sciextract_app.review.model.hints import LETTERS
from sciextract_app.review.view.lower_panes import InspectorPane
from sciextract_app.review.view.relations import OverReview
from sciextract_app.shared.view_models import Feedback
from sciextract_app.widgets.bars import TextBar
from sciextract_app.widgets.cells import bar, fit
from sciextract_app.widgets.lines import RowsPane
from sciextract_app.widgets.passage_view import DrawnPassage

_BAR = 12
"""Cells of the bar of progress."""


class AnswersPane(RowsPane[Answer]):
    """Draws the last answers with the letters that open them again; a click does that, too."""

    BORDER_TITLE = "Last answers"
    NOTHING = "none yet"

    def row_text(self, row: Answer, width: int) -> Text:
        """An answer."""
        letter = LETTERS[self._rows.index(row)]
        return Text().append(letter, "bold").append(f" {fit(visible(row.words), width - 2)}")

    def click(self, y: int, x: int, width: int) -> None:
        """Open the answer that was clicked again."""
        if isinstance(self.screen, QuestionsScreen):
            self.screen.show(self.screen.presenter.open_again(y))


class QuestionsScreen(OverReview):
    """The question with its sentence, what is known of the item, and the last answers.

    Args:
        desk: The desk.
    """

    OPENED_BY = "questions"

    def __init__(self, desk: Desk) -> None:
        self.presenter = Questions(desk)
        super().__init__(desk, self.presenter)

    def content(self) -> Iterable[Widget]:
        """Progress, the sentence, the item and the answers, in the middle of the screen."""
        parts = TextBar(id="title"), DrawnPassage(id="sentence"), InspectorPane(id="about")
        yield Container(Vertical(*parts, AnswersPane(id="answers"), id="card"), id="middle")

    def draw(self, feedback: Feedback) -> None:
        """Show everything as it is now."""
        asked = self.presenter
        self.query_one(TextBar).show(f"▕{bar(asked.share, _BAR)}▏ {asked.title}")
        self.query_one(DrawnPassage).show(asked.excerpt())
        self.query_one(InspectorPane).show(self._desk.inspector())
        self.query_one(AnswersPane).show(tuple(asked.answers))
        super().draw(feedback)
