"""Files that are whole on the disk, or not there; ``quarantine.jsonl`` is one: records that ended their process, to be tried again."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sciextract.errors import OutputError, no_room
from sciextract.formats.json_lines import dump_line
from sciextract.scale.interface import ChunkKey, Problem

_TEMPORARY = ".partial"


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in place, on the disk to stay.

    Raises:
        OutputError: The disk is full, or the folder cannot be written; the place is as it was.
    """
    partial = path.with_name(f".{path.name}{_TEMPORARY}")
    with disk_errors(path):
        try:
            with open(partial, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(partial, path)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
        sync_folder(path.parent)


def append_whole(path: Path, line: bytes) -> None:
    """Add a line to a file, on the disk to stay; what does not fit is taken back.

    Raises:
        OutputError: The disk is full, or the file cannot be written.
    """
    with disk_errors(path), open(path, "ab", buffering=0) as stream:
        end = stream.tell()
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[stream.write(rest) or 0 :]
            os.fsync(stream.fileno())
        except OSError:
            stream.truncate(end)
            raise


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_litter(folder: Path) -> None:
    """Remove what a killed run has left half written."""
    for each in folder.glob(f".*{_TEMPORARY}"):
        each.unlink(missing_ok=True)


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
            problem = f"{path}: {reason}; the parts written so far are whole"
            raise OutputError(problem, "make room, then the same command goes on") from error
        problem = f"{path}: cannot be written: {error.strerror}"
        raise OutputError(problem, "choose another folder") from error


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
