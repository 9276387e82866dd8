"""The keystroke budget: keys are counted on invented abstracts, through the desk alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.documents.annotations import Cluster, Entity, State
from sciextract.store import Completeness, EntityRef, RelationRef
from sciextract.store.state_tables import find_differing
from sciextract_app.review.keys.desk import Desk
from tests.app.review.abstracts import (
    TEXT,
    Said,
    corrupted,
    gold,
    place,
    press,
    project_with,
    share_right,
    truth_of,
)
from tests.app.review.annotator import Annotator

FULL = 60
SEEDS = range(10)


def desk_of(folder: Path, **changed: Entity) -> Desk:
    """A desk on the gold as predictions, with some mentions changed."""
    right = gold()
    said = Said({**right.entities, **changed}, right.relations, right.clusters)
    return Desk(project_with(folder, said, (TEXT, "Another abstract.")))


def settled(desk: Desk) -> Desk:
    """The same desk with everything accepted, for counting what comes on top."""
    press(desk, "A")
    assert not desk.waiting
    return desk


def go_to(desk: Desk, name: str) -> None:
    """Focus a mention without counting."""
    desk.focus_item(EntityRef(name))


def test_correct_prediction(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    before = desk.waiting
    assert press(desk, "enter") == 1
    assert (desk.waiting, desk.focus) == (before - 1, EntityRef("task"))


def test_wrong_type(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    assert press(desk, "1") == 1
    row = desk.state.open_view.by_id["tagger1"]
    assert (row.label, row.state, desk.focus) == ("Task", State.EDITED, EntityRef("task"))


@pytest.mark.parametrize(
    ("key", "surface"),
    [("s", "a graph tagger"), ("S", "tagger"), ("e", "graph tagger for"), ("E", "graph")],
)
def test_edge_off_by_one(tmp_path: Path, key: str, surface: str) -> None:
    desk = desk_of(tmp_path)
    assert press(desk, key) == 1
    assert desk.state.open_view.surface("tagger1") == surface
    assert desk.state.open_view.by_id["tagger1"].state is State.EDITED


def test_false_positive(tmp_path: Path) -> None:
    spurious = Entity("spurious", (place("We"),), "Method", 0.6)
    desk = desk_of(tmp_path, spurious=spurious)
    assert desk.focus == EntityRef("spurious")
    assert press(desk, "x") == 1
    assert "spurious" not in desk.state.open_view.by_id


@pytest.mark.parametrize("word", ["present", "error", "hard", "is"])
def test_missed_mention_of_one_token(tmp_path: Path, word: str) -> None:
    desk = settled(desk_of(tmp_path))
    keys = press(desk, "f")
    keys += press(desk, " ".join(desk.passage().hints[place(word).char_start]))
    keys += press(desk, "2")
    assert keys <= 4
    assert isinstance(desk.focus, EntityRef)
    assert desk.state.open_view.surface(desk.focus.id) == word


def test_new_relation(tmp_path: Path) -> None:
    desk = settled(desk_of(tmp_path))
    go_to(desk, "lexicon")
    keys = press(desk, "r")
    keys += press(desk, " ".join(desk.passage().hints[place("lattice encoder").char_start]))
    keys += press(desk, "7")
    assert keys <= 3
    (made,) = (row for row in desk.state.open_view.relations if row.state is State.ADDED)
    assert {made.head, made.tail, made.label} == {"lexicon", "encoder", "CONJUNCTION"}


def test_flip(tmp_path: Path) -> None:
    desk = settled(desk_of(tmp_path))
    desk.focus_item(RelationRef("tagger1 task"))
    assert press(desk, "i") == 1
    row = desk.state.open_view.relation_by_id["tagger1 task"]
    assert (row.head, row.tail) == ("task", "tagger1")


def test_join_cluster(tmp_path: Path) -> None:
    desk = settled(desk_of(tmp_path))
    go_to(desk, "encoder")
    assert press(desk, "c b") == 2
    assert desk.clusters()[1].mentions == ("lattice encoder", "window baseline", "baseline")


def test_merge_clusters(tmp_path: Path) -> None:
    desk = settled(desk_of(tmp_path))
    go_to(desk, "tagger1")
    assert press(desk, "m b") == 2
    assert [(line.letter, len(line.mentions)) for line in desk.clusters()] == [("a", 6)]


def test_finish_abstract(tmp_path: Path) -> None:
    desk = settled(desk_of(tmp_path))
    assert press(desk, "D") == 1
    assert desk.number == 2
    progress = desk.state.project.document_state(1).progress
    assert progress is not None
    assert {progress.entities, progress.relations, progress.coreference} == {Completeness.DONE}


def test_right_predictions_need_a_key_each_or_one_for_all(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    items = len(desk.state.open_queue.undecided)
    assert items == 16 + 9 + 4
    assert Annotator(desk, gold()).work() == items + 1


def test_sure_ones_together(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    assert press(desk, "A D") == 2
    assert truth_of(desk.state.project.document(1).annotations) == truth_of(gold().annotations)


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_abstract(tmp_path: Path, seed: int) -> None:
    said = corrupted(seed)
    project = project_with(tmp_path, said)
    annotator = Annotator(Desk(project), gold())
    keys = annotator.work()
    print(f"seed {seed}: {keys} keys, {share_right(said):.0%} of the predictions exactly right")
    assert truth_of(project.document(1).annotations) == truth_of(gold().annotations)
    assert find_differing(project.connection) == []
    assert keys <= FULL


def test_no_cluster_predicted_at_all(tmp_path: Path) -> None:
    right = gold()
    project = project_with(tmp_path, Said(right.entities, right.relations, ()))
    keys = Annotator(Desk(project), right).work()
    assert truth_of(project.document(1).annotations) == truth_of(right.annotations)
    assert keys <= FULL


def test_everything_in_one_wrong_cluster(tmp_path: Path) -> None:
    right = gold()
    wrong = Cluster("w", ("tagger1", "task", "it", "window"), 0.7)
    project = project_with(tmp_path, replace(right, clusters=(wrong,)))
    keys = Annotator(Desk(project), right).work()
    assert truth_of(project.document(1).annotations) == truth_of(right.annotations)
    assert keys <= FULL


def test_a_string_that_was_added_is_offered_wherever_it_stands(tmp_path: Path) -> None:
    text = "A lexicon helps. The lexicon is small, and no lexicon is complete."
    desk = Desk(project_with(tmp_path, Said({}, (), ()), (text,)))
    desk.press("l")
    assert "a: 2 more" in desk.press("2").message
    press(desk, "a")
    rows = desk.state.open_view.entities
    assert [row.surface(text) for row in rows] == ["lexicon"] * 3


def test_an_edge_that_reaches_a_proposal_takes_it_over(tmp_path: Path) -> None:
    shorter = Entity("shorter", (place("tagger"),), "Method", 0.5)
    desk = desk_of(tmp_path, shorter=shorter)
    desk.focus_item(EntityRef("shorter"))
    before = desk.waiting
    assert press(desk, "s") == 1
    assert desk.focus == EntityRef("tagger1")
    view = desk.state.open_view
    assert "shorter" not in view.by_id and view.by_id["tagger1"].state is State.ACCEPTED
    assert desk.waiting == before - 2
    press(desk, "u")
    assert desk.waiting == before
