"""One worker around a process that is none: when it is ended, and what becomes of its record."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any, cast

import pytest

from sciextract.formats.base import Source
from sciextract.formats.jsonl import parse_record
from sciextract.formats.lazy import UnparsedLine
from sciextract.scale.predicting import Done, Result, WorkerTask
from sciextract.scale.processes import FailureLimits, Worker
from sciextract.scale.worker import WorkerDiedError, WorkerProcess

TIMEOUT = 5.0


class Stuck:
    """Never answers; dies when it is told to."""

    def __init__(self) -> None:
        self.killed: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.asked = threading.Event()

    def ready(self) -> None: ...

    def send(self, items: Any) -> None: ...

    def receive(self) -> Any:
        self.asked.set()
        self.killed.get()
        raise WorkerDiedError("the process was ended by SIGKILL")

    def kill(self) -> None:
        self.killed.put(True)

    def close(self) -> None: ...


@pytest.fixture
def results() -> queue.SimpleQueue[Result]:
    return queue.SimpleQueue()


@pytest.fixture
def worker(results: queue.SimpleQueue[Result]) -> Worker:
    tasks: queue.SimpleQueue[WorkerTask | None] = queue.SimpleQueue()
    item = UnparsedLine(Source("in.jsonl"), 7, '{"id": "a"}', parse_record)
    tasks.put(WorkerTask((0, 0), 0, [item]))
    tasks.put(None)
    first = Stuck()
    processes = iter([first, Stuck(), Stuck()])
    found = Worker(
        lambda: cast(WorkerProcess, next(processes)), tasks, results, TIMEOUT, FailureLimits()
    )
    found.start()
    assert first.asked.wait(30)
    return found


def overdue(worker: Worker, results: queue.SimpleQueue[Result]) -> Result:
    """Look in from a far future until something comes of it."""
    while results.empty():
        worker.check(time.monotonic() + 1000 * TIMEOUT)
        time.sleep(0.001)
    return results.get()


def test_a_record_that_hangs_is_tried_again_and_then_quarantined(
    worker: Worker, results: queue.SimpleQueue[Result]
) -> None:
    assert "exceeded the time limit; a new one tries again" in str(overdue(worker, results))
    done = overdue(worker, results)
    assert isinstance(done, Done)
    [outcome] = done.outcomes
    assert outcome.problem is not None and outcome.problem.record == {"id": "a"}
    assert outcome.problem.message.startswith(
        "in.jsonl:7: the process was killed because it exceeded the time limit"
    )


def test_a_pause_does_not_count(worker: Worker, results: queue.SimpleQueue[Result]) -> None:
    worker.check(time.monotonic(), paused=1000 * TIMEOUT)
    worker.check(time.monotonic() + 10 * TIMEOUT)
    time.sleep(0.05)
    assert results.empty()
    worker.abandon()
    worker.join()
    assert results.empty()


def test_long_texts_may_take_longer() -> None:
    short = UnparsedLine(Source("x"), 1, "a" * 5000, parse_record)
    long = UnparsedLine(Source("x"), 2, "a" * 350_000, parse_record)
    assert WorkerTask((0, 0), 0, [short]).seconds(60) == 60
    assert WorkerTask((0, 0), 0, [short, long]).seconds(60) == 300
