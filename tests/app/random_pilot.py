"""A person who presses anything: keys, clicks and sizes at random on the whole app, and what must hold meanwhile.

Keys come from the registry of actions, the bindings of whatever screen is open, and what the desk offers, so that new
actions and screens take part by themselves. Nothing that would start a process can: it is told that it failed. Paths
outside of the session's own folder are never chosen: nobody knows what random keys would do there.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import OutOfBounds, Pilot

from sciextract.store import Project
from sciextract.store.document_state import find_broken_rules
from sciextract.store.maintenance.checks import Severity
from sciextract.store.maintenance.doctor import examine
from sciextract.store.state_tables import find_differing
from sciextract_app.app import DeskApp
from sciextract_app.opening import plan
from sciextract_app.review.view.screen import ReviewScreen
from sciextract_app.settings import AROUND
from sciextract_app.shared.actions import ACTIONS
from sciextract_app.widgets.dialogs import PathDialog
from tests.app.review.random_keys import KEYS, check, next_key
from tests.cli.fakes import RuleExtractor

LEAVING = frozenset({"ctrl+q", "ctrl+c"})
_AROUND = [key for binding in AROUND for key in binding.key.split(",") if key not in LEAVING]
_TYPED: list[str] = [
    *"aeiou /.[]1_",
    "enter",
    "escape",
    "tab",
    "shift+tab",
    "down",
    "up",
    "backspace",
]
_SIZES = ((120, 40), (120, 40), (80, 24), (60, 15), (59, 15), (200, 60), (20, 5))
_QUITTING = frozenset(
    {key for action in ACTIONS if action.request == "quit" for key in action.keys}
)
_PAUSES, _TURNS = 0.25, 20
"""The share of keys after which everything comes to rest, and turns of the event loop after each of the others."""
KEPT = 60
"""Of the last presses, for the report of a failure."""


@dataclass
class Session:
    """Presses on one project from one seed.

    Attributes:
        seed: What all of it follows from.
        presses: How many keys, clicks and sizes.
        look: After how many of them the store's rules are looked at.
        pressed: What was pressed so far.
        starts: How often the app was started: leaving it by its palette begins another one.
        failure: What went wrong, empty for nothing.
    """

    seed: int
    presses: int = 500
    look: int = 50
    pressed: list[str] = field(default_factory=list)
    starts: int = 0
    failure: str = ""

    async def run(self, original: Path, folder: Path) -> None:
        """Press until all is pressed or something fails; nothing is raised, whatever happens.

        Args:
            original: A project that is copied.
            folder: An empty one for it, the settings and whatever else is written.
        """
        path = folder / "p.sciextract"
        shutil.copy(original, path)
        (folder / "more.txt").write_text("More graph taggers.")
        chance = random.Random(self.seed)
        with _alone(folder):
            try:
                while len(self.pressed) < self.presses:
                    await self._one_start(path, chance)
            except Exception:  # noqa: BLE001 - whatever it is, it is what this looks for
                self.failure = traceback.format_exc()
            self._examine(folder)

    async def _one_start(self, path: Path, chance: random.Random) -> None:
        load = RuleExtractor if chance.random() < 0.5 else None
        app = DeskApp(plan([str(path)]), "ann", load)
        self.starts += 1
        try:
            async with app.run_test(size=chance.choice(_SIZES)) as pilot:
                await pilot.pause()
                while app.is_running and not app._exit and len(self.pressed) < self.presses:
                    await self._press(app, pilot, chance)
                await pilot.pause()  # the last keys still find a screen
        finally:
            app.close_project()
        if app.failure is not None:
            raise app.failure

    async def _press(self, app: DeskApp, pilot: Pilot[None], chance: random.Random) -> None:
        what = _next(app, chance)
        self.pressed.append(what)
        kind, _, where = what.partition(":")
        if kind in ("size", "click"):
            x, y = map(int, where.split(","))
            await (_resized(pilot, x, y) if kind == "size" else _clicked(pilot, x, y))
        else:
            await _typed(app, pilot, what, paused=chance.random() < _PAUSES)
        if app.is_running and not app._exit:
            _check(app, thoroughly=not len(self.pressed) % self.look)

    def _examine(self, folder: Path) -> None:
        """The doctor has the last word on every project that there is now."""
        for path in folder.rglob("*.sciextract"):
            wrong = [
                finding for finding in examine(path).findings if finding.severity is Severity.ERROR
            ]
            if wrong and "backups" not in path.parts:
                self.failure += f"\nthe doctor finds in {path.name}: {wrong}"


def _next(app: DeskApp, chance: random.Random) -> str:
    """A key by its name, or ``size:80,24``, or ``click:3,4``."""
    screen, dice = app.screen, chance.random()
    if dice < 0.125:
        return "size:{},{}".format(*chance.choice(_SIZES))
    if dice < 0.145:
        columns, rows = app.size
        return f"click:{chance.randrange(columns)},{chance.randrange(rows)}"
    if isinstance(screen, ReviewScreen) and screen.focused is None and dice < 0.85:
        key = next_key(screen.desk, chance)
        return "escape" if key in _QUITTING else key
    if isinstance(screen, ReviewScreen) and dice < 0.9:
        return chance.choice(_AROUND)
    if dice < 0.25:
        return "escape"
    bound: list[str] = [key for key in app.active_bindings if key not in LEAVING]
    return chance.choice([*bound, *_TYPED] if dice < 0.8 else KEYS)


async def _typed(app: DeskApp, pilot: Pilot[None], key: str, *, paused: bool) -> None:
    """A key as the driver sends it; a person who types fast does not wait for what it does."""
    printed = key if len(key) == 1 else {"space": " "}.get(key)
    app.post_message(Key(_character_to_key(key) if len(key) == 1 else key, printed))
    if paused:
        await pilot.pause()
    for _ in range(_TURNS):
        await asyncio.sleep(0)


async def _resized(pilot: Pilot[None], columns: int, rows: int) -> None:
    await pilot.resize_terminal(columns, rows)


async def _clicked(pilot: Pilot[None], x: int, y: int) -> None:
    try:
        await pilot.click(offset=(x, y))
    except OutOfBounds:  # the screen has just become smaller
        return


def _check(app: DeskApp, *, thoroughly: bool) -> None:
    """What holds after every press, and what takes longer to look at."""
    project = app.project
    for screen in app.screen_stack if project is not None else ():
        if isinstance(screen, ReviewScreen):
            check(screen.desk)
    if thoroughly and project is not None:
        check_store(project)


def check_store(project: Project) -> None:
    """The log tells the state, and no abstract breaks a rule."""
    symmetric = project.schema.symmetric_labels
    assert find_differing(project.connection) == []
    found = {
        number: find_broken_rules(project.document_state(number), symmetric)
        for number in project.numbers()
    }
    assert not any(found.values()), found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Settings and working folder of its own, and no process begins."""
    before = Path.cwd()
    os.chdir(folder)
    home = {"SCIEXTRACT_HOME": str(folder / "home")}
    try:
        with (
            mock.patch.dict(os.environ, home),
            mock.patch("subprocess.Popen", _NoProcess),
            mock.patch.object(PathDialog, "dismiss", _inside(folder)),
        ):
            yield
    finally:
        os.chdir(before)


def _inside(folder: Path) -> Callable[[PathDialog, Path | None], object]:
    """How a dialog for paths ends here: with one in the folder, or none."""
    leave = PathDialog.dismiss

    def dismiss(dialog: PathDialog, path: Path | None = None) -> object:
        ours = path is not None and path.resolve().is_relative_to(folder.resolve())
        return leave(dialog, path if ours else None)

    return dismiss


class _NoProcess(subprocess.Popen[Any]):
    def __init__(self, *_: object, **__: object) -> None:
        self.returncode = 1
        raise OSError("random keys start no processes")

    def __del__(self) -> None:
        """There is nothing to wait for."""
