"""What is marked in the passage."""

from __future__ import annotations

from dataclasses import replace

from sciextract.store import Project
from sciextract_app.review.keys.desk import Desk
from tests.app.review.abstracts import focus, press


def test_every_part_of_the_focused_mention_is_marked(desk: Desk) -> None:
    press(desk, "+ l +")
    focus(desk, "task")
    focus(desk, "tagger1")
    marks = [mark for mark in desk.passage().marks if mark.item_id == "tagger1"]
    assert [(mark.focused, mark.last) for mark in marks] == [(True, False), (True, True)]


def test_another_schema_gives_other_letters(desk: Desk, project: Project) -> None:
    before = {mark.key for mark in desk.passage().marks}
    schema = project.schema
    pairs = zip(schema.entities, "zyxwvu", strict=False)
    entities = tuple(replace(pair, key=key) for pair, key in pairs)
    project.set_schema(replace(schema, entities=entities))
    desk.refresh()
    assert not before & {mark.key for mark in desk.passage().marks}
