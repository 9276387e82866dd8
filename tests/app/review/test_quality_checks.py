"""The consistency checks: what they find in a project, worked through by keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.documents.annotations import Candidates, Entity, LabelScore, Relation, SpanCandidate
from sciextract.store import EntityRef, open_project
from sciextract.store.quality_checks import Check, find
from tests.app.review.abstracts import TEXT, Said, document, gold, place, predict, project_with
from tests.app.screens_support import desk_of, opened, shown, until_shown

LONG = "a lattice encoder with a label lexicon and is trained"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The gold, accepted, with one example of everything that the checks look for."""
    right = gold()
    entities = right.entities | {
        "corpus2": replace(right.entities["corpus2"], label="Method"),
        "inner": Entity("inner", (place("encoder"),), "Generic", 0.9),
        "long": Entity("long", (place(LONG),), "Method", 0.9),
    }
    illegal = Relation("f1 task", "f1", "task", "HYPONYM-OF", 0.9)
    made = project_with(
        tmp_path, Said(entities, (*right.relations, illegal), right.clusters), (TEXT, "Notes.")
    )
    made.actions.accept_above(0.5, 1)
    sure = SpanCandidate(place("error study"), (LabelScore("Task", 0.93),))
    unsure = SpanCandidate(place("present"), (LabelScore("Task", 0.3),))
    taken = SpanCandidate(place("noun"), (LabelScore("Task", 0.95),))
    candidates = Candidates((sure, unsure, taken), ())
    predict(made, replace(right.annotations, candidates=candidates), document())
    made.close()
    return tmp_path / "p.sciextract"


def test_what_each_check_finds(project: Path) -> None:
    with open_project(project, read=True) as opened_project:
        found = {check: find(opened_project, check) for check in Check}
    words = {check: [finding.why for finding in places] for check, places in found.items()}
    assert [finding.item for finding in found[Check.LABELS]] == [
        EntityRef("corpus"),
        EntityRef("corpus2"),
    ]
    assert "Ledger corpus: Method here, in all Method 1, Material 1" in words[Check.LABELS]
    assert words[Check.CLUSTERS] == [
        "one cluster: Generic 3, Method 1",
        "one cluster: Method 1, Generic 1",
    ]
    assert "Metric HYPONYM-OF Task" in words[Check.ILLEGAL]
    inside = ("lattice encoder", "encoder", "label lexicon")
    assert words[Check.OVERLAPS] == [f"{name} overlaps {LONG}" for name in inside]
    assert words[Check.LONG] == [f"10 words: {LONG}"]
    assert words[Check.MISSED] == ["error study: Task 0.93"]


@pytest.mark.asyncio
async def test_what_was_found_is_worked_through_by_keys(project: Path) -> None:
    async with opened(project) as (app, pilot):
        desk = desk_of(app).desk
        await pilot.press("]")
        assert "No check was run yet; K lists" in shown(pilot)
        await pilot.press("n", "K")
        await until_shown(pilot, "2  same string, different labels")
        await until_shown(pilot, "1  mentions that the model is sure of")
        await pilot.press("enter")
        assert (desk.number, desk.focus) == (1, EntityRef("corpus"))
        assert "▸ same string, different labe… 1 of 2   0 of 2 done" in shown(pilot)
        assert "Ledger corpus: Material here" in shown(pilot)
        await pilot.press("n")
        assert "last abstract of the check same string" in shown(pilot)
        await pilot.press("]")
        assert desk.focus == EntityRef("corpus2")
        assert "2 of 2" in shown(pilot)
        await pilot.press("]")
        assert "No further place: same string, different labels; K checks again" in shown(pilot)
        await pilot.press("4", "[")
        assert desk.focus == EntityRef("corpus")
        await pilot.press("K")
        await until_shown(pilot, "0  same string, different labels")
        await until_shown(pilot, "1  mentions that the model is sure of")
        await pilot.press("enter")  # on the first that has found something
        assert "▸ different labels in one clu" in shown(pilot)
        await pilot.press("I")
        assert "kept as it is" in shown(pilot)
        await pilot.press("K")
        await until_shown(pilot, "1  different labels in one cluster")
        await pilot.press("escape", "u", "K")
        await until_shown(pilot, "2  different labels in one cluster")
        await pilot.press("home", "enter")
        assert "nothing was found" in shown(pilot)
        await pilot.press("end", "enter")
        await until_shown(pilot, "▸ mentions that the model is")
        await pilot.press("v", "l", "1")  # the cursor is there: the missing mention is added
        assert desk.state.open_view.surface(desk.focus.id) == "error study"
        await pilot.press("f3", "enter")  # the only line: leave the check
        await until_shown(pilot, "left the check mentions that the model is")
        assert "1 of 2" in shown(pilot)  # all abstracts again
        await pilot.press("]")
        assert "No check was run yet" in shown(pilot)
