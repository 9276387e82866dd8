"""Chunks put together again from outcomes that come in any order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sciextract.workflows.scale.predicting import Outcome, joined
from sciextract.workflows.scale.seam import Chunk, ChunkKey, ChunkResult
from sciextract.workflows.scale.tasks import Done


@dataclass(slots=True)
class _Open:
    chunk: Chunk
    outcomes: list[Outcome | None]
    missing: int

    def result(self) -> ChunkResult:
        return joined(self.chunk, [each for each in self.outcomes if each is not None])


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
        found = self._open[done.task.chunk]
        end = done.task.start + len(done.outcomes)
        found.outcomes[done.task.start : end] = done.outcomes
        found.missing -= len(done.outcomes)
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
