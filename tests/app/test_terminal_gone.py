"""A terminal that goes away while the desk writes to it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from sciextract_app.terminal import LastingOutput


@pytest.fixture
def terminal() -> Iterator[tuple[int, IO[str]]]:
    """The far end of a terminal, and the file that a program writes to."""
    far, near = pty.openpty()
    file = open(near, "w", encoding="utf-8")  # noqa: SIM115
    yield far, file
    with suppress(OSError):  # what was never written
        file.close()


def test_all_is_written_while_it_is_there(terminal: tuple[int, IO[str]]) -> None:
    far, file = terminal
    output = LastingOutput(file)
    assert output.write("αβ") == 2
    output.flush()
    assert os.read(far, 100).decode() == "αβ"
    assert output.isatty() and output.fileno() == file.fileno()
    os.close(far)


def test_nobody_waits_for_a_terminal_that_is_gone(terminal: tuple[int, IO[str]]) -> None:
    far, file = terminal
    writer = WriterThread(LastingOutput(file))  # type: ignore[arg-type]
    writer.start()
    os.close(far)

    def work() -> None:
        for number in range(3 * MAX_QUEUED_WRITES):
            writer.write(f"frame {number}" * 1_000)
        writer.stop()

    working = Thread(target=work, daemon=True)
    working.start()
    working.join(30)
    assert not working.is_alive() and not writer.is_alive()


LEAVING = """
import os, sys
from sciextract_app.terminal import LastingOutput
output = LastingOutput(sys.__stderr__)
output.write("cursor on")
output.flush()
sys.exit(129)
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no such file")
def test_what_could_not_be_written_does_not_change_the_exit_code() -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as gone:
        ended = subprocess.run(
            [sys.executable, "-c", LEAVING], stderr=gone, env=buffered, check=False
        )
    assert ended.returncode == 129
