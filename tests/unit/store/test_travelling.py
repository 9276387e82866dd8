"""A project through an exchange file: what people did is there again, and what a file claims has limits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sciextract.documents.annotations import Layer, State
from sciextract.store import (
    Completeness,
    DocumentState,
    EntityRef,
    Project,
    create_project,
    open_project,
)
from sciextract.store.label_changes import add_type, rename_type
from sciextract.store.state_tables import find_differing
from sciextract.store.statistics import decisions_by_author
from sciextract.workflows.export_project import ExportJob
from sciextract.workflows.import_files import ImportReport, import_files
from tests.contracts.test_schemas import SCHEMA
from tests.unit.store import released
from tests.unit.store.projects import entity, guess, guess_cluster, new_project, place, predict, put


@pytest.fixture
def here(tmp_path: Path) -> Project:
    """Decisions of every kind, by two people, with a renamed type."""
    project = new_project(tmp_path)
    released.fill(project)
    rename_type(project, "entity", "Task", "Aim")
    project.close()
    with open_project(project.path, "ben") as opened:
        opened.actions.reject(1, EntityRef("g3"))
        opened.actions.note(1, "a second look")
    return open_project(project.path, "ann")


def _export(project: Project, path: Path) -> list[dict[str, Any]]:
    ExportJob("jsonl", str(path), undecided=True).run(project)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _imported(path: Path, records: list[dict[str, Any]], into: Project) -> ImportReport:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    return import_files(into, [str(path)])


def _progress(project: Project, number: int) -> Any:
    return project.document_state(number).progress


def _sorted(progress: Any) -> Any:
    return replace(progress, warned=0, covered=tuple(sorted(progress.covered)))


def test_everything_that_holds_is_there_again(here: Project, tmp_path: Path) -> None:
    records = _export(here, tmp_path / "x.jsonl")
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [error.message for record in records for error in validator.iter_errors(record)] == []
    plain = replace(
        here.schema, entities=tuple(replace(e, formerly=()) for e in here.schema.entities)
    )
    with create_project(tmp_path / "new.sciextract", plain, "carl") as there:
        _imported(tmp_path / "x.jsonl", records, there)
        assert decisions_by_author(there.connection) == decisions_by_author(here.connection)
        assert there.schema == here.schema
        for number in here.numbers():
            assert _progress(there, number) == _sorted(_progress(here, number))
        # Once more out of the copy: nothing was lost on the way but the numbers of events and their single times.
        again = _export(there, tmp_path / "again.jsonl")
        for one, other in zip(records, again, strict=True):
            for decisions in (
                one["project_state"].pop("decisions", []),
                other["project_state"].pop("decisions", []),
            ):
                decisions.clear()
            assert one == other
        assert find_differing(there.connection) == []
        assert there.undo()[0].kind == "import"
        assert there.numbers() == []


def test_a_type_that_was_renamed_there_keeps_its_name_here(here: Project, tmp_path: Path) -> None:
    records = _export(here, tmp_path / "x.jsonl")
    (tmp_path / "old").mkdir()
    with new_project(tmp_path / "old") as old:
        assert "Aim" not in old.schema.entity_labels
        _imported(tmp_path / "y.jsonl", records, old)
        labels = {
            row.label for number in old.numbers() for row in old.document_state(number).entities
        }
        assert "Task" in labels and labels <= {*old.schema.entity_labels}


def test_suggestions_of_a_later_type_leave_a_layer_finished(here: Project, tmp_path: Path) -> None:
    records = _export(here, tmp_path / "x.jsonl")
    [record] = [line for line in records if line["project_state"]["layers"]["entities"] == "done"]
    late = {"id": "late", "fragments": [[0, 3]], "label": "Film", "state": "undecided"}
    record["entities"].append(late)
    with create_project(tmp_path / "new.sciextract", here.schema, "carl") as there:
        add_type(there, "entity", "Film")
        _imported(tmp_path / "y.jsonl", [record], there)
        assert there.document_state(1).count_undecided(Layer.ENTITIES) == 1
        covered = {type_ for type_ in record["project_state"]["covered"] if "entities" in type_}
        progress = _progress(there, 1)
        assert progress.entities is Completeness.DONE and covered <= {*progress.covered}
        assert "entities:Film" not in progress.covered


def test_what_is_worked_on_here_stays_and_is_counted(here: Project, tmp_path: Path) -> None:
    records = _export(here, tmp_path / "x.jsonl")
    assert _imported(tmp_path / "x.jsonl", records, here).counts.kept == 0, "it is the same"
    with create_project(tmp_path / "new.sciextract", here.schema, "carl") as there:
        _imported(tmp_path / "plain.jsonl", [{"id": "d", "text": records[0]["text"]}], there)
        there.actions.note(1, "mine")
        there.actions.set_completeness(1, Completeness.IN_PROGRESS, (Layer.ENTITIES,))
        report = _imported(tmp_path / "x.jsonl", records, there)
        assert (report.counts.kept, report.counts.documents) == (1, 1)
        assert _progress(there, 1).note == "mine"
        assert _progress(there, 2).entities is Completeness.DONE


def test_what_a_file_claims_has_limits(here: Project, tmp_path: Path) -> None:
    record = _export(here, tmp_path / "x.jsonl")[1]
    state = record["project_state"]
    waiting = {"id": "w", "fragments": [[0, 7]], "label": "Aim", "state": "undecided"}
    record["entities"].append(waiting)
    state["layers"]["relations"] = "done"
    state["covered"] = ["entities:Aim", "relations:Aim", "relations:Uses", "nothing"]
    state["note"] = "\ud800"
    state["decisions"] = [
        {"author": "model:x", "at": "2026-11-28T01:00:00+01:00", "items": [["entity", "p1"], ["x"]]}
    ]
    state["originals"] = [[["entity", "p1"], {"label": 5}]]
    with create_project(tmp_path / "new.sciextract", here.schema, "carl") as there:
        _imported(tmp_path / "x.jsonl", [record], there)
        progress = _progress(there, 1)
        assert progress.entities is Completeness.IN_PROGRESS, "something waits in it"
        assert progress.covered == ("relations:Uses",)
        assert [event.kind for event in there.log()] == ["import", "schema"]
        assert find_differing(there.connection) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("layers", {"entities": "finished"}),
        ("layers", {"words": "done"}),
        ("decisions", [{"author": "person:x", "at": "yesterday", "items": []}]),
        ("rejected", {"entities": [{"id": "p0", "label": "Method", "fragments": [[0, 1]]}]}),
        ("originals", [["entity"]]),
        ("covered", "entities:Method"),
    ],
)
def test_malformed_states_cost_their_record(
    here: Project, tmp_path: Path, name: str, value: object
) -> None:
    records = _export(here, tmp_path / "x.jsonl")
    records[1]["project_state"][name] = value
    with create_project(tmp_path / "new.sciextract", here.schema) as there:
        report = _imported(tmp_path / "x.jsonl", records, there)
        assert (report.counts.documents, report.bad) == (1, 1)


def test_scores_of_mentions_survive_beside_one_that_a_person_added(tmp_path: Path) -> None:
    nets = [guess(f"p{row}", place("net", row)) for row in range(3)]
    with new_project(tmp_path) as project:
        put(project)
        predict(project, *nets, guess_cluster("k", "p0", "p1", score=0.6))
        project.actions.join(1, "p2", "k")
        _export(project, tmp_path / "x.jsonl")
        scores = {link.key: link.score for link in project.document_state(1).links}
        assert set(scores.values()) == {0.6, None}
        with create_project(tmp_path / "new.sciextract", project.schema) as there:
            import_files(there, [str(tmp_path / "x.jsonl")])
            assert {link.key: link.score for link in there.document_state(1).links} == scores


def test_what_is_said_of_a_rejected_mention_survives_as_rejected(tmp_path: Path) -> None:
    with new_project(tmp_path) as project:
        put(project, entity("e", place("net")))
        project.actions.set_attribute(1, "e", "negated")

        def bring(doc: DocumentState, _: object) -> None:
            for row in doc.attributes:
                doc.put(replace(row, state=State.IMPORTED))

        project.perform("as a file says it", {}, [1], bring)
        project.actions.reject(1, EntityRef("e"))
        _export(project, tmp_path / "x.jsonl")
        with create_project(tmp_path / "new.sciextract", project.schema) as there:
            import_files(there, [str(tmp_path / "x.jsonl")])
            [row] = there.document_state(1).attributes
            assert (row.target, row.state) == ("e", State.REJECTED)
