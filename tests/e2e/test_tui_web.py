"""The desk in a headless browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.browser import headless_browser
from tests.e2e.desks import COMMAND, closed_cleanly, decided, environment

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("terminal")]


def test_a_key_in_the_browser_is_a_decision(tmp_path: Path) -> None:
    (tmp_path / "refs.txt").write_text("Taggers of ferns.")
    words = ["refs.txt", "--no-predict", "--author", "ann", "--web", "--port", "0"]
    server = subprocess.Popen(
        [*COMMAND, *words],
        cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert server.stderr is not None
    try:
        found = re.search(r"http\S+", server.stderr.readline())
        assert found
        with headless_browser() as browser:
            page = browser.new_page()
            page.goto(found.group())
            page.wait_for_selector("body.-first-byte", timeout=60_000)
            for _ in range(60):  # keys that come before the abstract decide nothing
                if decided(tmp_path):
                    break
                page.keyboard.press("2")
                page.wait_for_timeout(1000)
            assert decided(tmp_path) == 1
            os.killpg(server.pid, signal.SIGINT)  # as Ctrl-C does, with the page still open
            assert server.wait(30) == 0
        assert closed_cleanly(tmp_path)
    finally:
        server.kill()
