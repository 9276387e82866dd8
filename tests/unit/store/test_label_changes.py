"""Types that a person adds, renames, moves and describes: one event each, taken back by undo."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sciextract.documents.annotations import LabelScore, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.errors import SchemaError, UndoRefusedError
from sciextract.store import EntityRef, Project, open_project, queries
from sciextract.store.documents import decode_annotations
from sciextract.store.ingest import ModelRun, annotations_of_source
from sciextract.store.label_changes import (
    LONGEST,
    add_type,
    change_type,
    move_type,
    rename_type,
)
from sciextract.store.state_tables import find_differing, rebuild
from tests.unit.store.projects import (
    FIRST_MODEL,
    OTHER_TEXT,
    SECOND_MODEL,
    all_state,
    document,
    guess,
    guess_relation,
    place,
    predict,
    put,
    reopened,
    said,
)


def filled(project: Project) -> None:
    """Two abstracts with a rejected, an edited and an undecided item, and a relation."""
    put(project)
    put(project, text=OTHER_TEXT, doc_key="other")
    task = replace(guess("t", place("network")), alternatives=(LabelScore("Task", 0.1),))
    predict(project, guess("m", place("net")), task, guess_relation("r", "m", "t"))
    predict(project, guess("o", place("net", text=OTHER_TEXT)), number=2)
    project.actions.set_label(1, EntityRef("t"), "Task")
    project.actions.reject(2, EntityRef("o"))


def labels(project: Project, number: int = 1) -> dict[str, tuple[str, State]]:
    return {
        entity.id: (entity.label, entity.state)
        for entity in project.document_state(number).entities
    }


def test_a_rename_holds_everywhere_and_decides_nothing(project: Project) -> None:
    filled(project)
    before = labels(project)
    outcome = rename_type(project, "entity", "Method", "Way [bold]")
    assert (outcome.documents, outcome.items) == (2, 2)
    assert project.schema.entity_labels == ("Way [bold]", "Task")
    assert project.schema.relation("Uses").pairs == (("Way [bold]", "Task"),)
    assert labels(project) == {"m": ("Way [bold]", before["m"][1]), "t": before["t"]}
    assert labels(project, 2)["o"] == ("Way [bold]", State.REJECTED)
    doc = project.document_state(1)
    assert '"Way [bold]"' in (
        doc.entities[1].was or ""
    )  # what it was before the edit is renamed, too
    # The log gives the same rows, and the derived ones are those of a rebuilt file.
    assert find_differing(project.connection) == []
    tallies = project.connection.execute("SELECT * FROM tally").fetchall()
    rebuild(project, [1, 2])
    assert sorted(project.connection.execute("SELECT * FROM tally").fetchall()) == sorted(tallies)


def test_one_undo_takes_a_rename_back_and_redo_does_it_again(project: Project) -> None:
    filled(project)
    rows, schema = all_state(project), project.schema
    rename_type(project, "entity", "Method", "Way")
    renamed = all_state(project)
    # What came after it under the new name is renamed back as well.
    with open_project(project.path, "bob") as other:
        other.actions.add_entity(2, [place("graph", text=OTHER_TEXT)], "Way")
    event, _ = project.undo()
    assert event.kind == "rename label"
    assert project.schema.entity_labels == schema.entity_labels
    assert all_state(project)[1] == rows[1]
    assert {label for label, _ in labels(project, 2).values()} == {"Method"}
    project.redo()
    assert all_state(project)[1] == renamed[1]
    assert {label for label, _ in labels(project, 2).values()} == {"Way"}
    assert find_differing(project.connection) == []


def test_undo_of_a_rename_leaves_earlier_changes_of_labels_to_be_undone(project: Project) -> None:
    before = project.schema
    add_type(project, "entity", "Alloy")
    grown = project.schema
    rename_type(project, "entity", "Method", "Way")
    project.undo()
    assert project.schema == grown
    project.undo()
    assert project.schema == before


def test_models_that_know_the_old_name_predict_the_new_one(project: Project) -> None:
    filled(project)
    rename_type(project, "entity", "Method", "Way")
    later = predict(project, guess("n", place("graph")), model=SECOND_MODEL)
    assert labels(project)["n"][0] == "Way"
    # What was kept of earlier predictions is read under the new name, and stays as it was in the file.
    run, source = queries.newest_prediction(project.connection, 1) or (0, 0)
    found = annotations_of_source(project.connection, 1, source)
    assert found is not None and {entity.label for entity in found.entities} == {"Way"}
    body = project.connection.execute("SELECT body FROM annotation_set WHERE id = ?", (run - 1,))
    assert "Method" in {entity.label for entity in decode_annotations(body.fetchone()[0]).entities}
    assert later.documents == 1


def test_shown_suggestions_are_renamed_too(project: Project) -> None:
    put(project)
    rename_type(project, "relation", "Uses", "Employs")
    run = ModelRun(project, FIRST_MODEL, {})
    found = said(guess("a", place("net")), guess("b", place("graph"), "Task"))
    whole = said(*found.entities, guess_relation("r", "a", "b"))
    run.add([(1, AnnotatedDocument(document(), found, FIRST_MODEL))], {1: whole})
    assert [relation.label for relation in project.document_state(1).relations] == ["Employs"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Task", "is a type already"),
        ("", "a type needs a name"),
        ("*", "is not a name"),
        (" Way", "is not a name"),
        ("a\x1b[31mred", "is not a name"),
        ("W" * (LONGEST + 1), "61 characters are too many"),
    ],
)
def test_hostile_names_change_nothing(project: Project, name: str, why: str) -> None:
    filled(project)
    before = (project.schema, len(project.log()), all_state(project))
    with pytest.raises(SchemaError, match=why) as error:
        rename_type(project, "entity", "Method", name)
    assert "\x1b" not in error.value.message
    with pytest.raises(SchemaError, match=why):
        add_type(project, "entity", name)
    assert (project.schema, len(project.log()), all_state(project)) == before


def test_types_are_moved_coloured_and_described_and_undone_in_turn(project: Project) -> None:
    first = project.schema
    add_type(project, "relation", "Part")
    move_type(project, "relation", "Part", -5)
    change_type(project, "relation", "Part", "colour", "#ABCDEF")
    change_type(project, "relation", "Part", "definition", "one in the other")
    assert project.schema.relation_labels == ("Part", "Uses", "Like")
    assert project.schema.relation("Part").colour == "#abcdef"
    with pytest.raises(SchemaError, match="colour"):
        change_type(project, "relation", "Part", "colour", "red")
    assert move_type(project, "relation", "Part", -1).event_id is None
    for _ in range(4):
        project.undo()
    assert project.schema == first
    for _ in range(4):
        project.redo()
    assert project.schema.relation("Part").definition == "one in the other"
    assert reopened(project).schema.relation_labels == ("Part", "Uses", "Like")


def test_an_undo_that_others_have_built_on_is_refused(project: Project) -> None:
    put(project)
    add_type(project, "entity", "Data")
    with open_project(project.path, "bob") as other:
        other.actions.add_entity(1, [place("net")], "Data")
        with pytest.raises(UndoRefusedError, match="1 item of the project"):
            project.undo()
        other.undo()
        move_type(other, "entity", "Data", -1)
        with pytest.raises(UndoRefusedError, match="have been changed since"):
            project.undo()


def test_a_rename_onto_labels_that_items_have_is_refused(project: Project) -> None:
    put(project, guess("x", place("net"), "Way"))
    with pytest.raises(SchemaError, match="labelled Way already"):
        rename_type(project, "entity", "Method", "Way")
    with pytest.raises(SchemaError, match="no type Gone any more"):
        rename_type(project, "entity", "Gone", "There")


def test_a_project_may_begin_without_types(project: Project) -> None:
    put(project)
    project.set_schema(load_schema("empty"))
    add_type(project, "entity", "First")
    project.actions.add_entity(1, [place("net")], "First")
    assert labels(project).popitem()[1] == ("First", State.ADDED)
