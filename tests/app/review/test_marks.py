"""Marks, lookups and queues that are kept from key to key say the same as those that are made anew."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sciextract.store import Project
from sciextract_app.review.desk import Desk
from sciextract_app.review.panes import passage
from sciextract_app.review.queue import Queue
from sciextract_app.shared.document_view import DocumentView, MarkCache
from sciextract_app.shared.view_models import Mark
from tests.app.review.abstracts import focus, press

KEYS = [*"jklhxaAc", *["enter", "tab", "s", "e", "E", "1", "3", "u", "escape", "+", "C", "X"] * 2]


def anew(desk: Desk) -> tuple[Mark, ...]:
    """The marks without anything that was kept."""
    now = desk.state
    kept, now.marks = now.marks, MarkCache()
    try:
        return passage(now).marks
    finally:
        now.marks = kept


@pytest.mark.parametrize("seed", range(8))
def test_after_any_key(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    for key in chance.choices(KEYS, k=60):
        desk.press(key)
        assert desk.passage().marks == anew(desk)
        assert lookups(desk.state.open_view) == lookups(fresh_view(desk.state.open_view))
        assert queue_of(desk.state.open_queue) == queue_of(Queue(fresh_view(desk.state.open_view)))


def fresh_view(view: DocumentView) -> DocumentView:
    return DocumentView(view.document, view.schema, view.sources)


def lookups(view: DocumentView) -> tuple[object, ...]:
    """Everything that a view may take from the one before it."""
    relations = {end: {row.id for row in rows} for end, rows in view.relations_of.items()}
    members = [*view.members.items()]
    return view.entities, view.by_id, members, view.homes, relations, view.undecided


def queue_of(queue: Queue) -> tuple[object, ...]:
    """Its items, and those that follow and precede each of them."""
    keys = [queue.key(item) for item in queue.items]
    steps = [(queue.after(key), queue.before(key), queue.neighbour(key, 1)) for key in keys]
    return queue.items, queue.undecided, steps


def test_what_does_not_change_stays_the_same_object(desk: Desk) -> None:
    before = desk.passage().marks
    press(desk, "enter")
    after = desk.passage().marks
    assert sum(old is not new for old, new in zip(before, after, strict=True)) <= 8


def test_every_part_of_the_focused_mention_is_marked(desk: Desk) -> None:
    press(desk, "+ l +")
    focus(desk, "task")
    focus(desk, "tagger1")
    marks = [each for each in desk.passage().marks if each.item_id == "tagger1"]
    assert [(each.focused, each.last) for each in marks] == [(True, False), (True, True)]


def test_another_schema_gives_other_letters(desk: Desk, project: Project) -> None:
    before = {each.key for each in desk.passage().marks}
    schema = project.schema
    pairs = zip(schema.entities, "zyxwvu", strict=False)
    entities = tuple(replace(each, key=key) for each, key in pairs)
    project.set_schema(replace(schema, entities=entities))
    desk.refresh()
    assert desk.passage().marks == anew(desk)
    assert not before & {each.key for each in desk.passage().marks}
