"""``sciextract tui`` in a real pseudo-terminal: what a person sees, and what is left in file and terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from sciextract.resources import bundled_models
from sciextract_app.terminal import LEAVE_SECONDS
from tests.e2e.desks import (
    FIRST,
    SECOND,
    Start,
    closed_cleanly,
    decided,
    environment,
    errors,
    flagged,
    library,
    starting,
)
from tests.e2e.terminal import PATIENCE

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("terminal")]

CRASHING = """
from sciextract_app.review.keys.desk import Desk
from sciextract.cli.main import main

press = Desk.press

def crash(desk, key, action=None):
    if key == "D":
        raise RuntimeError("secret: " + desk.passage().text)
    return press(desk, key, action)

Desk.press = crash
main()
"""

BUSY = """
from pathlib import Path
from sciextract_app.review.keys.desk import Desk
from sciextract.cli.main import main

press = Desk.press

def forever(desk, key, action=None):
    if key == "D":
        Path("busy").touch()
        while True:
            pass
    return press(desk, key, action)

Desk.press = forever
main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the sample library in it."""
    return library(tmp_path)


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    with starting(folder) as begin:
        yield begin


@pytest.mark.skipif(
    not (bundled_models() / "sci").is_dir(), reason="data set absent: bundled model"
)
class TestWithTheModel:
    def test_open_correct_leave(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib")
        terminal.wait_for(FIRST)
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

    @pytest.mark.full
    def test_killed_and_opened_again(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib")
        terminal.wait_for("abstracts predicted")
        for _ in range(3):
            before = decided(folder)
            terminal.press("enter")
            terminal.wait_for(lambda: decided(folder) == before + 1)  # noqa: B023
        terminal.press("u")
        terminal.wait_for(lambda: decided(folder) == 2)
        terminal.press("n")
        terminal.wait_for(SECOND)
        terminal.process.send_signal(signal.SIGKILL)
        terminal.wait_for_end()
        assert decided(folder) == 2
        again = start("--project", "refs.sciextract")
        again.wait_for(SECOND)  # where the person stopped
        again.press("p", "ctrl+r")
        again.wait_for(lambda: decided(folder) == 3)  # what was taken back can be done again
        again.press("u", "u", "u", "ctrl+q")
        assert again.wait_for_end() == 0
        assert decided(folder) == 0
        assert errors(folder) == []

    @pytest.mark.full
    def test_leaving_while_it_predicts(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib")
        terminal.wait_for(FIRST)
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
        assert terminal.is_restored()
        assert errors(folder) == []


@pytest.mark.full
class TestWithoutAModel:
    def test_resizing(self, start: Start) -> None:
        terminal = start("refs.bib", "--no-predict", columns=120, rows=40)
        terminal.wait_for(FIRST)
        terminal.resize(50, 12)
        terminal.wait_for("60x15")
        terminal.resize(80, 24)
        terminal.wait_for(FIRST)
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0

    def test_ctrl_c_ends_nothing(self, start: Start) -> None:
        terminal = start("refs.bib", "--no-predict")
        terminal.wait_for(FIRST)
        terminal.press("ctrl+c")
        terminal.wait_for("Ctrl+Q leaves")
        terminal.process.send_signal(signal.SIGINT)
        terminal.press("n")
        terminal.wait_for(SECOND)
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0

    def test_sigterm_closes_the_project(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib", "--no-predict")
        terminal.wait_for(FIRST)
        terminal.press("F")
        terminal.wait_for(lambda: flagged(folder))
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_for_end() == 128 + signal.SIGTERM
        assert terminal.is_restored()
        assert closed_cleanly(folder)

    def test_a_broken_connection_closes_the_project(self, start: Start, folder: Path) -> None:
        terminal = start("refs.bib", "--no-predict")
        terminal.wait_for(FIRST)
        terminal.press("F")
        terminal.wait_for(lambda: flagged(folder))
        terminal.hang_up()
        assert terminal.process.wait(30) == 128 + signal.SIGHUP
        assert closed_cleanly(folder)
        assert flagged(folder)

    def test_a_desk_that_is_busy_for_ever_ends_after_its_terminal(
        self, start: Start, folder: Path
    ) -> None:
        (folder / "busy.py").write_text(BUSY)
        terminal = start("refs.bib", "--no-predict", command=[sys.executable, "busy.py", "tui"])
        terminal.wait_for(FIRST)
        terminal.press("F")
        terminal.wait_for(lambda: flagged(folder))
        terminal.press("D")
        terminal.wait_for((folder / "busy").exists)
        terminal.hang_up()
        # Ten seconds, and as many for a machine under load.
        assert terminal.process.wait(2 * LEAVE_SECONDS) == 1
        assert flagged(folder)
        assert errors(folder) == []

    def test_a_desk_that_is_busy_for_ever_ends_after_its_browser(self, folder: Path) -> None:
        (folder / "busy.py").write_text(BUSY)
        words = ["tui", "refs.bib", "--no-predict"]
        driver = {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}
        desk = subprocess.Popen(
            [sys.executable, "busy.py", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
            env=environment(folder / "home") | driver,
        )  # fmt: skip
        try:
            assert desk.stdin is not None and desk.stdout is not None
            written = b""
            while FIRST.encode() not in written:
                piece = os.read(desk.stdout.fileno(), 1 << 16)
                assert piece, written
                written += piece
            Thread(target=desk.stdout.read, daemon=True).start()  # a full pipe would stop the desk
            desk.stdin.write(b"D" + (1).to_bytes(4, "big") + b"D")  # a key, as the server sends it
            desk.stdin.flush()
            end = time.monotonic() + PATIENCE
            while not (folder / "busy").exists() and time.monotonic() < end:
                time.sleep(0.05)
            assert (folder / "busy").exists()
            desk.stdin.close()
            assert desk.wait(2 * LEAVE_SECONDS) == 1
        finally:
            desk.kill()
            desk.wait()
        assert errors(folder) == []

    def test_what_nobody_typed_decides_nothing_and_ends_nothing(
        self, start: Start, folder: Path
    ) -> None:
        terminal = start("refs.bib", "--no-predict")
        terminal.wait_for(FIRST)
        for report in ("\x1b[<32;NaN;NaNM", "\x1b[1095::120u", "\x1b[97;1:3u", "\x1b[99999999u"):
            terminal.send(report)
        terminal.send("Deep Dialogue Dynamics: a Field Data set.\r")
        terminal.wait_for("characters came at once")  # on a busy machine perhaps in two groups
        assert not flagged(folder)
        terminal.press("D", "F")
        terminal.wait_for(lambda: flagged(folder))
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
        assert decided(folder) == 0

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
        terminal.wait_for(FIRST)
        terminal.press("F")
        terminal.wait_for(lambda: flagged(folder))
        terminal.press("D")
        assert terminal.wait_for_end() == 1
        assert terminal.is_restored()
        left = terminal.raw.rpartition(b"\x1b[?1049l")[2].decode()  # of the screen that stays
        assert "failed unexpectedly" in left
        assert FIRST not in left
        [report] = (folder / "home" / "crashes").iterdir()
        assert FIRST not in report.read_text()
        assert closed_cleanly(folder)
