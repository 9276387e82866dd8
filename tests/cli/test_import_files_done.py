"""``sciextract import --done``: gold is complete, and counts as reviewed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Layer
from sciextract.errors import ExitCode
from sciextract.store import open_project
from tests.cli.conftest import Command
from tests.cli.projects import GOLD, write_lines


def _layers(project: Path, doc_key: str) -> dict[str, str]:
    with open_project(project, read=True) as opened:
        drafts = [opened.document_state(number) for number in opened.numbers()]
        found = next(draft for draft in drafts if draft.stored.document.doc_key == doc_key)
        assert found.progress is not None
        return {layer.value: getattr(found.progress, layer).value for layer in Layer}


def _import(command: Command, work: Path, record: dict[str, Any], *words: str) -> None:
    command("init", "new.sciextract")
    write_lines(work / "more.jsonl", {**record, "doc_key": "more"})
    result = command("import", "more.jsonl", "--project", "new.sciextract", *words)
    assert result.code == ExitCode.DONE, result.err


@pytest.mark.parametrize(
    ("words", "done"),
    [
        (["--done", "all"], {"entities", "relations", "coreference"}),
        (["--done", "entities, relations"], {"entities", "relations"}),
        ([], set()),
    ],
)
def test_the_layers_that_were_named_are_done(
    command: Command, work: Path, words: list[str], done: set[str]
) -> None:
    _import(command, work, GOLD, *words)
    found = _layers(work / "new.sciextract", "more")
    assert {layer for layer, state in found.items() if state == "done"} == done


def test_an_abstract_without_annotations_is_done_too(command: Command, work: Path) -> None:
    _import(
        command,
        work,
        {**GOLD, "ner": [[], []], "relations": [[], []], "clusters": []},
        "--done",
        "all",
    )
    assert set(_layers(work / "new.sciextract", "more").values()) == {"done"}


def test_undo_takes_it_back(command: Command, work: Path) -> None:
    _import(command, work, GOLD)
    before = _layers(work / "new.sciextract", "more")
    command("import", "more.jsonl", "--project", "new.sciextract", "--done", "all")
    assert _layers(work / "new.sciextract", "more") != before
    command("undo", "--project", "new.sciextract")
    assert _layers(work / "new.sciextract", "more") == before


def test_a_layer_that_is_none_is_refused_before_anything_happens(
    command: Command, work: Path
) -> None:
    command("init", "new.sciextract")
    write_lines(work / "more.jsonl", GOLD)
    result = command("import", "more.jsonl", "--project", "new.sciextract", "--done", "names")
    assert result.code == ExitCode.USAGE
    assert (
        "'names' is not a layer" in result.err and "entities, relations, coreference" in result.err
    )
    status = json.loads(command("status", "--project", "new.sciextract", "--json").out)
    assert status["documents"] == 0
