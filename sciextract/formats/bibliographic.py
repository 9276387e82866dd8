"""What the bibliographic readers share: from title, abstract and fields to a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import NumberedLine, Place, Source, decode_lines
from sciextract.formats.record_check import document_of, given_text
from sciextract.text.analyse import join_title

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
    a warning. Markup becomes text, and placeholders such as ``NA`` count as nothing.

    Raises:
        FormatError: It has neither title nor abstract.
    """
    title, abstract = given_text(title), given_text(abstract)
    if not title and not abstract:
        raise place.error("no text: the record has neither a title nor an abstract")
    named = {"title": title, **fields} if title else fields
    kept = {name: value for name, value in named.items() if value not in (None, "", [], {}, ())}
    text = join_title(title, abstract)
    return document_of(place.doc_key, text, kept, len(title), warnings)


def keep_unusable(fields: dict[str, Any], given: Mapping[str, object], format_id: str) -> None:
    """Keep values that have no usable form under the format's name, such as the year "in press"."""
    left = {name: value for name, value in given.items() if value and not fields.get(name)}
    if left:
        fields[format_id] = left


def join_lines(text: str) -> str:
    """The text with its line breaks, and the white space around them, as one space; ends trimmed.

    For formats whose line breaks are layout. White space without a line feed is kept exactly.

    >>> join_lines(" A title\\n   on  two lines\\n")
    'A title on  two lines'
    """
    if "\n" in text:
        text = _SPACE.sub(lambda space: " " if "\n" in space[0] else space[0], text)
    return text.strip(" \t\r\n")


def string_of(record: Mapping[str, Any], name: str, place: Place) -> str:
    """A field that is a string, a list of strings, or absent and then empty.

    Raises:
        FormatError: It is something else.
    """
    value = record.get(name)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    if not isinstance(value, str | None):
        raise place.unexpected(value, "a string", field=name)
    return value or ""


def text_lines(source: Source) -> Iterator[NumberedLine]:
    """Line numbers and lines without their ends; a lone carriage return ends a line as well.

    Raises:
        FormatError: The file is empty, binary, or in UTF-16 or UTF-32.
    """
    number = 0
    for _, line in decode_lines(source):
        parts = [line] if isinstance(line, FormatError) else line.rstrip("\r\n").split("\r")
        for part in parts:
            number += 1
            yield number, part
