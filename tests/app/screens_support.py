"""What the tests of the screens share: projects, a model made of a rule, and waiting for conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from sciextract.documents.schema_file import load_schema
from sciextract.store import create_project, open_project
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.import_files import import_files
from sciextract.workflows.predict_project import predict_project
from sciextract_app.app import DeskApp
from sciextract_app.opening import plan
from sciextract_app.review.view.screen import ReviewScreen
from tests.cli.fakes import RuleExtractor

ABSTRACTS = (
    "A parser learns grammars. The grammars are small.",
    "Graphs of words help taggers. We test taggers on news.",
    "Nothing is long but this summary.",
)
SIZE = (120, 40)
Load = Callable[[], Predictor]


def made_project(folder: Path, predicted: bool = True, name: str = "p") -> Path:
    """A project of three abstracts, with the predictions of the rule if wanted."""
    path = folder / f"{name}.sciextract"
    texts = folder / f"{name}-texts"
    texts.mkdir()
    for place, text in enumerate(ABSTRACTS):
        (texts / f"{place}.txt").write_text(text)
    with create_project(path, load_schema("scierc")) as project:
        import_files(project, [str(texts)])
        if predicted:
            predict_project(project, RuleExtractor(candidates=True))
    return path


def states(path: Path, number: int = 1) -> list[str]:
    """States of the entities of an abstract, in text order, as a process that opens the file now sees them."""
    with open_project(path, read=True) as project:
        return [entity.state.value for entity in project.document_state(number).entities]


@asynccontextmanager
async def opened(
    *words: object, load: Load | None = None, size: tuple[int, int] = SIZE, author: str = "ann"
) -> AsyncIterator[tuple[DeskApp, Pilot[None]]]:
    """The app as ``sciextract tui`` starts it, left and closed as it does that, too."""
    app = DeskApp(plan([str(word) for word in words]), author, load)
    try:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield app, pilot
    finally:
        app.close_project()


async def until(pilot: Pilot[None], holds: Callable[[], Any], seconds: float = 20.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited in vain; the screen:\n{shown(pilot)}"
        await asyncio.sleep(0.01)
        await pilot.pause()


async def until_shown(pilot: Pilot[None], words: str) -> None:
    """Wait until words stand on the screen."""
    await until(pilot, lambda: words in shown(pilot))


def shown(pilot: Pilot[None]) -> str:
    """What stands on the screen, line by line."""
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


def desk_of(app: DeskApp) -> ReviewScreen:
    """The screen of the desk."""
    return next(screen for screen in app.screen_stack if isinstance(screen, ReviewScreen))
