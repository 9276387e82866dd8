"""What every reader and writer shares: sources, results, places in files."""

from __future__ import annotations

import io
import os
import reprlib
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, TypeAlias, TypeVar

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError, UsageError
from sciextract.formats.packing import open_bytes, unpacked_name
from sciextract.text.english import counted

STDIN = "-"
MAX_LINE_BYTES = 64 << 20
"""A longer line is not a record: it is skipped, so that one line never fills the memory."""
_PIECE_BYTES = 1 << 20
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be read; the others of its file still are."""

    error: FormatError


ReadItem = AnnotatedDocument | BadRecord


FieldNames: TypeAlias = tuple[str, ...]
Side: TypeAlias = Literal["gold", "predicted"]


@dataclass(slots=True)
class FieldChoice:
    """Which annotations are read of records with gold and predicted fields (``ner``, ``predicted_ner``).

    Attributes:
        side: The fields that are read.
        strict: Whether a record without any of them has no annotations; else its other fields are read.
        met: How many records were read so, by the fields that were read and those that were left.
    """

    side: Side = "gold"
    strict: bool = False
    met: Counter[tuple[FieldNames, FieldNames]] = field(default_factory=Counter)

    def check(self, path: str) -> None:
        """Refuse a strict choice that no record of ``path`` fulfils.

        Raises:
            UsageError: No record has a field of the wanted side, though the format could have them.
        """
        if not self.strict or any(read for read, _ in self.met):
            return
        if self.side == "predicted" or self.met:
            found = ", ".join(dict.fromkeys([name for _, left in self.met for name in left]))
            raise UsageError(
                f"{path}: --fields {self.side}, but no record has {self.side} annotations",
                f"annotation fields found: {found or 'none'}; leave --fields out",
            )

    def messages(self, path: str) -> list[str]:
        """One line for all records of ``path`` of which some fields were read and others left."""
        name = "standard input" if path == STDIN else path
        return [
            f"{name}: {', '.join(read) or 'nothing'} read, {', '.join(left)} left "
            f"({counted(count, 'record')})"
            for (read, left), count in self.met.items()
            if left
        ]


@dataclass(frozen=True, slots=True)
class Source:
    """A file, a folder or standard input (``-``), opened by its reader. Packed files are unpacked on the way.

    Attributes:
        path: The path as the user gave it; of a member of an archive the path of its unpacked copy.
        start: Bytes already taken from standard input to recognise its format.
        origin: ``ARCHIVE/MEMBER`` for what was unpacked, else empty.
        fields: Which fields of records with gold and predictions are read.
        texts: By their SHA-256 the texts of exchange records that have none.
    """

    path: str
    start: bytes = b""
    origin: str = ""
    fields: FieldChoice = field(default_factory=FieldChoice, compare=False)
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def stem(self) -> str:
        """The start of default document keys: the file's name without its suffix."""
        return "stdin" if self.path == STDIN else Path(unpacked_name(self.origin or self.path)).stem

    @property
    def provenance(self) -> str:
        """The ``source`` of imported items: ``import:FILE`` without folders, ``import:ARCHIVE/MEMBER``."""
        name = "stdin" if self.path == STDIN else self.origin or Path(self.path).name
        return f"import:{name}"

    def lines(self) -> Generator[bytes, None, None]:
        """Lines with their line feed, one at a time; only line feeds end a line.

        A line of more than ``MAX_LINE_BYTES`` comes in pieces, of which only the last has a line feed.

        Raises:
            FormatError: The file is empty, or cannot be read (any further).
            InputMissingError: It does not exist.
        """
        empty = True
        with self.opened() as stream:
            for part in (io.BytesIO(self.start), stream):
                for piece in line_pieces(part):
                    empty = False
                    yield piece
        if empty:
            raise FormatError("the file is empty", path=self.path)

    def content(self) -> bytes:
        """All bytes.

        Raises:
            FormatError: The file is empty, or cannot be read to its end.
            InputMissingError: It does not exist.
        """
        return b"".join(self.lines())

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The bytes, unpacked where the name says that they are packed.

        Raises:
            FormatError: They cannot be read, or unpacked.
            InputMissingError: There is no such file.
        """
        if self.path == STDIN:
            yield standard_input()
            return
        try:
            with open_bytes(self.path) as stream:
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
        parts = [f"doc_key {quoted(self.doc_key)}" if self.doc_key else "", field, problem]
        text = ": ".join(part for part in parts if part)
        return FormatError(text, path=self.path, line=self.line, hint=hint)

    def unexpected(
        self, value: object, allowed: str, *, field: str = "", hint: str = ""
    ) -> FormatError:
        """An error that also names the value found, and what is allowed in its place."""
        return self.error(f"{quoted(value)} found; expected {allowed}", field=field, hint=hint)


class Reader(Protocol):
    """Yields documents and bad records; raises only when the whole file is unusable."""

    def __call__(self, source: Source, /) -> Iterator[ReadItem]:
        """Read ``source`` from its start."""


_Record = TypeVar("_Record")
_Read = TypeVar("_Read")


def read_each(
    records: Iterable[_Record], read: Callable[[_Record, int], _Read], nothing: FormatError
) -> Iterator[_Read | BadRecord]:
    """What ``read`` makes of each record and its number, from 1; one that it refuses becomes a bad record.

    Raises:
        FormatError: ``nothing``, where there are no records.
    """
    number = 0
    for number, record in enumerate(records, start=1):
        try:
            yield read(record, number)
        except FormatError as error:
            yield BadRecord(error)
    if not number:
        raise nothing


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


def quoted(value: object) -> str:
    """A value for a message: short, quoted, control characters visible."""
    return _SHORT.repr(value)


def leads_outside(path: str | Path, folder: str | Path) -> bool:
    """Whether a link below a folder leads out of it, or to nothing; never true for what is not a link."""
    if not os.path.islink(path):
        return False
    meant = Path(os.path.realpath(path))
    return not meant.is_relative_to(os.path.realpath(folder)) or not meant.exists()


def standard_input() -> BinaryIO:
    """Standard input as bytes, also where tests put a plain text stream in its place."""
    buffer: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    return buffer or io.BytesIO(sys.stdin.read().encode("utf-8", "surrogateescape"))


def line_pieces(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream, and those of more than ``MAX_LINE_BYTES`` in pieces: see :meth:`Source.lines`."""
    limit = MAX_LINE_BYTES
    while piece := stream.readline(limit):
        limit = MAX_LINE_BYTES if piece.endswith(b"\n") else _PIECE_BYTES
        yield piece
