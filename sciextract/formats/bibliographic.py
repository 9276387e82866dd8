"""What the bibliographic readers share: from title, abstract and fields to a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source, read_each, shown
from sciextract.formats.decoding import decoded_lines
from sciextract.text.analyse import join_title, make_document

NO_ABSTRACT = "the record has no abstract: its text is the title only"
_SPACE = re.compile(r"\s+")


def make_record(
    place: Place,
    title: str,
    abstract: str,
    fields: Mapping[str, Any],
    warnings: tuple[str, ...] = (),
) -> AnnotatedDocument:
    """The document of a bibliographic record, named as ``place`` is; empty fields are left out.

    A record that has a title only is a document: titles hold terms, tasks and methods as well. It gets
    a warning.

    Raises:
        FormatError: It has neither title nor abstract.
    """
    if not title.strip() and not abstract.strip():
        raise place.error("no text: the record has neither a title nor an abstract")
    named = {"title": title, **fields} if title else fields
    kept = {name: value for name, value in named.items() if value not in (None, "", [], {}, ())}
    if not abstract.strip():
        warnings = (*warnings, NO_ABSTRACT)
    text = join_title(title, abstract)
    document = make_document(place.doc_key, text, kept, title_length=len(title))
    return AnnotatedDocument(document, warnings=warnings)


def keep_unusable(fields: dict[str, Any], given: Mapping[str, object], format_id: str) -> None:
    """Keep values that have no usable form under the format's name, such as the year "in press"."""
    left = {name: value for name, value in given.items() if value and not fields.get(name)}
    if left:
        fields[format_id] = left


def unwrapped(text: str) -> str:
    """The text with its line breaks, and the white space around them, as one space; ends trimmed.

    For formats whose line breaks are layout. White space without a line feed is kept exactly.

    >>> unwrapped(" A title\\n   on  two lines\\n")
    'A title on  two lines'
    """
    if "\n" in text:
        text = _SPACE.sub(_unbroken, text)
    return text.strip(" \t\r\n")


def _unbroken(space: re.Match[str]) -> str:
    return " " if "\n" in space[0] else space[0]


def string_of(record: Mapping[str, Any], name: str, place: Place) -> str:
    """A field that is a string, or absent and then empty.

    Raises:
        FormatError: It is something else.
    """
    value = record.get(name)
    if not isinstance(value, str | None):
        raise place.error(f"{shown(value)} found, allowed is a string", field=name)
    return value or ""


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

    def take(self, line: str, tag: str, value: str | None, place: Place, allowed: str) -> None:
        """Take a line: with a tag it begins a value, without one it goes on with the last.

        Args:
            line: The line.
            tag: Its tag; empty if it has none.
            value: What stands behind the tag.
            place: Where the line stands.
            allowed: What a record may begin with, for the error of one that begins with another line.
        """
        if tag:
            self.add(tag, value or "")
        elif self.last:
            self.parts[self.last][-1].append(line.strip())
        else:
            self.error = self.error or place.error(f"{shown(line)} found, allowed is {allowed}")

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


def read_tagged(
    records: Iterable[TaggedRecord],
    document: Callable[[TaggedRecord, Source, int], AnnotatedDocument],
    source: Source,
    kind: str,
    first_line: str,
) -> Iterator[ReadItem]:
    """The documents of tagged records; a record with an error becomes a bad record.

    Args:
        records: The records of a file.
        document: The document of a record, the file and its number; may raise :class:`FormatError`.
        source: The file.
        kind: What the file should hold, for the error that it holds none.
        first_line: How a record begins.

    Raises:
        FormatError: There is no record.
    """

    def read(record: TaggedRecord, number: int) -> AnnotatedDocument:
        if record.error is not None:
            raise record.error
        return document(record, source, number)

    nothing = no_record(kind, first_line, source)
    return read_each(records, read, nothing)


def no_record(kind: str, first_line: str, source: Source) -> FormatError:
    """The error of a file that holds no record."""
    hint = f"a record begins with: {first_line}"
    return FormatError(f"the file holds no {kind} record", path=source.path, hint=hint)
