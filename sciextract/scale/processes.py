"""The engine of one machine: worker processes, each with one thread for its model.

This process reads; a record of a line format is parsed by the worker that predicts it. Inputs too small to pay for the
start of a worker are predicted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from sciextract.scale.interface import Chunk, ChunkKey, ChunkResult, InputShard, Results, Work
from sciextract.scale.predicting import Done, RecordOutcome, RecordPredictor, chunk_result, tasks_of
from sciextract.scale.shards import Pass, remaining_chunks
from sciextract.scale.worker_pool import START_CHARACTERS, WorkerPool


@dataclass(slots=True)
class _Open:
    chunk: Chunk
    outcomes: list[RecordOutcome | None]
    missing: int

    def result(self) -> ChunkResult:
        return chunk_result(self.chunk, [each for each in self.outcomes if each is not None])


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
    _open: dict[ChunkKey, _Open] = field(default_factory=dict)

    def begin(self, chunk: Chunk) -> None:
        """A chunk is under way."""
        size = len(chunk.items)
        self._open[chunk.key] = _Open(chunk, [None] * size, size)
        self.records += size

    def add(self, done: Done) -> None:
        """Some records of a chunk are done."""
        under_way = self._open[done.task.chunk]
        end = done.task.start + len(done.outcomes)
        under_way.outcomes[done.task.start : end] = done.outcomes
        under_way.missing -= len(done.outcomes)
        self.finished += len(done.outcomes)

    def complete(self) -> Iterator[ChunkResult]:
        """The chunks that are whole now, and whose turn it is."""
        for key, each in list(self._open.items()):
            if not each.missing:
                del self._open[key]
                self.records -= len(each.outcomes)
                self.finished -= len(each.outcomes)
                yield each.result()
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
        through: What records go through before they are cut into chunks.
        isolated: Whether workers predict even inputs that do not pay for the start of one, so that a record
            that crashes or hangs the network never takes this process with it.
    """

    workers: int
    timeout: float = TIMEOUT_SECONDS
    note: Callable[[str], None] = lambda _: None
    under_way: Callable[[int], None] = lambda _: None
    through: Pass = iter
    isolated: bool = True

    def results(self, work: Work, done: Mapping[ChunkKey, str]) -> Results:
        """The result of every chunk that is not done: see :class:`~sciextract.scale.interface.Engine`."""
        chunks = remaining_chunks(work, done, self.through)
        if not self.isolated and all(_is_at_hand(shard) for shard in work.shards):
            first, small = _first_chunks(chunks)
            if small:
                yield from _predicted_here(first, work)
                return
            chunks = chain(first, chunks)
        with closing(WorkerPool(work, self.workers, self.timeout, self.note)) as pool:
            yield from self._scheduled(chunks, pool, work)

    def _scheduled(
        self, chunks: Iterable[Chunk], pool: WorkerPool, work: Work
    ) -> Iterator[ChunkResult]:
        """Keeps as many records under way as the workers need, and gives back what is whole."""
        assembly = Assembly(work.ordered)
        most = AHEAD * self.workers + work.chunk_size
        size = work.choice.options.records_a_call
        for chunk in chunks:
            assembly.begin(chunk)
            for task in tasks_of(chunk, size):
                pool.submit(task)
            yield from assembly.complete()
            while assembly.records > most or pool.finished():
                yield from self._taken(assembly, pool)
        while assembly:
            yield from self._taken(assembly, pool)

    def _taken(self, assembly: Assembly, pool: WorkerPool) -> Iterator[ChunkResult]:
        """The next outcomes, and the chunks that they make whole."""
        assembly.add(pool.take())
        yield from assembly.complete()
        self.under_way(assembly.finished)


def _is_at_hand(shard: InputShard) -> bool:
    """Whether reading ahead never waits: files and folders, but neither pipes nor URLs."""
    paths = [Path(path) for path in shard.paths]
    return all(path.is_file() or path.is_dir() for path in paths)


def _first_chunks(chunks: Iterator[Chunk]) -> tuple[list[Chunk], bool]:
    """Chunks up to the text that pays for the start of a worker, and whether they are all there are."""
    first, characters = [], 0
    for chunk in chunks:
        first.append(chunk)
        characters += sum(item.characters for item in chunk.items)
        if characters > START_CHARACTERS:
            return first, False
    return first, True


def _predicted_here(chunks: Iterable[Chunk], work: Work) -> Iterator[ChunkResult]:
    """The results of a few chunks, predicted with all cores of this process."""
    predictor = None
    for chunk in chunks:
        if chunk.items and predictor is None:
            choice = replace(work.choice, options=replace(work.choice.options, threads=None))
            predictor = RecordPredictor(replace(work, choice=choice))
        yield chunk_result(chunk, predictor.outcomes(chunk.items) if predictor else [])
