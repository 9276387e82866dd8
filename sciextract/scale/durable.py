"""Durable files, and ``quarantine.jsonl``: records that ended their process, to be tried again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sciextract import atomic
from sciextract.errors import OutputError, no_room
from sciextract.formats.json_values import dump_line
from sciextract.scale.interface import ChunkKey
from sciextract.workflows.annotate import RecordProblem


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in place, on the disk to stay.

    Raises:
        OutputError: The disk is full, or the folder cannot be written; the place is as it was.
    """
    with disk_errors(path):
        atomic.write(path, data, alone=True, durable=True)


def append_whole(path: Path, line: bytes) -> None:
    """Add a line to a file, on the disk to stay; what does not fit is taken back.

    Raises:
        OutputError: The disk is full, or the file cannot be written.
    """
    with disk_errors(path):
        atomic.append_line(path, line)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turns operating system errors into one that names the file.

    Raises:
        OutputError: The block raised an ``OSError``.
    """
    try:
        yield
    except OSError as error:
        if reason := no_room(error):
            problem = f"{path}: {reason}; the parts written so far are complete"
            raise OutputError(
                problem, "free some space, then repeat the command to resume"
            ) from error
        problem = f"{path}: cannot be written: {error.strerror}"
        raise OutputError(problem, "choose another folder") from error


_FIELD = "quarantine"


def quarantine_line(problem: RecordProblem, key: ChunkKey) -> bytes:
    """The record with the reason: input that ``annotate`` reads, which keeps the reason next to its results."""
    why = {"reason": problem.message, "chunk": list(key), "digest": problem.digest}
    record = {name: value for name, value in problem.record.items() if name != _FIELD}
    return f"{dump_line({**record, _FIELD: why})}\n".encode()


def add(path: Path, problem: RecordProblem, key: ChunkKey) -> None:
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
    entries = []
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            why = json.loads(line)[_FIELD]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(why, dict):
            entries.append((line, why))
    return entries
