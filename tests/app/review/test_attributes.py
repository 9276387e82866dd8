"""What is said of items and abstracts, by a leader key and the letter of an attribute."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Attribute, Entity, Span, State
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import parse_schema
from sciextract.store import Project, create_project
from sciextract.store.ingest import Import, ModelRun
from sciextract.text.analyse import make_document
from sciextract_app.review.keys.desk import Desk
from sciextract_app.shared.view_models import ASK_VALUE
from tests.app.review.abstracts import press

TEXT = "No salt was found. Rain increases decay."


def questions() -> LabelSchema:
    return parse_schema(
        {
            "name": "stone",
            "entities": [{"label": "Finding", "key": "f", "colour": "#112233"}],
            "attributes": [
                {"label": "negated", "key": "n", "on": ["Finding"]},
                {"label": "design", "key": "d", "on": ["abstract"], "kind": "choice",
                 "values": ["field", "laboratory"]},
                {"label": "country", "key": "c", "on": ["abstract"], "kind": "text"},
            ],
        },
        "test",
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = create_project(tmp_path / "p.sciextract", questions(), "ann")
    found = Annotations((Entity("e", (Span(3, 7),), "Finding", state=State.IMPORTED),))
    document = AnnotatedDocument(make_document("stone", TEXT, {}), found)
    Import(made, "import:a", {"path": "a"}).add([(document, ())])
    return made


def said(project: Project) -> dict[tuple[str, str], tuple[str, State]]:
    rows = project.document_state(1).attributes
    return {(row.target, row.label): (row.value, row.state) for row in rows}


def test_flags_and_values_of_the_focus_and_of_the_abstract(project: Project) -> None:
    desk = Desk(project)
    press(desk, "' n ' d 2")
    assert said(project) == {
        ("e", "negated"): ("", State.ADDED),
        ("", "design"): ("laboratory", State.ADDED),
    }
    assert desk.bibliography().startswith("design laboratory")
    press(desk, "' n ' d 1")
    assert said(project) == {("", "design"): ("field", State.ADDED)}
    press(desk, "' d x")
    assert said(project) == {}
    press(desk, "u u")
    assert said(project)["", "design"] == ("laboratory", State.ADDED)


def test_a_value_that_is_typed(project: Project) -> None:
    desk = Desk(project)
    press(desk, "'")
    assert desk.press("c").request == ASK_VALUE
    desk.say(" Portugal\n")
    assert said(project) == {("", "country"): ("Portugal", State.ADDED)}
    press(desk, "' c")
    assert desk.asked_value[0] == "Portugal"
    desk.say("")
    assert said(project) == {}


def test_suggestions_are_decided_like_others(project: Project) -> None:
    model = ModelId("m", "0" * 64)
    run = ModelRun(project, model, {})
    entity = Entity("p", (Span(19, 23),), "Finding", 0.9)
    attributes = (
        Attribute("a", "p", "negated", "", 0.4),
        Attribute("b", "", "design", "field", 0.8),
    )
    document = make_document("stone", TEXT, {})
    found = AnnotatedDocument(document, Annotations((entity,), attributes=attributes), model)
    run.add([(1, found)])
    run.finish()
    desk = Desk(project)
    assert desk.state.undecided_count() == 3
    press(desk, "enter")  # the abstract's own comes first
    assert said(project)["", "design"] == ("field", State.ACCEPTED)
    press(desk, "enter x")
    assert said(project)["p", "negated"] == ("", State.REJECTED)
    assert desk.state.undecided_count() == 0


def test_finishing_waits_for_suggested_attributes(project: Project) -> None:
    run = ModelRun(project, ModelId("m", "0" * 64), {})
    said = Annotations(attributes=(Attribute("b", "", "design", "field", 0.8),))
    run.add(
        [(1, AnnotatedDocument(make_document("stone", TEXT, {}), said, ModelId("m", "0" * 64)))]
    )
    run.finish()
    desk = Desk(project)
    assert "1 item undecided" in desk.press("D").message
    press(desk, "D")
    assert said_states(project) == [State.REJECTED]


def said_states(project: Project) -> list[State]:
    return [row.state for row in project.document_state(1).attributes]


def test_a_schema_without_attributes_says_so(tmp_path: Path) -> None:
    plain = parse_schema({"name": "plain", "entities": []}, "test")
    with create_project(tmp_path / "plain.sciextract", plain, "ann") as project:
        Import(project, "import:a", {"path": "a"}).add(
            [(AnnotatedDocument(make_document("d", TEXT, {}), Annotations()), ())]
        )
        assert "no attributes" in Desk(project).press("'").message
