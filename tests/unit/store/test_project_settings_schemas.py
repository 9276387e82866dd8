"""The schema of a project: widened by labels, versioned, read back as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sciextract.documents.schema import EntityType, RelationType
from sciextract.documents.schema_file import RESERVED_KEYS, bundled_schemas, load_schema
from sciextract.errors import SchemaError
from sciextract.inference.model_folder import locate_model, open_folder
from sciextract.store import Project
from sciextract.store.project_settings import merge_schemas, with_labels
from tests.unit.store.projects import reopened, small_schema


def test_new_types_get_a_free_key_and_a_colour() -> None:
    wider = with_labels(small_schema(), ["Method", "Dog", "Cat"], ["Uses", "Eats"])
    assert wider.entity_labels == ("Method", "Task", "Dog", "Cat")
    assert wider.relation_labels == ("Uses", "Like", "Eats")
    keys = [entity.key for entity in wider.entities]
    assert len(set(keys)) == 4
    assert not set(keys) & RESERVED_KEYS
    assert wider.relation("Eats").pairs == ()
    assert not wider.relation("Eats").symmetric


def test_known_types_stay_as_they_are() -> None:
    assert with_labels(small_schema(), ["Task"], ["Like"]) == small_schema()


def test_more_types_than_letters() -> None:
    wider = with_labels(small_schema(), [f"T{number}" for number in range(1000)], [])
    assert len({entity.key for entity in wider.entities}) == 1002


@pytest.mark.parametrize("label", ["", "tab\t", "\ud800", "*", "nul\x00"])
def test_labels_that_are_no_words_are_refused(label: str) -> None:
    with pytest.raises(SchemaError, match="small"):
        with_labels(small_schema(), [label], [])


def test_the_newest_version_holds_and_earlier_ones_stay(project: Project) -> None:
    wider = with_labels(project.schema, ["Dog"], [])
    project.set_schema(wider)
    again = reopened(project)
    assert again.schema == wider
    assert again.log(1)[0].params == {"name": "small", "version": 2}
    versions = again.connection.execute("SELECT count(*) FROM label_schema").fetchone()
    assert versions == (2,)
    again.close()


@pytest.mark.parametrize("name", bundled_schemas())
def test_bundled_schemas_come_back_from_a_project(project: Project, name: str) -> None:
    schema = load_schema(name)
    project.set_schema(schema)
    assert project.schema == schema


def test_types_of_a_merged_project_keep_their_look_and_renamed_ones_stay_one() -> None:
    mine, theirs = small_schema(), small_schema()
    mine = replace(mine, entities=(replace(mine.entities[0], label="Tool", formerly=("Method",)),))
    renamed = replace(theirs.entities[0], label="Way", formerly=("Method",), definition="A way.")
    design = replace(theirs.attribute("design"), on=("abstract", "Way"))
    metric = EntityType("Metric", "m", "#abcdef", "A score.")
    links = (RelationType("Scores", "s", "#123456", pairs=(("Metric", "Way"),)),)
    merged, lacking = merge_schemas(
        replace(mine, relations=(), attributes=()),
        replace(theirs, entities=(renamed, metric), relations=links, attributes=(design,)),
    )
    tool, new = merged.entities
    assert lacking == ["Metric", "Scores", "design"]
    assert merged.attribute("design").on == ("abstract", "Tool")
    assert (tool.label, tool.definition) == ("Tool", "A way.") and "Way" in tool.formerly
    assert (new.colour, new.definition, new.key != tool.key) == ("#abcdef", "A score.", True)
    assert merged.relations[0].pairs == (("Metric", "Tool"),)


def test_a_project_from_before_a_bundled_type_was_renamed(project: Project) -> None:
    """It keeps its name, and understands models and files that have the new one."""
    bio = load_schema("bio")
    old = [replace(relation, label=relation.formerly[0], formerly=()) for relation in bio.relations]
    project.set_schema(replace(bio, relations=tuple(old)))
    schema = reopened(project).schema
    assert schema.relation_labels == ("CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9")
    assert schema.names[1]["INHIBITS"] == "CPR:4"
    assert not open_folder(locate_model("bio"), hashes=False).config.labels_unknown_to(schema)
    merged, lacking = merge_schemas(schema, bio)
    assert (merged.relation_labels, lacking) == (schema.relation_labels, [])
