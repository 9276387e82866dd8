"""``sciextract suggest --from langextract|gliner|quotes``: strings of other tools at their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.errors import ExitCode
from sciextract.store import EntityRef, open_project
from sciextract.store.document_state import WITH_UNDECIDED
from tests.cli.conftest import Command
from tests.cli.projects import write_lines

ALLOYS = "Shape\u2013memory alloys bend. An alloy of NITI creeps, and the alloy recovers."
STEEL = "Annealing hardens steel. Steel creeps less."


@pytest.fixture
def project(command: Command, work: Path) -> Path:
    labels = ("--entity", "Alloy", "--entity", "Process", "--relation", "CHANGES=Process>Alloy")
    command("schema", "new", "s.toml", *labels)
    texts = [{"doc_key": "a", "text": ALLOYS}, {"doc_key": "b", "text": STEEL}]
    write_lines(work / "in.jsonl", *texts)
    command("init", "p.sciextract", "--schema", "s.toml")
    assert command("import", "in.jsonl").code == ExitCode.DONE
    return work / "p.sciextract"


def suggested(project: Path) -> list[tuple[str, int, str]]:
    """Text, start and label of every mention."""
    with open_project(project, read=True) as opened:
        return [
            (entity.text_of(document.document.text), entity.span.char_start, entity.label)
            for document in opened.stream(WITH_UNDECIDED)
            for entity in sorted(document.annotations.entities, key=lambda entity: entity.span)
        ]


def test_langextract_with_a_map_of_its_classes(command: Command, work: Path, project: Path) -> None:
    extractions: list[dict[str, object]] = [
        {"extraction_class": "metal", "extraction_text": text, "char_interval": interval}
        for text, interval in {
            "shape-memory alloys": {"start_pos": 0, "end_pos": 19},
            "alloy": {"start_pos": 58, "end_pos": 63},  # fuzzy: the nearest one is meant
            "nickel": None,
        }.items()
    ]
    extractions.append(
        {"extraction_class": "person", "extraction_text": "NITI", "attributes": {"phase": "B2"}}
    )
    write_lines(
        work / "x.jsonl", {"document_id": "doc_1", "text": ALLOYS, "extractions": extractions}
    )
    words = ("suggest", "x.jsonl", "--from", "langextract")
    refused = command(*words)
    assert refused.code == ExitCode.USAGE
    assert "lacks labels of the quotes: 'metal' (3), 'person' (1)" in refused.err
    assert (
        "--map metal=Ore: the schema has no label 'Ore'"
        in command(*words, "--map", "metal=Ore").err
    )
    made = command(*words, "--map", "metal=Alloy", "--json")
    assert made.code == ExitCode.DONE, made.err
    assert json.loads(made.out)["located"] == {"exact": 1, "normalised": 1}
    assert json.loads(made.out)["missing"] == ["a: 'nickel' is not in the text"]
    assert "left out: 'person' (1)" in made.err and "attributes of quotes, not read: 1" in made.err
    assert suggested(project) == [("Shape\u2013memory alloys", 0, "Alloy"), ("alloy", 59, "Alloy")]
    command("undo")
    assert suggested(project) == []


def test_gliner_with_relations(command: Command, work: Path, project: Path) -> None:
    ends = [
        {"start": 0, "end": 9, "text": "Annealing", "label": "Process", "score": 0.9},
        {"start": 25, "end": 30, "text": "Steel", "label": "Alloy", "score": 0.8},
    ]
    head, tail = ({"type": end["label"], **end, "entity_idx": at} for at, end in enumerate(ends))
    relation = {"head": head, "tail": tail, "relation": "CHANGES", "score": 0.5}
    record = {"text": STEEL, "entities": ends, "relations": [relation]}
    (work / "g.json").write_text(json.dumps([record], indent=1), "utf-8")
    assert command("suggest", "g.json", "--from", "gliner").code == ExitCode.DONE
    assert suggested(project) == [("Annealing", 0, "Process"), ("Steel", 25, "Alloy")]
    with open_project(project, read=True) as opened:
        _, steel = opened.stream(WITH_UNDECIDED)
        [found] = steel.annotations.relations
        assert (found.label, found.score, found.state) == ("CHANGES", 0.5, State.UNDECIDED)


def test_answers_of_any_model_in_sequence_or_everywhere(
    command: Command, work: Path, project: Path
) -> None:
    pairs = [["annealing", "Steel", "CHANGES"], ["hardens", "NITI", "CHANGES"]]
    write_lines(
        work / "q.jsonl",
        {"id": "a", "answer": {"Alloy": ["alloy", "alloy"]}},
        {"id": "b", "answer": {"Alloy": ["steel", "Steel"]}, "relations": pairs},
        {"id": "b", "mention": "steel"},
    )
    made = command("suggest", "q.jsonl", "--from", "quotes", "--keys", "entities=answer", "--json")
    assert made.code == ExitCode.PARTIAL, "a record without quotes"
    assert json.loads(made.out)["missing"] == [
        "b: 'NITI' is not in the text",
        "b: 'CHANGES' from 'hardens' to 'NITI' is not in the text",
    ]
    assert suggested(project) == [
        ("alloy", 29, "Alloy"),
        ("alloy", 59, "Alloy"),
        ("Annealing", 0, ""),
        ("hardens", 10, ""),
        ("steel", 18, "Alloy"),
        ("Steel", 25, "Alloy"),
    ]
    command("undo")
    write_lines(work / "f.jsonl", {"id": "a", "mention": "alloy", "type": "Alloy"})
    keys = "entities=.,quote=mention,label=type"
    command("suggest", "f.jsonl", "--from", "quotes", "--keys", keys, "--every")
    assert [start for _, start, _ in suggested(project)] == [29, 59]


def test_an_odd_quote_costs_itself_and_keeps_its_number(
    command: Command, work: Path, project: Path
) -> None:
    relations = [[2, 1, "CHANGES"], [None, 1, "CHANGES"]]
    quotes = [1998, {"quote": "steel"}, "Annealing"]
    write_lines(work / "q.jsonl", {"doc_key": "b", "entities": quotes, "relations": relations})
    write_lines(work / "l.jsonl", {"document_id": "a", "extractions": None})
    made = command("suggest", "q.jsonl", "--from", "quotes")
    assert made.code == ExitCode.PARTIAL and "1998 found" in made.err
    assert suggested(project) == [("Annealing", 0, ""), ("steel", 18, "")]
    with open_project(project, read=True) as opened:
        (relation,) = opened.document_state(opened.numbers()[1]).relations
        assert relation.head != relation.tail and relation.label == "CHANGES"
    assert command("suggest", "l.jsonl", "--from", "langextract").code == ExitCode.DONE


def test_relations_join_mentions_that_are_there_already(
    command: Command, work: Path, project: Path
) -> None:
    write_lines(
        work / "e.jsonl", {"id": "b", "entities": {"Process": ["Annealing"], "Alloy": ["steel"]}}
    )
    command("suggest", "e.jsonl", "--from", "quotes")
    with open_project(project) as opened:
        number = opened.numbers()[1]
        for row in opened.document_state(number).entities:
            opened.actions.accept(number, EntityRef(row.id))
    write_lines(work / "r.jsonl", {"id": "b", "relations": [["annealing", "steel", "CHANGES"]]})
    made = command("suggest", "r.jsonl", "--from", "quotes", "--json")
    assert json.loads(made.out)["items"] == {"import:r.jsonl": 1}
    assert suggested(project) == [("Annealing", 0, "Process"), ("steel", 18, "Alloy")]
    with open_project(project, read=True) as opened:
        state = opened.document_state(number)
        assert {row.state for row in state.entities} == {State.ACCEPTED}
        assert [row.state for row in state.relations] == [State.UNDECIDED]
    again = command("suggest", "r.jsonl", "--from", "quotes", "--json")
    assert json.loads(again.out)["items"] == {}


def test_the_tool_is_scored_against_the_decisions(
    command: Command, work: Path, project: Path
) -> None:
    write_lines(work / "llm.jsonl", {"id": "b", "entities": {"Alloy": ["steel", "creeps"]}})
    command("suggest", "llm.jsonl", "--from", "quotes")
    with open_project(project) as opened:
        number = opened.numbers()[1]
        right, wrong = sorted(opened.document_state(number).entities, key=lambda row: row.fragments)
        opened.actions.accept(number, EntityRef(right.id))
        opened.actions.reject(number, EntityRef(wrong.id))
    command("export", "--to", "jsonl", "--output", "gold.jsonl")
    source = ("--source", "import:llm.jsonl")
    command("export", "--to", "jsonl", *source, "--output", "tool.jsonl")
    scored = command("evaluate", "gold.jsonl", "tool.jsonl", "--json", "--schema", "s.toml")
    assert scored.code == ExitCode.DONE, scored.err
    scores = json.loads(scored.out)
    assert (scores["ner"]["all"]["gold"], scores["ner"]["all"]["predicted"]) == (1, 2)
    # What was said no to does not come back.
    command("suggest", "llm.jsonl", "--from", "quotes")
    assert suggested(project) == [("steel", 18, "Alloy")]


def test_bad_records_are_named_and_others_read(command: Command, work: Path, project: Path) -> None:
    lines = [
        "{broken",
        json.dumps({"id": "b", "entities": [{"quote": "\x1b[31mred", "label": "Alloy"}, "steel"]}),
        json.dumps({"id": "elsewhere", "entities": ["steel"]}),
        json.dumps({"entities": ["steel"]}),
        json.dumps({"id": "b", "entities": [{"label": "Alloy"}]}),
        json.dumps({"id": "b", "entities": [{"quote": "x" * 10_000_000, "label": "Alloy"}]}),
        json.dumps([{"text": "steel", "label": "Alloy"}]),
    ]
    (work / "bad.jsonl").write_text("\n".join(lines), "utf-8")
    made = command("suggest", "bad.jsonl", "--from", "quotes")
    assert made.code == ExitCode.PARTIAL
    for part in (
        "bad.jsonl:1:2: broken JSON",
        "bad.jsonl:3: doc_key 'elsewhere': no such abstract in the project",
        "bad.jsonl:4: doc_key 'bad:4': no text or doc_key or id or document_id: a record is like",
        "bad.jsonl:5: doc_key 'b': quote: None found; expected a string",
        "bad.jsonl:7: doc_key 'bad:7': no entities: a record is like",
        "b: '\\x1b[31mred' is not in the text",
        "b: 'xxx",
    ):
        assert part in made.err, (part, made.err)
    assert "\x1b" not in made.err
    assert suggested(project) == [("steel", 18, "")]
    for words, part in {
        ("--keys", "quotation=q"): "it can name text, document, entities, quote, label, start",
        ("--from", "gliner", "--spans"): "FILE cannot be combined",
    }.items():
        assert part in command("suggest", "bad.jsonl", "--from", "quotes", *words).err
    assert "--keys and --every are for quotes" in command("suggest", "bad.jsonl", "--every").err
