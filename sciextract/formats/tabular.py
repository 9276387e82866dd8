"""Tables (CSV, TSV, semicolons) with a header row: a key, a title, a text; other columns become fields."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, Place, ReadItem, Source
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.records import text_of
from sciextract.text.analyse import make_document

#: Column names by meaning, in order of preference; compared without case, spaces, dots and hyphens.
COLUMN_NAMES = {
    "key": ("doc_key", "id", "key", "pmid", "doi", "ut", "eid"),
    "title": ("title", "article title", "document title", "ti"),
    "text": ("text",),
    "abstract": ("abstract", "abstract note", "summary", "ab"),
}
_DELIMITERS = ",;\t"
_LARGEST_CELL = 2**31 - 1


def read_table(source: Source) -> Iterator[ReadItem]:
    """Read a table; its header row determines the delimiter and the columns.

    Raises:
        FormatError: The file is empty, not UTF-8 text, or has no column with a text.
    """
    csv.field_size_limit(_LARGEST_CELL)
    lines = _Lines(source)
    header_line = next((line for line in lines if line.strip()), "")
    delimiter = max(_DELIMITERS, key=lambda each: _score(_cells(header_line, each)))
    columns = _columns(_cells(header_line, delimiter), source, lines.number)
    # Web of Science quotes no cell, and its titles may begin with a quotation mark.
    quotes = None if header_line.startswith("PT\tAU\t") else '"'
    rows = csv.reader(lines, delimiter=delimiter, strict=True, quotechar=quotes)
    while True:
        first = lines.number + 1
        try:
            cells = next(rows, None)
            if cells is None:
                return
            if any(cell.strip() for cell in cells):
                yield _item(cells, columns, source, first)
        except FormatError as error:
            yield BadRecord(error)
        except csv.Error as error:
            yield BadRecord(_broken_row(error, source, first))


class _Lines:
    """Decoded lines for the CSV parser; it goes on after the line that raised an error."""

    def __init__(self, source: Source) -> None:
        self.number = 0
        self._lines = decoded_lines(source)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        self.number, line = next(self._lines)
        if isinstance(line, FormatError):
            raise line
        return line


@dataclass(frozen=True, slots=True)
class _Columns:
    """The table's column names, unique, and the index of each column by meaning."""

    names: tuple[str, ...]
    by_meaning: dict[str, int]


def _item(cells: list[str], columns: _Columns, source: Source, line: int) -> ReadItem:
    values = dict(zip(columns.names, cells, strict=False))
    known = {
        meaning: cells[index] or None
        for meaning, index in columns.by_meaning.items()
        if index < len(cells)
    }
    key = known.pop("key", None) or f"{source.stem}:{line}"
    place = Place(source.path, line, key)
    if any(cell.strip() for cell in cells[len(columns.names) :]):
        hint = "quote cells that hold the delimiter"
        found = f"the row has {len(cells)} cells, the header {len(columns.names)}"
        raise place.error(found, hint=hint)
    if not any(known.values()):
        raise place.error("the row has no text")
    text, title_length, used = text_of(known, place)
    hidden = {columns.by_meaning.get(meaning) for meaning in ("key", *used)}
    fields = {
        name: values[name]
        for index, name in enumerate(columns.names)
        if index not in hidden and name in values
    }
    return AnnotatedDocument(make_document(key, text, fields, title_length=title_length))


def _columns(header: list[str], source: Source, line: int) -> _Columns:
    plain = [plain_name(name) for name in header]
    by_meaning = {
        meaning: plain.index(found)
        for meaning, names in COLUMN_NAMES.items()
        if (found := next((plain_name(name) for name in names if plain_name(name) in plain), None))
    }
    if "text" not in by_meaning and "abstract" not in by_meaning:
        allowed = ", ".join((*COLUMN_NAMES["text"], *COLUMN_NAMES["abstract"]))
        shown_names = ", ".join(repr(name) for name in header[:20])
        problem = f"no column with a text; columns found: {shown_names}; allowed names: {allowed}"
        hint = "the first row must name the columns"
        raise FormatError(problem, path=source.path, line=line, hint=hint)
    return _Columns(_unique(header), by_meaning)


def _unique(header: list[str]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    seen: Counter[str] = Counter()
    for index, name in enumerate(header, start=1):
        plain = free = name.strip() or f"column {index}"
        while free in names:
            seen[plain] += 1
            free = f"{plain} (again{'' if seen[plain] == 1 else f' {seen[plain]}'})"
        names[free] = None
    return tuple(names)


def _cells(header_line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([header_line], delimiter=delimiter))
    except csv.Error:
        return [header_line]


def _score(header: list[str]) -> tuple[int, int]:
    """How many columns are understood, then how many there are."""
    known = {plain_name(name) for names in COLUMN_NAMES.values() for name in names}
    return sum(plain_name(name) in known for name in header), len(header)


def plain_name(name: str) -> str:
    """A column's name as it is compared.

    >>> plain_name("Article Title"), plain_name("doc_key")
    ('articletitle', 'dockey')
    """
    return "".join(letter for letter in name.lower() if letter not in " .-_")


def _broken_row(error: csv.Error, source: Source, line: int) -> FormatError:
    if "unexpected end of data" in str(error):
        problem = "a quotation mark opened in this row is never closed"
        return FormatError(problem, path=source.path, line=line)
    return FormatError(f"broken row: {error}", path=source.path, line=line)
