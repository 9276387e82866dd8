"""``sciextract schema``."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.annotations import Span
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema, parse_schema, schema_to_toml
from sciextract.errors import ExitCode
from sciextract.store import EntityRef, open_project
from sciextract.workflows.new_schema import NewType, new_schema
from tests.cli.conftest import Command
from tests.cli.projects import GOLD, write_lines


def test_options_make_a_schema_that_a_project_takes(command: Command, work: Path) -> None:
    types = (
        "--entity",
        "Shape memory alloy=It remembers.",
        "--entity",
        "Sort",
        "--entity",
        "State",
    )
    relations = ("--relation", "HAS=Shape memory alloy>Sort,*>State", "--relation", "LIKE")
    made = command(
        "schema", "new", "alloys.toml", *types, *relations, "--symmetric", "LIKE", "--coreference"
    )
    assert made.code == ExitCode.DONE, made.err
    schema = load_schema(work / "alloys.toml")
    assert schema.entity_labels == ("Shape memory alloy", "Sort", "State")
    assert [entity.key for entity in schema.entities] == ["s", "o", "t"]
    assert schema.legal_relations("Sort", "State") == ("HAS", "LIKE")
    assert schema.symmetric_labels == frozenset({"LIKE"})
    assert schema.coreference
    assert command("init", "a.sciextract", "--schema", "alloys.toml").code == ExitCode.DONE
    assert "It remembers." in command("schema", "show", "alloys.toml").out
    again = command("schema", "new", "alloys.toml", "--entity", "X")
    assert (again.code, "--force" in again.err) == (ExitCode.FAILED, True)
    assert load_schema(work / "alloys.toml") == schema


def test_questions_on_a_terminal_make_the_same_schema(
    command: Command, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sciextract.cli.schemas.is_terminal", lambda stream: stream is sys.stdin)
    answers = "Alloy, Property\nA metal.\n\nHAS\nAlloy>Property\ny\nn\n"
    assert command("schema", "new", "asked.toml", stdin=answers).code == ExitCode.DONE
    given_types = ("--entity", "Alloy=A metal.", "--entity", "Property")
    command("schema", "new", "given.toml", *given_types, "--relation", "HAS=Alloy>Property")
    asked, given_ = (load_schema(work / f"{name}.toml") for name in ("asked", "given"))
    assert (asked.entities, asked.relations) == (given_.entities, given_.relations)


def test_labels_of_annotated_files_make_a_schema(command: Command, work: Path) -> None:
    write_lines(work / "gold.jsonl", GOLD)
    assert command("schema", "from", "gold.jsonl", "--output", "mine.labels").code == ExitCode.DONE
    # Under any file name, because the next command that is printed has it.
    schema = load_schema(work / "mine.labels")
    assert set(schema.entity_labels) == {"Method", "Task", "Generic"}
    assert schema.relation("USED-FOR").pairs == (("Method", "Task"),)
    assert schema.coreference
    assert command("schema", "check", "mine.labels").out.startswith("mine.labels: 3 entity types")
    assert command("init", "mine.sciextract", "--schema", "mine.labels").code == ExitCode.DONE


def test_mistakes_name_what_is_allowed(command: Command) -> None:
    for words, part in {
        ("new", "a.toml"): "--entity",
        ("new", "a.toml", "--entity", "A", "--relation", "R=A-B"): "HEAD>TAIL",
        (
            "new",
            "a.toml",
            "--entity",
            "A",
            "--relation",
            "R=A>B",
        ): "unknown type 'B'; choose from: A, *",
        ("new", "a.toml", "--entity", "A", "--entity", "A"): "a second time",
        ("new", "a.toml", "--entity", "A", "--symmetric", "R"): "no such relation",
        ("show", "nope"): "scierc",
    }.items():
        result = command("schema", *words)
        assert result.code in (ExitCode.FAILED, ExitCode.USAGE), words
        assert part in result.err, words
    too_many = [word for number in range(60) for word in ("--entity", f"Type {number}")]
    assert "52 keys" in command("schema", "new", "a.toml", *too_many).err


_text = st.text(st.characters(codec="utf-8"), max_size=20)


@given(_text, st.lists(_text.filter(bool), max_size=3), st.booleans())
def test_what_is_written_is_read_back(definition: str, examples: list[str], coref: bool) -> None:
    made: LabelSchema = new_schema(
        "s", [NewType("A b", definition, examples)], [NewType("R")], coreference=coref
    )
    assert parse_schema(tomllib.loads(schema_to_toml(made)), "s") == made


def test_json_shows_the_whole_schema(command: Command) -> None:
    shown = json.loads(command("schema", "show", "scierc", "--json").out)
    assert parse_schema(shown, "scierc") == load_schema("scierc")
    assert "scierc" in command("schema", "list").out


def test_a_split_suggests_by_the_mentions_that_have_a_new_type(
    command: Command, work: Path
) -> None:
    texts = [
        "{} parsers read {} treebanks.",
        "We train {} parsers on {} treebanks.",
        "{} parsers need {} treebanks.",
    ]
    words = [("Fast", "small"), ("neural", "old"), ("Good", "large")]
    command("init", "p.sciextract", "--schema", "scierc")
    records = [
        {"id": f"n{n}", "text": text.format(*pair)}
        for n, (text, pair) in enumerate(zip(texts, words, strict=True))
    ]
    command("import", write_lines(work / "texts.jsonl", *records))
    split = ("schema", "split", "Generic", "Tool", "Resource")
    with open_project(work / "p.sciextract") as project:
        for number in project.numbers():
            text = project.document_state(number).text
            for word in ("parsers", "treebanks"):
                start = text.index(word)
                project.actions.add_entity(number, [Span(start, start + len(word))], "Generic")
            project.actions.mark_done(number)
    assert command(*split).code == ExitCode.DONE
    assert command(*split, "--suggest").code == ExitCode.USAGE  # nothing has a new type yet
    with open_project(work / "p.sciextract") as project:
        for number in (1, 2):
            tool, resource = project.document_state(number).entities
            project.actions.set_label(number, EntityRef(tool.id), "Tool")
            project.actions.set_label(number, EntityRef(resource.id), "Resource")
        before = [project.document_state(number).entities for number in project.numbers()]
        assert json.loads(command(*split, "--suggest", "--json").out)["items"] == 2
        rows = project.document_state(3).entities
        assert [row.label for row in rows] == ["Generic", "Generic"]
        assert [row.alternatives[0].label for row in rows] == ["Tool", "Resource"]
        project.undo()
        assert [project.document_state(number).entities for number in project.numbers()] == before
