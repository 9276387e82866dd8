"""What is refused, where keys lead, and what others do meanwhile."""

from __future__ import annotations

import random
from pathlib import Path

from sciextract.store import EntityRef, LinkRef, Project, RelationRef, open_project
from sciextract.store.maintenance.checks import Severity
from sciextract.store.maintenance.doctor import examine
from sciextract.workflows.adjudicate import disputes
from sciextract.workflows.disagreements import Decisions, other_sources
from sciextract_app.adjudication.backlog import open_differences
from sciextract_app.adjudication.presenter import Adjudication
from sciextract_app.shared.actions import use_keys
from tests.app.adjudication.desks import (
    FIRST,
    against,
    entities,
    holds,
    kinds,
    look_at,
    waiting,
)
from tests.app.adjudication.merged import BEN


class TestRefusals:
    def test_a_relation_needs_its_mentions(self, desk: Adjudication, project: Project) -> None:
        before = holds(project)
        look_at(desk, "relation: only there")
        feedback = desk.press("enter")
        assert feedback.problem
        assert "'error study' is not an entity here" in feedback.message
        assert "entities first" in feedback.message
        assert (holds(project) == before, len(kinds(desk))) == (True, FIRST)

    def test_mentions_come_before_what_joins_them(self, desk: Adjudication) -> None:
        assert kinds(desk).index("mention: only there") < kinds(desk).index("relation: only there")

    def test_all_at_once_keeps_what_cannot_be_done(
        self, desk: Adjudication, project: Project
    ) -> None:
        look_at(desk, "mention: only there")
        desk.press("x")
        for key in ("A", "o"):
            desk.press(key)
        feedback = desk.press("enter")
        assert (
            feedback.problem
            and "settled, 1 not: 'error study' is not an entity" in feedback.message
        )
        assert kinds(desk) == ["relation: only there"]
        assert [dispute.key for dispute in disputes(project) if dispute.number == 1] != []

    def test_keys_without_a_meaning_here(self, desk: Adjudication) -> None:
        for key in ("3", "s", "r", "é", "f12", "F"):
            feedback = desk.press(key)
            assert feedback.problem and "does nothing here" in feedback.message

    def test_a_project_that_can_only_be_read(self, path: Path) -> None:
        with open_project(path, read=True) as project:
            desk = against(project, BEN)
            feedback = desk.press("enter")
            assert feedback.problem and len(kinds(desk)) == FIRST

    def test_nothing_waits(self, desk: Adjudication) -> None:
        for key in ("A", "enter"):
            desk.press(key)
        for key in ("enter", "x", "A"):
            assert "D goes to the next one" in desk.press(key).message


