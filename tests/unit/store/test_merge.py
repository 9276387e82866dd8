"""Merging another annotator's project: what is taken over, what waits, what never happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer, State
from sciextract.store import Completeness, EntityRef, Project, events, open_project
from sciextract.store.coverage import find_missing
from sciextract.store.label_changes import add_type
from sciextract.store.merge import MergeCounts, ProjectMerge, foreign_documents
from sciextract.store.state_tables import find_differing
from sciextract.workflows.adjudicate import disputes
from tests.unit.store.projects import entity, guess, new_project, place, put, relation, states


def merged(mine: Project, theirs: Project) -> tuple[MergeCounts, list[int]]:
    """Merge one project into another; the log must agree with the state afterwards."""
    join = ProjectMerge(mine, theirs, "import:theirs.sciextract")
    compared = join.add(list(foreign_documents(theirs, mine.schema)))
    assert find_differing(mine.connection) == []
    return join.counts, compared


@pytest.fixture
def theirs(tmp_path: Path) -> Project:
    """The other annotator's project, with a gold entity of one abstract."""
    (tmp_path / "theirs").mkdir()
    project = new_project(tmp_path / "theirs", "ben")
    put(project, entity("e", place("net")))
    return project


def test_a_new_abstract_comes_with_everything(tmp_path: Path, theirs: Project) -> None:
    theirs.actions.reject(1, EntityRef("e"))
    theirs.actions.note(1, "odd")
    with new_project(tmp_path) as mine:
        counts, compared = merged(mine, theirs)
        doc = mine.document_state(1)
        assert (counts.documents, counts.taken, compared) == (1, 0, [])
        assert states(doc) == {"e": State.REJECTED}
        assert doc.progress is not None and doc.progress.note == "odd"


def test_an_abstract_nobody_worked_on_here_takes_their_decisions(
    tmp_path: Path, theirs: Project
) -> None:
    theirs.actions.accept(1, EntityRef("e"))
    with new_project(tmp_path) as mine:
        put(mine, entity("mine", place("net")), guess("guess", place("graph")))
        counts, compared = merged(mine, theirs)
        assert (counts.taken, compared) == (1, [])
        assert states(mine.document_state(1)) == {"mine": State.ACCEPTED}
        progress = mine.document_state(1).progress
        assert progress is not None and progress.entities is Completeness.IN_PROGRESS


def test_where_both_worked_mine_stays_and_theirs_waits(tmp_path: Path, theirs: Project) -> None:
    theirs.actions.reject(1, EntityRef("e"))
    with new_project(tmp_path) as mine:
        put(mine, entity("e", place("net")))
        mine.actions.accept(1, EntityRef("e"))
        counts, compared = merged(mine, theirs)
        assert (counts.compared, compared) == (1, [1])
        assert states(mine.document_state(1)) == {"e": State.ACCEPTED}
        assert len([*disputes(mine)]) == 1


def test_what_nobody_looked_at_on_the_other_side_is_no_difference(
    tmp_path: Path, theirs: Project
) -> None:
    """Ann has finished the abstract; Ben has rejected one of her mentions, and made one where she found none."""
    put(theirs, guess("seen", place("net", 1)), source="model:first")
    with new_project(tmp_path) as mine:
        put(mine, entity("e", place("net")), entity("f", place("graph")))
        mine.actions.mark_done(1)
        assert merged(mine, theirs)[1] == []
        theirs.actions.reject(1, EntityRef("e"))
        theirs.actions.add_entity(1, [place("parts")], "Task")
        before = states(mine.document_state(1))
        assert merged(mine, theirs)[1] == [1]
        assert states(mine.document_state(1)) == before
        found = [dispute.difference for dispute in disputes(mine)]
        assert [(difference.first is None, difference.second is None) for difference in found] == [
            (False, True),
            (True, False),
        ]


def test_a_type_that_only_they_looked_for_is_taken_over(tmp_path: Path, theirs: Project) -> None:
    with new_project(tmp_path) as mine:
        put(mine, entity("e", place("net")))
        for project in (mine, theirs):
            project.actions.mark_done(1)
            add_type(project, "entity", "Metric")
        theirs.actions.add_entity(1, [place("learns")], "Metric")
        theirs.actions.add_entity(1, [place("parts")], "Task")
        theirs.actions.mark_done(1)
        counts, compared = merged(mine, theirs)
        assert (counts.taken, compared) == (1, [1])
        assert {mention.label for mention in mine.document_state(1).entities} == {
            "Method",
            "Metric",
        }
        assert find_missing(mine.connection, mine.schema) == {}
        found = [dispute.difference.second for dispute in disputes(mine)]
        assert [side and side.label for side in found] == ["Task"]


