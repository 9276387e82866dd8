"""One worker around a process that is none: when it is ended, and what becomes of its record."""

from __future__ import annotations

import queue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sciextract.formats.base import Source
from sciextract.formats.jsonl import parse_record
from sciextract.formats.lazy import UnparsedLine
from sciextract.scale.predicting import Done, Result, WorkerTask
from sciextract.scale.processes import FailureLimits, Worker
from sciextract.scale.worker import WAIT_SECONDS, WorkerDiedError, WorkerProcess

TOO_LONG = "the process was killed because it exceeded the time limit"


class Stuck:
    """Never answers in time."""

    def ready(self, seconds: float) -> None: ...

    def send(self, items: Any) -> None: ...

    def receive(self, seconds: float) -> Any:
        raise WorkerDiedError(TOO_LONG)

    def close(self) -> None: ...


def test_a_record_that_hangs_is_tried_again_and_then_quarantined() -> None:
    results: queue.SimpleQueue[Result] = queue.SimpleQueue()
    tasks: queue.SimpleQueue[WorkerTask | None] = queue.SimpleQueue()
    item = UnparsedLine(Source("in.jsonl"), 7, '{"id": "a"}', parse_record)
    tasks.put(WorkerTask((0, 0), 0, [item]))
    tasks.put(None)
    worker = Worker(lambda: cast(WorkerProcess, Stuck()), tasks, results, 5.0, FailureLimits())
    worker.start()
    assert "exceeded the time limit; a new one tries again" in str(results.get(timeout=30))
    done = results.get(timeout=30)
    assert isinstance(done, Done)
    [outcome] = done.outcomes
    assert outcome.problem is not None and outcome.problem.record == {"id": "a"}
    assert outcome.problem.message.startswith(f"in.jsonl:7: {TOO_LONG}")


def test_a_pause_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts are waits, not the clock: a run that was stopped for an hour has lost one of them."""
    waits = iter([*[False] * 49, True])
    there = SimpleNamespace(poll=lambda seconds: next(waits), recv=lambda: ("ready", ["all"]))
    process = WorkerProcess.__new__(WorkerProcess)
    killed: list[bool] = []
    monkeypatch.setattr(WorkerProcess, "kill", lambda self: killed.append(True))
    process._connection = cast(Any, there)
    outcomes: Any = process.receive(50 * WAIT_SECONDS)
    assert outcomes == ["all"] and not killed
    waits = iter([False] * 50)
    with pytest.raises(WorkerDiedError, match="time limit"):
        process.receive(50 * WAIT_SECONDS)
    assert killed and next(waits, None) is None


def test_long_texts_may_take_longer() -> None:
    short = UnparsedLine(Source("x"), 1, "a" * 5000, parse_record)
    long = UnparsedLine(Source("x"), 2, "a" * 350_000, parse_record)
    assert WorkerTask((0, 0), 0, [short]).seconds(60) == 60
    assert WorkerTask((0, 0), 0, [short, long]).seconds(60) == 300
