"""How many records the inputs hold, counted without parsing them, for the remaining time of a run."""

from __future__ import annotations

import csv
import io
import os
import threading
from collections.abc import Iterator, Sequence

from sciextract.errors import InputMissingError, SciextractError
from sciextract.formats.base import leads_outside
from sciextract.formats.globs import expand_inputs
from sciextract.formats.packing import open_bytes, unpacked_name
from sciextract.formats.parts_folder import results_in
from sciextract.formats.registry import has_suffix, readable, recognise

_BLOCK_BYTES = 1 << 20
_FIRST_LINES = 20


class TotalCounter:
    """Counts in the background, so that the first result does not wait for it.

    Attributes:
        total: Records of all inputs; ``None`` until they are counted, and where they cannot be.
    """

    def __init__(self, paths: Sequence[str], format_id: str | None) -> None:
        self.total: int | None = None
        self._paths = paths
        self._format = format_id

    def start(self) -> threading.Thread:
        """Begin to count."""
        thread = threading.Thread(target=self._count, daemon=True)
        thread.start()
        return thread

    def _count(self) -> None:
        self.total = count_records(self._paths, self._format)


def count_records(paths: Sequence[str], format_id: str | None = None) -> int | None:
    """Records in files and folders; ``None`` when a source has no end or no countable format.

    Bad records count, too; blank lines of JSONL are taken for records.
    """
    total = 0
    try:
        found = expand_inputs(paths)
    except InputMissingError:
        return None
    for path in found:
        if not os.path.isfile(path) and not os.path.isdir(path):
            return None
        for file in _files(path):
            try:
                count = _records_in(file, format_id)
            except (OSError, csv.Error, SciextractError):
                return None
            if count is None:
                return None
            total += count
    return total


def _files(path: str) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
        return
    suffixes = [suffix for spec in readable() for suffix in spec.suffixes]
    for parent, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        wanted = (
            name
            for name in results_in(names)
            if not name.startswith(".") and has_suffix(unpacked_name(name), suffixes)
        )
        files = (os.path.join(parent, name) for name in wanted)
        yield from (file for file in files if not leads_outside(file, path))


def _records_in(file: str, format_id: str | None) -> int | None:
    if has_suffix(file, (".zip",)):
        return None
    found = format_id or recognise(unpacked_name(file), _first_line(file)).id
    if found == "text":
        return 1
    if found in ("jsonl", "scierc"):
        return _lines_in(file)
    if found in ("csv", "tsv"):
        return _rows_in(file)
    return None


def _first_line(file: str) -> str:
    with open_bytes(file) as stream:
        lines = (stream.readline(_BLOCK_BYTES) for _ in range(_FIRST_LINES))
        found = next((line for line in lines if line.strip()), b"")
    return found.decode("utf-8-sig", "replace")


def _lines_in(file: str) -> int:
    count, last = 0, b"\n"
    with open_bytes(file) as stream:
        while block := stream.read(_BLOCK_BYTES):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


def _rows_in(file: str) -> int:
    with (
        open_bytes(file) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", errors="replace", newline="") as stream,
    ):
        rows = sum(1 for row in csv.reader(stream) if row)
    return max(0, rows - 1)
