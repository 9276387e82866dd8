"""All relations of an abstract on one screen: arranged, walked and decided by keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.store import EntityRef, RelationRef
from sciextract_app.review.keys.relation_map import MOST_LANES, Arc, draw_arcs
from tests.app.review.abstracts import TEXT, gold, project_with
from tests.app.screens_support import desk_of, opened, shown


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project_with(tmp_path, gold(), (TEXT, "Notes without anything.")).close()
    return tmp_path / "p.sciextract"


@pytest.mark.asyncio
async def test_every_relation_is_decided_with_keys_of_the_desk(project: Path) -> None:
    async with opened(project) as (app, pilot):
        desk = desk_of(app).desk
        await pilot.press("M")
        assert "9 relations, 9 undecided" in shown(pilot)
        assert desk.focus == RelationRef("tagger1 task")
        await pilot.press("enter", "x")  # each goes on to the next relation
        assert "‹tagger› rejected; u undoes it" in shown(pilot)
        await pilot.press("u", "j", "i", "end", "k")
        assert desk.focus == RelationRef("f1 speed")
        await pilot.press("6", "escape")
        rows = {row.id: row for row in desk.state.open_view.relations}
        assert len(rows) == 9  # u brought back the rejected one
        assert rows["tagger1 task"].state is State.ACCEPTED
        assert (rows["f1 speed"].label, rows["f1 speed"].state) == ("COMPARE", State.EDITED)
        assert sum(row.state is State.EDITED for row in rows.values()) == 2
        # What had the focus was decided with a relation, so the desk goes on behind it.
        assert desk.state.focus == EntityRef("contracts")


@pytest.mark.asyncio
async def test_leaving_gives_the_focus_back(project: Path) -> None:
    async with opened(project) as (app, pilot):
        desk = desk_of(app).desk
        await pilot.press("L", "L", "l")
        before, cursor = desk.focus, desk.state.cursor
        await pilot.press("M", "j", "j", "escape")
        assert (desk.focus, desk.state.cursor) == (before, cursor)
        await pilot.press("k", "M", "end", "x", "u", "escape")
        assert desk.focus != before and desk.focus in desk.state.open_queue.items


@pytest.mark.asyncio
@pytest.mark.parametrize("start", ["home", "end"])
async def test_enter_on_a_decided_relation_goes_on_and_what_follows_does_not_remove_it(
    project: Path, start: str
) -> None:
    async with opened(project) as (app, pilot):
        desk = desk_of(app).desk
        await pilot.press("M", start)
        assert isinstance(desk.focus, RelationRef)
        corrected = desk.focus.id
        await pilot.press("i", "enter", "1", "x")
        rows = {row.id: row for row in desk.state.open_view.relations}
        assert rows[corrected].state is State.EDITED
        await pilot.press("end")
        last = desk.focus
        await pilot.press("enter", "x")
        assert desk.state.open_view.row(last) is not None, "on the last one it takes a second x"
        await pilot.press("x")
        assert desk.state.open_view.row(last) is None


@pytest.mark.asyncio
async def test_by_sentence_by_type_and_as_a_map(project: Path) -> None:
    async with opened(project) as (_, pilot):
        await pilot.press("M")
        assert "1. We present a graph tagger for noun chunking in legal contracts." in shown(pilot)
        # Digits give types here, so no digit stands before a grouping.
        assert "[by sentence] by type  map" in shown(pilot)
        await pilot.press("tab")
        assert "EVALUATE-FOR (2)" in shown(pilot)
        await pilot.press("tab")
        lines = [line.rstrip() for line in shown(pilot).splitlines()]
        assert any(line.endswith("╭─── graph tagger") for line in lines)
        assert any(line.endswith("╰──► noun chunking") for line in lines)


@pytest.mark.asyncio
async def test_long_lists_scroll_with_the_focus(project: Path) -> None:
    async with opened(project, size=(80, 15)) as (_, pilot):
        await pilot.press("M")
        assert "chunk F1 EVALUATE-FOR" not in shown(pilot)
        await pilot.press("pagedown", "k")
        assert "▸ chunk F1" in shown(pilot)


@pytest.mark.asyncio
async def test_an_abstract_without_relations(project: Path) -> None:
    async with opened(project) as (app, pilot):
        await pilot.press("n", "M")
        assert "no relations here" in shown(pilot)
        await pilot.press("enter")
        assert "There is no relation here" in shown(pilot)
        await pilot.press("escape", "p")
        assert desk_of(app).desk.number == 1


def test_arcs_of_one_lane_never_overlap_and_lanes_end() -> None:
    assert draw_arcs([Arc(0, 1), Arc(2, 3), Arc(0, 3, directed=False)], 4) == [
        "╭┬─ ",
        "│╰► ",
        "│╭─ ",
        "╰┴► ",
    ]
    many = draw_arcs([Arc(0, 40 + n) for n in range(40)], 80)
    assert {len(line) for line in many} == {MOST_LANES + 2}
