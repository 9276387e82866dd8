"""Types of the schema at the desk: added, renamed, moved and coloured, with two desks and without any type."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from sciextract.documents.schema import AttributeType
from sciextract.documents.schema_file import load_schema
from sciextract.store import Project, create_project, open_project
from sciextract.store.label_changes import move_type, take_attributes
from sciextract.store.project_settings import with_labels
from sciextract.workflows.import_files import import_files
from sciextract_app.review.view import screen as review_screen
from sciextract_app.review.view.labels import LabelsDialog
from sciextract_app.widgets.dialogs import ChoiceDialog, LineDialog, QuestionDialog
from tests.app.screens_support import desk_of, made_project, opened, shown, until, until_shown
from tests.cli.fakes import RuleExtractor

pytestmark = pytest.mark.asyncio


def labels_of(project: Project) -> list[str]:
    return [entity.label for entity in project.document_state(1).entities]


async def test_a_rename_goes_through_the_project_and_u_takes_it_back(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        project = desk_of(app).project
        first, before = "Method", labels_of(project)
        await pilot.press("g", "r")  # the type of the focused mention
        await until(pilot, lambda: isinstance(app.screen, LineDialog))
        app.screen.query_one(Input).value = "[b]New[/b]"
        await pilot.press("enter")
        await until_shown(pilot, f"{first} is [b]New[/b] now")
        renamed = [label.replace(first, "[b]New[/b]") for label in before]
        assert labels_of(project) == renamed != before
        assert "2 [b]New[/b]" in shown(pilot), "the legend names it"
        # The model that knows the old name goes on under the new one.
        await pilot.press("u")
        await until_shown(pilot, "rename Method to [b]New[/b] taken back")
        assert labels_of(project) == before
        assert f"2 {first}" in shown(pilot)


async def test_an_attribute_is_renamed_beside_the_types(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    with open_project(path) as project:
        kind = AttributeType("negated", "n", ("*",), definition="said not to be")
        take_attributes(project, [kind])
        project.actions.set_attribute(1, project.document_state(1).entities[0].id, "negated")
    async with opened(path) as (app, pilot):
        await pilot.press("g", "end")
        await until_shown(pilot, "attribute of *")
        await pilot.press("c")
        await until_shown(pilot, "negated is an attribute")
        await pilot.press("g", "end", "r")
        await until(pilot, lambda: isinstance(app.screen, LineDialog))
        app.screen.query_one(Input).value = "denied"
        await pilot.press("enter")
        await until_shown(pilot, "negated is denied now")
        [said] = desk_of(app).project.document_state(1).attributes
        assert said.label == "denied"


async def test_merge_and_remove_go_through_the_project_and_u_takes_each_back(
    tmp_path: Path,
) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        project = desk_of(app).project
        before, types = labels_of(project), project.schema.entity_labels
        await pilot.press("g", "m")  # the type of the focused mention
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("enter")
        await until_shown(pilot, "Method is part of Task now")
        assert labels_of(project) == [label.replace("Method", "Task") for label in before]
        await pilot.press("u")
        await until_shown(pilot, "merge Method into Task taken back")
        assert (labels_of(project), project.schema.entity_labels) == (before, types)
        await pilot.press("g", "x")
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        await pilot.press("enter")
        await until_shown(pilot, "Method is removed")
        assert "Method" not in (*labels_of(project), *project.schema.entity_labels)
        await pilot.press("u")
        await until_shown(pilot, "remove Method taken back")
        assert (labels_of(project), project.schema.entity_labels) == (before, types)


async def test_split_opens_a_queue_in_which_the_new_types_are_finished(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    with open_project(path) as project:
        project.actions.accept_above(0.0)
        for number in project.numbers():
            project.actions.mark_done(number, undecided="accept")
    async with opened(path) as (app, pilot):
        desk, project = desk_of(app).desk, desk_of(app).project
        await pilot.press("g", "s", *"Net, Tree", "enter")
        await until_shown(pilot, "looking for Net, Tree alone")
        assert desk.queues.active == "split Method"
        assert project.schema.entity_labels[-2:] == ("Net", "Tree")
        number, place = desk.number, len(project.schema.entity_labels)
        await pilot.press(str(place))
        await until(pilot, lambda: "Tree" in labels_of(project))
        await pilot.press("D")
        await until_shown(pilot, "Done: Net, Tree")
        progress = project.document_state(number).progress
        assert progress is not None
        assert {"entities:Net", "entities:Tree"} <= {*progress.covered}
        assert desk.number != number


@pytest.mark.parametrize("name", ["", "Task", "*", "x" * 61])
async def test_a_name_that_cannot_be_taken_is_explained(tmp_path: Path, name: str) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        before = desk_of(app).project.schema
        await pilot.press("g", "n")
        await until(pilot, lambda: isinstance(app.screen, LineDialog))
        app.screen.query_one(Input).value = name
        await pilot.press("enter")
        assert str(app.screen.query_one("#line-problem").render())
        await pilot.press("escape")
        assert desk_of(app).project.schema == before


async def test_types_are_added_moved_coloured_and_described(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        project = desk_of(app).project
        await pilot.press("g", "N", *"Part", "enter")
        await until(pilot, lambda: isinstance(app.screen, LabelsDialog))
        await pilot.press("K")
        await until(pilot, lambda: project.schema.relation_labels[-2] == "Part")
        await until(pilot, lambda: isinstance(app.screen, LabelsDialog))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, LineDialog))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, LabelsDialog))
        place = app.screen.query_one(OptionList).highlighted
        assert place is not None
        assert project.schema.types[place].label == "Part", "the cursor stays on it"
        await pilot.press("d", *"one in another", "enter")
        await until_shown(pilot, "one in another")
        found = project.schema.relation("Part")
        assert (found.colour, found.definition) == ("#22a045", "one in another")
        await pilot.press("escape", "u", "u", "u", "u")
        assert "Part" not in project.schema.relation_labels


async def test_a_key_decides_nothing_once_another_desk_has_moved_the_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made_project(tmp_path)
    monkeypatch.setattr(review_screen, "POLL_SECONDS", 3600)  # the key comes before the next look
    async with opened(path) as (app, pilot):
        screen = desk_of(app)
        before = labels_of(screen.project)
        with open_project(path, "bob") as other:
            move_type(other, "entity", other.schema.entity_labels[0], 3)
        await pilot.press("1")
        assert "types have changed elsewhere" in screen.messages.answer.message
        assert labels_of(screen.project) == before
        await pilot.press("1")
        assert labels_of(screen.project)[0] == screen.project.schema.entity_labels[0]


async def test_a_project_begins_without_types(tmp_path: Path) -> None:
    path = tmp_path / "p.sciextract"
    (tmp_path / "a.txt").write_text("Parsers learn. They help taggers.")
    with create_project(path, load_schema("empty")) as project:
        import_files(project, [str(tmp_path / "a.txt")])
    async with opened(path, load=RuleExtractor) as (app, pilot):
        await until_shown(pilot, "no types yet")
        await pilot.press("v", "l", "1", *"Tool", "enter")
        await until_shown(pilot, "added as Tool")
        await pilot.press("w", "2")  # no such type: says how to add one
        await until_shown(pilot, "g adds one")
        await pilot.press("1", "R")
        await until_shown(pilot, "which letter")
        hint = next(iter(desk_of(app).desk.passage().hints.values()))
        await pilot.press(hint, "1", *"helps", "enter")
        await until_shown(pilot, "helps ─▶")
        project = desk_of(app).project
        assert [relation.label for relation in project.document_state(1).relations] == ["helps"]


async def test_a_thousand_types_open_and_work(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    with open_project(path, "ann") as project:
        names = [f"Type {number}" for number in range(1000)]
        project.set_schema(with_labels(project.schema, names, []))
    async with opened(path, size=(80, 24)) as (app, pilot):
        await pilot.press("g")
        await until(pilot, lambda: isinstance(app.screen, LabelsDialog))
        await pilot.press("end")
        await until_shown(pilot, desk_of(app).project.schema.relation_labels[-1])
