"""Reading on the cluster: a shard becomes a stream of chunks, of which no more are in memory than there is room for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sciextract.errors import InputMissingError, SciextractError, UsageError
from sciextract.formats.base import STDIN
from sciextract.formats.urls import is_url
from sciextract.workflows.scale.ray.nodes import this_node
from sciextract.workflows.scale.ray.parcels import Parcel, Refusal, packed
from sciextract.workflows.scale.seam import ChunkKey, Shard, Work
from sciextract.workflows.scale.shards import remaining_chunks

if TYPE_CHECKING:
    import pyarrow as pa

PLACE = "place"


@dataclass(frozen=True, slots=True)
class ShardReader:
    """Reads shards by their places in the work.

    Attributes:
        work: What to read.
        done: See :meth:`~sciextract.workflows.scale.seam.Engine.results`.
    """

    work: Work
    done: Mapping[ChunkKey, str]

    def __call__(self, places: pa.Table) -> Iterator[pa.Table]:
        """The chunks of some shards, one a table."""
        for place in places.column(PLACE).to_pylist():
            yield from map(packed, self._parcels(self.work.shards[place]))

    def _parcels(self, shard: Shard) -> Iterator[Parcel]:
        try:
            yield from remaining_chunks(replace(self.work, shards=(shard,)), self.done)
        except InputMissingError as error:
            here = InputMissingError(error.message, error.hint or _SHARED)
            yield Refusal.of(here, this_node())
        except SciextractError as error:
            yield Refusal.of(error, this_node())


_SHARED = (
    "every machine of the cluster must see the inputs: use a shared folder or a URL such as s3://"
)


def readable_there(shards: tuple[Shard, ...]) -> tuple[Shard, ...]:
    """The shards with paths that do not hang on the folder that this process is in.

    Raises:
        UsageError: Standard input is among them.
    """
    if any(STDIN in shard.paths for shard in shards):
        problem = (
            "--engine ray cannot read standard input: the machines of a cluster read for themselves"
        )
        raise UsageError(problem, "write it to a file first, or use --workers")
    return tuple(replace(shard, paths=tuple(map(_absolute, shard.paths))) for shard in shards)


def _absolute(path: str) -> str:
    return path if is_url(path) else os.path.abspath(path)
