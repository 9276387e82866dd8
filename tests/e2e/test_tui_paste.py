"""Hostile pastes in a real terminal: a text with escapes and broken bytes stays a text."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sciextract.store import open_project
from tests.e2e.terminal import Terminal
from tests.shared_data import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("terminal")]

TEXT = "Moss \x1b[31mxxxDDDuuu&&&\x1b[0m is green. \x1b and [12].\r\rA parser of reeds, xxxxxxxxxxxxxxxxxxxxxxxxxxx."


def paste(terminal: Terminal, text: bytes) -> None:
    os.write(terminal._master, b"\x1b[200~" + text + b"\x1b[201~")


def test_nothing_of_a_paste_is_a_key(tmp_path: Path) -> None:
    (tmp_path / "refs.txt").write_text("A tagger of ferns.")
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment["PYTHONPATH"] = os.pathsep.join(str(ROOT / name) for name in ("", "app", "trainer"))
    environment["SCIEXTRACT_HOME"] = str(tmp_path / "home")
    command = [sys.executable, "-m", "sciextract", "tui", "--no-predict", "refs.txt"]
    terminal = Terminal(command, tmp_path, environment, columns=100, rows=30)
    try:
        terminal.wait_for("tagger of ferns")
        terminal.wait_for("1 new abstract")
        paste(terminal, TEXT.encode())
        terminal.wait_for("2 abstracts")
        assert "␛[31mxxxDDDuuu" in terminal.text
        terminal.press("enter")
        terminal.wait_for("2 new abstracts")
        paste(terminal, b"broken \xff\xfe bytes")
        terminal.wait_for("broken")
        terminal.press("escape")
        terminal.wait_for("2 new abstracts")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
        assert terminal.is_restored()
    finally:
        terminal.close()
    with open_project(tmp_path / "refs.sciextract", read=True) as project:
        texts = [project.document_state(number).text for number in project.numbers()]
        assert [event.kind for event in project.log()].count("import") == 2
    assert texts == ["A tagger of ferns.", *TEXT.split("\r\r")]
