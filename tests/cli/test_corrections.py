"""Annotations that come back for abstracts that were worked on: compared, applied as one event, or kept for adjudication."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Span
from sciextract.errors import ExitCode
from sciextract.store import open_project
from sciextract.store.label_changes import add_type
from tests.cli.conftest import Command
from tests.cli.projects import write_lines

TEXT = "Shallow nets parse rivers. Deep nets use graphs. We compare both of them over the lakes."
LINK = {"id": "1", "head": "Shallownets", "tail": "rivers", "label": "USED-FOR", "state": "accepted"}  # fmt: skip
SPANS = {"Shallow nets": "Method", "rivers": "Task", "graphs": "Material"}


def mention(surface: str, label: str) -> dict[str, Any]:
    start = TEXT.index(surface)
    where = {"fragments": [[start, start + len(surface)]]}
    return {"id": surface.replace(" ", ""), **where, "label": label, "state": "accepted"}


@pytest.fixture
def path(command: Command, work: Path) -> Path:
    """A finished abstract with three mentions and a relation, and one that nobody has touched."""
    command("init", "p.sciextract")
    entities = [mention(*span) for span in SPANS.items()]
    done = {
        "schema_version": 1,
        "doc_key": "a",
        "text": TEXT,
        "entities": entities,
        "links": [LINK],
    }
    write_lines(work / "in.jsonl", done, {"id": "b", "text": "Bees dance in the evening."})
    command("import", "in.jsonl", "--done", "all")
    return work / "p.sciextract"


def items(path: Path) -> set[tuple[str, ...]]:
    """What holds in the first abstract."""
    with open_project(path, read=True) as opened:
        annotations = opened.document(1).annotations
        texts = {entity.id: entity.text_of(TEXT) for entity in annotations.entities}
        return {(texts[entity.id], entity.label) for entity in annotations.entities} | {
            (texts[relation.head], relation.label, texts[relation.tail])
            for relation in annotations.relations
        }


def edit_brat(place: Path) -> None:
    file = place / "a.ann"
    lines = [line.replace("Task", "Metric") for line in file.read_text().splitlines()]
    kept = [line for line in lines if "graphs" not in line]
    start = TEXT.index("Deep nets")
    file.write_text("\n".join([*kept, f"T9\tMethod {start} {start + 9}\tDeep nets"]) + "\n")


def edit_conll(place: Path) -> None:
    lines = place.read_text().replace("-Task", "-Metric").splitlines()
    tags = {"graphs": "O", "Deep": "B-Method"}
    edited, deep = [], False
    for line in lines:
        word = re.split(r"\s", line)[0]
        tag = "I-Method" if deep and word == "nets" else tags.get(word)
        deep = word == "Deep"
        edited.append(line if tag is None else re.sub(r"\S+$", tag, line))
    place.write_text("\n".join(edited) + "\n")


def edit_json(place: Path) -> None:
    """Edits doccano, Label Studio and jsonl alike: wherever a mention is written, by its place and label."""
    start = TEXT.index("Deep nets")

    def edited(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: edited(inner) for key, inner in value.items()}
        if not isinstance(value, list):
            return "Metric" if value == "Task" else value
        kept = [edited(item) for item in value if not is_graphs(item)]
        if len(kept) < len(value):
            kept.append(json.loads(put_deep(next(item for item in value if is_graphs(item)))))
        return kept

    def is_graphs(value: Any) -> bool:
        begin = TEXT.index("graphs")
        plain = json.dumps(value)
        here = f"{begin}, {begin + 6}" in plain or f'"start": {begin}, "end": {begin + 6}' in plain
        here = here or f'"start_offset": {begin}' in plain
        return (
            isinstance(value, dict) and here and plain.count("Material") == 1 and len(plain) < 400
        )

    def put_deep(item: Any) -> str:
        begin = TEXT.index("graphs")
        plain = json.dumps(item).replace("Material", "Method").replace("graphs", "Deep nets")
        return plain.replace(str(begin + 6), str(start + 9)).replace(str(begin), str(start))

    content = place.read_text()
    if content.startswith("["):
        place.write_text(json.dumps(edited(json.loads(content))))
    else:
        lines = [edited(json.loads(line)) for line in content.splitlines()]
        place.write_text("".join(json.dumps(line) + "\n" for line in lines))


EDITS: dict[str, Callable[[Path], None]] = {
    "brat": edit_brat,
    "conll": edit_conll,
    "doccano": edit_json,
    "label-studio": edit_json,
    "jsonl": edit_json,
}


@pytest.mark.parametrize("format_id", EDITS)
def test_edits_come_back_once(command: Command, path: Path, format_id: str) -> None:
    before = items(path)
    command("export", "--to", format_id, "--all", "--output", "out")
    assert command("import", "out", "--from", format_id).code == ExitCode.DONE, "nothing was edited"
    assert items(path) == before
    EDITS[format_id](Path("out"))

    told = command("import", "out", "--from", format_id, "--json")
    counts = json.loads(told.out)
    assert (told.code, counts["left"]) == (ExitCode.PARTIAL, counts["left"])
    assert counts["differences"] == {"additions": 1, "changes": 1, "deletions": 1}
    assert items(path) == before
    assert "'a': entity  mine: rivers [Task]  |  theirs: rivers [Metric]" in told.err

    command("import", "out", "--from", format_id, "--as", "ben")
    assert len(command("adjudicate").out.splitlines()) == 3
    assert command("undo").code == ExitCode.DONE

    applied = command("import", "out", "--from", format_id, "--apply", "--author", "ben")
    assert applied.code == ExitCode.DONE, applied.err
    assert items(path) == (before - {("rivers", "Task"), ("graphs", "Material")}) | {
        ("rivers", "Metric"),
        ("Deep nets", "Method"),
    }
    assert command("import", "out", "--from", format_id).code == ExitCode.DONE
    with open_project(path, read=True) as opened:
        event = next(logged for logged in opened.log() if logged.kind == "corrections")
    assert event.author == "person:ben"
    assert command("undo", "--event", event.id).code == ExitCode.DONE
    assert items(path) == before


def test_what_was_decided_after_an_export_is_not_deleted_by_it(
    command: Command, path: Path
) -> None:
    command("export", "--to", "jsonl", "--output", "out")
    start = TEXT.index("lakes")
    with open_project(path) as opened:
        opened.actions.add_entity(1, [Span(start, start + 5)], "Material")
    assert command("import", "out").code == ExitCode.DONE
    edit_json(Path("out"))
    command("import", "out", "--apply")
    assert {("lakes", "Material"), ("rivers", "Metric")} <= items(path)


def test_one_place_never_gets_two_labels_in_silence(command: Command, work: Path) -> None:
    command("init", "p.sciextract")
    first = {
        "schema_version": 1,
        "doc_key": "a",
        "text": TEXT,
        "entities": [imported("rivers", "Task")],
    }
    write_lines(work / "one.jsonl", first)
    write_lines(work / "two.jsonl", {**first, "entities": [imported("rivers", "Metric")]})
    write_lines(work / "more.jsonl", {**first, "entities": [imported("graphs", "Material")]})
    command("import", "one.jsonl")
    assert command("import", "two.jsonl").code == ExitCode.PARTIAL
    assert command("import", "more.jsonl").code == ExitCode.DONE
    command("import", "two.jsonl", "--as", "ben", "--apply")
    assert items(work / "p.sciextract") == {("rivers", "Task"), ("graphs", "Material")}


def test_what_nobody_has_looked_for_is_added(command: Command, path: Path, work: Path) -> None:
    """A file has a type that came after the abstract was finished: what it adds contradicts nobody."""
    with open_project(path) as opened:
        add_type(opened, "entity", "Water")
    first = {"schema_version": 1, "doc_key": "a", "text": TEXT, "links": [LINK]}
    late = [imported(*span) for span in (*SPANS.items(), ("lakes", "Water"))]
    write_lines(work / "late.jsonl", {**first, "entities": late})
    assert command("import", "late.jsonl").code == ExitCode.DONE
    assert ("lakes", "Water") in items(path)
    write_lines(
        work / "more.jsonl", {**first, "entities": [*late, imported("Deep nets", "Method")]}
    )
    assert command("import", "more.jsonl").code == ExitCode.PARTIAL
    assert ("Deep nets", "Method") not in items(path)


def imported(surface: str, label: str) -> dict[str, Any]:
    return {**mention(surface, label), "state": "imported"}
