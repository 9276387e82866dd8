"""The actor that predicts chunks. The model runs in a child process of its own, which may crash or hang: then the
actor replaces it, as the engine of one machine does, and keeps the record aside that did it twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sciextract.errors import SciextractError
from sciextract.workflows.scale.assembly import Assembly
from sciextract.workflows.scale.pool import Pool
from sciextract.workflows.scale.ray.nodes import refuse_other, this_node
from sciextract.workflows.scale.ray.parcels import Parcel, Refusal, packed, unpacked
from sciextract.workflows.scale.ray.shipping import ShippedModel, received
from sciextract.workflows.scale.seam import Chunk, ChunkResult, Work
from sciextract.workflows.scale.tasks import tasks_of

if TYPE_CHECKING:
    import pyarrow as pa


class ModelActor:
    """Predicts the chunks that come, one after the other.

    Args:
        work: What to predict, and how.
        shipped: The model.
        version: The sciextract of the process that drives the cluster.
        timeout: Seconds that a record may take.
    """

    def __init__(self, work: Work, shipped: ShippedModel, version: str, timeout: float) -> None:
        self._work, self._shipped, self._version, self._timeout = work, shipped, version, timeout
        self._pool: Pool | None = None

    def __call__(self, parcels: pa.Table) -> Iterator[pa.Table]:
        """The results of some chunks, one a table; refusals go through."""
        yield from (packed(self._answer(parcel)) for parcel in unpacked(parcels))

    def _answer(self, parcel: Parcel) -> Parcel:
        if not isinstance(parcel, Chunk):
            return parcel
        try:
            return self._result(parcel, self._started())
        except SciextractError as error:
            return Refusal.of(error, this_node())

    def _result(self, chunk: Chunk, pool: Pool) -> ChunkResult:
        assembly = Assembly(ordered=True)
        assembly.begin(chunk)
        for task in tasks_of(chunk, self._work.choice.records_a_call):
            pool.submit(task)
        while True:
            for result in assembly.complete():
                return result
            assembly.add(pool.take())

    def _started(self) -> Pool:
        """The child process starts with the first chunk: what goes wrong then can be told, unlike in a constructor."""
        if self._pool is None:
            refuse_other(this_node(), self._version)
            choice = received(self._shipped, self._work.choice)
            work = replace(self._work, shards=(), choice=choice)
            self._pool = Pool(work, 1, self._timeout, lambda _: None).__enter__()
        return self._pool

    def __del__(self) -> None:
        """Ray lets go of an actor that has no more work before it ends its process."""
        if self._pool is not None:
            self._pool.__exit__(None, None, None)
