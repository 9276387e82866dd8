from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from sciextract.cli.queue import make
from sciextract.errors import ExitCode
from sciextract.store import open_project
from sciextract.store.queries import SavedQueue, save_queue
from sciextract.workflows.active.ranking import By
from tests.cli.conftest import Command
from tests.cli.fakes import RuleExtractor
from tests.cli.projects import read_lines

ESCAPE = "\x1b"


def test_the_words_are_those_of_the_workflow() -> None:
    assert list(get_args(get_type_hints(make)["by"])) == [order.value for order in By]


def test_make_show_list_drop(command: Command, project: Path, fake: RuleExtractor) -> None:
    made = command("queue", "make", "--by", "entropy", "--name", "first round")
    assert made.code == 0 and "queue 'first round': 2 of 2 abstracts" in made.err and not made.out
    shown = command("queue", "show", "first round")
    assert len(shown.out.splitlines()) == 2 and "    1  " in shown.out
    assert read_lines(command("queue", "list", "--json").out) == [
        {"name": "first round", "abstracts": 2}
    ]
    [row] = [record for record in read_lines(command("queue", "show", "first round", "--json").out)
             if record["doc_key"] == "plain"]  # fmt: skip
    assert (row["undecided"], row["done"]) == (0, False)
    assert command("queue", "drop", "first round", "--json").out == '{"dropped": "first round"}\n'
    assert "no queue is saved" in command("queue", "list").err


def test_json_says_what_was_made(command: Command, project: Path, fake: RuleExtractor) -> None:
    [told] = read_lines(command("queue", "make", "--most", 1, "--json").out)
    assert (told["name"], told["abstracts"], told["of"], told["predicted"]) == ("entropy", 1, 2, 2)
    assert told["model"].startswith("sci-")
    assert not fake.loaded.get("precision")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("make", "--by", "nonsense"), ExitCode.USAGE, "'nonsense' is not one of"),
        (("make", "--most", "0"), ExitCode.USAGE, "not in the range"),
        (("make", "--by", "committee"), ExitCode.USAGE, "'committee' is not one of"),
        (("make", "--by", "random", "--model", "sci"), ExitCode.USAGE, "leave --model out"),
        (("make", "--model", "nosuch"), ExitCode.MISSING, "no model is called 'nosuch'"),
        (("make", "--name", "\x1b"), ExitCode.USAGE, "cannot be called"),
        (("show", "nosuch"), ExitCode.USAGE, "no queue is called 'nosuch'"),
        (("drop", "nosuch"), ExitCode.USAGE, "no queue is saved"),
        (("list", "--project", "nofile"), ExitCode.MISSING, "there is no such project"),
        ((), ExitCode.USAGE, "saved queues"),
    ],
)
def test_wrong_words(
    command: Command, project: Path, words: tuple[str, ...], code: ExitCode, said: str
) -> None:
    result = command("queue", *words)
    assert (result.code, result.out) == (code, "") and said in result.err
    assert ESCAPE not in result.err


def test_names_cannot_steer_the_terminal(command: Command, project: Path) -> None:
    with open_project(project, "ann") as opened:
        save_queue(opened, SavedQueue("kept", (1,)))
        opened.connection.execute(
            "UPDATE meta SET key = ? WHERE key = ?", (f"queue:{ESCAPE}[31mred", "queue:kept")
        )
        opened.connection.commit()
    assert ESCAPE not in command("queue", "list").out
