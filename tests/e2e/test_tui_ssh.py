"""The desk over a real OpenSSH connection that breaks, alone and inside of tmux."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.resources import bundled_models
from tests.e2e.desks import (
    COMMAND,
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
    working,
)
from tests.ssh_server import Server, missing, serving

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.full,
    pytest.mark.xdist_group("terminal"),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]
with_model = pytest.mark.skipif(
    not (bundled_models() / "sci").is_dir(), reason="data set absent: bundled model"
)
with_tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="not installed: tmux")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the sample library in it."""
    return library(tmp_path)


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    with starting(folder) as begin:
        yield begin


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("ssh")) as found:
        yield found


def there(folder: Path, *command: str) -> str:
    """A command line that runs in the folder with the desk's variables, whatever the login shell sets."""
    known = environment(folder / "home")
    told = [
        f"{name}={known[name]}"
        for name in ("PYTHONPATH", "SCIEXTRACT_HOME", "PATH", "LANG", "LC_ALL")
        if name in known
    ]
    return f"cd {shlex.quote(str(folder))} && exec env {shlex.join([*told, *command])}"


@with_model
def test_a_dropped_line_loses_nothing(start: Start, folder: Path, server: Server) -> None:
    terminal = start(command=server.command(there(folder, *COMMAND, "refs.bib")))
    terminal.wait_for("abstracts predicted")
    terminal.press("enter")
    terminal.wait_for(lambda: decided(folder) == 1)
    terminal.press("enter")
    terminal.wait_for(lambda: decided(folder) == 2)
    terminal.press("u")
    terminal.wait_for(lambda: decided(folder) == 1)
    terminal.press("F")
    terminal.wait_for(lambda: flagged(folder) == 1)
    terminal.process.send_signal(signal.SIGKILL)  # the client is gone without a word
    terminal.wait_for(lambda: closed_cleanly(folder))
    terminal.wait_for(lambda: not working(folder))
    assert (decided(folder), flagged(folder)) == (1, 1)
    assert errors(folder) == []


def test_leaving_gives_the_terminal_back(start: Start, folder: Path, server: Server) -> None:
    words = there(folder, *COMMAND, "refs.bib", "--no-predict")
    terminal = start(command=server.command(words))
    terminal.wait_for(FIRST)
    terminal.press("n")
    terminal.wait_for(SECOND)
    terminal.resize(120, 40)
    terminal.wait_for("Relations")
    terminal.press("ctrl+q")
    assert terminal.wait_for_end() == 0
    assert terminal.is_restored()
    assert closed_cleanly(folder)


@with_tmux
def test_inside_of_tmux_the_desk_waits_for_the_next_line(
    start: Start, folder: Path, server: Server
) -> None:
    tmux = ["tmux", "-L", f"sciextract-{os.getpid()}", "-f", "/dev/null"]
    desk = there(folder, *COMMAND, "refs.bib", "--no-predict")
    attach = there(folder, *tmux, "new-session", "-A", "-s", "desk", f"sh -c {shlex.quote(desk)}")
    try:
        first = start(command=server.command(attach))
        first.wait_for(FIRST)
        first.press("F")
        first.wait_for(lambda: flagged(folder) == 1)
        first.press("n")
        first.wait_for(SECOND)
        first.process.send_signal(signal.SIGKILL)
        first.wait_for_end()
        again = start(command=server.command(attach))
        again.wait_for(SECOND)  # the desk never ended
        again.press("F")
        again.wait_for(lambda: flagged(folder) == 2)
        again.press("ctrl+q")
        again.wait_for_end()
    finally:
        subprocess.run([*tmux, "kill-server"], capture_output=True, check=False)
    assert closed_cleanly(folder)
    assert errors(folder) == []


@with_tmux
def test_a_closed_tmux_closes_the_project(start: Start, folder: Path, server: Server) -> None:
    tmux = ["tmux", "-L", f"sciextract-closed-{os.getpid()}", "-f", "/dev/null"]
    desk = there(folder, *COMMAND, "refs.bib", "--no-predict")
    terminal = start(command=server.command(there(folder, *tmux, "new-session", desk)))
    terminal.wait_for(FIRST)
    terminal.press("F")
    terminal.wait_for(lambda: flagged(folder) == 1)
    subprocess.run([*tmux, "kill-server"], capture_output=True, check=True)
    terminal.wait_for(lambda: closed_cleanly(folder))
    terminal.wait_for(lambda: not working(folder))
    assert flagged(folder) == 1
