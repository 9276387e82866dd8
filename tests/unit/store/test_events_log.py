"""The log in order, the view that tells who decided what, and the state that the log gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.annotations import LabelScore, Span, State
from sciextract.store import EntityRef, EntityRow, LinkRef, Project, RelationRef, events
from sciextract.store.events import Change, change_of, decode, encode, fits, replay
from sciextract.store.rows import from_values, to_values
from sciextract.store.state_tables import find_differing, rebuild
from sciextract.store.undo import describe
from tests.unit.store.projects import (
    all_state,
    cluster,
    entity,
    guess,
    guess_cluster,
    guess_relation,
    place,
    predict,
    put,
    relation,
    reopened,
)


def test_the_order_of_the_log_is_not_the_clock(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    years: Iterator[int] = count(2030, -1)
    monkeypatch.setattr(events, "now", lambda: f"{next(years)}-01-01T00:00:00+00:00")
    put(project)
    project.actions.flag(1)
    project.actions.note(1, "x")
    project.undo()
    log = project.log()
    assert [event.kind for event in log] == ["undo", "note", "flag", "import", "schema"]
    assert log[0].at < log[1].at < log[2].at < log[3].at
    assert project.redo()[0].kind == "note"
    assert find_differing(project.connection) == []


def test_times_are_utc_and_sort_as_text() -> None:
    earlier, later = events.now(), events.now()
    assert earlier <= later
    assert earlier.endswith("+00:00")
    assert len(earlier) == len(later) == 32


def test_pages_of_the_log(project: Project) -> None:
    put(project)
    for flagged in (True, False, True):
        project.actions.flag(1, flagged)
    newest = project.log(2)
    assert [event.id for event in newest] == [5, 4]
    assert [event.id for event in events.read_events(project.connection, 2, 4)] == [3, 2]
    assert events.read_event(project.connection, 99) is None


def test_an_event_in_one_line(project: Project) -> None:
    put(project, entity("E1", place("net")))
    project.actions.set_label(1, EntityRef("E1"), "Task")
    project.actions.note(1, "x" * 100)
    assert [describe(event) for event in project.log(2)] == [
        "note",
        "label (entity E1, label Task)",
    ]


def decisions(project: Project) -> dict[str, tuple[object, ...]]:
    """The view ``decision``: by item who, what, how long."""
    rows = project.connection.execute(
        "SELECT id, kind, label, state, author, action, seconds, at, document_id FROM decision"
    ).fetchall()
    logged = {event.at for event in project.log()}
    assert all(row[7] in logged and row[8] == 1 for row in rows)
    return {row[0]: row[1:7] for row in rows}


def test_the_view_decision_tells_who_decided_what_when_and_how_long_it_took(
    project: Project,
) -> None:
    put(project, entity("E1", place("graph")))
    predict(
        project,
        *(guess("P1", place("graph")), guess("P2", place("net"), "Task")),
        *(guess("P3", place("learns")), guess_relation("R1", "P1", "P2")),
        guess_cluster("C1", "P2", "P3"),
        background=True,
    )
    run = project.log(1)[0].author
    project.actions.set_label(1, EntityRef("P2"), "Method", seconds=1.5)
    bob = reopened(project, "bob")
    bob.actions.accept(1, RelationRef("R1"), seconds=0.25)
    bob.actions.reject(1, LinkRef("C1", "P3"))
    found = decisions(bob)
    bob.close()
    assert found["E1"] == ("entity", "Method", "imported", "person:ann", "import", None)
    assert found["P2"] == ("entity", "Method", "edited", "person:ann", "label", 1.5)
    assert found["P3"] == ("entity", "Method", "undecided", run, "predict", None)
    assert found["R1"] == ("relation", "Uses", "accepted", "person:bob", "accept", 0.25)
    assert found["C1 P3"] == ("link", "", "rejected", "person:bob", "reject", None)
    assert len(found) == 6


def test_the_view_decision_follows_undo(project: Project) -> None:
    put(project, entity("E1", place("graph")))
    project.actions.reject(1, EntityRef("E1"), seconds=3.0)
    project.undo()
    assert decisions(project)["E1"][3:] == ("person:ann", "import", None)


def test_the_state_can_be_rebuilt_from_the_log(project: Project) -> None:
    put(project, entity("E1", place("graph")), entity("E2", [place("net"), place("learns")]))
    put(project, *(relation("R1", "E1", "E2"), cluster("C1", "E1", "E2")), source="import:b")
    project.actions.set_label(1, EntityRef("E1"), "Task")
    before = all_state(project)
    project.connection.execute("UPDATE entity SET label = 'Damaged', score = 1")
    project.connection.execute("UPDATE progress SET note = 'damaged'")
    assert find_differing(project.connection) == [1]
    rebuild(project, [1])
    assert find_differing(project.connection) == []
    assert all_state(project) == before


spans = st.lists(st.integers(0, 99), min_size=2, max_size=6, unique=True).map(
    lambda edges: tuple(
        Span(a, b) for a, b in zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False)
    )
)
texts = st.text(st.characters(exclude_categories=[]), max_size=5)  # lone surrogates, too
rows = st.builds(
    EntityRow,
    id=st.just("E1"),
    fragments=spans,
    label=texts,
    score=st.none() | st.floats(0, 1),
    state=st.sampled_from(State),
    source_id=st.integers(1, 3),
    event_id=st.integers(1, 9),
    was=st.none() | texts,
    alternatives=st.lists(st.builds(LabelScore, texts, st.floats(0, 1)), max_size=2).map(tuple),
)


@given(rows)
def test_rows_come_back_from_their_values(row: EntityRow) -> None:
    assert from_values("entity", to_values(row)) == row


@given(st.lists(rows, min_size=1, max_size=4))
def test_changes_replay_to_the_last_row_and_turn_back_to_the_first(
    history: list[EntityRow],
) -> None:
    steps = zip([None, *history], [*history, None], strict=True)
    changes = [change for change in (change_of(old, new) for old, new in steps) if change]
    assert decode(encode(changes)) == changes
    last = {("entity", ("E1",)): to_values(history[-1])}
    assert replay(changes[:-1]) == last
    backwards = [change.reverse for change in reversed(changes)]
    assert replay(backwards[:-1]) == {("entity", ("E1",)): to_values(history[0])}


def test_a_change_fits_only_the_row_that_it_was_made_from() -> None:
    change = Change("entity", ("E1",), {"label": "Task"}, {"label": "Method"})
    assert fits(change, {"label": "Task", "score": 1})
    assert not fits(change, {"label": "Method", "score": 1})
    assert not fits(change, None)
    assert fits(Change("entity", ("E1",), None, {}), None)
    assert not fits(Change("entity", ("E1",), None, {}), {})


def test_no_change_between_equal_rows() -> None:
    row = EntityRow("E1", (Span(0, 1),), "Task", None, State.ADDED, 1, 1)
    assert change_of(row, row) is None
    assert change_of(row, replace(row)) is None
