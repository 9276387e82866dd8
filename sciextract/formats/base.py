"""What every reader and writer shares: sources and their text (UTF-8 with or without byte order marks, any line ends), results, places in files."""

from __future__ import annotations

import codecs
import io
import os
import re
import reprlib
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, TypeAlias, TypeVar

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError, UsageError
from sciextract.formats.opening import open_bytes, unpacked_name
from sciextract.text.english import counted

STDIN = "-"
MAX_LINE_BYTES = 64 << 20
"""A longer line is not a record: it is skipped, so that one line never fills the memory."""
MOST_LINES_TO_HEADER = 10
"""Above a table, and its header."""
_PIECE_BYTES = 1 << 20
_MOST_NAMES = 5
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
        formats: The formats that were read.
    """

    side: Side = "gold"
    strict: bool = False
    met: Counter[tuple[FieldNames, FieldNames]] = field(default_factory=Counter)
    formats: set[str] = field(default_factory=set)

    def check(self, path: str) -> None:
        """Refuse a strict choice that no record of ``path`` fulfils.

        Raises:
            UsageError: No record has a field of the wanted side, though the format could have them.
        """
        if not self.strict or any(read for read, _ in self.met):
            return
        if self.side == "predicted" or self.met:
            found = ", ".join(dict.fromkeys([name for _, left in self.met for name in left]))
            problem = f"{path}: --fields {self.side}, but no record has {self.side} annotations"
            hint = f"annotation fields found: {found or 'none'}; leave --fields out"
            raise UsageError(problem, hint)

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
        """Lines with their ends, one at a time: see :func:`line_pieces`.

        A line of more than ``MAX_LINE_BYTES`` comes in pieces, of which only the last has an end.

        Raises:
            FormatError: The file is empty, or cannot be read (any further).
            InputMissingError: It does not exist.
        """
        empty = True
        with self.open() as stream:
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
    def open(self) -> Iterator[BinaryIO]:
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

    def unexpected(self, value: object, allowed: str, *, field: str = "") -> FormatError:
        """An error that also names the value found, and what is allowed in its place."""
        return self.error(f"{quoted(value)} found; expected {allowed}", field=field)


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


def read_placed(
    source: Source,
    found: Iterable[tuple[int, _Record | FormatError]],
    read: Callable[[_Record, Place], _Read],
    nothing: str,
) -> Iterator[_Read | BadRecord]:
    """What ``read`` makes of each record that was found on a line; its place has its number as the document's key.

    Raises:
        FormatError: There are no records: ``nothing``.
    """

    def read_numbered(record: tuple[int, _Record | FormatError], number: int) -> _Read:
        line, content = record
        if isinstance(content, FormatError):
            raise content
        return read(content, Place(source.path, line, f"{source.stem}:{number}"))

    return read_each(found, read_numbered, FormatError(nothing, path=source.path))


class Writer(Protocol):
    """Writes documents to one destination.

    Attributes:
        losses: What the format could not hold so far, by kind.
    """

    losses: Counter[str]

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: An entity lies outside its text, or the destination cannot be written.
        """

    def close(self) -> None:
        """Flush, and close what the writer itself opened."""


WriterFactory = Callable[..., Writer]


def quoted(value: object) -> str:
    """A value for a message: short, quoted, control characters visible."""
    return _SHORT.repr(value)


def list_names(names: Sequence[str]) -> str:
    """A few names for a message, and how many more there are."""
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(map(quoted, names[:_MOST_NAMES])) + more


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
    """The lines of a stream, and those of more than ``MAX_LINE_BYTES`` in pieces.

    Line feeds end them. Where the first line ends in a carriage return alone, these do as well; elsewhere it is a
    character like others, which quoted cells and JSON strings may hold.
    """
    limit = MAX_LINE_BYTES
    is_first = True
    while piece := stream.readline(limit):
        before, end, _ = piece.rstrip(b"\r\n").partition(b"\r")
        if is_first and end and before.count(b'"') % 2 == 0:
            yield from _lines_with_any_end(piece, stream)
            return
        is_first = False
        limit = MAX_LINE_BYTES if piece.endswith(b"\n") else _PIECE_BYTES
        yield piece


