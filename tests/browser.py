"""A headless Chromium for tests of pages; they skip where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OPTIONS = ("--no-sandbox", "--enable-unsafe-swiftshader")
"""Containers have no user namespaces, and headless machines draw WebGL in software."""


@contextmanager
def headless_browser() -> Iterator[Browser]:
    """Chromium as the system has it."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_OPTIONS])
        yield browser
        browser.close()


@contextmanager
def quiet_page(browser: Browser) -> Iterator[Page]:
    """A page in which no script may fail, no dialog may open and no policy may be violated."""
    problems: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        problems.append(dialog.message)
        dialog.dismiss()

    def complain(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(message.text)

    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", dismiss)
    page.on("console", complain)
    yield page
    page.close()
    assert not problems
