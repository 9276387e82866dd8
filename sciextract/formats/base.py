"""What every reader and writer shares: sources, results, places in files."""

from __future__ import annotations

import io
import reprlib
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError

STDIN = "-"
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be read; the others of its file still are."""

    error: FormatError


ReadItem = AnnotatedDocument | BadRecord


@dataclass(frozen=True, slots=True)
class Source:
    """A file, a folder or standard input (``-``), opened by its reader.

    Attributes:
        path: The path as the user gave it.
        start: Bytes already taken from standard input to recognise its format.
    """

    path: str
    start: bytes = b""

    @property
    def stem(self) -> str:
        """The start of default document keys: the file's name without its suffix."""
        return "stdin" if self.path == STDIN else Path(self.path).stem

    @property
    def provenance(self) -> str:
        """The ``source`` of imported items, ``import:FILE`` without folders."""
        return "import:" + ("stdin" if self.path == STDIN else Path(self.path).name)

    def lines(self) -> Generator[bytes, None, None]:
        """Lines with their line feed, one at a time; only line feeds end a line.

        Raises:
            FormatError: The file is empty or cannot be read.
            InputMissingError: It does not exist.
        """
        with self._opened() as stream:
            rest = stream if not self.start else _chained(self.start, stream)
            first = next(iter(rest), b"")
            if not first:
                raise FormatError("the file is empty", path=self.path)
            yield first
            yield from rest

    def content(self) -> bytes:
        """All bytes.

        Raises:
            FormatError: The file is empty or cannot be read.
            InputMissingError: It does not exist.
        """
        return b"".join(self.lines())

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        if self.path == STDIN:
            yield standard_input()
            return
        try:
            with open(self.path, "rb") as stream:
                yield stream
        except FileNotFoundError:
            raise InputMissingError(f"{self.path}: no such file") from None
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror}", path=self.path) from error


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands, for its error messages."""

    path: str
    line: int | None = None
    doc_key: str = ""

    def error(self, problem: str, *, field: str = "", hint: str = "") -> FormatError:
        """An error that names file, line, document, field and the problem."""
        parts = [f"doc_key {shown(self.doc_key)}" if self.doc_key else "", field, problem]
        text = ": ".join(part for part in parts if part)
        return FormatError(text, path=self.path, line=self.line, hint=hint)


class Reader(Protocol):
    """Yields documents and bad records; raises only when the whole file is unusable."""

    def __call__(self, source: Source, /) -> Iterator[ReadItem]:
        """Read ``source`` from its start."""


class Writer(Protocol):
    """Writes documents to one destination.

    Attributes:
        losses: What the format could not hold so far, by kind.
    """

    losses: Counter[str]

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""

    def close(self) -> None:
        """Flush, and close what the writer itself opened."""


WriterFactory = Callable[..., Writer]


def shown(value: object) -> str:
    """A value for a message: short, quoted, control characters visible."""
    return _SHORT.repr(value)


def standard_input() -> BinaryIO:
    """Standard input as bytes, also where tests put a plain text stream in its place."""
    buffer: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    return buffer or io.BytesIO(sys.stdin.read().encode("utf-8", "surrogateescape"))


def _chained(start: bytes, rest: BinaryIO) -> Iterator[bytes]:
    """The lines of ``start`` (which ends with a line, or the input) and then of ``rest``."""
    yield from io.BytesIO(start)
    yield from rest
