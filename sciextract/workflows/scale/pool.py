"""Worker processes side by side."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sciextract.workflows.scale.health import Health
from sciextract.workflows.scale.seam import Work
from sciextract.workflows.scale.slot import Slot
from sciextract.workflows.scale.tasks import Done, Result, Task
from sciextract.workflows.scale.worker_process import WorkerProcess

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
