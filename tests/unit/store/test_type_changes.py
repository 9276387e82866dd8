"""Types that are merged, split and removed with their items: one event each, taken back by undo."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sciextract.documents.annotations import ALL_LAYERS, State
from sciextract.errors import ActionRefusedError, SchemaError
from sciextract.store import EntityRef, Project, open_project
from sciextract.store.coverage import find_missing
from sciextract.store.label_changes import Kind, add_type, rename_type
from sciextract.store.state_tables import find_differing
from sciextract.store.type_changes import merge_types, remove_type, split_type
from tests.unit.store.projects import (
    OTHER_TEXT,
    all_state,
    cluster,
    entity,
    guess,
    place,
    predict,
    put,
    relation,
    reopened,
)


def filled(project: Project) -> None:
    """A string that is a Method and a Task, one more Task, and what joins them; an abstract that is finished."""
    net, graph = place("net"), place("graph")
    put(
        project,
        *(entity("m", net), entity("t", net, "Task"), entity("g", graph, "Task")),
        *(relation("1", "m", "g"), relation("2", "t", "g"), relation("3", "g", "m", "Like")),
        *(cluster("c", "t", "g"), relation("4", "m", "t")),
    )
    put(project, entity("o", place("net", text=OTHER_TEXT)), text=OTHER_TEXT, doc_key="other")
    project.actions.mark_done(2, ALL_LAYERS, "accept")


def items(project: Project, number: int = 1) -> list[tuple[str, ...]]:
    doc = project.document_state(number)
    entities = [(mention.id, mention.label) for mention in doc.entities]
    relations = [(edge.head, edge.label, edge.tail) for edge in doc.relations]
    return sorted([*entities, *relations, *((link.entity_id,) for link in doc.links)])


def test_a_merged_type_has_one_item_where_there_were_two(project: Project) -> None:
    filled(project)
    before, schema = all_state(project), project.schema
    outcome = merge_types(project, "entity", "Task", "Method")
    joined = [("g", "Method"), ("m", "Method"), ("m", "Uses", "g"), ("g", "Like", "m")]
    assert items(project) == sorted([*joined, ("g",), ("m",)])
    assert (outcome.documents, project.schema.entity_labels) == (2, ("Method",))
    assert project.schema.relation("Uses").pairs == (("Method", "Method"),)
    assert find_differing(project.connection) == []
    project = reopened(project)
    predict(project, replace(guess("p", place("parts")), label="Task"))
    assert ("p", "Method") in [row[:2] for row in items(project) if row[0] == "p"], "formerly"
    project.undo()
    project.undo()
    assert (all_state(project), project.schema) == (before, schema)
    project.redo()
    assert project.schema.entity_labels == ("Method",)


def test_a_merged_type_is_covered_only_where_both_were(project: Project) -> None:
    filled(project)
    add_type(project, "entity", "Metric")
    merge_types(project, "entity", "Metric", "Task")
    assert [label for _, label in find_missing(project.connection, project.schema)] == ["Task"]


def test_a_removed_type_takes_its_items_along_and_comes_back(project: Project) -> None:
    filled(project)
    before = all_state(project)
    with pytest.raises(SchemaError, match="Uses"):
        remove_type(project, "entity", "Task")
    assert remove_type(project, "relation", "Uses").items == 3
    with open_project(project.path, "ben") as other:
        remove_type(other, "entity", "Task")
    assert items(project) == [("m", "Method")]
    assert find_differing(project.connection) == []
    with pytest.raises(ActionRefusedError, match="Task"):
        project.actions.set_label(1, EntityRef("m"), "Task")
    last = project.log(1)[0].id
    project.undo(last)
    project.undo()
    assert all_state(project) == before


def test_a_split_type_leaves_a_queue_and_covers_where_it_never_was(project: Project) -> None:
    filled(project)
    put(project, text="Nothing at all.", doc_key="empty")
    project.actions.mark_done(3)
    _, queue = split_type(project, "entity", "Method", ["Net", "Task"])
    assert queue is not None
    assert (queue.numbers, project.schema.entity_labels) == ((1, 2), ("Method", "Task", "Net"))
    assert ("Net", "Task") in project.schema.relation("Uses").pairs
    missing = find_missing(project.connection, project.schema)
    assert [(label, numbers) for (_, label), numbers in missing.items()] == [("Net", [2])]
    project.actions.set_label(1, EntityRef("m"), "Net")
    assert project.document_state(1).entity("m").state is State.EDITED  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["entity", "relation"])
def test_a_type_is_not_merged_or_split_into_itself(project: Project, kind: Kind) -> None:
    label = "Method" if kind == "entity" else "Uses"
    with pytest.raises(SchemaError, match="itself"):
        merge_types(project, kind, label, label)
    with pytest.raises(SchemaError, match="itself"):
        split_type(project, kind, label, ["New", label])
    with pytest.raises(SchemaError, match="Nothing"):
        merge_types(project, kind, label, "Nothing")
    with pytest.raises(SchemaError, match="direction"):
        merge_types(project, "relation", "Uses", "Like")
    assert len(project.log()) == 1


def test_attributes_follow_their_types(project: Project) -> None:
    put(project, entity("e", place("net")))
    project.actions.set_attribute(1, "e", "design", "trial")
    split_type(project, "entity", "Method", ["Net", "Other"])
    assert project.schema.attribute("design").on == ("abstract", "Method", "Net", "Other")
    rename_type(project, "entity", "Method", "Tool")
    remove_type(project, "entity", "Tool")
    assert project.schema.attribute("design").on == ("abstract", "Net", "Other")
    assert project.document_state(1).attributes == []
    project.undo()
    [kept] = project.document_state(1).attributes
    assert (kept.target, kept.value) == ("e", "trial")
    assert find_differing(project.connection) == []


def test_a_merge_is_done_again_with_what_was_said_of_its_mentions(project: Project) -> None:
    filled(project)
    project.actions.set_attribute(1, "t", "negated")
    before = all_state(project)
    merge_types(project, "entity", "Task", "Method")
    merged = all_state(project)
    project.undo()
    assert all_state(project) == before
    project.redo()
    assert all_state(project) == merged
    assert find_differing(project.connection) == []
