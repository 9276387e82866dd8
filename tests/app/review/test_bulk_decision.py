"""One decision for the whole project: counted while the person works, asked, done, stopped, taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.errors import ActionRefusedError
from sciextract.store import Project, open_project
from sciextract.store.actions.bulk import Count, counting, spreading
from sciextract.store.maintenance.backup import list_backups
from sciextract.store.state_tables import find_differing
from sciextract_app.review.keys import bulk
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.bulk_decision import BulkDecision, Phase
from sciextract_app.shared.view_models import Feedback, Mode
from tests.app.review.abstracts import AGAIN, TEXT, focus, gold, press, project_with
from tests.unit.store.projects import all_state


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    texts = (TEXT, *(f"{AGAIN} Number {place}." for place in range(10)))
    return Desk(project_with(tmp_path, gold(), texts))


def project_of(desk: Desk) -> Project:
    return desk.state.project


def spread_of(desk: Desk) -> BulkDecision:
    spread = desk.bulk.pending
    assert spread is not None
    return spread


def count(desk: Desk) -> Feedback:
    """Count as the worker does, and tell the desk."""
    spread = spread_of(desk)
    found: Count | None = None
    for found in counting(project_of(desk), spread.number, spread.entity_id):
        desk.bulk.progress(spread, found.looked, found.total)
    assert found is not None
    return desk.bulk.ask(spread, found)


def do(desk: Desk, steps: int = 100) -> Feedback:
    """Decide as the worker does, through a connection of its own, at most so many transactions."""
    spread = spread_of(desk)
    assert spread.count is not None
    with open_project(project_of(desk).path, "ann") as mine:
        done = None
        for _, done in zip(
            range(steps),
            spreading(mine, spread.number, spread.entity_id, spread.count),
            strict=False,
        ):
            desk.bulk.progress(spread, done.documents, spread.total)
    assert done is not None
    stopped = done.documents < len(spread.count.numbers)
    return desk.bulk.end(spread, done, stopped)


def test_who_waits_is_asked_with_the_numbers(desk: Desk) -> None:
    press(desk, "enter")
    feedback = desk.press("&")
    assert (desk.mode, feedback.request) == (Mode.COUNTING, bulk.COUNT)
    assert count(desk).message == (
        "‹graph tagger›: decide 20 items in 10 abstracts? Enter confirms, Esc cancels"
    )
    assert desk.mode is Mode.CONFIRM
    before = all_state(project_of(desk))
    assert desk.press("enter").request == bulk.DO
    assert all_state(project_of(desk)) == before  # the key itself decides nothing
    assert (
        do(desk).message == "‹graph tagger›: 20 items in 10 abstracts decided; u undoes all of it"
    )
    assert all(len(project_of(desk).document_state(n).entities) == 2 for n in range(2, 12))
    assert find_differing(project_of(desk).connection) == []


def test_it_is_one_step_of_undo_and_redo(desk: Desk) -> None:
    press(desk, "enter")
    before = all_state(project_of(desk))
    desk.press("&")
    count(desk)
    desk.press("enter")
    do(desk)
    after = all_state(project_of(desk))
    assert desk.press("u").message == "all identical in the project in 10 abstracts taken back"
    assert all_state(project_of(desk)) == before
    press(desk, "U")
    assert all_state(project_of(desk)) == after
    assert [backup.reason for backup in list_backups(project_of(desk).path)] == [
        "all-identical-in-the-project"
    ]


def test_enter_while_it_is_counted_decides_nothing(desk: Desk) -> None:
    press(desk, "enter")
    desk.press("&")
    before = all_state(project_of(desk))
    assert "still counting ‹graph tagger›" in desk.press("enter").message
    assert (all_state(project_of(desk)), desk.mode) == (before, Mode.COUNTING)


def test_who_goes_on_is_told_and_asked_behind_the_key(desk: Desk) -> None:
    press(desk, "enter")
    desk.press("&")
    press(desk, "tab enter")
    assert desk.mode is Mode.REVIEW
    place = desk.focus
    feedback = count(desk)
    assert "& previews, Esc cancels" in feedback.message
    assert (desk.mode, desk.focus) == (Mode.REVIEW, place)
    assert desk.footer()[0].words == "decide ‹graph tagger› everywhere"
    assert "Enter confirms" in desk.press("&").message
    assert str(desk.mode) == "confirm"


def test_escape_leaves_it_at_every_stage(desk: Desk) -> None:
    press(desk, "enter")
    for stage in range(4):
        desk.press("&")
        if stage:
            count(desk)
        if stage == 2:
            desk.press("x")  # no answer
        if stage == 3:
            desk.press("enter")
        assert desk.press("escape").request == bulk.STOP
        assert (desk.bulk.pending, desk.mode) == (None, Mode.REVIEW)
    assert desk.press("escape") == Feedback()


def test_what_was_counted_for_another_is_not_asked(desk: Desk) -> None:
    press(desk, "enter")
    desk.press("&")
    first = spread_of(desk)
    counted = list(counting(project_of(desk), first.number, first.entity_id))[-1]
    press(desk, "escape")
    assert desk.bulk.ask(first, counted) == Feedback()
    assert desk.bulk.progress(first, 1, 2) == Feedback()
    focus(desk, "corpus")
    desk.press("&")
    assert desk.bulk.ask(first, counted) == Feedback()
    assert spread_of(desk).phase is Phase.COUNTING


def test_nothing_to_decide_is_told(desk: Desk) -> None:
    focus(desk, "task")
    press(desk, "enter")
    desk.press("&")
    assert count(desk).message == "No other ‹noun chunking› in the project waits for that"
    assert (desk.bulk.pending, desk.mode) == (None, Mode.REVIEW)


def test_stopped_half_way_undo_takes_back_what_was_done(desk: Desk) -> None:
    press(desk, "enter")
    before = all_state(project_of(desk))
    desk.press("&")
    count(desk)
    desk.press("enter")
    assert "stopped; u undoes that" in do(desk, steps=1).message
    decided = [n for n in range(2, 12) if project_of(desk).document_state(n).entities]
    assert decided == [2, 3, 4, 5]
    desk.refresh()
    press(desk, "u")
    assert all_state(project_of(desk)) == before


def test_taken_back_on_the_way_the_rest_is_not_done(desk: Desk) -> None:
    press(desk, "enter")
    before = all_state(project_of(desk))
    desk.press("&")
    count(desk)
    desk.press("enter")
    spread = spread_of(desk)
    assert spread.count is not None
    with open_project(project_of(desk).path, "ann") as mine:
        steps = spreading(mine, spread.number, spread.entity_id, spread.count)
        next(steps)
        press(desk, "u")
        with pytest.raises(ActionRefusedError, match="undone in the meantime"):
            next(steps)
    assert all_state(project_of(desk)) == before
    assert desk.bulk.fail(spread, "taken back").problem


def test_keys_in_between_are_kept(desk: Desk) -> None:
    press(desk, "enter")
    desk.press("&")
    count(desk)
    desk.press("enter")
    spread = spread_of(desk)
    assert spread.count is not None
    with open_project(project_of(desk).path, "ann") as mine:
        for _ in spreading(mine, spread.number, spread.entity_id, spread.count):
            press(desk, "F")
    assert find_differing(project_of(desk).connection) == []
    assert len(project_of(desk).document_state(11).entities) == 2


def test_what_was_decided_meanwhile_stays(desk: Desk) -> None:
    press(desk, "enter")
    desk.press("&")
    count(desk)
    desk.press("enter")
    project = project_of(desk)
    span = project.document_state(3).stored.document.tokens.spans[1:3]
    whole = type(span[0])(span[0].char_start, span[1].char_end)
    project.actions.add_entity(3, [whole], "Task")
    do(desk)
    labels = {row.label for row in project.document_state(3).entities if row.fragments == (whole,)}
    assert labels == {"Task"}


def test_another_decision_on_the_mention_is_not_spread(desk: Desk) -> None:
    press(desk, "enter")
    desk.press("&")
    count(desk)
    desk.press("enter")
    spread = spread_of(desk)
    assert spread.count is not None
    press(desk, "u")
    project_of(desk).actions.reject(spread.number, desk.focus or pytest.fail("no focus"))
    with pytest.raises(ActionRefusedError, match="has changed since this was counted"):
        next(spreading(project_of(desk), spread.number, spread.entity_id, spread.count))
    assert not project_of(desk).document_state(2).entities


def test_a_rejection_is_spread_too(tmp_path: Path) -> None:
    desk = Desk(project_with(tmp_path, gold()))
    focus(desk, "corpus")
    press(desk, "x")
    desk.press("&")
    assert "decide 1 item in 1 abstract?" in count(desk).message
    desk.press("enter")
    do(desk)
    rejected = [
        row.id for row in project_of(desk).document_state(1).entities if row.state is State.REJECTED
    ]
    assert sorted(rejected) == ["corpus", "corpus2"]


def test_a_project_that_can_only_be_read(desk: Desk) -> None:
    with open_project(project_of(desk).path, "ann", read=True) as reading:
        other = Desk(reading, 1)
        assert other.press("&").problem
        assert other.bulk.pending is None
