"""Reading without parsing: where every line is a record, the process that needs a record parses it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem, Source
from sciextract.formats.inputs import read_inputs
from sciextract.formats.registry import FormatSpec


@dataclass(frozen=True, slots=True)
class UnparsedLine:
    """A line that is a record.

    Attributes:
        source: The file, for keys and messages.
        number: 1-based line number.
        line: The text, with its line feed.
        parse: Parses the object of a line.
    """

    source: Source
    number: int
    line: str
    parse: Callable[..., AnnotatedDocument]

    def read(self) -> ReadItem:
        from sciextract.formats.json_values import parse_line

        return parse_line(self.line, self.source, self.number, self.parse)

    def digest(self) -> bytes:
        """SHA-256 of the line; of its number, too, which can be part of the document's key."""
        content = f"{self.number}:{self.line}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()

    def record(self) -> dict[str, Any]:
        try:
            value = json.loads(self.line)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def place(self) -> str:
        return f"{self.source.path}:{self.number}"

    @property
    def characters(self) -> int:
        return len(self.line)


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """A record of a format that is parsed while it is read."""

    item: ReadItem

    def read(self) -> ReadItem:
        return self.item

    def digest(self) -> bytes:
        """SHA-256 of the document with all that came with it, or of the problem."""
        from sciextract.formats.exchange import encode

        item = self.item
        content = item.error.message if isinstance(item, BadRecord) else encode(item)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()

    def record(self) -> dict[str, Any]:
        """The document as an exchange record, whose entities serve ``--given-entities``."""
        from sciextract.formats.exchange import record_of

        return {} if isinstance(self.item, BadRecord) else record_of(self.item)

    @property
    def place(self) -> str:
        if isinstance(self.item, BadRecord):
            return self.item.error.place
        return self.item.document.doc_key

    @property
    def characters(self) -> int:
        return 0 if isinstance(self.item, BadRecord) else len(self.item.document.text)


LazyItem: TypeAlias = UnparsedLine | ParsedItem
"""A record that has been read; picklable. Both kinds have the same methods."""


def read_lazily(paths: Sequence[str], format_id: str | None) -> Iterator[LazyItem]:
    """The same records as :func:`sciextract.formats.read`, parsed as late as their format allows.

    Raises:
        UsageError: No format has that id.
        InputMissingError: A path does not exist.
        FormatError: The only file is empty or unusable; raised while reading.
    """

    def records(source: Source, spec: FormatSpec) -> Iterator[ReadItem | UnparsedLine]:
        if not spec.record:
            yield from spec.load_reader()(source)
            return
        from sciextract.formats.json_values import record_lines

        parse, place = spec.load_record(), replace(source, start=b"")
        for number, line in record_lines(source):
            if isinstance(line, FormatError):
                yield BadRecord(line)
            else:
                yield UnparsedLine(place, number, line, parse)

    for item in read_inputs(paths, format_id, records):
        yield item if isinstance(item, UnparsedLine) else ParsedItem(item)
