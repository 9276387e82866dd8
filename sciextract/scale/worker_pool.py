"""Worker processes side by side: each is kept busy, and replaced when it dies or hangs."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from types import TracebackType
from typing import Self

from sciextract.scale.interface import Work, WorkersFailedError
from sciextract.scale.predicting import Done, Outcome, Result, Task, quarantined
from sciextract.scale.worker_process import WorkerDiedError, WorkerProcess

MOST_STARTS = 3
"""Workers in a row, of all together, that may end before their model is loaded."""

MOST_FAILURES = 20
"""Attempts in a row, of all workers together, that may fail: more poison than that is no poison of single records."""


class Health:
    """Counts failures of all workers."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._starts = 0
        self._failures = 0

    def started(self) -> None:
        """A worker has loaded its model."""
        with self._lock:
            self._starts = 0

    def answered(self, outcomes: Sequence[Outcome]) -> None:
        """A worker has answered; that every record raised an error is a failure, too.

        Raises:
            WorkersFailedError: There were too many in a row.
        """
        lost = [each.problem for each in outcomes if each.counts.quarantined and each.problem]
        if lost and len(lost) == len(outcomes):
            self.failed(lost[-1].message)
        else:
            with self._lock:
                self._failures = 0

    def failed_to_start(self, how: str) -> None:
        """A worker has ended before its model was loaded.

        Raises:
            WorkersFailedError: So have too many.
        """
        with self._lock:
            self._starts += 1
            if self._starts >= MOST_STARTS:
                raise WorkersFailedError(
                    f"{self._starts} workers in a row ended before their model was loaded: {how}",
                    "fewer --workers need less memory; without --workers the error shows itself",
                )

    def failed(self, how: str) -> None:
        """An attempt to predict a record has failed.

        Raises:
            WorkersFailedError: There were too many in a row.
        """
        with self._lock:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise WorkersFailedError(
                    f"{self._failures} attempts in a row to predict a record failed; the last one: {how}",
                    "fewer --workers need less memory; the same command goes on where this run ends",
                )


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


_LOOK_SECONDS = 0.1
_PAUSE_SECONDS = 1.0
"""A look that is so late tells that the whole run was stopped meanwhile, or the machine slept."""


class Pool:
    """Slots that share a queue. A process is started with its slot's first task; all are ended on leaving.

    Args:
        work: What the workers do.
        workers: How many.
        timeout: Seconds that a record may take.
        note: Hears remarks, in the thread that takes results.
    """

    def __init__(
        self, work: Work, workers: int, timeout: float, note: Callable[[str], None]
    ) -> None:
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._note = note
        self._left = threading.Event()
        health = Health()
        self._slots = [
            Slot(lambda: WorkerProcess(work), self._tasks, self._results, timeout, health)
            for _ in range(workers)
        ]

    def __enter__(self) -> Self:
        for slot in self._slots:
            slot.start()
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left.set()
        for slot in self._slots:
            slot.abandon()
        self._tasks.put(None)
        for slot in self._slots:
            slot.join()

    def submit(self, task: Task) -> None:
        """Have a task done."""
        self._tasks.put(task)

    def take(self) -> Done:
        """Wait for a task that is done, whichever it is.

        Raises:
            WorkersFailedError: Workers do nothing but die.
            WorkerRefusedError: A worker found that the work cannot be done.
        """
        while True:
            result = self._results.get()
            if isinstance(result, Done):
                return result
            if isinstance(result, Exception):
                raise result
            self._note(result)

    def finished(self) -> bool:
        """Whether :meth:`take` need not wait, as far as that can be told."""
        return not self._results.empty()

    def _watch(self) -> None:
        looked = time.monotonic()
        while not self._left.wait(_LOOK_SECONDS):
            now = time.monotonic()
            paused = now - looked - _LOOK_SECONDS
            looked = now
            for slot in self._slots:
                slot.check(now, paused if paused > _PAUSE_SECONDS else 0.0)