class TestGoing:
    def test_decided_ones_vanish_and_the_next_comes(self, desk: Adjudication) -> None:
        before = kinds(desk)
        desk.press("tab")
        desk.press("enter")
        assert kinds(desk) == [before[0], *before[2:]]
        assert [line.focused for line in desk.view().lines].index(True) == 1

    def test_tab_goes_round(self, desk: Adjudication) -> None:
        desk.press("shift+tab")
        assert desk.view().lines[-1].focused
        desk.press("tab")
        assert desk.view().lines[0].focused

    def test_d_goes_where_something_waits(self, desk: Adjudication) -> None:
        assert desk.press("D").moved and desk.number == 2
        assert desk.press("D").moved and desk.number == 1
        for key in ("A", "enter", "D"):
            desk.press(key)
        assert desk.number == 2
        assert desk.press("D").message == "No other abstract has differences"
        for key in ("A", "enter"):
            desk.press(key)
        assert "Nothing is left to decide" in desk.press("D").message
        assert desk.view().counts == ("none here", "0 left in 0 abstracts")

    def test_n_and_p_show_abstracts_without_differences_too(self, desk: Adjudication) -> None:
        desk.press("n")
        desk.press("n")
        assert (desk.number, kinds(desk)) == (3, [])
        assert desk.view().there.passage.text.startswith("We parse \x1b[31m")
        assert "last" in desk.press("n").message
        desk.press("p")
        assert desk.number == 2

    def test_begins_where_something_waits(self, project: Project) -> None:
        assert against(project, BEN, 3).number == 1
        assert against(project, BEN, 2).number == 2

    def test_requests(self, desk: Adjudication) -> None:
        asked = {key: desk.press(key).request for key in ("escape", "W", "?", "g", ":", "q")}
        assert asked == {
            "escape": "leave",
            "W": "adjudicate",
            "?": "help",
            "g": "guideline",
            ":": "palette",
            "q": "quit",
        }

    def test_what_the_desk_shall_show(self, desk: Adjudication) -> None:
        for kind, item in (
            ("mention: other type", EntityRef("lexicon")),
            ("relation: other direction", RelationRef("encoder tagger2")),
            ("same thing: only here", LinkRef("of tagger1", "approach")),
            ("mention: only there", None),
        ):
            look_at(desk, kind)
            assert desk.item == item

    def test_own_keys(self, project: Project) -> None:
        sides = [source for source in other_sources(project, Decisions(project)) if source.merged]
        use_keys({"accept": "space"})
        desk = Adjudication(project, sides, 1)
        assert desk.press("enter").problem
        assert "kept" in desk.press("space").message


class TestOthers:
    def test_another_process_decides(self, desk: Adjudication, path: Path) -> None:
        desk.press("tab")
        with open_project(path, "ann") as elsewhere:
            other = against(elsewhere, BEN)
            other.press("enter")
            assert desk.is_stale()
            assert desk.refresh().message == ""
            assert desk.view().lines[0].focused
            other.press("enter")
        assert "another person or window" in desk.refresh().message
        assert not desk.is_stale()
        assert desk.view().counts == ("1 of 11 here", "13 left in 2 abstracts")

    def test_the_desk_changes_something(self, desk: Adjudication, project: Project) -> None:
        project.actions.reject(1, EntityRef("task"))
        desk.refresh()
        assert len(kinds(desk)) > FIRST

    def test_a_model_is_another_side(self, project: Project) -> None:
        project.actions.reject(1, EntityRef("task"))
        desk = against(project, "model:first@aaaaaaaa")
        assert desk.view().there.name == "model first@aaaaaaaa"
        assert kinds(desk) == ["mention: only there", "relation: only there"]
        desk.press("enter")
        assert "task" in {entity.id for entity in entities(project)}

    def test_a_merge_that_was_undone_is_no_side(self, project: Project) -> None:
        project.undo()
        assert [source.name for source in other_sources(project, Decisions(project))] == [
            "model:first@aaaaaaaa"
        ]

    def test_undo_of_a_decision_about_somebody_else(self, project: Project) -> None:
        project.actions.reject(1, EntityRef("task"))
        model = against(project, "model:first@aaaaaaaa")
        model.press("x")
        desk = against(project, BEN)
        assert desk.press("u").message == "decision taken back"
        assert desk.view().there.name == "model first@aaaaaaaa"
        assert [line.focused for line in desk.view().lines].index(True) == 0


def test_random_keys(path: Path) -> None:
    with open_project(path, "ann") as project:
        _press_at_random(against(project, BEN), project)
    bad = [finding for finding in examine(path).findings if finding.severity is Severity.ERROR]
    assert [finding.check for finding in bad] == []


def _press_at_random(desk: Adjudication, project: Project) -> None:
    chance = random.Random(7)
    keys = [*"xoOuUDnpAWjk", "enter", "enter", "tab", "shift+tab", "left", "right", "escape", "?"]
    for _ in range(300):
        desk.press(chance.choice(keys))
        view, footer = desk.view(), desk.footer()
        assert footer and sum(line.focused for line in view.lines) == bool(view.lines)
    assert open_differences(project) == len(waiting(project)) == desk.backlog.total
