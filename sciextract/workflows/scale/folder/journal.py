"""``journal.log``: a line for every chunk that is done, written after its part is in place."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sciextract.errors import OutputError
from sciextract.formats.parts_folder import JOURNAL
from sciextract.workflows.scale.durable import append_whole, disk_errors
from sciextract.workflows.scale.seam import ChunkKey, Counts


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk that is done.

    Attributes:
        shard: Number of the shard.
        number: Number of the chunk in it.
        part: Name of its file; empty when it has no documents.
        size: Bytes of the file.
        sha256: Hex hash of the file.
        fingerprint: Of the records that it was made from.
        last: Whether the shard ends here.
        counts: What the file holds.
        losses: What its format could not hold, by kind.
    """

    shard: int
    number: int
    part: str
    size: int
    sha256: str
    fingerprint: str
    last: bool
    counts: Counts
    losses: Mapping[str, int]

    @property
    def key(self) -> ChunkKey:
        """Shard and number."""
        return self.shard, self.number

    def line(self) -> bytes:
        """As it stands in the journal."""
        return f"{json.dumps(asdict(self), ensure_ascii=False)}\n".encode()

    @classmethod
    def parse(cls, line: bytes) -> Entry:
        """Of a line of the journal.

        Raises:
            ValueError: It is none.
        """
        try:
            values: dict[str, Any] = json.loads(line)
            return cls(**{**values, "counts": Counts(**values["counts"])})
        except (TypeError, KeyError) as error:
            raise ValueError(str(error)) from None


class Journal:
    """The journal of a folder.

    Args:
        folder: The folder.
        stand_ins: Whether files of the same sizes stand there for the parts.
    """

    def __init__(self, folder: Path, *, stand_ins: bool = False) -> None:
        self._folder = folder
        self._stand_ins = stand_ins
        self._path = folder / JOURNAL

    def entries(self) -> list[Entry]:
        """All whole entries whose parts are there as they were written; a torn line at the end is cut off.

        Raises:
            OutputError: A line before the end is damaged.
        """
        if not self._path.exists():
            return []
        found = [entry for entry in self._parsed() if self._is_there(entry)]
        return list({entry.key: entry for entry in found}.values())

    def add(self, entry: Entry) -> None:
        """A chunk is done and its part in place.

        Raises:
            OutputError: The disk is full.
        """
        append_whole(self._path, entry.line())

    def _parsed(self) -> Iterator[Entry]:
        content = self._path.read_bytes()
        whole, _, torn = content.rpartition(b"\n")
        if torn:
            with disk_errors(self._path):
                os.truncate(self._path, len(content) - len(torn))
        for row, line in enumerate(whole.split(b"\n") if whole else [], start=1):
            try:
                yield Entry.parse(line)
            except ValueError:
                raise OutputError(
                    f"{self._path}:{row}: the journal is damaged",
                    "restore it, or choose another folder",
                ) from None

    def _is_there(self, entry: Entry) -> bool:
        if not entry.part:
            return True
        path = self._folder / entry.part
        if not path.is_file() or path.stat().st_size != entry.size:
            return False
        if self._stand_ins:
            return True
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == entry.sha256