def test_an_edit_of_what_both_had_makes_no_second_mention(tmp_path: Path, theirs: Project) -> None:
    theirs.actions.set_label(1, EntityRef("e"), "Task")
    with new_project(tmp_path) as mine:
        put(mine, entity("here", place("net")))
        merged(mine, theirs)
        assert [(mention.id, mention.label) for mention in mine.document_state(1).entities] == [
            ("here", "Task")
        ]


def test_notes_flags_and_authors_come_along(tmp_path: Path, theirs: Project) -> None:
    theirs.actions.note(1, "odd")
    theirs.actions.flag(1)
    theirs.actions.accept(1, EntityRef("e"))
    put(theirs, guess("g", place("net")), text="Another net.", doc_key="b")
    with new_project(tmp_path) as mine:
        put(mine, entity("e", place("net")))
        mine.actions.note(1, "short")
        mine.actions.accept(1, EntityRef("e"))
        merged(mine, theirs)
        merged(mine, theirs)
        progress = mine.document_state(1).progress
        assert progress is not None and progress.flagged and progress.note == "short; odd"


def test_decisions_that_contradict_what_was_imported_here_wait(
    tmp_path: Path, theirs: Project
) -> None:
    theirs.actions.reject(1, EntityRef("e"))
    with new_project(tmp_path) as mine:
        mine_has = (
            *(entity("e", place("net")), entity("f", place("graph"), "Task")),
            relation("r", "e", "f"),
        )
        put(mine, *mine_has)
        counts, compared = merged(mine, theirs)
        assert (counts.taken, counts.compared, compared) == (0, 1, [1])
        assert set(states(mine.document_state(1)).values()) == {State.IMPORTED}


def test_merging_again_changes_nothing_and_undo_takes_it_back(
    tmp_path: Path, theirs: Project
) -> None:
    put(
        theirs, entity("g", place("net")), relation("r", "g", "g"), text="Another net.", doc_key="b"
    )
    theirs.actions.accept(1, EntityRef("e"))
    with new_project(tmp_path) as mine:
        merged(mine, theirs)
        first = [states(mine.document_state(number)) for number in mine.numbers()]
        assert merged(mine, theirs)[0].items == 0
        assert [states(mine.document_state(number)) for number in mine.numbers()] == first
        with open_project(mine.path, "ann") as again:
            again.undo()
            again.undo()
            assert again.numbers() == []


@pytest.mark.parametrize("clock", ["1970-01-01", "2026-11-27", "2099-12-31"])
def test_clocks_decide_nothing(
    tmp_path: Path, theirs: Project, monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    """What wins follows from what was looked for and from the order of the logs."""
    theirs.actions.accept(1, EntityRef("e"))
    theirs.actions.note(1, "first")
    monkeypatch.setattr(events, "now", lambda: f"{clock}T00:00:00.000000+00:00")
    theirs.actions.reject(1, EntityRef("e"))
    theirs.actions.note(1, "second")
    with new_project(tmp_path) as mine:
        put(mine, entity("e", place("net")))
        monkeypatch.undo()
        merged(mine, theirs)
        assert states(mine.document_state(1)) == {"e": State.REJECTED}
        mine.actions.accept(1, EntityRef("e"))
        monkeypatch.setattr(events, "now", lambda: f"{clock}T00:00:00.000000+00:00")
        merged(mine, theirs)
        doc = mine.document_state(1)
        assert states(doc) == {"e": State.ACCEPTED} and len([*disputes(mine)]) == 1
        assert doc.progress is not None and doc.progress.note == "second"
        mine.actions.reject(1, EntityRef("e"))
        assert mine.undo()[0].kind == "reject"
        assert states(mine.document_state(1)) == {"e": State.ACCEPTED}


def test_what_they_say_of_a_relation_comes_where_only_mentions_are_finished_here(
    tmp_path: Path,
) -> None:
    items = entity("m", place("net")), entity("t", place("graph"), "Task"), relation("r", "m", "t")
    (tmp_path / "theirs").mkdir()
    with new_project(tmp_path) as mine, new_project(tmp_path / "theirs", "ben") as theirs:
        for project in (mine, theirs):
            put(project, *items)
            project.actions.mark_done(1, [Layer.ENTITIES])
        theirs.actions.set_attribute(1, "r", "negated")
        theirs.actions.set_attribute(1, "m", "negated")
        merged(mine, theirs)
        said = [row.target for row in mine.document_state(1).attributes]
        assert said == ["r"], "what was looked for in mentions here waits"
