"""Learning beside the keys: what it suggests, for which abstracts, how it is paused, and what a kill leaves."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sciextract.documents.annotations import Annotations, Entity, Layer, Span, State, new_id
from sciextract.documents.document import ADAPTER, AnnotatedDocument, ModelId
from sciextract.documents.schema_file import load_schema
from sciextract.inference.promise import ANY, LabelPromise, Promise
from sciextract.store import create_project, open_project
from sciextract.store.maintenance.checks import Severity
from sciextract.store.maintenance.doctor import examine
from sciextract.workflows.import_files import import_files
from sciextract.workflows.learn import Learned, Suggested, find_untouched
from sciextract.workflows.learning_curve import LayerUse
from sciextract_app.app import DeskApp
from sciextract_app.opening import plan
from sciextract_app.review.view.prompts import parse_sure
from sciextract_app.review.view.screen import ReviewScreen
from sciextract_app.suggesting.learning import StartEngine, learn_and_suggest
from sciextract_app.suggesting.learning_process import EndedError, LearningProcess
from sciextract_app.suggesting.predicting import PredictionOrder
from tests.app.screens_support import SIZE, desk_of, until, until_shown

MODEL = ModelId("fake", "f" * 64, ADAPTER)
SCHEMA = """name = "metals"
coreference = false
[[entities]]
label = "Alloy"
key = "a"
colour = "#4e79a7"
"""
USED = LayerUse(True, "")
NOTHING_SURE = Promise({}, 0.9, "", ())
ALLOYS = ("Brass", "Bronze", "Steel", "Nitinol", "Invar", "Solder")


@dataclass
class FakeEngine:
    """Suggests the first word of every abstract; learns only when it is let."""

    path: Path
    turn: threading.Semaphore
    learned: int = 0
    asked: list[int] = field(default_factory=list)
    dies: bool = False
    begun: int = 0
    use: LayerUse = USED
    sure: Promise = NOTHING_SURE
    closed: bool = False
    shares: list[float] = field(default_factory=list)

    def learn(self, share: float) -> Learned:
        self.shares.append(share)
        assert self.turn.acquire(timeout=30)
        if self.dies:
            raise EndedError("learning ended with exit code -9")
        self.learned += 1
        with open_project(self.path, read=True) as project:
            numbers = tuple(find_untouched(project))
        finished = self.learned + self.begun
        use = {Layer.ENTITIES: self.use}
        return Learned(MODEL, finished, self.learned, 0.1, use, numbers, self.sure)

    def predict(self, numbers: Sequence[int]) -> list[Suggested]:
        self.asked += numbers
        with open_project(self.path, read=True) as project:
            return [self._suggested(number, project.document(number)) for number in numbers]

    def _suggested(self, number: int, document: AnnotatedDocument) -> Suggested:
        span = Span(0, document.document.text.index(" "))
        entity = Entity(new_id(), (span,), "Alloy", 0.9, State.UNDECIDED)
        found = Annotations((entity,))
        return Suggested(number, AnnotatedDocument(document.document, found, MODEL), found)

    def close(self) -> None:
        self.closed = True
        self.turn.release()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return metals(tmp_path)


def metals(folder: Path) -> Path:
    """Six abstracts with a schema of its own; each names its alloy once, so that one mention says all."""
    (folder / "metals.toml").write_text(SCHEMA)
    texts = folder / "texts"
    texts.mkdir()
    for place, alloy in enumerate(ALLOYS):
        text = f"{alloy} is strong. It is annealed at noon."
        (texts / f"{place}.txt").write_text(text)
    path = folder / "metals.sciextract"
    with create_project(path, load_schema(str(folder / "metals.toml")), "ann") as made:
        import_files(made, [str(texts)])
    return path


@asynccontextmanager
async def learning_desk(
    project: Path, start: StartEngine
) -> AsyncIterator[tuple[DeskApp, Pilot[None]]]:
    app = DeskApp(plan([str(project)]), "ann", None, None, start)
    try:
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            yield app, pilot
    finally:
        app.close_project()


def suggested(project: Path) -> dict[int, str]:
    """By abstract the source of what waits there."""
    with open_project(project, read=True) as opened:
        sources = opened.sources
        return {
            number: sources[row.source_id]
            for number in opened.numbers()
            for row in opened.document_state(number).entities
            if row.state is State.UNDECIDED
        }


def errors(project: Path) -> list[str]:
    """What the doctor finds wrong."""
    found = examine(project).findings
    return [finding.message for finding in found if finding.severity is Severity.ERROR]


@pytest.mark.asyncio
async def test_untouched_abstracts_get_suggestions_the_open_one_first(project: Path) -> None:
    turn = threading.Semaphore(0)
    engines: list[FakeEngine] = []

    def start(path: Path, _: str | None) -> FakeEngine:
        engines.append(FakeEngine(path, turn))
        return engines[-1]

    async with learning_desk(project, start) as (app, pilot):
        await pilot.press("v", "1", "D")  # one Alloy, the abstract is done, the next one is open
        await until_shown(pilot, "⟳ learning")
        assert desk_of(app).desk.number == 2
        await pilot.press("F")  # keys are answered meanwhile
        turn.release()
        await until_shown(pilot, "learned from 1")
        await until(pilot, lambda: len(suggested(project)) == 5)
        assert suggested(project) == dict.fromkeys((2, 3, 4, 5, 6), f"model:{MODEL}/1")
        assert desk_of(app).desk.state.undecided_count() == 1, "the desk has read it"
        await pilot.press("n")
        await until_shown(pilot, "‹Steel›")
        await pilot.press("D", "D")  # rejects it: done
        turn.release()
        await until_shown(pilot, "learned from 2")
        await until(pilot, lambda: suggested(project).get(6) == f"model:{MODEL}/2")
        assert suggested(project)[4] == f"model:{MODEL}/2", "the open one, too"
        await pilot.press("u")
        await until_shown(
            pilot, "abstract 3 of 6, 1 done"
        )  # the person's undo takes back their own work only
        turn.release()
    assert engines[0].closed


@pytest.mark.asyncio
async def test_what_is_sure_by_now_is_marked_and_accepted_at_one_key(project: Path) -> None:
    sure = Promise({"entity": 0.7}, 0.9, "", (LabelPromise("entity", ANY, 0.85, 0.95, 0.4),))
    engine = FakeEngine(project, threading.Semaphore(9), sure=sure)
    async with learning_desk(project, lambda *_: engine) as (app, pilot):
        await pilot.press("v", "1", "D")
        await until(pilot, lambda: len(suggested(project)) == 5)
        await pilot.press("n")
        await until_shown(pilot, "accept 1, 70 % right, ≥ 0.85")
        await pilot.press("w")  # the focus has brackets of its own
        await until_shown(pilot, "«Steel»")
        await pilot.press("A")
        await until_shown(pilot, "1 mention and 0 relations accepted")
        assert sorted(suggested(project)) == [2, 4, 5, 6]
        await pilot.press("u")
        await until(pilot, lambda: 3 in suggested(project))
        desk_of(app).accept_from(*parse_sure("90 % 0.75"))
        await until_shown(pilot, "accept 1, 90 % right, ≥ 0.85")
        assert engine.shares[-1] == 0.9
    again = FakeEngine(project, threading.Semaphore(9), sure=sure)
    async with learning_desk(project, lambda *_: again) as (app, pilot):
        await until_shown(pilot, "90 % right, ≥ 0.85")
        await pilot.press("F")  # a change: it looks whether there is something to learn
        await until(pilot, lambda: again.shares == [0.9])
        assert desk_of(app).desk.state.threshold == 0.75


@pytest.mark.asyncio
async def test_it_is_turned_off_and_on_for_good(project: Path) -> None:
    turn = threading.Semaphore(9)
    engine = FakeEngine(project, turn)
    async with learning_desk(project, lambda *_: engine) as (app, pilot):
        desk = desk_of(app)
        desk.learning.toggle()
        await pilot.press("v", "1", "D")
        await until_shown(pilot, "learning off")
        assert engine.learned == 0
    async with learning_desk(project, lambda *_: engine) as (app, pilot):
        desk = desk_of(app)
        assert not desk.learning.is_on
        desk.learning.toggle()
        await until_shown(pilot, "learned from 1")
        await until(pilot, lambda: len(suggested(project)) == 5)


@pytest.mark.asyncio
async def test_abstracts_that_are_only_begun_are_counted_apart(project: Path) -> None:
    turn = threading.Semaphore(9)
    engine = FakeEngine(project, turn, begun=2)
    async with learning_desk(project, lambda *_: engine) as (_, pilot):
        await pilot.press("v", "1", "D")
        await until_shown(pilot, "learned from 1, 2 begun")


@pytest.mark.asyncio
async def test_an_engine_that_dies_is_started_again(project: Path) -> None:
    turn = threading.Semaphore(9)
    engines = [FakeEngine(project, turn, dies=True), FakeEngine(project, turn)]
    async with learning_desk(project, lambda *_: engines.pop(0)) as (_, pilot):
        await pilot.press("v", "1", "D")
        await until_shown(pilot, "not learned: learning ended")
        await pilot.press("v", "1", "D")
        await until_shown(pilot, "learned from 1")
    assert not engines


@pytest.mark.asyncio
async def test_a_layer_that_is_switched_off_is_reported_with_the_reason(project: Path) -> None:
    turn = threading.Semaphore(9)
    engine = FakeEngine(project, turn)
    async with learning_desk(project, lambda *_: engine) as (app, pilot):
        await pilot.press("v", "1", "D")
        await until_shown(pilot, "learned from 1")
        engine.use = LayerUse(False, "off since abstract 5: F1 40.0 with it and 60.0 without it")
        await pilot.press("v", "1", "D")
        await until_shown(pilot, "learned entities are off: off since abstract 5: F1 40.0 with it")
        await until(pilot, lambda: "not better yet" in desk_of(app).learning.words)
        # What suggests stands in the header by layer; here no model does.
        assert desk_of(app).learning.left == ("entities",)


NEVER_READY = """
import sys
from pathlib import Path
from sciextract.workflows import learn

