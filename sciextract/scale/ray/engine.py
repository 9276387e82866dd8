"""The engine: inputs read, predicted and handed back by a Ray cluster, with every chunk once."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sciextract import __version__
from sciextract.errors import InputMissingError, SciextractError, UsageError
from sciextract.formats.base import STDIN
from sciextract.formats.opening import is_url
from sciextract.inference.batching import CUDA, usable_cores
from sciextract.scale.interface import (
    Chunk,
    ChunkKey,
    ChunkResult,
    InputShard,
    Results,
    Work,
    WorkerRefusedError,
)
from sciextract.scale.predicting import tasks_of
from sciextract.scale.processes import TIMEOUT_SECONDS, Assembly, WorkerPool
from sciextract.scale.ray.cluster import (
    ClusterError,
    ShippedModel,
    check_nodes,
    live_nodes,
    receive_model,
    refuse_other,
    session,
    ship,
    this_node,
    wait_for,
)
from sciextract.scale.shards import remaining_chunks

if TYPE_CHECKING:
    import pyarrow as pa


COLUMN = "envelope"


def refuse(error: SciextractError) -> WorkerRefusedError:
    """An expected error on this machine of the cluster, as it is sent and raised."""
    message = f"{error.message} (on node {this_node()})"
    return WorkerRefusedError(message, error.hint, error.exit_code)


Envelope = Chunk | ChunkResult | WorkerRefusedError


def pack(envelope: Envelope) -> pa.Table:
    """A table of one row; numpy, Ray's own way, would cut zero bytes off."""
    import pyarrow as pa

    data = pickle.dumps(envelope, protocol=pickle.HIGHEST_PROTOCOL)
    return pa.table({COLUMN: pa.array([data], pa.large_binary())})


def unpack(table: pa.Table) -> Iterator[Envelope]:
    for value in table.column(COLUMN):
        yield pickle.loads(value.as_py())


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
        self._pool: WorkerPool | None = None

    def __call__(self, envelopes: pa.Table) -> Iterator[pa.Table]:
        """The results of some chunks, one a table; refusals go through."""
        for envelope in unpack(envelopes):
            if isinstance(envelope, Chunk):
                try:
                    yield pack(self._predict(envelope))
                except SciextractError as error:
                    yield pack(refuse(error))
            else:
                yield pack(envelope)

    def _predict(self, chunk: Chunk) -> ChunkResult:
        # The child process starts with the first chunk: an error then can be reported, unlike in a constructor.
        if self._pool is None:
            refuse_other(this_node(), self._version)
            choice = receive_model(self._shipped, self._work.choice)
            work = replace(self._work, shards=(), choice=choice)
            self._pool = WorkerPool(work, 1, self._timeout, lambda _: None)
        assembly = Assembly(ordered=True)
        assembly.begin(chunk)
        for task in tasks_of(chunk, self._work.choice.options.records_a_call):
            self._pool.submit(task)
        while True:
            for result in assembly.complete():
                return result
            assembly.add(self._pool.take())

    def __del__(self) -> None:
        """Ray lets go of an actor that has no more work before it ends its process."""
        if self._pool is not None:
            self._pool.close()


PLACE = "place"


@dataclass(frozen=True, slots=True)
class ShardReader:
    """Reads shards by their places in the work.

    Attributes:
        work: What to read.
        done: See :meth:`~sciextract.scale.interface.Engine.results`.
    """

    work: Work
    done: Mapping[ChunkKey, str]

    def __call__(self, places: pa.Table) -> Iterator[pa.Table]:
        """The chunks of some shards, one a table."""
        for place in places.column(PLACE).to_pylist():
            work = replace(self.work, shards=(self.work.shards[place],))
            try:
                yield from map(pack, remaining_chunks(work, self.done))
            except InputMissingError as error:
                here = InputMissingError(error.message, error.hint or _SHARED)
                yield pack(refuse(here))
            except SciextractError as error:
                yield pack(refuse(error))


_SHARED = (
    "every machine of the cluster must see the inputs: use a shared folder or a URL such as s3://"
)


