"""Deciding between two sides: every kind of difference, undo, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.store import EntityRef, Project, open_project
from sciextract.workflows.adjudicate import disputes
from sciextract_app.adjudication.backlog import open_differences
from sciextract_app.adjudication.presenter import Adjudication
from sciextract_app.shared.view_models import Mode
from tests.app.adjudication.desks import (
    ALL,
    FIRST,
    against,
    entities,
    fragments_of,
    holds,
    kinds,
    look_at,
    waiting,
)
from tests.app.adjudication.merged import BEN


def test_every_kind_is_named(desk: Adjudication) -> None:
    assert len(kinds(desk)) == FIRST
    assert set(kinds(desk)) == {
        "mention: other type",
        "mention: other edges",
        "mention: only here",
        "mention: only there",
        "relation: other direction",
        "relation: other type",
        "relation: other mentions",
        "relation: only here",
        "relation: only there",
        "same thing: other cluster",
        "same thing: only here",
    }
    assert desk.view().counts == ("1 of 13 here", "15 left in 2 abstracts")


def test_the_notes_of_the_project_agree(project: Project) -> None:
    assert open_differences(project) == ALL == len(waiting(project))


class TestSides:
    def test_enter_keeps_what_both_have_and_mine(
        self, desk: Adjudication, project: Project
    ) -> None:
        before = holds(project)
        look_at(desk, "mention: other type")
        assert desk.press("enter").message == "Material ‹label lexicon› kept"
        assert holds(project) == before
        assert len(kinds(desk)) == FIRST - 1

    def test_x_takes_the_other_side(self, desk: Adjudication, project: Project) -> None:
        look_at(desk, "mention: other type")
        assert desk.press("x").message == "OtherScientificTerm ‹label lexicon› taken over"
        assert project.document(1).annotations.entity("lexicon").label == "OtherScientificTerm"

    def test_the_focus_is_where_something_is(self, desk: Adjudication) -> None:
        look_at(desk, "mention: only there")
        assert desk.view().there.focused
        assert [hint.words for hint in desk.footer()[:2]] == ["take theirs", "keep nothing"]
        look_at(desk, "mention: only here")
        assert desk.view().here.focused
        assert [hint.words for hint in desk.footer()[:2]] == ["keep mine", "remove it"]

    def test_accepting_what_is_only_there(self, desk: Adjudication, project: Project) -> None:
        look_at(desk, "mention: only there")
        desk.press("enter")
        found = [entity.text_of(project.document_state(1).text) for entity in entities(project)]
        assert "error study" in found

    def test_rejecting_what_is_only_there_changes_nothing(
        self, desk: Adjudication, project: Project
    ) -> None:
        before = holds(project)
        look_at(desk, "mention: only there")
        assert desk.press("x").message == "Method ‹error study› left out"
        assert holds(project) == before

    def test_rejecting_what_is_only_here(self, desk: Adjudication, project: Project) -> None:
        look_at(desk, "mention: only here")
        assert "2 items that depended on it" in desk.press("x").message
        assert "speed" not in {entity.id for entity in entities(project)}

    def test_o_turns_the_keys_around(self, desk: Adjudication, project: Project) -> None:
        look_at(desk, "mention: other type")
        desk.press("o")
        assert (desk.on, desk.view().there.focused) == ("theirs", True)
        desk.press("enter")
        assert project.document(1).annotations.entity("lexicon").label == "OtherScientificTerm"

    def test_arrows_name_a_side(self, desk: Adjudication) -> None:
        for key, side in (("right", "theirs"), ("right", "theirs"), ("left", "mine")):
            desk.press(key)
            assert desk.on == side

    def test_the_next_difference_has_its_own_side_again(self, desk: Adjudication) -> None:
        desk.press("o")
        desk.press("tab")
        assert desk.on == "mine"


@pytest.mark.parametrize(
    ("kind", "label"), [("other direction", "PART-OF"), ("other type", "FEATURE-OF")]
)
def test_relations(desk: Adjudication, project: Project, kind: str, label: str) -> None:
    look_at(desk, f"relation: {kind}")
    now = desk.now
    assert now is not None
    theirs = now.dispute.difference.second
    desk.press("x")
    relations = project.document(1).annotations.relations
    ends = [
        [fragments_of(project, end) for end in (relation.head, relation.tail)]
        for relation in relations
    ]
    assert theirs is not None and list(theirs.fragments) in ends
    assert label in {relation.label for relation in relations}


def test_another_cluster(desk: Adjudication, project: Project) -> None:
    look_at(desk, "same thing: other cluster", "window baseline")
    assert desk.view().here.summary == ("nothing", "cluster b: ‹window baseline›, ‹baseline›")
    assert desk.view().there.summary[1] == "cluster b: ‹It›, ‹window baseline›, ‹baseline›"
    desk.press("enter")
    homes = {link.cluster_id for link in project.document_state(1).links_of("it") if link.in_view}
    assert homes == {"of window"}


class TestPassages:
    def test_the_difference_is_marked_on_both_sides(self, desk: Adjudication) -> None:
        look_at(desk, "mention: other edges")
        view = desk.view()
        text = view.here.passage.text
        [focused] = [mark for mark in view.here.passage.marks if mark.focused]
        [partner] = [mark for mark in view.there.passage.marks if mark.partner]
        assert text[focused.char_start : focused.char_end] == "Ledger corpus"
        assert text[partner.char_start : partner.char_end] == "corpus"
        assert not any(mark.focused for mark in view.there.passage.marks)

    def test_where_a_side_has_nothing_the_place_is_in_sight(self, desk: Adjudication) -> None:
        look_at(desk, "mention: only there")
        here = desk.view().here.passage
        assert here.text[slice(*here.cursor)] == "error study"

    def test_clusters_share_letters(self, desk: Adjudication) -> None:
        view = desk.view()
        letters = [
            {mark.item_id: mark.cluster for mark in side.passage.marks}
            for side in (view.here, view.there)
        ]
        assert letters[0]["tagger2"] == letters[1]["tagger2"] == "a"
        assert (letters[0]["it"], letters[1]["it"]) == ("a", "b")

    def test_what_i_rejected_is_told(self, project: Project, desk: Adjudication) -> None:
        project.actions.reject(1, EntityRef("task"))
        desk.refresh()
        look_at(desk, "mention: only there", "noun chunking")
        assert desk.view().here.summary[0] == "nothing: rejected here"


class TestUndo:
    def test_undo_brings_it_back_with_the_focus(self, desk: Adjudication, project: Project) -> None:
        before = holds(project)
        look_at(desk, "mention: other type")
        desk.press("x")
        assert desk.press("u").message == "decision taken back"
        [now] = [line for line in desk.view().lines if line.focused]
        assert (now.kind, len(kinds(desk))) == ("mention: other type", FIRST)
        assert holds(project) == before
        assert open_differences(project) == ALL

    def test_redo(self, desk: Adjudication) -> None:
        desk.press("x")
        desk.press("u")
        assert desk.press("U").message == "decision decided again"
        assert len(kinds(desk)) == FIRST - 1

    def test_undo_goes_to_the_abstract(self, desk: Adjudication) -> None:
        desk.press("enter")
        desk.press("D")
        assert desk.number == 2
        assert desk.press("u").moved
        assert (desk.number, len(kinds(desk))) == (1, FIRST)

    def test_what_was_done_at_the_desk_stays(self, desk: Adjudication, project: Project) -> None:
        project.actions.flag(1)
        feedback = desk.press("u")
        assert feedback.problem and "'flag'" in feedback.message and "Esc" in feedback.message
        progress = project.document_state(1).progress
        assert progress is not None and progress.flagged

    def test_nothing_to_undo(self, path: Path) -> None:
        with open_project(path, "cem") as project:
            feedback = against(project, BEN).press("u")
        assert feedback.problem and "nothing to undo" in feedback.message


class TestAll:
    @pytest.mark.parametrize("keys", [("A", "enter"), ("A", "o", "enter")])
    def test_all_of_one_side_is_one_action(
        self, desk: Adjudication, project: Project, keys: tuple[str, ...]
    ) -> None:
        before, events = holds(project), len(project.log())
        for key in keys:
            feedback = desk.press(key)
        assert feedback.message == "13 differences settled; u undoes it"
        assert (kinds(desk), len(project.log())) == ([], events + 1)
        assert (holds(project) == before) == ("o" not in keys)
        desk.press("u")
        assert (holds(project), len(kinds(desk))) == (before, FIRST)
        assert open_differences(project) == ALL
        desk.press("U")
        assert (kinds(desk), open_differences(project)) == ([], ALL - FIRST)

    def test_all_of_theirs_leaves_no_difference(self, desk: Adjudication, project: Project) -> None:
        for key in ("A", "o", "enter"):
            desk.press(key)
        assert {dispute.number for dispute in disputes(project)} == {2}
        assert {dispute.difference.second for dispute in disputes(project)} != {None}

    def test_the_question_counts_and_can_be_left(
        self, desk: Adjudication, project: Project
    ) -> None:
        assert desk.press("A").message.startswith("13 differences, all as in this project?")
        assert desk.mode is Mode.CONFIRM
        assert desk.press("x").problem
        assert "all as ben.sciextract has it?" in desk.press("o").message
        desk.press("escape")
        assert (desk.mode, len(waiting(project))) == (Mode.REVIEW, ALL)


def test_every_difference_is_marked_in_both_texts_until_it_is_decided(desk: Adjudication) -> None:
    def open_here_and_there() -> list[set[str]]:
        sides = desk.view().here.passage.marks, desk.view().there.passage.marks
        return [
            {mark.item_id for mark in marks if mark.state is State.UNDECIDED} for marks in sides
        ]

    here, there = open_here_and_there()
    assert here and "lexicon" in there
    assert len(here) < len(desk.view().here.passage.marks), "what both have is not marked"
    look_at(desk, "mention: other type")
    desk.press("x")
    assert "lexicon" not in open_here_and_there()[1]
