"""Lines of tagged text formats, where any line end of the last forty years ends a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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


Tags = dict[str, list[str]]


@dataclass(slots=True)
class TaggedRecord:
    """A record's values by tag, each value as its wrapped lines.

    Attributes:
        first_line: 1-based line number at which it starts.
        parts: The lines of every value under a tag.
        error: The first error in it.
        last: The tag of the value that a line without a tag goes on with; empty before the first.
    """

    first_line: int
    parts: dict[str, list[list[str]]] = field(default_factory=dict)
    error: FormatError | None = None
    last: str = ""

    def add(self, tag: str, value: str) -> None:
        """Begin a value."""
        self.parts.setdefault(tag, []).append([value.strip()])
        self.last = tag

    def go_on(self, line: str) -> None:
        """Go on with the last value."""
        self.parts[self.last][-1].append(line.strip())

    def tags(self) -> Tags:
        """The values that are not empty, wrapped lines joined by one space."""
        joined = {
            tag: [text for parts in values if (text := " ".join(filter(None, parts)))]
            for tag, values in self.parts.items()
        }
        return {tag: values for tag, values in joined.items() if values}

    def lines_of(self, tag: str) -> list[str]:
        """The lines under a tag that are not empty, for tags with an item a line."""
        return [line for parts in self.parts.get(tag, []) for line in parts if line]