def readable_on_cluster(shards: tuple[InputShard, ...]) -> tuple[InputShard, ...]:
    """The shards with paths that do not hang on the folder that this process is in.

    Raises:
        UsageError: Standard input is among them.
    """
    if any(STDIN in shard.paths for shard in shards):
        problem = (
            "--engine ray cannot read standard input: the machines of a cluster read for themselves"
        )
        raise UsageError(problem, "write it to a file first, or use --workers")
    return tuple(
        replace(
            shard,
            paths=tuple(path if is_url(path) else os.path.abspath(path) for path in shard.paths),
        )
        for shard in shards
    )


_BLOCK_BYTES = 1
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
        note: Called when machines were lost on the way, and with what the run waits for.
    """

    workers: int | None = None
    address: str | None = None
    timeout: float = TIMEOUT_SECONDS
    note: Callable[[str], None] = lambda _: None

    def results(self, work: Work, done: Mapping[ChunkKey, str]) -> Results:
        """See :meth:`sciextract.scale.interface.Engine.results`.

        Raises:
            MissingExtraError: Ray is not installed.
            UsageError: Standard input is to be read.
            ClusterError: The cluster cannot be reached, lacks sciextract, or fails as a whole.
        """
        work = replace(work, shards=readable_on_cluster(work.shards))
        with session(self.address, self.workers or usable_cores()):
            import ray

            try:
                yield from self._results(work, done)
            except ray.exceptions.RayError as error:
                reason = str(error).strip().splitlines()
                problem = f"the Ray cluster failed: {reason[-1] if reason else error!r}"
                raise ClusterError(problem) from error

    def _results(self, work: Work, done: Mapping[ChunkKey, str]) -> Results:
        """The results of a cluster that answers, whose machines are checked before and counted afterwards."""
        import ray.data
        from ray.data import DataContext, TaskPoolStrategy

        kind = "GPU" if work.choice.options.device == CUDA else "CPU"
        if remark := wait_for(kind):
            # A cluster of this machine's own gets no more than it has; any other may.
            if self.address is None:
                problem = f"Ray finds no {kind} on this machine"
                raise ClusterError(problem, "leave --device cuda out")
            self.note(remark)
        if self.address:
            check_nodes()
        before = live_nodes()
        context = DataContext.get_current()
        # Every row is a block of its own, so that every chunk is a task of its own.
        context.target_max_block_size = _BLOCK_BYTES
        context.execution_options.preserve_order = work.ordered
        context.autoscaling_config.actor_pool_util_upscaling_threshold = 1.0
        places = [{PLACE: place} for place in range(len(work.shards))]
        readers = 1 if work.ordered else min(_READERS, len(places))
        results = (
            ray.data.from_items(places, override_num_blocks=len(places))
            .map_batches(
                ShardReader(work, dict(done)).__call__,
                batch_size=1,
                batch_format="pyarrow",
                compute=TaskPoolStrategy(size=readers),
                # Readers wait for files most of the time, and leave the processors to the models.
                num_cpus=0,
            )
            .map_batches(
                ModelActor,
                fn_constructor_args=(work, ship(work.choice), __version__, self.timeout),
                batch_size=1,
                batch_format="pyarrow",
                compute=self.actors(),
                num_cpus=1,
                num_gpus=1 if kind == "GPU" else None,
            )
        )
        tables = results.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0)
        # Closed here, not when it is collected: the cluster works on for as long as it is open.
        with closing(tables) if hasattr(tables, "close") else nullcontext(tables):
            for table in tables:
                for envelope in unpack(table):
                    if isinstance(envelope, WorkerRefusedError):
                        raise envelope
                    if isinstance(envelope, Chunk):
                        problem = f"the Ray cluster returned chunk {envelope.key} unprocessed"
                        raise ClusterError(problem)
                    yield envelope
        if self.address:
            after = live_nodes()
            for lost in (node for node in before if node not in after):
                self.note(f"node {lost.name} was lost; other machines did its work")

    def actors(self) -> Any:
        """How many actors there are: all at once on this machine, on a cluster as many as there is work and room for."""
        from ray.data import ActorPoolStrategy

        if self.address is None:
            # Ray would send an actor chunks ahead, which wait there while others have nothing to do.
            return ActorPoolStrategy(
                size=self.workers or usable_cores(), max_tasks_in_flight_per_actor=1
            )
        return ActorPoolStrategy(min_size=1, max_size=self.workers, max_tasks_in_flight_per_actor=1)
