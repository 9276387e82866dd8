"""What one worker is given at a time, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sciextract.formats.lazy import LazyItem
from sciextract.workflows.scale.predicting import Outcome
from sciextract.workflows.scale.seam import Chunk, ChunkKey

LONG_TEXT = 100_000
"""Characters of a text that is no abstract: books may take longer."""


@dataclass(slots=True)
class Task:
    """Some records of a chunk.

    Attributes:
        chunk: The chunk.
        start: Index of the first record in it.
        items: The records; one, but where a graph takes batches.
        strikes: How often a process has ended while it had them.
    """

    chunk: ChunkKey
    start: int
    items: Sequence[LazyItem]
    strikes: int = 0

    def seconds(self, timeout: float) -> float:
        """What it may take: for each record ``timeout``, and as much for every ``LONG_TEXT`` characters more."""
        return sum(timeout * (1 + item.characters // LONG_TEXT) for item in self.items)

    def single(self) -> list[Task]:
        """A task for each record."""
        return [Task(self.chunk, self.start + row, [item]) for row, item in enumerate(self.items)]


@dataclass(frozen=True, slots=True)
class Done:
    """A task's outcomes, in the order of its records."""

    task: Task
    outcomes: Sequence[Outcome]


def tasks_of(chunk: Chunk, size: int) -> Iterator[Task]:
    """The records of a chunk, ``size`` at a time."""
    for start in range(0, len(chunk.items), size):
        yield Task(chunk.key, start, chunk.items[start : start + size])


Result = Done | Exception | str
"""What a slot reports: outcomes, the error that ends the run, or a remark."""
