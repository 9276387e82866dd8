"""The engine of one machine: worker processes, each with one thread for its model, kept busy and replaced when they die or hang.

This process reads; a record of a line format is parsed by the worker that predicts it. Inputs too small to pay for the
start of a worker are predicted here.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from threading import Lock

from sciextract.scale.interface import (
    Chunk,
    ChunkKey,
    ChunkResult,
    Results,
    Work,
    WorkersFailedError,
)
from sciextract.scale.predicting import (
    Done,
    RecordOutcome,
    Result,
    WorkerTask,
    chunk_result,
    quarantine,
    tasks_of,
)
from sciextract.scale.shards import remaining_chunks
from sciextract.scale.worker import WorkerDiedError, WorkerProcess

MOST_STARTS = 3
"""Workers in a row, of all together, that may end before their model is loaded."""

MOST_FAILURES = 20
"""Attempts in a row, of all workers together, that may fail: more poison than that is not the fault of single records."""


class FailureLimits:
    """Counts failures of all workers in a row, and ends the run when there are too many."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._in_a_row = Counter[str]()

    def started(self) -> None:
        """A worker has loaded its model."""
        with self._lock:
            self._in_a_row["start"] = 0

    def received(self, outcomes: Sequence[RecordOutcome]) -> None:
        """A worker has sent outcomes; that every record raised an error is a failure, too.

        Raises:
            WorkersFailedError: There were too many in a row.
        """
        lost = [sent.problem for sent in outcomes if sent.counts.quarantined and sent.problem]
        if lost and len(lost) == len(outcomes):
            self.failed(lost[-1].message)
        else:
            with self._lock:
                self._in_a_row["record"] = 0

    def failed_to_start(self, how: str) -> None:
        """A worker has ended before its model was loaded.

        Raises:
            WorkersFailedError: So have too many.
        """
        problem = f"{MOST_STARTS} workers in a row ended before their model was loaded: {how}"
        self._count("start", MOST_STARTS, problem, "run without --workers to see the error")

    def failed(self, how: str) -> None:
        """An attempt to predict a record has failed.

        Raises:
            WorkersFailedError: There were too many in a row.
        """
        problem = (
            f"{MOST_FAILURES} attempts in a row to predict a record failed; the last one: {how}"
        )
        self._count("record", MOST_FAILURES, problem, "repeat the command to resume")

    def _count(self, kind: str, most: int, problem: str, hint: str) -> None:
        with self._lock:
            self._in_a_row[kind] += 1
            if self._in_a_row[kind] >= most:
                raise WorkersFailedError(problem, f"use fewer --workers to save memory; {hint}")


PREFETCHED = 2
"""Tasks that a process has at a time: it works on one while the outcomes of the other are received."""

MOST_ATTEMPTS = 2
"""Processes that may end at one record before it is quarantined; one may have been ended by somebody else."""

START_SECONDS = 300.0
"""Time for a worker to load its model."""


