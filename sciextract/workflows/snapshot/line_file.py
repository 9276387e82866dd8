"""A file of lines that is hashed while it is written."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Self

from sciextract.workflows.output import reported_as
from sciextract.workflows.snapshot.manifest import FileEntry

_PIECE_BYTES = 1 << 20


class LineFile:
    """Appends lines in UTF-8, each ended by one line feed; ``entry`` tells hash, size and count.

    Raises:
        OutputError: The disk is full, or the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._size_bytes = 0
        self._lines = 0
        with reported_as(str(path)):
            self._stream = path.open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with reported_as(str(self._path)):
            self._stream.close()

    def write(self, line: str) -> None:
        """Append a line."""
        data = f"{line}\n".encode()
        with reported_as(str(self._path)):
            self._stream.write(data)
        self._digest.update(data)
        self._size_bytes += len(data)
        self._lines += 1

    @property
    def entry(self) -> FileEntry:
        """What the manifest tells of it."""
        return FileEntry(self._digest.hexdigest(), self._size_bytes, self._lines)


def sha256_of(path: Path) -> str:
    """Hex hash of a file's bytes, in constant memory."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
