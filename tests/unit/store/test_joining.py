"""Merging another annotator's project: what is taken over, what waits, what never happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.store import Completeness, EntityRef, Project, open_project
from sciextract.store.merge import MergeCounts, ProjectMerge, foreign_documents
from sciextract.store.state_tables import differing
from tests.unit.store.projects import entity, guess, new_project, place, put, relation, states


def merged(mine: Project, theirs: Project) -> tuple[MergeCounts, list[int]]:
    """Merge one project into another; the log must agree with the state afterwards."""
    join = ProjectMerge(mine, "import:theirs.sciextract")
    compared = join.add(list(foreign_documents(theirs)))
    assert differing(mine.connection) == []
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
