"""What the bibliographic readers share: from title, abstract and fields to a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.bibliography import pmid_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source, quoted, read_each
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
        raise place.unexpected(value, "a string", field=name)
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


def first_of(tags: Tags, names: Iterable[str]) -> str:
    """The first of some tags that the record has; empty for none."""
    return next((tag for tag in names if tag in tags), "")


def joined(tags: Tags, tag: str) -> str:
    """The values of a tag, joined by one space; empty for none."""
    return " ".join(tags.get(tag, []))


def pubmed_number(
    tags: Tags, number: str, databases: Iterable[str], also: Iterable[str] = ()
) -> str | None:
    """PubMed's accession number; other databases have numbers of their own."""
    database = " ".join(joined(tags, tag) for tag in databases).lower()
    from_pubmed = any(name in database for name in ("pubmed", "medline", *also))
    return pmid_of(tags.get(number)) if from_pubmed else None


def split_keywords(lines: Iterable[str]) -> list[str]:
    """Keywords that semicolons separate."""
    return [word for line in lines for each in line.split(";") if (word := each.strip())]


def other_tags(tags: Tags, used: AbstractSet[str]) -> dict[str, str | list[str]]:
    """The tags that no field holds; one value stands by itself."""
    return {
        tag: values[0] if len(values) == 1 else values
        for tag, values in tags.items()
        if tag not in used
    }


@dataclass(slots=True)
class TaggedRecord:
    """A record's values by tag, each value as its wrapped lines.

    Attributes:
        first_line: 1-based line number at which it starts.
        parts: The lines of every value under a tag.
        error: The first error in it.
        last: The tag of the value that a line without a tag continues with; empty before the first.
    """

    first_line: int
    parts: dict[str, list[list[str]]] = field(default_factory=dict)
    error: FormatError | None = None
    last: str = ""

    def add(self, tag: str, value: str) -> None:
        """Begin a value."""
        self.parts.setdefault(tag, []).append([value.strip()])
        self.last = tag

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


@dataclass(frozen=True, slots=True)
class TagSyntax:
    """How records of a tagged format look.

    Attributes:
        kind: What a file holds, for the error that it holds none.
        first_line: How a record begins.
        pattern: A line with a tag: the tag, and the value behind it.
        allowed: What a record may begin with, for the error of one that begins with another line.
        begins: Whether a line begins the next record. Arguments: the line's tag (empty if it has none), the
            record so far, and whether blank lines lie between them.
        outside: Tags that are no part of a record and begin none.
    """

    kind: str
    first_line: str
    pattern: re.Pattern[str]
    allowed: str
    begins: Callable[[str, TaggedRecord, bool], bool]
    outside: AbstractSet[str] = frozenset()


def read_tagged(
    source: Source,
    lines: Iterable[tuple[int, str | FormatError]],
    document: Callable[[TaggedRecord, Source, int], AnnotatedDocument],
    syntax: TagSyntax,
) -> Iterator[ReadItem]:
    """The documents of a file of tagged records; a record with an error becomes a bad record.

    Args:
        source: The file.
        lines: Its lines, as :func:`text_lines` gives them.
        document: The document of a record, the file and its number; may raise :class:`FormatError`.
        syntax: Where records begin and end.

    Raises:
        FormatError: There is no record.
    """

    def read(record: TaggedRecord, number: int) -> AnnotatedDocument:
        if record.error is not None:
            raise record.error
        return document(record, source, number)

    nothing = no_record(syntax.kind, syntax.first_line, source)
    return read_each(_tagged_records(source, lines, syntax), read, nothing)


def _tagged_records(
    source: Source, lines: Iterable[tuple[int, str | FormatError]], syntax: TagSyntax
) -> Iterator[TaggedRecord]:
    """Lines without a tag continue with the value above them; blank lines are part of no record."""
    record: TaggedRecord | None = None
    gap = False
    for number, line in lines:
        if isinstance(line, str) and not line.strip():
            gap = True
            continue
        found = syntax.pattern.match(line) if isinstance(line, str) else None
        tag, value = (found[1].rstrip(), found[2]) if found else ("", "")
        if record and syntax.begins(tag, record, gap):
            yield record
            record, gap = None, False
        if record is None and tag in syntax.outside:
            continue
        record = record or TaggedRecord(number)
        if isinstance(line, FormatError):
            record.error = record.error or line
            continue
        gap = False
        if tag:
            record.add(tag, value or "")
        elif record.last:
            record.parts[record.last][-1].append(line.strip())
        else:
            problem = f"{quoted(line)} found; expected {syntax.allowed}"
            record.error = record.error or Place(source.path, number).error(problem)
    if record:
        yield record


def no_record(kind: str, first_line: str, source: Source) -> FormatError:
    """The error of a file that holds no record."""
    hint = f"a record begins with: {first_line}"
    return FormatError(f"the file holds no {kind} record", path=source.path, hint=hint)
