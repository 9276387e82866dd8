"""The engine: inputs read, predicted and handed back by a Ray cluster, with every chunk once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from sciextract import __version__
from sciextract.inference.cores import usable_cores
from sciextract.inference.devices import CUDA
from sciextract.workflows.scale.processes import TIMEOUT_SECONDS
from sciextract.workflows.scale.ray.model_actor import ModelActor
from sciextract.workflows.scale.ray.nodes import ClusterError, check_nodes, live_nodes, wait_for
from sciextract.workflows.scale.ray.parcels import Parcel, Refusal, unpacked
from sciextract.workflows.scale.ray.reading import PLACE, ShardReader, readable_there
from sciextract.workflows.scale.ray.session import session
from sciextract.workflows.scale.ray.shipping import ship
from sciextract.workflows.scale.seam import ChunkKey, ChunkResult, Results, Work

_BLOCK_BYTES = 1
"""Every row is a block of its own, so that every chunk is a task of its own."""
_READERS = 4
"""Shards read at a time where the order does not matter; one is enough for the models of several machines."""


@dataclass(frozen=True, slots=True)
class RayEngine:
    """Predicts on a Ray cluster. Killed actors and machines cost their chunks' time: Ray does those anew.

    Attributes:
        workers: Model actors at most. ``None``: on this machine one a core, on a cluster as many as it has CPUs for,
            those of machines that join later included.
        address: The cluster: ``auto`` or ``HOST:PORT``; ``None`` starts one on this machine.
        timeout: Seconds that a record may take, from its own start.
        note: Hears of machines that were lost on the way, and of what the run waits for.
    """

    workers: int | None = None
    address: str | None = None
    timeout: float = TIMEOUT_SECONDS
    note: Callable[[str], None] = lambda _: None

    def results(self, work: Work, done: Mapping[ChunkKey, str]) -> Results:
        """See :meth:`sciextract.workflows.scale.seam.Engine.results`.

        Raises:
            MissingExtraError: Ray is not installed.
            UsageError: Standard input is to be read.
            ClusterError: The cluster cannot be reached, lacks sciextract, or fails as a whole.
        """
        work = replace(work, shards=readable_there(work.shards))
        with session(self.address, self.workers or usable_cores()), _told():
            self._announce("GPU" if work.choice.device == CUDA else "CPU")
            watched = _watched(self.note) if self.address else nullcontext()
            with watched, closing(_predicted(self, work, done)) as parcels:
                yield from map(_accepted, parcels)

    def _announce(self, kind: str) -> None:
        """A cluster of this machine's own gets no more than it has; any other may."""
        remark = wait_for(kind)
        if remark and self.address is None:
            raise ClusterError(f"Ray finds no {kind} on this machine", "leave --device cuda out")
        if remark:
            self.note(remark)

    def actors(self) -> Any:
        """How many actors there are: all at once on this machine, on a cluster as many as there is work and room for."""
        from ray.data import ActorPoolStrategy

        if self.address is None:
            return ActorPoolStrategy(
                size=self.workers or usable_cores(), max_tasks_in_flight_per_actor=1
            )
        return ActorPoolStrategy(min_size=1, max_size=self.workers, max_tasks_in_flight_per_actor=1)


def _predicted(
    engine: RayEngine, work: Work, done: Mapping[ChunkKey, str]
) -> Generator[Parcel, None, None]:
    """What comes out of the cluster."""
    import ray.data
    from ray.data import TaskPoolStrategy

    _set_up(work.ordered)
    places = [{PLACE: place} for place in range(len(work.shards))]
    readers = 1 if work.ordered else min(_READERS, len(places))
    results = (
        ray.data.from_items(places, override_num_blocks=len(places))
        .map_batches(
            ShardReader(work, dict(done)).__call__,
            batch_size=1,
            batch_format="pyarrow",
            compute=TaskPoolStrategy(size=readers),
            num_cpus=0,
        )
        .map_batches(
            ModelActor,
            fn_constructor_args=(work, ship(work.choice), __version__, engine.timeout),
            batch_size=1,
            batch_format="pyarrow",
            compute=engine.actors(),
            num_cpus=1,
            num_gpus=1 if work.choice.device == CUDA else None,
        )
    )
    for table in results.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
        yield from unpacked(table)


def _accepted(parcel: Parcel) -> ChunkResult:
    if isinstance(parcel, ChunkResult):
        return parcel
    if isinstance(parcel, Refusal):
        raise parcel.error()
    raise ClusterError(f"the Ray cluster gave back chunk {parcel.key} as it was")


def _set_up(ordered: bool) -> None:
    from ray.data import DataContext

    context = DataContext.get_current()
    context.target_max_block_size = _BLOCK_BYTES
    context.execution_options.preserve_order = ordered
    context.autoscaling_config.actor_pool_util_upscaling_threshold = 1.0


@contextmanager
def _watched(note: Callable[[str], None]) -> Iterator[None]:
    """Checks the machines before the run, and counts them afterwards."""
    check_nodes()
    before = live_nodes()
    yield
    after = live_nodes()
    for lost in (node for node in before if node not in after):
        note(f"node {lost.name} was lost; other machines did its work")


@contextmanager
def _told() -> Iterator[None]:
    """Turns Ray's own errors into one of ours."""
    import ray

    try:
        yield
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()
        raise ClusterError(
            f"the Ray cluster failed: {reason[-1] if reason else error!r}"
        ) from error