def _lines_with_any_end(rest: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """The lines of ``rest`` and the stream behind it, ended by a carriage return, a line feed or both."""
    while chunk := stream.read(_PIECE_BYTES):
        # The last line waits: it may go on, or its carriage return be followed by a line feed.
        *lines, rest = (rest + chunk).splitlines(keepends=True)
        yield from lines
        if len(rest) > MAX_LINE_BYTES:
            yield rest
            rest = b""
    yield from rest.splitlines(keepends=True)


_LINE_ENDS = (b"\n", b"\r")
_MARKS = re.compile("\\A(?:\ufeff|\u00ef\u00bb\u00bf)+")
_UNMARKED_UTF16 = re.compile(rb"(?:[^\0]\0){4}|(?:\0[^\0]){4}")


def without_marks(text: str) -> str:
    """The text without the byte order marks at its start, also those that were encoded twice.

    >>> without_marks("\\ufeffTY"), without_marks("ï»¿TY")
    ('TY', 'TY')
    """
    return _MARKS.sub("", text)


_OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BINARY_MARKS = {
    b"%PDF-": "a PDF file",
    b"\xd0\xcf\x11\xe0": "a document of an older Office",
    b"PK\x03\x04": "a zip archive or office document",
    b"\x1f\x8b": "a gzip archive",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
    b"\x89PNG": "a picture",
    b"SQLite format 3\x00": "an SQLite file",
}
_TAR_MARK, _TAR_MARK_START = b"ustar", 257
_UNPACK = "archives are read when their names end in .zip, packed files when in .gz or .zst"
_AS_TEXT = "save it as plain text (UTF-8), a table as CSV (UTF-8)"
_OFFICE = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub")
_NEXT_STEPS = {
    b"%PDF-": "make text of it, and keep the abstract: pdftotext FILE NEW.txt",
    b"\xd0\xcf\x11\xe0": _AS_TEXT,
    **dict.fromkeys((b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"), _UNPACK),
}


NumberedLine: TypeAlias = tuple[int, str | FormatError]
"""The number of a line, from 1, and the line or why it cannot be read."""


def decode_lines(
    source: Source, *, long_first: bool = False
) -> Generator[NumberedLine, None, None]:
    """Line numbers (from 1) and lines with their ends, without byte order marks at their starts: files that were
    joined have one where each begins.

    A line that is not UTF-8, or has more than ``MAX_LINE_BYTES``, gives its error; reading continues
    behind it. With ``long_first``, a first line of any length is taken, since it may be the whole file.

    Raises:
        FormatError: The file is empty, binary, or in UTF-16 or UTF-32.
    """
    byte_start = 0
    lines = source.lines()
    first = next(lines)
    refuse_binary(first, source.path)
    pieces = chain([first], lines)
    del first
    for number, raw in enumerate(pieces, start=1):
        if long_first and number == 1 and not raw.endswith(_LINE_ENDS):
            raw = b"".join([raw, *_rest(pieces)])
        skipped = sum(map(len, _rest(pieces))) if not raw.endswith(_LINE_ENDS) else 0
        line: str | FormatError
        if skipped:
            problem = f"the line has more than {MAX_LINE_BYTES >> 20} MiB and is left out"
            hint = "each record must stand on a line of its own"
            line = FormatError(problem, path=source.path, line=number, hint=hint)
        else:
            try:
                line = raw.decode("utf-8")
                unmarked = without_marks(line)
                # Between the columns of a corpus it is a token.
                line = unmarked if number == 1 or unmarked[:1] not in (" ", "\t") else line
            except UnicodeDecodeError as error:
                line = _not_utf8(error, source.path, number, byte_start)
        yield number, line
        byte_start += len(raw) + skipped


Block: TypeAlias = list[NumberedLine]
"""The lines of one record."""


class LineRole(Enum):
    """What a line is for the blocks around it."""

    INSIDE = "part of the block"
    FIRST = "the first of the next block"
    BETWEEN = "part of none"


def blocks_of(source: Source, role_of: Callable[[str, Block], LineRole]) -> Iterator[Block]:
    """The lines of a file in blocks, none of them empty.

    Args:
        source: The file.
        role_of: What a line is, seen from the block so far (which may be empty).

    Raises:
        FormatError: The file is empty, binary, or in UTF-16 or UTF-32.
    """
    block: Block = []
    for number, line in decode_lines(source):
        role = LineRole.INSIDE if isinstance(line, FormatError) else role_of(line, block)
        if role is not LineRole.INSIDE and block:
            yield block
            block = []
        if role is not LineRole.BETWEEN:
            block.append((number, line))
    if block:
        yield block


def readable_lines(block: Block) -> list[tuple[int, str]]:
    """The lines of a block.

    Raises:
        FormatError: One of them cannot be read.
    """
    for _, line in block:
        if isinstance(line, FormatError):
            raise line
    return [(number, str(line)) for number, line in block]


def decode_content(source: Source) -> str:
    """The whole text, line ends kept exactly, byte order marks at its start removed.

    Raises:
        FormatError: The file is empty, binary, or not UTF-8.
    """
    return without_marks(decode(source.content(), source.path))


def decode(content: bytes, path: str) -> str:
    """The text of a whole file.

    Raises:
        FormatError: It is binary, or not UTF-8.
    """
    refuse_binary(content, path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _not_utf8(error, path, line) from None


def refuse_binary(start: bytes, path: str) -> None:
    """Say so when the first bytes of a file show that it is not UTF-8 text.

    Raises:
        FormatError: They do.
    """
    marked = (name for mark, name in _OTHER_MARKS.items() if start.startswith(mark))
    encoding = next(marked, "")
    if not encoding and _UNMARKED_UTF16.match(start):
        encoding = "utf-16be" if start.startswith(b"\0") else "utf-16le"
    if encoding:
        problem = f"the text is in {encoding}; expected UTF-8"
        raise FormatError(problem, path=path, hint=f"iconv -f {encoding} -t utf-8 FILE > NEW")
    for mark, kind in _BINARY_MARKS.items():
        if start.startswith(mark):
            hint = _NEXT_STEPS.get(mark, "")
            if mark.startswith(b"PK") and path.lower().endswith(_OFFICE):
                kind, hint = "an office document", _AS_TEXT
            raise FormatError(f"this is {kind}; expected UTF-8 text", path=path, hint=hint)
    if start.startswith(_TAR_MARK, _TAR_MARK_START):
        hint = "unpack it and give the folder, or pack it as .zip"
        raise FormatError("this is a tar archive; expected UTF-8 text", path=path, hint=hint)


def _rest(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        if piece.endswith(_LINE_ENDS):
            return


def _not_utf8(error: UnicodeDecodeError, path: str, line: int, byte_start: int = 0) -> FormatError:
    """The first byte of a line, or of a file, that is not UTF-8, and the encoding that is most likely."""
    # Windows-1252 is Latin-1 with quotation marks and dashes in place of control characters.
    hint = "if the file is in Windows-1252: iconv -f windows-1252 -t utf-8 FILE > NEW"
    try:
        error.object.decode("cp1252")
    except UnicodeDecodeError:
        hint = "save it as UTF-8 where it was written, or convert it: iconv -l names encodings"
    problem = f"byte 0x{error.object[error.start]:02x} at position {byte_start + error.start} is not UTF-8"
    return FormatError(problem, path=path, line=line, hint=hint)
