"""The engine of one machine: worker processes, each with one thread for its model.

This process reads; a record of a line format is parsed by the worker that predicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sciextract.workflows.scale.assembly import Assembly
from sciextract.workflows.scale.pool import Pool
from sciextract.workflows.scale.seam import Chunk, ChunkKey, ChunkResult, Results, Work
from sciextract.workflows.scale.shards import Pass, remaining_chunks
from sciextract.workflows.scale.tasks import tasks_of

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
        note: Hears that a worker was replaced.
        under_way: Hears how many records are done whose chunks have not been given back.
        through: What records go through before they are cut into chunks.
    """

    workers: int
    timeout: float = TIMEOUT_SECONDS
    note: Callable[[str], None] = lambda _: None
    under_way: Callable[[int], None] = lambda _: None
    through: Pass = iter

    def results(self, work: Work, done: Mapping[ChunkKey, str]) -> Results:
        """The result of every chunk that is not done: see :class:`~sciextract.workflows.scale.seam.Engine`."""
        chunks = remaining_chunks(work, done, self.through)
        with Pool(work, self.workers, self.timeout, self.note) as pool:
            yield from self._scheduled(chunks, pool, work)

    def _scheduled(self, chunks: Iterable[Chunk], pool: Pool, work: Work) -> Iterator[ChunkResult]:
        """Keeps as many records under way as the workers need, and gives back what is whole."""
        assembly = Assembly(work.ordered)
        most = AHEAD * self.workers + work.chunk_size
        size = work.choice.records_a_call
        for chunk in chunks:
            assembly.begin(chunk)
            for task in tasks_of(chunk, size):
                pool.submit(task)
            yield from assembly.complete()
            while assembly.records > most or pool.finished():
                yield from self._taken(assembly, pool)
        while assembly:
            yield from self._taken(assembly, pool)

    def _taken(self, assembly: Assembly, pool: Pool) -> Iterator[ChunkResult]:
        """The next outcomes, and the chunks that they make whole."""
        assembly.add(pool.take())
        yield from assembly.complete()
        self.under_way(assembly.finished)
