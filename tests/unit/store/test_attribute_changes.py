"""Attributes and their values that are renamed, merged and removed: what was said follows, and undo takes it back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Attribute, LabelScore, Span
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.documents.schema_file import parse_schema
from sciextract.errors import SchemaError
from sciextract.store import Project, create_project, open_project
from sciextract.store.ingest import Import, ModelRun
from sciextract.store.label_changes import rename_type
from sciextract.store.state_tables import find_differing
from sciextract.store.text_versions import remove
from sciextract.store.type_changes import change_value, merge_types, remove_type
from sciextract.text.analyse import make_document
from sciextract.workflows.agreement import agree
from sciextract.workflows.divide import merge_projects
from tests.unit.store.projects import all_state

TEXTS = ("Salt was not found.", "Rain did no harm.", "Frost is rare here.")
SCHEMA = parse_schema(
    {
        "name": "stone",
        "entities": [{"label": "Finding", "key": "f", "colour": "#112233"}],
        "attributes": [
            {"label": "negated", "key": "n", "on": ["Finding"]},
            {"label": "denied", "key": "d", "on": ["Finding", "abstract"]},
            {"label": "include", "key": "i", "on": ["abstract"], "kind": "choice",
             "values": ["yes", "no", "maybe"]},
            {"label": "take", "key": "t", "on": ["abstract"], "kind": "choice", "values": ["yes", "never"]},
        ],
    },
    "test",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with create_project(tmp_path / "stone.sciextract", SCHEMA, "ann") as made:
        items = [make_document(f"d{number}", text, {}) for number, text in enumerate(TEXTS)]
        Import(made, "import:t", {}).add([(AnnotatedDocument(item), ()) for item in items])
        for number in (1, 2):
            made.actions.add_entity(number, [Span(0, 4)], "Finding")
            [finding] = made.document_state(number).entities
            made.actions.set_attribute(number, finding.id, "negated")
            made.actions.set_attribute(number, "", "include", "maybe" if number == 1 else "yes")
            made.actions.mark_done(number)
        made.actions.set_attribute(1, made.document_state(1).entities[0].id, "denied")
        guess = (LabelScore("maybe", 0.3), LabelScore("no", 0.1))
        said = (Attribute("a", "", "include", "yes", 0.6, alternatives=guess),)
        model = ModelId("m", "0" * 64)
        run = ModelRun(made, model, {})
        run.add([(3, AnnotatedDocument(items[2], Annotations(attributes=said), model))])
        run.finish()
        yield made


def said(project: Project, number: int) -> set[tuple[str, str]]:
    return {(row.label, row.value) for row in project.document_state(number).attributes}


def test_what_was_said_follows_a_renamed_attribute_and_its_value(project: Project) -> None:
    before = all_state(project)
    rename_type(project, "attribute", "include", "kept")
    change_value(project, "kept", "maybe", "unclear")
    assert (said(project, 1), said(project, 2)) == (
        {("negated", ""), ("denied", ""), ("kept", "unclear")},
        {("negated", ""), ("kept", "yes")},
    )
    [row] = project.document_state(3).attributes
    assert [choice.label for choice in row.alternatives] == ["unclear", "no"]
    progress = project.document_state(1).progress
    assert progress is not None and "attributes:kept" in progress.covered
    assert find_differing(project.connection) == []
    project.undo()
    project.undo()
    assert all_state(project) == before
    assert project.schema.attribute("include").values == ("yes", "no", "maybe")


def test_merged_attributes_say_it_once_and_never_two_things(project: Project) -> None:
    before = all_state(project)
    outcome = merge_types(project, "attribute", "denied", "negated")
    assert outcome.items == 1
    assert said(project, 1) == {("negated", ""), ("include", "maybe")}
    assert project.schema.attribute("negated").on == ("Finding", "abstract")
    change_value(project, "include", "maybe", "no", known=True)
    assert said(project, 1) == {("negated", ""), ("include", "no")}
    project.undo()
    project.undo()
    assert all_state(project) == before
    project.actions.set_attribute(2, "", "take", "never")
    with pytest.raises(SchemaError, match="different values 1 time"):
        merge_types(project, "attribute", "take", "include")
    with pytest.raises(SchemaError, match="is a flag"):
        merge_types(project, "attribute", "denied", "include")


def test_what_is_removed_comes_back(project: Project) -> None:
    before, schema = all_state(project), project.schema
    assert change_value(project, "include", "maybe", None).items == 1
    assert said(project, 1) == {("negated", ""), ("denied", "")}
    assert remove_type(project, "attribute", "negated").items == 2
    assert [kind.label for kind in project.schema.attributes] == ["denied", "include", "take"]
    assert find_differing(project.connection) == []
    project.undo()
    project.undo()
    assert (all_state(project), project.schema) == (before, schema)
    for wrong in (("maybe", "yes", False), ("perhaps", "no", True), ("maybe", "other", True)):
        with pytest.raises(SchemaError):
            change_value(project, "include", *wrong[:2], known=wrong[2])
    assert all_state(project) == before


def test_former_names_are_one_attribute_for_agreement_and_merging(
    project: Project, tmp_path: Path
) -> None:
    other = tmp_path / "ben.sciextract"
    with closing(sqlite3.connect(other)) as copy:
        project.connection.backup(copy)
    rename_type(project, "attribute", "include", "kept")
    with open_project(other, "ben") as theirs:
        theirs.actions.set_attribute(2, "", "include", "no")
        report = agree([project, theirs]).pairs[0].report
        assert report is not None
        assert (report.attributes["kept"].compared, report.attributes["kept"].equal) == (2, 0.5)
    assert merge_projects(project, other).disagreements == 1
    covered = project.connection.execute("SELECT covered FROM progress").fetchall()
    assert "attributes:include" not in json.dumps(covered)


def test_an_abstract_with_attributes_is_removed_and_comes_back(project: Project) -> None:
    before = all_state(project)
    assert remove(project, [1, 2]).documents == 2
    assert project.numbers() == [3]
    project.undo()
    assert all_state(project) == before
    assert find_differing(project.connection) == []
