"""What goes wrong around the desk, in real terminals: it says what to do, and loses nothing."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.store import open_project
from sciextract.workflows.import_files import import_files
from tests.e2e.desks import (
    FIRST,
    SECOND,
    Start,
    closed_cleanly,
    decided,
    errors,
    flagged,
    library,
    starting,
)

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("more terminals")]

# The superuser may write everything; here permissions hold for everybody.
WITH_PERMISSIONS = """
import os
access = os.access

def held(path, mode, **more):
    allowed = not mode & os.W_OK or os.stat(path).st_mode & 0o222
    return bool(allowed) and access(path, mode, **more)

os.access = held
from sciextract.cli.main import main
main()
"""
GOLD = {
    "doc_key": "zebra",
    "sentences": [["Zebra", "parsers", "read", "[12]", "stripes", "."]],
    "ner": [[[0, 1, "Gadget"], [4, 4, "Task"]]],
    "relations": [[[0, 1, 4, 4, "READS"]]],
    "clusters": [],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the sample library in it."""
    return library(tmp_path)


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    with starting(folder) as begin:
        yield begin


@pytest.fixture
def made(start: Start, folder: Path) -> Path:
    """The library's project."""
    terminal = start("refs.bib", "--no-predict")
    terminal.wait_for(FIRST)
    terminal.press("ctrl+q")
    assert terminal.wait_for_end() == 0
    return folder / "refs.sciextract"


class TestOpenElsewhere:
    def test_both_work_and_see_each_other(self, start: Start, folder: Path, made: Path) -> None:
        ann = start(made.name, "--no-predict", "--author", "ann", columns=120, rows=40)
        bob = start(made.name, "--no-predict", "--author", "bob", columns=120, rows=40)
        ann.wait_for(FIRST)
        bob.wait_for(FIRST)
        bob.press("n")
        bob.wait_for(SECOND)
        ann.press("F")
        ann.wait_for(lambda: flagged(folder) == 1)
        bob.wait_for("⚑", 20)  # in the list
        assert SECOND in bob.text  # and the own place stays
        bob.press("F")
        bob.wait_for(lambda: flagged(folder) == 2)
        ann.press("u")
        ann.wait_for(lambda: flagged(folder) == 1)
        for desk in (ann, bob):
            desk.press("ctrl+q")
            assert desk.wait_for_end() == 0
        assert (flagged(folder), closed_cleanly(folder), errors(folder)) == (1, True, [])

    def test_a_label_that_another_process_adds(self, start: Start, made: Path) -> None:
        terminal = start(made.name, "--no-predict", columns=120, rows=40)
        terminal.wait_for(FIRST)
        gold = made.with_name("gold.jsonl")
        gold.write_text(json.dumps(GOLD) + "\n")
        with open_project(made, "bob") as project:
            import_files(project, [str(gold)], add_labels=True)
        terminal.wait_for("Zebra")  # in the list
        terminal.press("ctrl+l", "end", "enter")
        terminal.wait_for("[12]")
        terminal.press("j", "k")  # the first entity, whether it has the focus already or not
        terminal.wait_for("Gadget")
        terminal.wait_for("READS")
        terminal.press("2")
        terminal.wait_for(lambda: decided(made.parent) == 1)
        terminal.press("u", "ctrl+q")
        assert terminal.wait_for_end() == 0
        assert (decided(made.parent), errors(made.parent)) == (0, [])


class TestReadOnly:
    @pytest.fixture
    def sealed(self, made: Path) -> Iterator[Path]:
        made.chmod(0o444)
        made.parent.chmod(0o555)
        yield made
        made.parent.chmod(0o755)
        made.chmod(0o644)

    def test_it_can_be_read_and_is_not_changed(self, start: Start, sealed: Path) -> None:
        before = sealed.read_bytes()
        command = [sys.executable, "-c", WITH_PERMISSIONS, "tui"]
        terminal = start(sealed.name, command=command)
        terminal.wait_for("is read-only here: copy it to change it")
        terminal.press("2")
        terminal.wait_for("refs.sciextract can")
        terminal.press("n")
        terminal.wait_for(SECOND)
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
        assert sealed.read_bytes() == before


def test_a_missing_model(start: Start, folder: Path) -> None:
    terminal = start("refs.bib", "--model", "nothing", columns=120)
    terminal.wait_for("no model is called 'nothing'")
    terminal.press("2")  # a mention all the same
    terminal.wait_for(lambda: decided(folder) == 1)
    terminal.press("ctrl+q")
    assert terminal.wait_for_end() == 0


def test_abstracts_without_text(start: Start, folder: Path) -> None:
    records = [{"id": "a", "text": ""}, {"id": "b", "text": "  \n"}, {"id": "c", "text": "Words."}]
    (folder / "refs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    terminal = start("refs.jsonl", "--no-predict", columns=120)
    terminal.wait_for("this abstract has no text")
    terminal.press("2", "f", "r", "n", "n")
    terminal.wait_for("‹Words›")
    terminal.press("2")
    terminal.wait_for(lambda: decided(folder) == 1)
    terminal.press("ctrl+q")
    assert terminal.wait_for_end() == 0


def test_sizes_change_while_a_person_works(start: Start, folder: Path) -> None:
    terminal = start("refs.bib", "--no-predict", columns=120, rows=40)
    terminal.wait_for(FIRST)
    terminal.press("v")
    terminal.wait_for("SELECT")
    for columns, rows in ((40, 10), (1, 1), (59, 15), (200, 60)):
        terminal.resize(columns, rows)
        terminal.press("l", "k", "v")
    terminal.wait_for(FIRST)
    terminal.resize(20, 5)
    terminal.wait_for("60x15")
    terminal.resize(80, 24)
    terminal.wait_for(FIRST)
    terminal.press("escape")
    terminal.wait_for("D done")
    terminal.press("F")
    terminal.wait_for(lambda: flagged(folder) == 1)
    assert decided(folder) == 0
    terminal.press("ctrl+q")
    assert terminal.wait_for_end() == 0
    assert errors(folder) == []


@pytest.mark.parametrize(
    ("kind", "no_color"),
    [
        *((kind, "") for kind in ("linux", "xterm-16color", "vt100", "dumb", "")),
        *((kind, "1") for kind in ("xterm-256color", "linux")),
    ],
)
def test_any_terminal(start: Start, folder: Path, kind: str, no_color: str) -> None:
    variables = {"NO_COLOR": no_color} if no_color else {}
    terminal = start("refs.bib", "--no-predict", kind=kind, **variables)
    terminal.wait_for(FIRST)
    terminal.press("2")
    terminal.wait_for(lambda: decided(folder) == 1)
    terminal.press("l")
    terminal.wait_for("⌊Word⌋")  # what is decided is told by a sign, too
    if no_color:
        assert not coloured(terminal.raw)
    terminal.press("ctrl+q")
    assert terminal.wait_for_end() == 0
    assert terminal.is_restored()


def coloured(raw: bytes) -> list[bytes]:
    """Colours that a terminal was told, apart from shades of grey."""
    found = re.findall(rb"\x1b\[([0-9;:]*)m", raw)
    true = [re.search(rb"[34]8;2;(\d+);(\d+);(\d+)", sequence) for sequence in found]
    rgb = {match.groups() for match in true if match}
    return [b",".join(colour) for colour in rgb if len(set(colour)) > 1]
