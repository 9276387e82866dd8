"""What a model said against what holds now: kept, edited, rejected, added, undecided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.store import EntityRef, LinkRef, Project, RelationRef
from sciextract_app.adjudication.sides import SideBySide, compare
from tests.app.review.abstracts import AGAIN, TEXT, document, gold, place, predict, project_with


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with project_with(tmp_path, gold(), (TEXT, AGAIN)) as found:
        yield found


def comparison(project: Project) -> SideBySide:
    found = compare(project, 1)
    assert found is not None
    return found


def compare_items(project: Project) -> list[tuple[str, str, str]]:
    return [(each.kind, each.here, each.there) for each in comparison(project).view().lines]


def test_without_a_model_there_is_nothing_to_compare(project: Project) -> None:
    assert compare(project, 2) is None


def test_a_run_that_was_undone_does_not_count(project: Project) -> None:
    project.undo()
    assert compare(project, 1) is None


def test_nothing_is_decided_yet(project: Project) -> None:
    view = comparison(project).view()
    assert view.counts == ("29 undecided",)
    assert view.lines == ()
    assert view.there.name == "model first@aaaaaaaa"
    assert {each.state for each in view.there.passage.marks} == {State.UNDECIDED}


def test_what_became_of_it(project: Project) -> None:
    actions = project.actions
    actions.mark_done(1, undecided="accept")
    actions.set_label(1, EntityRef("lexicon"), "OtherScientificTerm")
    actions.reject(1, EntityRef("speed"))
    actions.reject(1, LinkRef("of tagger1", "approach"))
    actions.invert(1, "encoder tagger2")
    actions.set_label(1, RelationRef("features window"), "FEATURE-OF")
    actions.add_entity(1, [place("error study")], "Method")
    assert compare_items(project) == [
        (
            "relation: edited, other direction",
            "‹tagger› PART-OF ─▶ ‹lattice encoder›",
            "‹lattice encoder› PART-OF ─▶ ‹tagger›",
        ),
        (
            *("mention: edited, other type", "‹label lexicon› OtherScientificTerm"),
            "‹label lexicon› Material",
        ),
        ("same thing: rejected", "nothing", "‹approach› = ‹It›"),
        (
            "relation: edited, other type",
            "‹surface features› FEATURE-OF ─▶ ‹window baseline›",
            "‹surface features› USED-FOR ─▶ ‹window baseline›",
        ),
        ("relation: rejected", "nothing", "‹tagging speed› EVALUATE-FOR ─▶ ‹approach›"),
        ("relation: rejected", "nothing", "‹chunk F1› CONJUNCTION ── ‹tagging speed›"),
        ("mention: rejected", "nothing", "‹tagging speed› Metric"),
        ("mention: added", "‹error study› Method", "nothing"),
    ]
    counts = comparison(project).view().counts
    assert counts == ("22 kept", "3 edited", "4 rejected", "1 added")


def test_passages_say_it_too(project: Project) -> None:
    project.actions.accept(1, EntityRef("task"))
    project.actions.reject(1, EntityRef("speed"))
    project.actions.move_edge(1, "corpus", "start", 1)
    view = comparison(project).view()
    states = {each.item_id: each.state for each in view.there.passage.marks}
    assert states["task"] is State.ACCEPTED
    assert states["speed"] is State.REJECTED
    assert states["corpus"] is State.EDITED
    assert states["f1"] is State.UNDECIDED
    partners = {each.item_id for each in view.there.passage.marks if each.partner}
    assert partners == {"speed", "corpus"}
    assert {each.item_id for each in view.here.passage.marks if each.partner} == {"corpus"}


def test_a_newer_model_is_compared(project: Project) -> None:
    project.actions.mark_done(1, undecided="accept")
    said = gold()
    entities = dict(said.entities)
    entities["task"] = replace(entities["task"], label="Method")
    predict(project, replace(said, entities=entities), document(TEXT, "d1"))
    assert [each[0] for each in compare_items(project)] == ["mention: edited, other type"]


def test_what_contradicts_a_decision_was_left_out(project: Project) -> None:
    project.actions.mark_done(1, undecided="accept")
    said = gold()
    spare = replace(said.entities["task"], id="new", fragments=(place("noun"),))
    predict(project, replace(said, entities={**said.entities, "new": spare}), document(TEXT, "d1"))
    assert compare_items(project) == [("mention: left out", "nothing", "‹noun› Task")]


class TestKeys:
    def test_walking(self, project: Project) -> None:
        for name in ("task", "clauses"):
            project.actions.reject(1, EntityRef(name))
        found = comparison(project)
        lines = len(found.view().lines)
        seen = []
        for key in ("tab", "j", "shift+tab", "k", "k"):
            found.press(key)
            seen.append([each.focused for each in found.view().lines].index(True))
        assert seen == [1, 2 % lines, 1, 0, lines - 1]
        focused = [each.item_id for each in found.view().there.passage.marks if each.focused]
        assert focused == ["clauses"]

    def test_it_only_shows(self, project: Project) -> None:
        found, events = comparison(project), len(project.log())
        for key in ("enter", "x", "1", "u", "D", "é"):
            assert found.press(key).problem
        assert len(project.log()) == events

    @pytest.mark.parametrize("key", ["d", "escape"])
    def test_leaving(self, project: Project, key: str) -> None:
        assert comparison(project).press(key).request == "leave"
