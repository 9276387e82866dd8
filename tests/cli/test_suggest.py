"""``sciextract suggest``: undecided items from terms, patterns, models and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Layer, State
from sciextract.documents.document import ADAPTER, AnnotatedDocument, ModelId
from sciextract.errors import ExitCode
from sciextract.store import EntityRef, open_project
from sciextract.store.ingest import ModelRun
from sciextract.store.label_changes import add_type
from sciextract.store.review import acceptance
from sciextract.workflows.pattern_matching import PatternMatcher
from tests.cli.conftest import Command
from tests.cli.fakes import RuleExtractor
from tests.cli.projects import write_lines

TEXT = "Shape-memory alloys bend. A shape memory alloy of NITI or niti; C++ and C store Theories."
TERMS = "term,label\nshape memory alloy,Alloy\nalloy,Alloy\nNITI,Alloy\nC++,Tool\ntheory,Tool\nbend,Alloy\nbend,Tool\n"


@pytest.fixture
def project(command: Command, work: Path) -> Path:
    command("schema", "new", "s.toml", "--entity", "Alloy", "--entity", "Tool", "--coreference")
    write_lines(work / "in.jsonl", {"doc_key": "a", "text": TEXT})
    command("init", "p.sciextract", "--schema", "s.toml")
    assert command("import", "in.jsonl").code == ExitCode.DONE
    return work / "p.sciextract"


def entities(project: Path) -> list[tuple[str, str, str]]:
    with open_project(project, read=True) as opened:
        [document] = opened.stream(frozenset({State.UNDECIDED, State.ACCEPTED}))
        found = document.annotations.entities
        sorted_ = sorted(found, key=lambda entity: entity.span)
        return [(entity.text_of(TEXT), entity.label, entity.source) for entity in sorted_]


def test_terms_in_other_forms_are_suggested_once_and_taken_back_at_once(
    command: Command, work: Path, project: Path
) -> None:
    (work / "terms.csv").write_text(TERMS, "utf-8")
    made = command("suggest", "--terms", "terms.csv", "--json")
    assert (made.code, json.loads(made.out)["items"]) == (0, {"import:terms.csv": 5}), made.err
    assert "terms with several labels left out (1): bend" in made.err
    source = "import:terms.csv"
    assert entities(project) == [
        ("Shape-memory alloys", "Alloy", source),
        ("shape memory alloy", "Alloy", source),
        ("NITI", "Alloy", source),
        ("C++", "Tool", source),
        ("Theories", "Tool", source),
    ]
    again = command("suggest", "--terms", "terms.csv", "--json")
    assert json.loads(again.out)["items"] == {}
    command("undo")
    assert entities(project) == []


def test_decisions_and_done_layers_stand(command: Command, work: Path, project: Path) -> None:
    (work / "terms.tsv").write_text("shape memory alloy\tAlloy\n", "utf-8")
    command("suggest", "--terms", "terms.tsv")
    with open_project(project) as opened:
        [number] = opened.numbers()
        first, second = opened.document_state(number).entities
        opened.actions.reject(number, EntityRef(first.id))
        opened.actions.accept(number, EntityRef(second.id))
        command("suggest", "--terms", "terms.tsv")
        states = [row.state for row in opened.document_state(number).entities]
        assert states == [State.REJECTED, State.ACCEPTED]
        opened.actions.mark_done(number, (Layer.ENTITIES,))
    (work / "more.tsv").write_text("NITI\tAlloy\n", "utf-8")
    assert json.loads(command("suggest", "--terms", "more.tsv", "--json").out)["skipped"] == 1


def test_undo_takes_back_what_is_still_suggested_and_no_decision(
    command: Command, work: Path, project: Path
) -> None:
    (work / "terms.csv").write_text(TERMS, "utf-8")
    command("suggest", "--terms", "terms.csv")
    with open_project(project) as opened:
        [number] = opened.numbers()
        first, second, third, *_ = opened.document_state(number).entities
        opened.actions.accept(number, EntityRef(first.id))
        opened.actions.set_label(number, EntityRef(second.id), "Tool")
        opened.actions.reject(number, EntityRef(third.id))
        [suggestions] = [event for event in opened.log() if event.is_suggestions]
    assert command("undo", "--event", suggestions.id).code == ExitCode.DONE
    with open_project(project) as opened:
        left = {entity.id: entity.state for entity in opened.document_state(number).entities}
    decided = {first.id: State.ACCEPTED, second.id: State.EDITED, third.id: State.REJECTED}
    assert left == decided
    assert command("redo").code == ExitCode.DONE
    assert {text for text, _, _ in entities(project)} >= {"C++", "Theories"}


def test_a_file_suggests_what_nobody_has_looked_for(
    command: Command, work: Path, project: Path
) -> None:
    with open_project(project) as opened:
        opened.actions.mark_done(1, (Layer.ENTITIES,))
        add_type(opened, "entity", "Metal")
    spans = [("alloys", "Alloy"), ("NITI", "Metal")]
    found = [
        {"id": name, "label": label, "fragments": [[at := TEXT.index(name), at + len(name)]]}
        for name, label in spans
    ]
    record = {"schema_version": 1, "doc_key": "a", "text": TEXT, "entities": found}
    write_lines(work / "more.jsonl", record)
    made = json.loads(command("suggest", "more.jsonl", "--json").out)
    assert (made["items"], made["documents"]) == ({"import:more.jsonl": 1}, 1)
    assert entities(project) == [("NITI", "Metal", "import:more.jsonl")]
    assert json.loads(command("suggest", "more.jsonl", "--json").out)["items"] == {}


def test_undo_counts_only_what_it_takes_back(command: Command, work: Path, project: Path) -> None:
    (work / "terms.csv").write_text(TERMS, "utf-8")
    command("suggest", "--terms", "terms.csv", "--author", "ann")
    (work / "keys.txt").write_text("a\n", "utf-8")
    command("done", "--keys", "keys.txt", "--undecided", "accept", "--author", "ben")
    before = entities(project)
    undone = json.loads(command("undo", "--author", "ann", "--json").out)
    assert (undone["documents"], entities(project)) == (0, before)


def test_suggestions_are_taken_back_after_an_adapter_has_replaced_some(
    command: Command, project: Path, fake: RuleExtractor
) -> None:
    command("suggest", "--spans")
    with open_project(project) as opened:
        [number] = opened.numbers()
        stored = opened.document_state(number).stored.document
        run = ModelRun(opened, ModelId("sci", "0" * 64, ADAPTER), {}, background=True)
        run.add([(number, AnnotatedDocument(stored))])
        run.finish()
    assert entities(project) == [], "the adapter proposes nothing"
    undone = command("undo")
    assert undone.code == ExitCode.DONE, undone.err
    assert entities(project) == []


def test_spans_that_got_a_label_count_as_accepted(
    command: Command, project: Path, fake: RuleExtractor
) -> None:
    command("suggest", "--spans")
    with open_project(project) as opened:
        [number] = opened.numbers()
        rows = opened.document_state(number).entities
        assert acceptance(opened.connection) is None
        opened.actions.set_label(number, EntityRef(rows[0].id), "Alloy")
        assert acceptance(opened.connection) == 1.0
        opened.actions.reject(number, EntityRef(rows[1].id))
        assert acceptance(opened.connection) == 0.5


def test_a_model_of_other_labels_suggests_mapped_or_bare_mentions(
    command: Command, project: Path, fake: RuleExtractor
) -> None:
    maps = ("--map", "Method=Tool", "--map", "Task=Tool")
    assert command("suggest", *maps).code == ExitCode.DONE
    mapped = entities(project)
    assert {label for _, label, _ in mapped} == {"Tool"}
    assert {source for _, _, source in mapped} == {f"model:{fake.model}"}
    command("undo")
    command("suggest", "--spans")
    assert [text for text, _, _ in entities(project)] == [text for text, _, _ in mapped]
    assert {label for _, label, _ in entities(project)} == {""}


def test_predictions_leave_suggestions_alone(
    command: Command, work: Path, fake: RuleExtractor
) -> None:
    write_lines(work / "in.jsonl", {"doc_key": "a", "text": TEXT})
    command("init", "p.sciextract")
    command("import", "in.jsonl")
    (work / "terms.csv").write_text("NITI,Material\n", "utf-8")
    command("suggest", "--terms", "terms.csv")
    assert command("annotate", "--project", "p.sciextract").code == ExitCode.DONE
    found = entities(work / "p.sciextract")
    assert ("NITI", "Material", "import:terms.csv") in found
    assert len(found) > 1


def test_a_file_is_suggested_not_decided(command: Command, work: Path, project: Path) -> None:
    entity: dict[str, Any] = {"id": "E1", "fragments": [[0, 19]], "label": "Alloy"}
    record = {"schema_version": 1, "doc_key": "a", "text": TEXT}
    write_lines(work / "llm.jsonl", record | {"entities": [entity | {"state": "accepted"}]})
    assert command("suggest", "llm.jsonl").code == ExitCode.DONE
    assert entities(project) == [("Shape-memory alloys", "Alloy", "import:llm.jsonl")]
    with open_project(project, read=True) as opened:
        [row] = opened.document_state(opened.numbers()[0]).entities
        assert row.state is State.UNDECIDED


def test_patterns_of_spacy(command: Command, work: Path, project: Path) -> None:
    pytest.importorskip("spacy")
    tokens = [{"LOWER": "shape"}, {"LOWER": "memory"}, {"LOWER": {"REGEX": "alloys?"}}]
    write_lines(work / "p.jsonl", {"label": "Alloy", "pattern": tokens})
    command("suggest", "--patterns", "p.jsonl")
    assert [text for text, _, _ in entities(project)] == ["shape memory alloy"]
    for line, part in {
        '{"label": "Alloy", "pattern": [{"OP": "many"}]}': "bad.jsonl:1",
        '{"label": "Allow", "pattern": "x"}': "it has Alloy, Tool",
        '{"label": "Alloy"}': "bad.jsonl:1: no 'pattern'",
        '{"pattern": "x"}': "bad.jsonl:1: no 'label'",
        '{"label": "Alloy", "pattern": [{"POS": "NOUN"}]}': "with the attribute POS\n",
        '{"label": "Alloy", "pattern": [{"LOWER": {"REGEX": "("}}]}': "bad.jsonl:1: not a pattern",
        "[1]": "expected JSON objects",
    }.items():
        (work / "bad.jsonl").write_text(line, "utf-8")
        result = command("suggest", "--patterns", "bad.jsonl")
        assert (result.code in (1, 2), part in result.err) == (True, True), (line, result.err)


@pytest.mark.parametrize(
    "pattern", [[{"TEXT": {"REGEX": "^(e|e)*$"}}], [{"OP": "*"}] * 5], ids=["regex", "operators"]
)
def test_slow_patterns_end(
    command: Command,
    work: Path,
    project: Path,
    pattern: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("spacy")
    monkeypatch.setattr(PatternMatcher.__init__, "__defaults__", (1.0,))
    write_lines(work / "more.jsonl", {"doc_key": "b", "text": "e" * 40 + "d " + "ore " * 300})
    command("import", "more.jsonl")
    write_lines(
        work / "p.jsonl",
        {"label": "Alloy", "pattern": "alloys bend"},
        {"label": "Alloy", "pattern": pattern},
    )
    result = command("suggest", "--patterns", "p.jsonl")
    assert result.code == ExitCode.FAILED, result.err
    assert "p.jsonl:2: matching" in result.err


def test_mistakes_name_what_is_allowed(command: Command, work: Path, fake: RuleExtractor) -> None:
    command("schema", "new", "s.toml", "--entity", "Alloy")
    command("init", "p.sciextract", "--schema", "s.toml")
    (work / "t.csv").write_text("steel,Metal\n", "utf-8")
    (work / "one.csv").write_text("steel\n", "utf-8")
    for words, part in {
        (): "--terms",
        ("--terms", "t.csv"): "t.csv:1: the schema has no label 'Metal'; it has Alloy",
        ("--terms", "one.csv"): "one.csv:1: 'steel' has no label",
        ("--terms", "none.csv"): "no such file",
        ("--map", "Methods=Alloy"): "the model has no label 'Methods'",
        ("--map", "Method"): "OLD=NEW",
        ("t.csv", "--spans"): "FILE cannot be combined",
    }.items():
        result = command("suggest", *words)
        assert (result.code != 0, part in result.err) == (True, True), (words, result.err)
