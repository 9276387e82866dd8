"""Lines of tagged text formats, where any line end of the last forty years ends a line."""

from __future__ import annotations

from collections.abc import Iterator

from sciextract.errors import FormatError
from sciextract.formats.base import Source
from sciextract.formats.decoding import decoded_lines


def text_lines(source: Source) -> Iterator[tuple[int, str | FormatError]]:
    """Line numbers and lines without their ends; a lone carriage return ends a line as well.

    Raises:
        FormatError: The file is empty, binary, or in UTF-16 or UTF-32.
    """
    number = 0
    for _, line in decoded_lines(source):
        parts = [line] if isinstance(line, FormatError) else line.rstrip("\r\n").split("\r")
        for part in parts:
            number += 1
            yield number, part
