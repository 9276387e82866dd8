"""Attributes by commands: what learn says of them, what the desk would be offered, and what likely comes first."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sciextract.cli.main import make_app
from sciextract.documents.annotations import Layer, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import AttributeKind, AttributeType
from sciextract.documents.schema_file import parse_schema, schema_to_toml
from sciextract.errors import ActionRefusedError, SchemaError, UsageError
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.extractor import Extractor
from sciextract.inference.promise import NoPromiseError
from sciextract.store import create_project, open_project
from sciextract.store.coverage import find_missing, read_sought
from sciextract.store.ingest import Import
from sciextract.store.queries import read_queue
from sciextract.text.analyse import make_document
from sciextract.workflows.disagreements import Decisions, other_sources
from sciextract.workflows.learn import annotate_with_adapter, learn_attributes
from sciextract_app.adjudication.presenter import Adjudication

SCHEMA = parse_schema(
    {
        "name": "stone",
        "entities": [{"label": "Finding", "key": "f", "colour": "#112233"}],
        "attributes": [
            {"label": "include", "key": "i", "on": ["abstract"], "kind": "choice",
             "values": ["yes", "no"]},
            {"label": "negated", "key": "n", "on": ["Finding"]},
        ],
    },
    "test",
)  # fmt: skip
SALT = "Salt crystals damaged the limestone of church {}. We measured its decay by ultrasound."
TAX = "The tax on imported cars rose in year {}. Households bought fewer vehicles."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Twelve abstracts on stone and on taxes in turn, of which eight are done."""
    path = tmp_path / "stone.sciextract"
    with create_project(path, SCHEMA, "ann") as opened:
        texts = [(TAX if number % 2 else SALT).format(number) for number in range(12)]
        items = [make_document(f"d{number}", text, {}) for number, text in enumerate(texts)]
        Import(opened, "import:t", {}).add([(AnnotatedDocument(item), ()) for item in items])
        for number in range(1, 9):
            opened.actions.set_attribute(number, "", "include", "yes" if number % 2 else "no")
            opened.actions.mark_done(number)
    return path


