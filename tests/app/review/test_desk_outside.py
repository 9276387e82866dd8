"""The desk and what is outside of it: time, other processes, disks, schemas, the next time, the app."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ProjectFullError
from sciextract.store import Completeness, EntityRef, Project, RelationRef, open_project
from sciextract.store.text_versions import remove
from sciextract.workflows.import_files import import_files
from sciextract_app.review.keys.desk import Desk
from sciextract_app.shared.actions import use_keys
from sciextract_app.shared.view_models import Mode
from tests.app.review.abstracts import (
    SCIERC,
    TEXT,
    document,
    focus,
    gold,
    place,
    predict,
    press,
    row,
)


def test_seconds_are_measured_and_bounded(project: Project) -> None:
    now = [0.0]
    desk = Desk(project, clock=lambda: now[0])
    now[0] = 4.26
    press(desk, "enter")
    now[0] = 900.0
    press(desk, "x")
    press(desk, "x")
    spent = [event.seconds for event in project.log(3)]
    assert spent == [0.0, 120.0, 4.3]


def test_focus_stays_when_others_write(desk: Desk, project: Project) -> None:
    press(desk, "tab tab")
    with open_project(project.path, "bob") as other:
        other.actions.accept(1, EntityRef("lexicon"))
    assert desk.is_stale()
    assert desk.refresh().message == ""
    assert not desk.is_stale()
    assert desk.focus == RelationRef("tagger1 task")
    with open_project(project.path, "bob") as other:
        other.actions.reject(1, RelationRef("tagger1 task"))
    assert desk.refresh().message == "The item is gone: reject by person:bob"
    assert desk.focus is not None
    assert desk.state.open_view.row(desk.focus) is not None


@pytest.mark.parametrize("key", ["x", "enter", "1"])
def test_a_key_on_what_another_window_has_decided_decides_nothing(
    desk: Desk, project: Project, key: str
) -> None:
    focus(desk, "lexicon")
    with open_project(project.path, "bob") as other:
        other.actions.accept(1, EntityRef("lexicon"))
    before = len(project.log())
    feedback = desk.press(key)
    assert feedback.problem and "The item has changed: accept by person:bob" in feedback.message
    assert len(project.log()) == before
    assert desk.press("x").changed, "what is on the screen now can be decided"


@pytest.mark.parametrize("keys", ["x", "v enter", "n", "D"])
def test_a_key_in_an_abstract_that_was_removed_elsewhere_decides_nothing(
    desk: Desk, project: Project, keys: str
) -> None:
    *before, last = keys.split()
    press(desk, " ".join(before))
    with open_project(project.path, "bob") as other:
        remove(other, [1])
        events = other.log(1)
    feedback = desk.press(last)
    assert feedback.problem
    assert "not in the project any more: remove by person:bob" in feedback.message
    assert (desk.number, project.log(1)) == (2, events)
    with open_project(project.path, "bob") as other:
        other.undo()
        assert other.document_state(1).count_undecided() == 31, "nothing is lost"


def test_a_text_that_was_replaced_elsewhere_is_opened_in_its_place(
    desk: Desk, project: Project, tmp_path: Path
) -> None:
    press(desk, "enter")
    newer = tmp_path / "newer.jsonl"
    record = {"id": project.document(1).document.doc_key, "text": f"{TEXT} It is new."}
    newer.write_text(json.dumps(record), "utf-8")
    with open_project(project.path, "bob") as other:
        import_files(other, [str(newer)], update=True)
        (number,) = set(other.numbers()) - {1, 2, 3}
    feedback = desk.press("x")
    assert feedback.problem and "has another text now" in feedback.message
    assert desk.number == number
    kept = project.document_state(number).entities
    assert State.ACCEPTED in {mention.state for mention in kept}


def test_an_abstract_that_is_opened_or_finished_elsewhere_is_looked_at_first(
    desk: Desk, project: Project
) -> None:
    for completeness in (Completeness.DONE, Completeness.IN_PROGRESS):
        with open_project(project.path, "bob") as other:
            other.actions.set_completeness(1, completeness)
        feedback = desk.press("D")
        assert feedback.problem and "completeness by person:bob" in feedback.message
        assert project.document_state(1).progress.entities is completeness  # type: ignore[union-attr]
    assert not desk.press("D").problem


def test_another_windows_decision_elsewhere_does_not_stop_a_key(
    desk: Desk, project: Project
) -> None:
    focus(desk, "lexicon")
    with open_project(project.path, "bob") as other:
        other.actions.reject(1, EntityRef("corpus2"))
    assert desk.press("x").changed


def test_focus_and_mode_stay_when_predictions_arrive(desk: Desk, project: Project) -> None:
    focus(desk, "lexicon")
    press(desk, "r")
    with open_project(project.path, "bob") as other:
        predict(other, gold(), document(doc_key="d1"), background=True)
    desk.refresh()
    assert (desk.focus, desk.mode) == (EntityRef("lexicon"), Mode.RELATE)


def test_refusals_come_back_as_words(desk: Desk) -> None:
    feedback = desk.press("C")
    assert feedback.changed
    feedback = desk.press("C")
    assert feedback.problem
    assert "is in no cluster" in feedback.message
    press(desk, "A")
    desk.focus_item(EntityRef("corpus2"))  # in no relation
    before = desk.focus
    assert desk.press("i").problem
    assert desk.focus == before


def test_a_full_disk_is_said(desk: Desk, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise ProjectFullError("the disk is full", "make room")

    monkeypatch.setattr(project, "perform", full)
    feedback = desk.press("enter")
    assert (feedback.message, feedback.problem) == ("the disk is full. make room", True)
    assert desk.focus == EntityRef("tagger1")


def test_a_read_only_project_can_be_read(project: Project) -> None:
    with open_project(project.path, "ann", read=True) as reading:
        desk = Desk(reading)
        assert desk.press("tab").message == ""
        assert desk.press("enter").problem
        assert desk.inspector().title


def test_an_empty_abstract(desk: Desk) -> None:
    desk.open(3)
    for key in [
        "enter",
        "x",
        "1",
        "s",
        "v",
        "f",
        "r",
        "c",
        "C",
        "m",
        "X",
        "o",
        "a",
        "&",
        "y",
        "i",
        ".",
        "tab",
        "j",
        "k",
        "h",
        "l",
        "w",
        "b",
        "A",
        ";",
        "t",
    ]:
        desk.press(key)
        desk.press("escape")
    assert desk.passage().cursor == (0, 0)
    assert desk.inspector().lines[0][1] == "this abstract has no text"
    press(desk, "D")
    assert desk.press("D").changed


def test_a_schema_without_the_labels(project: Project) -> None:
    renamed = LabelSchema("other", "", "1", False, SCIERC.entities[1:2], ())
    project.set_schema(renamed)
    desk = Desk(project)
    press(desk, "enter")
    assert "the schema has no type 'Task'" in dict(desk.inspector().lines)["means"]
    assert desk.press("c").problem
    assert desk.passage().marks[1].key == "t"
    press(desk, "1")
    assert row(desk, "task").label == "Method"


def test_the_place_is_remembered(project: Project, desk: Desk) -> None:
    press(desk, "tab tab")
    desk.remember()
    again = Desk(project)
    assert (again.number, again.focus) == (1, RelationRef("tagger1 task"))
    press(again, "n")
    assert Desk(project).number == 2


def test_a_broken_note_of_the_place_does_no_harm(
    project: Project, desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    desk.remember()
    (file,) = (tmp_path / "home" / "stopped").iterdir()
    assert json.loads(file.read_text("utf-8"))["number"] == 1
    for broken in (
        "",
        "[]",
        '{"number": "x"}',
        '{"number": 99, "item": [1], "order": "?", "seed": 0}',
    ):
        file.write_text(broken, "utf-8")
        assert Desk(project).number == 1


def test_requests_are_the_apps(desk: Desk) -> None:
    asked = {
        key: desk.press(key).request for key in ("t", "g", "d", "slash", "question_mark", "colon")
    }
    assert list(asked.values()) == ["note", "guideline", "compare", "search", "help", "palette"]
    assert desk.set_note("look again").changed
    assert ("note", "look again") in desk.inspector().lines


def test_the_history_names_a_person_only_where_one_decided(desk: Desk) -> None:
    assert dict(desk.inspector().lines)["last"].startswith("predict, ")
    desk.press("enter")
    desk.focus_item(EntityRef("tagger1"))
    assert dict(desk.inspector().lines)["last"].startswith("accept by person:")


def test_keys_can_be_changed(project: Project) -> None:
    use_keys({"accept": "z,space"})
    desk = Desk(project)
    assert desk.press("z").changed
    assert desk.press("space").changed
    assert desk.press("enter").problem


def test_pointing(desk: Desk) -> None:
    desk.click(place("chunking").char_start)
    assert desk.focus == EntityRef("task")
    desk.drag(place("present").char_end, place("We").char_start)
    assert desk.passage().selection == (0, place("present").char_end)
    press(desk, "escape")
    desk.click(place("label").char_start)
    press(desk, "r")
    assert desk.click(place("We").char_start).problem
    desk.click(place("lattice").char_start)
    assert desk.mode is Mode.RELATE_TYPE


def test_a_list_gives_the_route(desk: Desk) -> None:
    desk.follow([3, 1, 2])
    press(desk, "n")
    assert desk.number == 2
    assert not desk.press("n").moved
    desk.open(3)
    press(desk, "n")
    assert desk.number == 1
    assert desk.open(99).problem
    assert desk.number == 1


def test_marks_nest_and_show_partners(desk: Desk) -> None:
    press(desk, "A f")
    press(desk, " ".join(desk.passage().hints[place("tagger").char_start]))
    press(desk, "v 2")
    marks = {mark.item_id: mark for mark in desk.passage().marks}
    inner = next(mark for mark in marks.values() if mark.focused)
    assert (inner.depth, marks["tagger1"].depth, marks["tagger1"].cluster) == (1, 0, "a")
    focus(desk, "tagger1")
    partners = {mark.item_id for mark in desk.passage().marks if mark.partner}
    assert partners == {"task", "tagger2", "it", "approach"}
