"""Bytes to text: UTF-8 with or without a byte order mark, and what to say about anything else."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import chain
from typing import TypeAlias

from sciextract.errors import FormatError
from sciextract.formats import base
from sciextract.formats.base import Source

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
_UNPACK = (
    "archives are read when their names end in .zip, packed files when they end in .gz or .zst"
)
_AS_TEXT = "save it as plain text (UTF-8), a table as CSV (UTF-8)"
_OFFICE = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub")
_NEXT_STEPS = {
    b"%PDF-": "make text of it, and keep the abstract: pdftotext FILE NEW.txt",
    b"\xd0\xcf\x11\xe0": _AS_TEXT,
    **dict.fromkeys((b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"), _UNPACK),
}


NumberedLine: TypeAlias = tuple[int, str | FormatError]
"""The number of a line, from 1, and the line or why it cannot be read."""


def decoded_lines(source: Source, *, long_first: bool = False) -> Iterator[NumberedLine]:
    """Line numbers (from 1) and lines with their ends.

    A line that is not UTF-8, or has more than ``base.MAX_LINE_BYTES``, gives its error; reading continues
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
        if long_first and number == 1 and not raw.endswith(b"\n"):
            raw = b"".join([raw, *_rest(pieces)])
        skipped = sum(map(len, _rest(pieces))) if not raw.endswith(b"\n") else 0
        line: str | FormatError
        if skipped:
            problem = f"the line has more than {base.MAX_LINE_BYTES >> 20} MiB and is left out"
            hint = "each record must stand on a line of its own"
            line = FormatError(problem, path=source.path, line=number, hint=hint)
        else:
            try:
                line = raw.decode("utf-8")
                line = line.removeprefix("\ufeff") if number == 1 else line
            except UnicodeDecodeError as error:
                at = error.start
                line = _not_utf8(raw[at], source.path, number, byte_start + at)
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
    for number, line in decoded_lines(source):
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


def decoded_content(source: Source) -> str:
    """The whole text, line ends kept exactly, a byte order mark removed.

    Raises:
        FormatError: The file is empty, binary, or not UTF-8.
    """
    return decode(source.content(), source.path).removeprefix("\ufeff")


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
        raise _not_utf8(content[error.start], path, line, error.start) from None


def refuse_binary(start: bytes, path: str) -> None:
    """Say so when the first bytes of a file show that it is not UTF-8 text.

    Raises:
        FormatError: They do.
    """
    for mark, encoding in _OTHER_MARKS.items():
        if start.startswith(mark):
            raise FormatError(
                f"the text is in {encoding}; expected UTF-8",
                path=path,
                hint=f"iconv -f {encoding} -t utf-8 FILE > NEW",
            )
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
    """The further pieces of a line."""
    for piece in pieces:
        yield piece
        if piece.endswith(b"\n"):
            return


def _not_utf8(byte: int, path: str, line: int, position: int) -> FormatError:
    return FormatError(
        f"byte 0x{byte:02x} at position {position} is not UTF-8",
        path=path,
        line=line,
        hint="if the file is in Latin-1: iconv -f latin1 -t utf-8 FILE > NEW",
    )
