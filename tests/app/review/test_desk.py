"""What the desk does with keys, besides counting them."""

from __future__ import annotations

import pytest

from sciextract.documents.annotations import (
    State,
)
from sciextract.store import EntityRef, LinkRef, Project, RelationRef
from sciextract_app.review.keys import key_dispatch
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.queue import Order
from sciextract_app.review.model.targets import sure_items
from sciextract_app.shared.view_models import Mode
from tests.app.review.abstracts import (
    place,
    press,
    row,
)
from tests.unit.store.projects import all_state


def test_queue_goes_through_all_layers_in_text_order(desk: Desk) -> None:
    seen = []
    for _ in range(6):
        seen.append(desk.focus)
        press(desk, "tab")
    assert seen == [
        *(EntityRef("tagger1"), EntityRef("task"), RelationRef("tagger1 task")),
        *(EntityRef("contracts"), EntityRef("tagger2"), LinkRef("of tagger1", "tagger2")),
    ]
    press(desk, "shift+tab")
    assert desk.focus == LinkRef("of tagger1", "tagger2")


def test_other_orders_keep_the_focus(desk: Desk) -> None:
    press(desk, "tab")
    desk.set_order(Order.UNCERTAINTY)
    assert desk.focus == EntityRef("task")
    assert len(desk.state.open_queue.undecided) == 29


def test_last_enter_offers_done_and_done_opens_the_next(desk: Desk) -> None:
    for _ in range(28):
        press(desk, "enter")
    assert desk.press("enter").message.endswith("D: done, next abstract")
    feedback = desk.press("D")
    assert (feedback.moved, desk.number, desk.header().done) == (True, 2, 1)


def test_done_asks_once_and_then_rejects(desk: Desk) -> None:
    press(desk, "enter")
    feedback = desk.press("D")
    assert "15 items undecided" in feedback.message
    assert (desk.number, feedback.changed) == (1, False)
    press(desk, "tab")
    assert "15 items undecided" in desk.press("D").message  # something else came between
    assert desk.press("D").moved
    assert row(desk, "task").state is State.REJECTED
    press(desk, "u")
    assert (desk.number, desk.waiting, desk.header().done) == (1, 30, 0)


def test_done_where_nothing_was_ever_decided_asks(desk: Desk) -> None:
    press(desk, "n")  # without a single item
    assert "Nothing was decided here" in desk.press("D").message
    assert desk.header().done == 0
    assert desk.press("D").changed
    assert desk.header().done == 1


def test_a_second_done_within_half_a_second_is_not_a_second_decision(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_dispatch, "DOUBLE_SECONDS", 0.5)
    now = [0.0]
    desk = Desk(project, clock=lambda: now[0])
    for later, done in ((0, False), (0.3, False), (0.3, False), (0.6, True), (0.3, True)):
        now[0] += later
        desk.press("D")
        assert (desk.header().done == 1) == done
    assert desk.number == 2
    assert "twice" in desk.press("D").message, "nobody has seen the next abstract yet"


def test_after_a_restart_accept_sure_goes_by_the_same_score(project: Project) -> None:
    first = Desk(project)
    first.promise({"entity": 0.65})
    again = Desk(project)
    assert sure_items(again.state) == sure_items(first.state)
    assert again.state.sure == {"entity": 0.65}


def test_the_header_counts_the_last_abstract_as_done(desk: Desk) -> None:
    while "All abstracts are done" not in desk.press("D").message:
        pass
    assert desk.header().done == desk.header().documents


def test_rejecting_says_what_goes_along(desk: Desk) -> None:
    feedback = desk.press("backspace")
    assert feedback.message.startswith(
        "‹graph tagger› rejected, with 1 relation and 1 cluster link"
    )
    assert desk.focus == EntityRef("task")
    assert desk.press("u").message == "reject taken back: ‹graph tagger›"
    assert desk.focus == EntityRef("tagger1")
    press(desk, "U")
    assert "tagger1" not in desk.state.open_view.by_id


def test_undo_names_a_relation_that_goes_and_returns_to_its_head(desk: Desk) -> None:
    press(desk, "r")
    press(desk, desk.passage().hints[place("noun chunking").char_start] + " 2")
    press(desk, "j j")
    changed = desk.press("4")
    assert "‹graph tagger› PART-OF ─▶ ‹noun chunking›" in changed.message
    press(desk, "u tab tab")
    assert desk.press("u").message == (
        "add relation taken back: ‹graph tagger› FEATURE-OF ─▶ ‹noun chunking›"
    )
    assert desk.focus == EntityRef("tagger1")


def test_undo_opens_the_abstract_that_it_changes(desk: Desk) -> None:
    press(desk, "enter n F")
    assert desk.number == 2
    press(desk, "u")
    assert desk.number == 2
    assert desk.press("u").moved
    assert (desk.number, desk.focus) == (1, EntityRef("tagger1"))
    assert desk.press("ctrl+r").changed
    assert desk.press("ctrl+r").moved


def test_imports_are_taken_back_only_after_a_question(desk: Desk, project: Project) -> None:
    before = all_state(project)
    assert desk.press("u").message.startswith("Take back predict of 1 abstract")
    assert desk.mode is Mode.CONFIRM
    assert desk.press("x").problem
    press(desk, "escape")
    assert all_state(project) == before
    press(desk, "u enter")
    assert desk.waiting == 0
    press(desk, "u enter")
    assert (desk.number, desk.passage().text) == (0, "")
    assert desk.press("enter").problem
    press(desk, "U")
    assert desk.number == 1
