"""``sciextract tui`` in a real pseudo-terminal: what a person sees, and what is left in file and terminal."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sciextract.resources import bundled_models
from sciextract.store import open_project
from sciextract.store.health.doctor import Severity, examine
from tests.e2e.terminal import Terminal
from tests.shared_data import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("terminal")]

COMMAND = [sys.executable, "-m", "sciextract", "tui"]
Start = Callable[..., Terminal]
CRASHING = """
from sciextract_app.presenter.desk import Desk
from sciextract.cli.main import main

press = Desk.press

def crash(desk, key):
    if key == "D":
        raise RuntimeError("secret: " + desk.passage().text)
    return press(desk, key)

Desk.press = crash
main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the sample library in it."""
    shutil.copy(ROOT / "sample_data" / "library.bib", tmp_path / "refs.bib")
    return tmp_path


@pytest.fixture
def start(folder: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts the desk in a terminal; whatever still runs in the end is ended."""
    started: list[Terminal] = []
    paths = os.pathsep.join(str(ROOT / each) for each in ("", "app", "trainer"))
    hidden = {"NO_COLOR", "COLUMNS", "LINES", "TEXTUAL"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"PYTHONPATH": paths, "SCIEXTRACT_HOME": str(tmp_path / "home")}

    def begin(
        *words: str, columns: int = 80, rows: int = 24, command: list[str] = COMMAND
    ) -> Terminal:
        started.append(Terminal([*command, *words], folder, environment, columns, rows))
        return started[-1]

    yield begin
    for terminal in started:
        terminal.close()


def decided(folder: Path) -> int:
    """How many items a person decided."""
    with open_project(folder / "refs.sciextract", read=True) as project:
        row = project.connection.execute("SELECT sum(decided) FROM summary").fetchone()
        return int(row[0] or 0)


def errors(folder: Path) -> list[str]:
    """What the doctor finds wrong."""
    found = examine(folder / "refs.sciextract").findings
    return [each.message for each in found if each.severity is Severity.ERROR]


@pytest.mark.skipif(
    not (bundled_models() / "sci").is_dir(), reason="data set absent: bundled model"
)
class TestWithTheModel:
    def test_open_correct_leave(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib")
        terminal.wait_for("endangered")
        terminal.wait_for("abstracts predicted")
        terminal.press("enter")
        terminal.wait_for(lambda: decided(folder) == 1)
        terminal.press("x", "u")
        terminal.wait_for(lambda: decided(folder) == 1)
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
        assert terminal.is_restored()
        assert decided(folder) == 1
        assert errors(folder) == []

    def test_killed_and_opened_again(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib")
        terminal.wait_for("abstracts predicted")
        terminal.press("enter")
        terminal.wait_for(lambda: decided(folder) == 1)
        terminal.press("n")
        terminal.wait_for("smileys")
        terminal.process.send_signal(signal.SIGKILL)
        terminal.wait_for_end()
        again = start("refs.bib")
        again.wait_for("smileys")  # where the person stopped
        again.wait_for("nothing is wrong with it")
        again.press("p", "u", "ctrl+q")
        assert again.wait_for_end() == 0
        assert decided(folder) == 0
        assert errors(folder) == []

    def test_leaving_while_it_predicts(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib")
        terminal.wait_for("endangered")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
        assert terminal.is_restored()
        assert errors(folder) == []


class TestWithoutAModel:
    def test_resizing(self, start: Start) -> None:
        terminal = start("refs.bib", "--no-predict", columns=120, rows=40)
        terminal.wait_for("endangered")
        terminal.resize(50, 12)
        terminal.wait_for("60x15")
        terminal.resize(80, 24)
        terminal.wait_for("endangered")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0

    def test_ctrl_c_ends_nothing(self, start: Start) -> None:
        terminal = start("refs.bib", "--no-predict")
        terminal.wait_for("endangered")
        terminal.press("ctrl+c")
        terminal.wait_for("Ctrl+Q leaves")
        terminal.process.send_signal(signal.SIGINT)
        terminal.press("n")
        terminal.wait_for("smileys")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0

    def test_sigterm_closes_the_project(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib", "--no-predict")
        terminal.wait_for("endangered")
        terminal.press("F")
        terminal.wait_for(lambda: flagged(folder))
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_for_end() == 128 + signal.SIGTERM
        assert terminal.is_restored()
        assert closed_cleanly(folder)

    def test_a_broken_connection_closes_the_project(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib", "--no-predict")
        terminal.wait_for("endangered")
        terminal.press("F")
        terminal.wait_for(lambda: flagged(folder))
        terminal.hang_up()
        assert terminal.process.wait(30) == 128 + signal.SIGHUP
        assert closed_cleanly(folder)
        assert flagged(folder)

    def test_a_missing_file_is_told_without_taking_the_screen(self, start: Start) -> None:
        terminal = start("nothing.bib")
        assert terminal.wait_for_end() == 4
        assert "nothing.bib: no such file" in terminal.text
        assert b"\x1b[?1049h" not in terminal.raw

    def test_a_crash_restores_the_terminal_and_leaves_a_report(
        self, start: Start, folder: Path
    ) -> None:
        (folder / "crashing.py").write_text(CRASHING)
        terminal = start("refs.bib", "--no-predict", command=[sys.executable, "crashing.py", "tui"])
        terminal.wait_for("endangered")
        terminal.press("F")
        terminal.wait_for(lambda: flagged(folder))
        terminal.press("D")
        assert terminal.wait_for_end() == 1
        assert terminal.is_restored()
        assert "failed unexpectedly" in terminal.text
        assert "endangered" not in terminal.text
        [report] = (folder / "home" / "crashes").iterdir()
        assert "endangered" not in report.read_text()
        assert closed_cleanly(folder)


def flagged(folder: Path) -> bool:
    with open_project(folder / "refs.sciextract", read=True) as project:
        found = project.connection.execute("SELECT sum(flagged) FROM progress").fetchone()[0]
        return bool(found)


def closed_cleanly(folder: Path) -> bool:
    with open_project(folder / "refs.sciextract", read=True) as project:
        marks = project.connection.execute("SELECT count(*) FROM session").fetchone()[0]
        return not marks and not (folder / "refs.sciextract-wal").exists()
