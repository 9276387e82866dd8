"""``quarantine.jsonl``: records that took their process with them, as input that can be tried again."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from sciextract.formats.json_lines import dump_line
from sciextract.workflows.scale.durable import append_whole, write_whole
from sciextract.workflows.scale.seam import ChunkKey, Problem

_FIELD = "quarantine"


def quarantine_line(problem: Problem, key: ChunkKey) -> bytes:
    """The record with the reason: input that ``annotate`` reads, which keeps the reason beside its results."""
    why = {"reason": problem.message, "chunk": list(key), "digest": problem.digest}
    record = {name: value for name, value in problem.record.items() if name != _FIELD}
    return f"{dump_line({**record, _FIELD: why})}\n".encode()


def add(path: Path, problem: Problem, key: ChunkKey) -> None:
    """Keep a record aside.

    Raises:
        OutputError: The disk is full.
    """
    append_whole(path, quarantine_line(problem, key))


def keep_only(path: Path, done: Collection[ChunkKey]) -> int:
    """Drop what belongs to chunks that will be done again; how many records are left.

    Raises:
        OutputError: The file cannot be written.
    """
    kept = [(line, why) for line, why in _lines(path) if tuple(why.get("chunk", ())) in done]
    if path.exists():
        write_whole(path, b"".join(line for line, _ in kept))
    return len(kept)


def digests(path: Path) -> set[str]:
    """Digests of the records that are kept aside."""
    return {str(why.get("digest")) for _, why in _lines(path)}


def _lines(path: Path) -> list[tuple[bytes, dict[str, Any]]]:
    """Whole lines with their reasons; a torn or foreign one is dropped."""
    if not path.is_file():
        return []
    found = []
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            why = json.loads(line)[_FIELD]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(why, dict):
            found.append((line, why))
    return found
