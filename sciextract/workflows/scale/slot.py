"""A slot keeps one worker process busy, and replaces it when it dies or hangs."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable

from sciextract.workflows.scale.health import Health
from sciextract.workflows.scale.predicting import quarantined
from sciextract.workflows.scale.tasks import Done, Result, Task
from sciextract.workflows.scale.worker_process import WorkerDiedError, WorkerProcess

UNDER_WAY = 2
"""Tasks that a process has at a time: it works on one while the answer to the other is taken from it."""

MOST_STRIKES = 2
"""Processes that a record may take with it; one may have been ended by somebody else."""

START_SECONDS = 300.0
"""Time for a worker to load its model."""


class Slot(threading.Thread):
    """Takes tasks from a queue until it gives ``None``, and puts what becomes of them into another.

    Args:
        start: Starts a worker process.
        tasks: What is to be done.
        results: Where results go, remarks, and the error that ends the run.
        timeout: Seconds that a record may take, from its own start.
        health: Counts deaths.
    """

    def __init__(
        self,
        start: Callable[[], WorkerProcess],
        tasks: queue.SimpleQueue[Task | None],
        results: queue.SimpleQueue[Result],
        timeout: float,
        health: Health,
    ) -> None:
        super().__init__(daemon=True)
        self._start_process = start
        self._tasks = tasks
        self._results = results
        self._timeout = timeout
        self._health = health
        self._under_way: deque[Task] = deque()
        self._handed_over = 0
        self._lock = threading.Lock()  # of all below, which other threads use, too
        self._process: WorkerProcess | None = None
        self._deadline = math.inf
        self._overdue = False
        self._closing = False

    def run(self) -> None:
        """Work until there is no more."""
        try:
            while self._has_work():
                self._work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the run must not wait for this slot
            if not self._closing:
                self._results.put(error)
        finally:
            self._bury()

    def check(self, now: float, paused: float = 0.0) -> None:
        """End the process when it has taken too long; another thread calls this from time to time.

        Args:
            now: ``time.monotonic()``.
            paused: Seconds since the last look in which nothing could run.
        """
        with self._lock:
            self._deadline += paused
            if now > self._deadline and self._process is not None:
                self._overdue = True
                self._process.kill()

    def abandon(self) -> None:
        """End the process; nothing becomes of its tasks any more."""
        with self._lock:
            self._closing = True
            if self._process is not None:
                self._process.kill()

    def _has_work(self) -> bool:
        """Take as many tasks as a process may have; wait only for the first one."""
        while len(self._under_way) < UNDER_WAY:
            try:
                task = self._tasks.get(block=not self._under_way)
            except queue.Empty:
                break
            if task is None:
                self._tasks.put(None)  # for the other slots, and for this one when it is done
                break
            self._under_way.append(task)
        return bool(self._under_way) and not self._closing

    def _work(self) -> None:
        """Bring the first task to its end, or its process."""
        process = self._process or self._fresh()
        if process is None:
            return
        task = self._under_way[0]
        self._give_until(task.seconds(self._timeout))
        try:
            for each in list(self._under_way)[self._handed_over :]:
                process.send(each.items)
            self._handed_over = len(self._under_way)
            outcomes = process.receive()
        except WorkerDiedError as death:
            self._struck(task, self._bury() or str(death))
            return
        self._give_until(math.inf)
        self._health.answered(outcomes)
        self._finish(Done(task, outcomes))

    def _fresh(self) -> WorkerProcess | None:
        """A new process, when it comes to be ready."""
        with self._lock:
            if self._closing:
                return None
            process = self._process = self._start_process()
            self._overdue, self._handed_over = False, 0
        self._give_until(START_SECONDS)
        try:
            process.ready()
        except WorkerDiedError as death:
            how = self._bury() or str(death)
            if not self._closing:
                self._health.failed_to_start(how)
            return None
        self._health.started()
        return process

    def _struck(self, task: Task, how: str) -> None:
        """Cut a task that took its process with it into single records; a single one goes after another strike."""
        if self._closing:
            return
        self._health.failed(how)
        if len(task.items) > 1:
            self._under_way.popleft()
            self._under_way.extendleft(reversed(task.single()))
            return
        task.strikes += 1
        [item] = task.items
        if task.strikes >= MOST_STRIKES:
            reason = f"{how}, {task.strikes} times at this record"
            self._finish(Done(task, [quarantined(item, reason)]))
        else:
            self._results.put(f"{item.place}: {how}; a new one tries again")

    def _finish(self, done: Done) -> None:
        self._under_way.popleft()
        self._handed_over -= 1
        self._results.put(done)

    def _give_until(self, seconds: float) -> None:
        with self._lock:
            self._deadline = time.monotonic() + seconds

    def _bury(self) -> str:
        """Forget the process; what it died of, if it was made to die."""
        with self._lock:
            process, self._process = self._process, None
            overdue, self._overdue = self._overdue, False
        if process is not None:
            process.close()
        return "the process was ended because it took too long" if overdue else ""
