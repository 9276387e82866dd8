"""``sciextract convert``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.errors import ExitCode
from tests.cli.conftest import Command
from tests.cli.projects import GOLD, PLAIN, everything, read_lines, write_lines


def test_it_renames_and_comes_back(command: Command, work: Path) -> None:
    write_lines(work / "in.jsonl", GOLD, PLAIN)
    words = ("--rename", "Method=Task,Task=Method", "--rename", "USED-FOR=serves", "--json")
    made = command("convert", "in.jsonl", "--to", "brat", "--output", "corpus", *words)
    assert (made.code, json.loads(made.out)["documents"]) == (ExitCode.DONE, 2)
    assert json.loads(made.out)["renamed"] == {"Method": 1, "Task": 1, "USED-FOR": 1}
    back = command("convert", "corpus", "--to", "scierc")
    [record] = [line for line in read_lines(back.out) if line["doc_key"] == "gold"]
    assert record["ner"] == [[[0, 1, "Task"], [3, 3, "Method"]], [[5, 5, "Generic"]]]
    assert record["relations"] == [[[0, 1, 3, 3, "serves"]], []]
    assert record["clusters"] == GOLD["clusters"]


def test_candidates_and_alternatives_go_along_with_new_labels(command: Command, work: Path) -> None:
    given = {"schema_version": 1, "doc_key": "a", "text": "Bees hum.", "note": 7}
    entity: dict[str, Any] = {
        "id": "E1",
        "fragments": [[0, 4]],
        "label": "Task",
        "state": "undecided",
    }
    entity |= {"alternatives": [["Method", 0.2]], "score": 0.7, "source": "model:m@1/r"}
    spans = [{"span": [0, 4], "labels": [["Task", 0.7], ["Method", 0.2]]}]
    write_lines(work / "in.jsonl", given | {"entities": [entity], "candidates": {"spans": spans}})
    result = command("convert", "in.jsonl", "--to", "jsonl", "--rename", "Method=Way")
    [record] = read_lines(result.out)
    assert record["entities"] == [entity | {"alternatives": [["Way", 0.2]], "text": "Bees"}]
    assert record["candidates"]["spans"][0]["labels"] == [["Task", 0.7], ["Way", 0.2]]
    assert record["note"] == 7


@pytest.mark.parametrize("output", ["-", "out"])
def test_strict_leaves_nothing_even_of_a_pipe(command: Command, work: Path, output: str) -> None:
    lines = f"{json.dumps(PLAIN)}\n{json.dumps(PLAIN | {'spans': [[0, 7]]})}\n"
    words = ("convert", "-", "--to", "scierc", "--output", output, "--strict")
    lost = command(*words, stdin=lines)
    assert (lost.code, lost.out, list(work.iterdir())) == (ExitCode.FAILED, "", [])
    assert "scierc cannot hold field 'spans': 1" in lost.err
    whole = command(*words, "--json", stdin=json.dumps(PLAIN))
    assert (whole.code, "kernels" in (whole.out + everything_in(work))) == (ExitCode.DONE, True)


def everything_in(folder: Path) -> str:
    return "".join(path.read_text("utf-8") for path in folder.iterdir())


def test_bad_records_are_told_and_the_rest_is_done(command: Command, work: Path) -> None:
    write_lines(work / "in.jsonl", {"id": "empty"}, GOLD)
    result = command("convert", "in.jsonl", "--to", "scierc", "--output", "out.jsonl")
    assert result.code == ExitCode.PARTIAL
    assert "in.jsonl:1" in result.err
    assert len(read_lines(Path("out.jsonl").read_text("utf-8"))) == 1
    write_lines(work / "in.jsonl", {"id": "empty"})
    nothing = command("convert", "in.jsonl", "--to", "scierc", "--output", "none.jsonl")
    assert (nothing.code, Path("none.jsonl").exists()) == (ExitCode.FAILED, False)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--to", "nonsense"), ExitCode.USAGE),
        (("--to", "brat"), ExitCode.USAGE),
        (("--to", "jsonl", "--output", "in.jsonl", "--force"), ExitCode.USAGE),
        (("--to", "jsonl", "--output", "old"), ExitCode.FAILED),
        (("--to", "jsonl", "--from", "ris"), ExitCode.FAILED),
        (("--to", "jsonl", "--rename", "Method"), ExitCode.USAGE),
        (("--to", "jsonl", "--rename", "A=B,A=C"), ExitCode.USAGE),
        (("absent.jsonl", "--to", "jsonl"), ExitCode.MISSING),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value.name,
)
def test_refusals_change_nothing(
    command: Command, work: Path, words: tuple[str, ...], code: ExitCode
) -> None:
    write_lines(work / "in.jsonl", GOLD)
    (work / "old").write_text("old", "utf-8")
    before = everything(work)
    result = command("convert", "in.jsonl", *words)
    assert result.code == code
    assert "Error: " in result.err
    assert "unexpectedly" not in result.err
    assert everything(work) == before


def test_a_label_that_is_nowhere_is_told(command: Command, work: Path) -> None:
    write_lines(work / "in.jsonl", GOLD)
    result = command("convert", "in.jsonl", "--to", "jsonl", "--rename", "Methd=M")
    assert (result.code, "'Methd'" in result.err) == (ExitCode.DONE, True)
