"""Runs that ``scale.py`` measures: engines that take turns, and what their processes weigh."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Self

from sciextract.formats import open_writer, read
from sciextract.inference.extractor import Extractor
from sciextract.scale.interface import Engine, Work
from sciextract.scale.processes import ProcessEngine
from sciextract.scale.run import identify
from sciextract.scale.shards import plan_shards
from sciextract.workflows.annotate import Listener, RunCounts, annotate
from sciextract.workflows.model_choice import ModelChoice

WARM_SHARE = 0.15
"""Abstracts at the start of a run that are not measured: processes start, models load, caches fill."""

RAY_CHUNK = 64

Clock = list[tuple[float, int]]
"""When so many abstracts were done."""


def seconds_per_abstract(clock: Clock) -> float:
    """Of a run, once it is warm."""
    total = clock[-1][1]
    start = next(tick for tick in clock if tick[1] >= total * WARM_SHARE)
    return (clock[-1][0] - start[0]) / (total - start[1])


def engine_clock(engine: Engine, path: Path, model: str, chunk_size: int = 1) -> Clock:
    """A run of an engine into nothing."""
    found = identify(ModelChoice(model))
    shards = plan_shards([str(path)], None)
    work = Work(shards, found.choice, found.model, chunk_size=chunk_size)
    clock, done = [(time.perf_counter(), 0)], 0
    for result in engine.results(work, {}):
        if result.problems:
            raise SystemExit(f"{path}: {result.problems[0].message}")
        done += result.counts.documents
        clock.append((time.perf_counter(), done))
    return clock


def command_seconds(path: Path, model: str, workers: int = 0) -> tuple[float, bytes]:
    """What ``sciextract annotate`` takes from its start to its end, and the lines that it writes."""
    words = [sys.executable, "-m", "sciextract", "annotate", str(path), "--model", model]
    words += ["--export", "jsonl", "--quiet", *(["--workers", str(workers)] if workers else [])]
    started = time.perf_counter()
    done = subprocess.run(words, capture_output=True, check=True)
    return time.perf_counter() - started, done.stdout


def threads_clock(threads: int, path: Path, model: str) -> Clock:
    """A run of one process, as ``annotate`` without ``--workers`` does it."""
    extractor = Extractor.load(model, threads=threads)
    listener = _Clocked()
    annotate(read([path]), extractor, open_writer("jsonl", StringIO()), listener)
    return listener.clock


class _Clocked(Listener):
    def __init__(self) -> None:
        self.clock: Clock = [(time.perf_counter(), 0)]

    def done(self, counts: RunCounts, warned: int, warnings: Sequence[str]) -> None:
        self.clock.append((time.perf_counter(), counts.documents))


def contenders(model: str, workers: int, ray: bool) -> dict[str, Callable[[Path], Clock]]:
    """Everything that takes turns."""
    found: dict[str, Callable[[Path], Clock]] = {
        "1 worker": lambda path: engine_clock(ProcessEngine(1), path, model),
        f"{workers} workers": lambda path: engine_clock(ProcessEngine(workers), path, model),
        "1 thread": lambda path: threads_clock(1, path, model),
        f"{workers} threads": lambda path: threads_clock(workers, path, model),
    }
    if ray:
        from sciextract.scale.ray.engine import RayEngine

        found["ray"] = lambda path: engine_clock(RayEngine(workers), path, model, RAY_CHUNK)
    return found


@dataclass
class Weight:
    """What processes weigh while something runs; ``with Weight() as weight``.

    Attributes:
        workers: Largest resident megabytes of one worker, at each look.
        parent: Resident megabytes of this process, at each look.
    """

    workers: list[float] = field(default_factory=list)
    parent: list[float] = field(default_factory=list)
    _left: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        threading.Thread(target=self._look, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()

    def growth(self) -> float:
        """Megabytes that the heaviest worker has gained between the second quarter of the run and its end."""
        quarter = len(self.workers) // 4
        return max(self.workers[-quarter:]) - max(self.workers[quarter : 2 * quarter])

    def _look(self) -> None:
        while not self._left.wait(0.2):
            weights = [weight for pid in _workers() if (weight := _resident(pid))]
            if weights:
                self.workers.append(max(weights))
                self.parent.append(_resident(os.getpid()))


def _workers() -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"sciextract.scale.worker" in words and str(os.getpid()).encode() in words:
            yield int(path.parent.name)


def _resident(pid: int) -> float:
    """Megabytes; 0 when the process is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
