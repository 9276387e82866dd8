"""From inputs to shards and chunks; the inputs alone decide how they are cut."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice

from sciextract.errors import FormatError
from sciextract.formats.base import STDIN, BadRecord
from sciextract.formats.inputs import expand_inputs, single_sources
from sciextract.formats.lazy import LazyItem, ParsedItem, read_lazily
from sciextract.scale.interface import Chunk, ChunkKey, InputChangedError, InputShard, Work

SHARD_BYTES = 4 << 20
"""Small files share a shard up to this size, so that a folder of abstracts is not a folder of as many parts."""


def plan_shards(inputs: Sequence[str], format_id: str | None) -> tuple[InputShard, ...]:
    """The shards of the inputs, in their order.

    Raises:
        UsageError: No format has that id.
        InputMissingError: A path does not exist, or nothing matches a pattern.
        FormatError: The only path is a folder without readable files.
    """
    paths = expand_inputs(inputs)
    sources: list[str] = []
    for path in paths:
        try:
            sources += single_sources(path, format_id)
        except FormatError:
            if len(paths) == 1:
                raise
            sources.append(path)  # a folder whose files cannot be listed: the reader reports it
    groups: list[list[str]] = []
    group_bytes = 0
    for source in sources:
        # What has no size of its own counts as large.
        size = os.path.getsize(source) if os.path.isfile(source) else SHARD_BYTES + 1
        if not groups or group_bytes + size > SHARD_BYTES:
            groups.append([])
            group_bytes = 0
        groups[-1].append(source)
        group_bytes += size
    alone = len(paths) == 1 and sources == paths
    return tuple(InputShard(number, tuple(group), alone) for number, group in enumerate(groups))


def read_chunks(shard: InputShard, work: Work) -> Iterator[Chunk]:
    """The records of a shard, ``work.chunk_size`` at a time; the last chunk has fewer, and may have none.

    Raises:
        FormatError: The shard is the only source, and it is unusable.
    """

    def read() -> Iterator[LazyItem]:
        try:
            yield from read_lazily(shard.paths, work.input_format)
        except FormatError as error:
            if shard.alone:
                raise
            yield ParsedItem(BadRecord(error))

    items = read()
    for number in count():
        some = tuple(islice(items, work.chunk_size))
        last = len(some) < work.chunk_size
        yield Chunk(shard.number, number, some, last, fingerprint(some))
        if last:
            return


def remaining_chunks(work: Work, done: Mapping[ChunkKey, str]) -> Iterator[Chunk]:
    """The chunks of all shards that are not done, each checked: see :func:`check_unchanged`."""
    for shard in work.shards:
        for chunk in read_chunks(shard, work):
            if chunk.key in done:
                check_unchanged(chunk, done, shard)
            else:
                yield chunk


def check_unchanged(chunk: Chunk, done: Mapping[ChunkKey, str], shard: InputShard) -> None:
    """Notice that the records of a chunk are not those that an earlier run predicted.

    Raises:
        InputChangedError: They differ.
    """
    if done.get(chunk.key, chunk.fingerprint) == chunk.fingerprint:
        return
    first = chunk.items[0].place if chunk.items else "its end"
    names = ["standard input" if path == STDIN else path for path in shard.paths]
    named = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    raise InputChangedError(
        f"{named}: the records from {first} on are not those of the earlier run",
        "give the inputs as they were, or choose another folder for the results",
    )


def fingerprint(items: Iterable[LazyItem]) -> str:
    """Hex hash of records and their order."""
    whole = hashlib.sha256()
    for item in items:
        whole.update(item.digest())
    # Half of the hash tells changed inputs apart, and keeps the journal short.
    return whole.hexdigest()[:32]
