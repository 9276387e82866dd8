"""The screen of one question at a time."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.keys.questions import Questions
from sciextract_app.review.view.lower_panes import InspectorPane
from sciextract_app.review.view.relations import OverReview
from sciextract_app.shared.view_models import Feedback
from sciextract_app.widgets.bars import TextBar
from sciextract_app.widgets.passage_view import DrawnPassage


class QuestionsScreen(OverReview):
    """The question with its sentence, and what is known of the item.

    Args:
        desk: The desk.
    """

    OPENED_BY = "questions"

    def __init__(self, desk: Desk) -> None:
        self.presenter = Questions(desk)
        super().__init__(desk, self.presenter)

    def content(self) -> Iterable[Widget]:
        """Progress, the sentence, and the item."""
        yield TextBar(id="title")
        yield DrawnPassage(id="sentence")
        yield InspectorPane(id="about")

    def draw(self, feedback: Feedback) -> None:
        """Show everything as it is now."""
        self.query_one(TextBar).show(self.presenter.title)
        self.query_one(DrawnPassage).show(self.presenter.excerpt())
        self.query_one(InspectorPane).show(self._desk.inspector())
        super().draw(feedback)
