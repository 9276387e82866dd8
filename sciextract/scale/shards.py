"""From inputs to shards and chunks; the inputs alone decide how they are cut."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from sciextract.errors import FormatError
from sciextract.formats.base import STDIN, BadRecord
from sciextract.formats.inputs import expand_inputs, single_sources
from sciextract.formats.lazy import LazyItem, ParsedItem, read_lazily
from sciextract.scale.interface import Chunk, ChunkKey, InputChangedError, InputShard, Work

SHARD_BYTES = 4 << 20
"""Small files share a shard up to this size, so that a folder of abstracts is not a folder of as many parts."""

Pass = Callable[[Iterator[LazyItem]], Iterator[LazyItem]]
"""What records go through before they are cut into chunks."""


def plan_shards(inputs: Sequence[str], format_id: str | None) -> tuple[InputShard, ...]:
    """The shards of the inputs, in their order.

    Raises:
        UsageError: No format has that id.
        InputMissingError: A path does not exist, or nothing matches a pattern.
        FormatError: The only path is a folder without readable files.
    """
    paths = expand_inputs(inputs)
    sources = [source for path in paths for source in _sources(path, format_id, len(paths) == 1)]
    alone = len(paths) == 1 and sources == paths
    return tuple(
        InputShard(number, tuple(group), alone) for number, group in enumerate(_by_bytes(sources))
    )


def read_chunks(shard: InputShard, work: Work, through: Pass = iter) -> Iterator[Chunk]:
    """The records of a shard, ``work.chunk_size`` at a time; the last chunk has fewer, and may have none.

    Raises:
        FormatError: The shard is the only source, and it is unusable.
    """
    items, number = through(_items(shard, work.input_format)), 0
    while True:
        some = tuple(islice(items, work.chunk_size))
        last = len(some) < work.chunk_size
        yield Chunk(shard.number, number, some, last, fingerprint(some))
        if last:
            return
        number += 1


def remaining_chunks(
    work: Work, done: Mapping[ChunkKey, str], through: Pass = iter
) -> Iterator[Chunk]:
    """The chunks of all shards that are not done, each checked: see :func:`check_unchanged`."""
    for shard in work.shards:
        for chunk in read_chunks(shard, work, through):
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
    raise InputChangedError(
        f"{_named(shard)}: the records from {first} on are not those of the earlier run",
        "give the inputs as they were, or choose another folder for the results",
    )


def fingerprint(items: Iterable[LazyItem]) -> str:
    """Hex hash of records and their order."""
    whole = hashlib.sha256()
    for item in items:
        whole.update(item.digest())
    return whole.hexdigest()[:32]


def _sources(path: str, format_id: str | None, alone: bool) -> list[str]:
    """A folder whose files cannot be listed is left to the reader, which reports it."""
    try:
        return single_sources(path, format_id)
    except FormatError:
        if alone:
            raise
        return [path]


def _by_bytes(sources: Iterable[str]) -> Iterator[list[str]]:
    group: list[str] = []
    group_bytes = 0
    for source in sources:
        size = _size(source)
        if group and group_bytes + size > SHARD_BYTES:
            yield group
            group, group_bytes = [], 0
        group.append(source)
        group_bytes += size
    if group:
        yield group


def _size(source: str) -> int:
    """Bytes of a file; what has no size of its own counts as large."""
    return os.path.getsize(source) if os.path.isfile(source) else SHARD_BYTES + 1


def _items(shard: InputShard, format_id: str | None) -> Iterator[LazyItem]:
    try:
        yield from read_lazily(shard.paths, format_id)
    except FormatError as error:
        if shard.alone:
            raise
        yield ParsedItem(BadRecord(error))


def _named(shard: InputShard) -> str:
    names = ["standard input" if path == STDIN else path for path in shard.paths]
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
