"""Answers and news keep their places, and what was said can be read again."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import pytest

from sciextract.workflows.import_files import ImportReport
from sciextract_app.review.view.background import import_feedback
from sciextract_app.shared.session import MOST_KEPT, NEWS_SECONDS, Messages, PastMessage
from sciextract_app.shared.view_models import Feedback
from sciextract_app.widgets.bars import bar_text


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def messages(clock: Clock) -> Messages:
    return Messages(clock, lambda: datetime(2026, 5, 1, 9, 30, 5))


def test_news_do_not_take_the_place_of_an_answer(messages: Messages) -> None:
    messages.reply(Feedback("accepted"))
    messages.inform(Feedback("3 abstracts predicted"))
    assert (messages.answer.message, messages.news.message) == (
        *("accepted", "3 abstracts predicted"),
    )


def test_news_go_with_the_first_key_that_comes_late_enough(
    messages: Messages, clock: Clock
) -> None:
    messages.inform(Feedback("imported"))
    clock.seconds = NEWS_SECONDS - 1
    messages.reply(Feedback())
    assert messages.news.message == "imported"
    clock.seconds = NEWS_SECONDS
    assert messages.news.message == "imported"  # nobody was there
    messages.reply(Feedback())
    assert messages.news == Feedback()


def test_what_was_said_is_kept_but_no_progress(messages: Messages) -> None:
    messages.reply(Feedback("accepted"))
    messages.reply(Feedback())
    messages.inform(Feedback())
    for done in range(3):
        messages.inform(Feedback(f"{done} so far"), passing=True)
    messages.inform(Feedback("no disk", problem=True))
    messages.inform(Feedback("no disk", problem=True))
    assert messages.history == [
        PastMessage("09:30:05", "no disk", True),
        PastMessage("09:30:05", "accepted", False),
    ]
    assert messages.news.message == "no disk"


def test_it_does_not_grow(messages: Messages) -> None:
    for number in range(MOST_KEPT + 5):
        messages.reply(Feedback(str(number)))
    assert len(messages.history) == MOST_KEPT
    assert messages.history[0].message == str(MOST_KEPT + 4)


@pytest.mark.parametrize("width", range(1, 130, 8))
def test_both_fit_and_the_answer_is_whole(width: int) -> None:
    answer, news = Feedback("‹β-sheet› accepted"), Feedback("no [red]disk", problem=True)
    line = bar_text(answer, news, width)
    assert line.cell_len <= max(width, 1)
    if width > 24:
        assert line.plain.startswith(" ‹β-sheet› accepted")


def test_alone_each_has_the_line() -> None:
    news = Feedback("importing: 200 records so far")
    assert bar_text(Feedback(), news, 60).plain == " importing: 200 records so far"
    assert bar_text(Feedback("done"), Feedback(), 60).plain == " done"
    both = bar_text(Feedback("done"), news, 60).plain
    assert both.startswith(" done ")
    assert both.endswith("│ importing: 200 records so far")


def test_an_import_says_which_fields_it_left() -> None:
    note = "beside.jsonl: ner read, predicted_ner left (1 record)"
    remarks = Counter({"not read, although they look like annotations: 'spans'": 3})
    feedback = import_feedback(ImportReport(notes=[note]), remarks)
    assert "3 abstracts: not read" in feedback.message
    assert feedback.message.startswith(f"0 new abstracts; {note}")