class Worker(threading.Thread):
    """Has the tasks of a queue done by a process until the queue gives ``None``; replaces a process that dies or hangs.

    Args:
        start: Starts a worker process.
        tasks: What is to be done.
        results: Takes outcomes, notes, and the error that ends the run.
        timeout: Seconds that a record may take, from its own start.
        limits: Counts failures.
    """

    def __init__(
        self,
        start: Callable[[], WorkerProcess],
        tasks: queue.SimpleQueue[WorkerTask | None],
        results: queue.SimpleQueue[Result],
        timeout: float,
        limits: FailureLimits,
    ) -> None:
        super().__init__(daemon=True)
        self._start_process = start
        self._tasks = tasks
        self._results = results
        self._timeout = timeout
        self._limits = limits
        self._under_way: deque[WorkerTask] = deque()
        self._handed_over = 0
        self._lock = threading.Lock()  # of all below, which the thread that abandons it uses, too
        self._process: WorkerProcess | None = None
        self._closing = False

    def run(self) -> None:
        try:
            while not self._closing:
                # As many tasks as a process may have; only the first one is worth waiting for.
                while len(self._under_way) < PREFETCHED:
                    try:
                        task = self._tasks.get(block=not self._under_way)
                    except queue.Empty:
                        break
                    if task is None:
                        # For the other workers, and for this one when it is done.
                        self._tasks.put(None)
                        break
                    self._under_way.append(task)
                if not self._under_way or self._closing:
                    return
                self._work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the run must not wait for this worker
            if not self._closing:
                self._results.put(error)
        finally:
            self._drop_process()

    def abandon(self) -> None:
        """End the process and drop its tasks."""
        with self._lock:
            self._closing = True
            if self._process is not None:
                self._process.kill()

    def _work(self) -> None:
        """Hand over the tasks, and wait for the outcomes of the first one."""
        process = self._process or self._ready_process()
        if process is None:
            return
        task = self._under_way[0]
        try:
            for earlier in list(self._under_way)[self._handed_over :]:
                process.send(earlier.items)
            self._handed_over = len(self._under_way)
            outcomes = process.receive(task.seconds(self._timeout))
        except WorkerDiedError as death:
            self._drop_process()
            self._failed_attempt(task, str(death))
            return
        self._limits.received(outcomes)
        self._finish(Done(task, outcomes))

    def _ready_process(self) -> WorkerProcess | None:
        """A new process whose model is loaded; ``None`` when it ended before."""
        with self._lock:
            if self._closing:
                return None
            # Within the lock: else abandon() may come between, and nobody ends the process.
            process = self._process = self._start_process()
            self._handed_over = 0
        try:
            process.ready(START_SECONDS)
        except WorkerDiedError as death:
            self._drop_process()
            if not self._closing:
                self._limits.failed_to_start(str(death))
            return None
        self._limits.started()
        return process

    def _failed_attempt(self, task: WorkerTask, how: str) -> None:
        """Cut a task whose process ended into single records; quarantine a single one after its last attempt."""
        if self._closing:
            return
        self._limits.failed(how)
        if len(task.items) > 1:
            self._under_way.popleft()
            self._under_way.extendleft(reversed(task.single()))
            return
        task.attempts += 1
        [item] = task.items
        if task.attempts >= MOST_ATTEMPTS:
            reason = f"{how}, {task.attempts} times at this record"
            self._finish(Done(task, [quarantine(item, reason)]))
        else:
            self._results.put(f"{item.place}: {how}; a new one tries again")

    def _finish(self, done: Done) -> None:
        self._under_way.popleft()
        self._handed_over -= 1
        self._results.put(done)

    def _drop_process(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        # Outside of the lock: waiting for its end must not stop whoever abandons all workers.
        if process is not None:
            process.close()


START_CHARACTERS = 80_000
"""Text that must wait for each process at work before one more is started: some 64 abstracts, which take as long as a start."""


class WorkerPool:
    """Workers that share a queue.

    The first task starts a worker; a further one starts when enough text waits to pay for it.

    Args:
        work: What the workers do.
        workers: How many at most.
        timeout: Seconds that a record may take.
        note: Called with notes, in the thread that takes results.
    """

    def __init__(
        self, work: Work, workers: int, timeout: float, note: Callable[[str], None]
    ) -> None:
        self._tasks: queue.SimpleQueue[WorkerTask | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._note = note
        limits = FailureLimits()
        self._idle = [
            Worker(lambda: WorkerProcess(work), self._tasks, self._results, timeout, limits)
            for _ in range(workers)
        ]
        self._workers: list[Worker] = []
        self._waiting_characters = 0

    def close(self) -> None:
        for worker in self._workers:
            worker.abandon()
        self._tasks.put(None)
        for worker in self._workers:
            # One whose start was interrupted cannot be joined; if it runs yet, it sees that it is abandoned.
            if worker.is_alive():
                worker.join()

    def submit(self, task: WorkerTask) -> None:
        self._tasks.put(task)
        self._waiting_characters += task.characters
        while self._idle and (
            not self._workers or self._waiting_characters > START_CHARACTERS * len(self._workers)
        ):
            self._workers.append(self._idle.pop())
            self._workers[-1].start()

    def take(self) -> Done:
        """Wait for a task that is done, whichever it is.

        Raises:
            WorkersFailedError: Workers do nothing but die.
            WorkerRefusedError: A worker found that the work cannot be done.
        """
        while True:
            result = self._results.get()
            if isinstance(result, Done):
                self._waiting_characters -= result.task.characters
                return result
            if isinstance(result, Exception):
                raise result
            self._note(result)

    def finished(self) -> bool:
        """Whether :meth:`take` need not wait, as far as that is known."""
        return not self._results.empty()


@dataclass(slots=True)
class Assembly:
    """The chunks that are under way.

    Attributes:
        ordered: Whether a chunk waits for those before it.
        records: Records of chunks that are not given back yet.
        finished: Those of them that are done.
    """

    ordered: bool
    records: int = 0
    finished: int = 0
    _open: dict[ChunkKey, tuple[Chunk, dict[int, RecordOutcome]]] = field(default_factory=dict)

    def begin(self, chunk: Chunk) -> None:
        """A chunk is under way."""
        self._open[chunk.key] = chunk, {}
        self.records += len(chunk.items)

    def add(self, done: Done) -> None:
        """Some records of a chunk are done."""
        _, outcomes = self._open[done.task.chunk]
        outcomes.update(enumerate(done.outcomes, done.task.start))
        self.finished += len(done.outcomes)

    def complete(self) -> Iterator[ChunkResult]:
        """The chunks that are whole now, and whose turn it is."""
        for key, (chunk, outcomes) in list(self._open.items()):
            if len(outcomes) == len(chunk.items):
                del self._open[key]
                self.records -= len(outcomes)
                self.finished -= len(outcomes)
                yield chunk_result(chunk, [outcomes[row] for row in range(len(outcomes))])
            elif self.ordered:
                return

    def __bool__(self) -> bool:
        return bool(self._open)


TIMEOUT_SECONDS = 60.0
"""What a record may take. An abstract takes 0.03 s, a text of 100,000 words 50 s, both on a busy machine."""

AHEAD = 256
"""Records per worker that are read ahead of the oldest one under way: what the others can do while one hangs."""


@dataclass(frozen=True, slots=True)
class ProcessEngine:
    """Predicts in processes of this machine.

    Attributes:
        workers: How many.
        timeout: Seconds that a record may take, from its own start.
        note: Called when a worker was replaced.
        under_way: Called with the number of records that are done and whose chunks have not been given back.
    """

    workers: int
    timeout: float = TIMEOUT_SECONDS
    note: Callable[[str], None] = lambda _: None
    under_way: Callable[[int], None] = lambda _: None

    def results(self, work: Work, done: Mapping[ChunkKey, str]) -> Results:
        """The result of every chunk that is not done: see :class:`~sciextract.scale.interface.Engine`."""
        assembly = Assembly(work.ordered)
        most = AHEAD * self.workers + work.chunk_size
        with closing(WorkerPool(work, self.workers, self.timeout, self.note)) as pool:
            for chunk in remaining_chunks(work, done):
                assembly.begin(chunk)
                for task in tasks_of(chunk, work.choice.options.records_a_call):
                    pool.submit(task)
                yield from assembly.complete()
                # As many records under way as the workers need, and no more: inputs may be larger than memory.
                while assembly.records > most or pool.finished():
                    yield from self._take(assembly, pool)
            while assembly:
                yield from self._take(assembly, pool)

    def _take(self, assembly: Assembly, pool: WorkerPool) -> Iterator[ChunkResult]:
        """The next outcomes, and the chunks that they make whole."""
        assembly.add(pool.take())
        yield from assembly.complete()
        self.under_way(assembly.finished)