def run(*words: str) -> str:
    result = CliRunner().invoke(make_app(), words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_two_annotators_are_compared_in_what_both_have_looked_for(
    project: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copy(project, tmp_path / "ben.sciextract"))
    for path, name in ((project, "ann"), (other, "ben")):
        with open_project(path, name) as opened:
            for number in (9, 10, 11):
                text = opened.document_state(number).text
                opened.actions.add_entity(number, (Span(0, text.index(" ")),), "Finding")
                [entity] = opened.document_state(number).entities
                if number == 9 or name == "ben":
                    opened.actions.set_attribute(number, entity.id, "negated", "")
                opened.actions.set_attribute(number, "", "include", "yes")
                if number < 11:
                    opened.actions.mark_done(number)
    found = json.loads(run("agree", str(project), str(other), "--json"))["attributes"]
    assert (found["negated"]["compared"], found["negated"]["equal"]) == (2, 0.5)
    assert (found["include"]["compared"], found["include"]["equal"]) == (10, 1.0)
    lines = run("agree", str(project), str(other)).splitlines()
    assert any("negated kappa" in line and "1 of 2 equal" in line for line in lines)
    merged = json.loads(run("merge", str(other), "--project", str(project), "--json"))
    assert merged["disagreements"] == 1
    [line] = run("adjudicate", "--project", str(project), "--json").splitlines()
    assert (json.loads(line)["layer"], json.loads(line)["theirs"]["label"]) == (
        "attribute",
        "negated",
    )
    with open_project(project, "ann") as opened:
        desk = Adjudication(opened, other_sources(opened, Decisions(opened)), 10)
        [shown] = desk.view().lines
        assert (shown.kind, shown.there) == ("attribute: only there", "negated · ‹The›")
        assert "taken over" in desk.press("enter").message
        [said] = [row for row in opened.document_state(10).attributes if row.label == "negated"]
        assert said.state is State.ADDED
        desk.press("u")
        assert len(desk.view().lines) == 1
    done = json.loads(run("adjudicate", "--take", "theirs", "--project", str(project), "--json"))
    assert (done["decided"], done["left"]) == (1, 0)


def test_most_annotators_say_what_an_attribute_is(project: Path, tmp_path: Path) -> None:
    others = [Path(shutil.copy(project, tmp_path / f"{name}.sciextract")) for name in ("ben", "cy")]
    for path, value in zip((project, *others), ("yes", "no", "no"), strict=True):
        with open_project(path, path.stem) as opened:
            opened.actions.set_attribute(9, "", "include", value)
            opened.actions.mark_done(9)
    for path in others:
        run("merge", str(path), "--project", str(project))
    lines = map(json.loads, run("adjudicate", "--project", str(project), "--json").splitlines())
    assert [line["majority"] for line in lines] == [{"side": "theirs", "votes": 2, "voters": 3}] * 2
    done = json.loads(run("adjudicate", "--take", "majority", "--project", str(project), "--json"))
    assert done["left"] == 0
    with open_project(project, read=True) as opened:
        assert [row.value for row in opened.document_state(9).attributes] == ["no"]


def test_what_is_likely_included_comes_first(project: Path) -> None:
    made = json.loads(
        run("queue", "make", "--likely", "include=yes", "--project", str(project), "--json")
    )
    assert made["probabilities"] == sorted(made["probabilities"], reverse=True)
    with open_project(project, read=True) as opened:
        queue = read_queue(opened, made["name"])
    assert queue is not None
    assert {*queue.numbers[:2]} == {9, 11}, "stone before taxes"


@pytest.mark.parametrize("wanted", ["include=maybe", "negated", "other=yes"])
def test_what_is_no_value_of_an_abstract(project: Path, wanted: str) -> None:
    with pytest.raises(UsageError, match="no value of an attribute"):
        run("queue", "make", "--likely", wanted, "--project", str(project))


def test_too_little_is_finished(project: Path) -> None:
    with open_project(project, "ann") as opened:
        while opened.undo()[0].kind != "import":
            pass
        opened.redo()
    with pytest.raises(ActionRefusedError, match="do not teach"):
        run("queue", "make", "--likely", "include=yes", "--project", str(project))


def test_suggestions_wait_for_a_decision(project: Path) -> None:
    with open_project(project, "ann") as opened:
        annotate_with_adapter(opened, Extractor.load("sci", threads=1))
        [said] = opened.document_state(9).attributes
        assert (said.label, said.value, said.state) == ("include", "yes", State.UNDECIDED)
        [said] = opened.document_state(10).attributes
        assert said.value == "no"


def test_suggestions_above_a_promise_by_folds_stand_in_the_table(project: Path) -> None:
    with open_project(project, "ann") as opened:
        for number in range(13, 41):  # a promise takes twenty
            text = (TAX if number % 2 else SALT).format(number)
            item = AnnotatedDocument(make_document(f"d{number}", text, {}))
            Import(opened, "import:t", {}).add([(item, ())])
            opened.actions.set_attribute(number, "", "include", "no" if number % 2 else "yes")
            opened.actions.mark_done(number)
        annotate_with_adapter(opened, Extractor.load("sci", threads=1))
    wanted = ("table", "--promise", "attribute=0.8", "--project", str(project))
    rows = [row["include"] for row in csv.DictReader(run(*wanted).splitlines())]
    assert rows[8:12] == ["yes", "no"] * 2, "suggested, and promised"
    with pytest.raises(NoPromiseError, match="cannot be promised"):
        run("table", "--promise", "attribute=0.999", "--project", str(project))
    with pytest.raises(UsageError, match="attribute"):
        run("annotate", "--promise", "attribute=0.8", "--project", str(project))


def test_learn_says_how_good_suggestions_are(project: Path, tmp_path: Path) -> None:
    made = json.loads(
        run("learn", "--project", str(project), "--output", str(tmp_path / "m"), "--json")
    )
    [said] = made["attributes"]
    assert (said["label"], said["places"], said["commonest"]) == ("include", 8, 0.5)
    assert said["right"] > 0.8


def test_a_table_has_a_column_an_attribute(project: Path) -> None:
    with open_project(project, "ann") as opened:
        opened.actions.add_entity(1, [Span(0, 4)], "Finding")
        [finding] = opened.document_state(1).entities
        opened.actions.set_attribute(1, finding.id, "negated")
    rows = list(csv.DictReader(run("table", "--project", str(project)).splitlines()))
    assert [row["include"] for row in rows] == ["yes", "no"] * 4 + ["?"] * 4
    [row] = csv.DictReader(
        run("table", "--rows", "mention", "--project", str(project)).splitlines()
    )
    assert (row["mention"], row["negated"]) == ("Salt", "yes")


def test_a_project_takes_the_attributes_of_a_file(project: Path, tmp_path: Path) -> None:
    kinds = [replace(SCHEMA.attributes[0], values=("yes", "no", "maybe"))]
    kinds.append(AttributeType("design", "d", ("abstract",), AttributeKind.TEXT))
    file = tmp_path / "review.toml"

    def take(*attributes: AttributeType) -> str:
        file.write_text(schema_to_toml(replace(SCHEMA, attributes=attributes)), "utf-8")
        return run("schema", "attributes", str(file), "--project", str(project), "--author", "ann")

    take(*kinds)
    assert "8 abstracts finished before attributes:design came" in run(
        "status", "--project", str(project)
    )
    run(
        "queue",
        "make",
        "--missing",
        "attributes:design",
        "--name",
        "late",
        "--project",
        str(project),
    )
    with open_project(project, "ann") as opened:
        assert [kind.label for kind in opened.schema.attributes] == ["include", "design"]
        sought = read_sought("missing attributes:design", opened.schema)
        layers, labels = zip(*sought, strict=True)
        opened.actions.mark_done(1, layers, labels=labels)
        assert find_missing(opened.connection, opened.schema)[sought[0]] == [2, 3, 4, 5, 6, 7, 8]
        opened.undo()
        assert opened.undo()[0].kind == "edit labels"
    for wrong in ((), (replace(kinds[0], values=("yes", "maybe")),)):
        with pytest.raises(SchemaError, match="which would go"):
            take(*wrong)


def test_relations_that_nobody_finished_say_nothing_of_their_attributes(tmp_path: Path) -> None:
    plain = SCHEMA.to_mapping()
    plain["relations"] = [{"label": "ON", "key": "o", "colour": "#112233"}]
    plain["attributes"][1]["on"] = ["Finding", "relation:ON"]
    path = tmp_path / "on.sciextract"
    with create_project(path, parse_schema(plain, "test"), "ann") as opened:
        items = [make_document(f"d{n}", f"Salt on stone {n}.", {}) for n in range(5)]
        Import(opened, "import:t", {}).add([(AnnotatedDocument(item), ()) for item in items])
        for number in range(1, 6):
            for span in (Span(0, 4), Span(8, 13)):
                opened.actions.add_entity(number, [span], "Finding")
            head, tail = opened.document_state(number).entities
            opened.actions.add_relation(number, head.id, tail.id, "ON")
            opened.actions.mark_done(number, [Layer.ENTITIES])
        [relation] = opened.document_state(1).relations
        opened.actions.set_attribute(1, relation.id, "negated")
        heads = learn_attributes(opened, EncoderStates(Extractor.load("sci", threads=1)))
    assert heads is not None
    places = {score.label: score.places for score in heads.scores()}
    assert places["negated"] == 10, "the mentions alone"
    lines = run("table", "--rows", "relation", "--project", str(path)).splitlines()
    assert [row["negated"] for row in csv.DictReader(lines)] == ["yes", "?", "?", "?", "?"]