def forever(self):
    Path(sys.argv[1]).touch()
    while True:
        pass

learn.Learner.learn = forever
from sciextract_app.suggesting.learning_process import main
main("p", "")
"""


STARTING = """
import builtins, sys, time
from pathlib import Path
from sciextract_app.suggesting.learning_process import main
ready = builtins.__import__

def slow(name, *others):
    if name == "sciextract.workflows.learn":
        Path(sys.argv[1]).touch()
        time.sleep(60)
    return ready(name, *others)

builtins.__import__ = slow
main("p", "")
"""


@pytest.mark.parametrize("script", [NEVER_READY, STARTING], ids=["training", "starting"])
def test_learning_ends_with_its_desk_whatever_it_does(tmp_path: Path, script: str) -> None:
    ours, theirs = socket.socketpair()
    begun = tmp_path / "begun"
    with theirs:
        # In a session of its own, as at the desk: it lowers the priority of its session.
        learning = subprocess.Popen(
            [sys.executable, "-c", script, str(begun)],
            stdin=theirs.fileno(),
            start_new_session=True,
        )
    try:
        connection = Connection(ours.detach())
        connection.send(("learn", ()))
        until_true(begun.exists)
        assert learning.poll() is None
        connection.close()
        assert learning.wait(2) == 0  # within a second, and one more for a machine under load
    finally:
        learning.kill()


def until_true(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_two_desks_that_learn_at_once_leave_one_set_of_suggestions(project: Path) -> None:
    with open_project(project, "ann") as opened:
        opened.actions.mark_done(1)
    running = threading.Event()
    running.set()
    ended: list[object] = []

    def work() -> None:
        engine = FakeEngine(project, threading.Semaphore(9))
        for _ in range(3):
            learned = learn_and_suggest(
                project, "ann", engine, PredictionOrder(), running, lambda: False, id
            )
            ended.append(learned)

    desks = [threading.Thread(target=work) for _ in range(2)]
    for desk in desks:
        desk.start()
    for desk in desks:
        desk.join(60)
    assert len(ended) == 6
    assert not errors(project)
    assert suggested(project).keys() == {2, 3, 4, 5, 6}
    assert adapter_sets(project) == 5, "what earlier runs predicted is not kept"
    with open_project(project, read=True) as opened:
        runs = opened.connection.execute("SELECT id FROM run").fetchall()
    assert len({run for (run,) in runs}) == 6, "every run has a number of its own"


def adapter_sets(project: Path) -> int:
    with open_project(project, read=True) as opened:
        query = "SELECT count(*) FROM annotation_set a JOIN source s ON s.id = a.source_id WHERE s.name GLOB 'model:*'"
        return int(opened.connection.execute(query).fetchone()[0])


@pytest.mark.asyncio
async def test_a_real_process_learns_invented_labels_and_survives_two_desks(project: Path) -> None:
    async with learning_desk(project, LearningProcess) as (app, pilot):
        await pilot.press("v", "1", "D", "v", "1", "D")
        await until(pilot, lambda: suggested(project), seconds=90)
        desk = app.screen
        assert isinstance(desk, ReviewScreen)
        engine = desk.learning._engine
        assert isinstance(engine, LearningProcess)
        other = LearningProcess(project, None)  # of a second desk
        learned = other.learn(0.7)
        assert (learned.finished, set(learned.use)) == (2, {Layer.ENTITIES})
        os.kill(other._process.pid, signal.SIGKILL)
        with pytest.raises(EndedError):
            other.learn(0.7)
    assert engine._process.wait(10) is not None
    assert not errors(project)


KILLED = """
import sys, time, threading
from pathlib import Path
from sciextract.store import open_project
from sciextract_app.suggesting.learning import learn_and_suggest
from sciextract_app.suggesting.learning_process import LearningProcess
from sciextract_app.suggesting.predicting import PredictionOrder
path = Path(sys.argv[1])
running = threading.Event()
running.set()
engine = LearningProcess(path, None)
print(engine._process.pid, flush=True)
while True:
    learn_and_suggest(path, "ann", engine, PredictionOrder(), running, lambda: False,
                      lambda learned: print("learned", flush=True))
"""


@pytest.mark.full
def test_a_kill_while_learning_loses_nothing_and_leaves_no_process(project: Path) -> None:
    with open_project(project, "ann") as opened:
        for number in (1, 2):
            word = Span(0, len(ALLOYS[number - 1]))
            opened.actions.add_entity(number, [word], "Alloy")
            opened.actions.mark_done(number)
        decided = len(opened.log())
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(project)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    pid = int(child.stdout.readline())
    assert child.stdout.readline() == "learned\n"  # it suggests from here on
    child.kill()
    child.wait()
    end = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()
    assert not errors(project)
    assert adapter_sets(project) <= 4, "the file holds one set for each untouched abstract"
    with open_project(project, "ann") as opened:
        assert len(opened.log()) >= decided
        assert opened.document(1).annotations.entities[0].label == "Alloy"
    again = LearningProcess(project, None)
    try:
        assert again.learn(0.7).finished == 2
    finally:
        again.close()
