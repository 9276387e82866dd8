"""Tables with a header row, read as abstracts; see :mod:`~sciextract.formats.table_rows` for those that are written."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from sciextract.documents.bibliography import NAMES, key_of_row, plain_name
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import (
    MOST_LINES_TO_HEADER,
    BadRecord,
    NumberedLine,
    Place,
    ReadItem,
    Source,
    decode_lines,
    quoted,
)
from sciextract.formats.json_values import TEXT_FIELDS, text_of
from sciextract.formats.record_check import document_of, given_text, is_placeholder
from sciextract.formats.table_rows import in_quotes

_DELIMITERS = ",;\t"
_LARGEST_CELL = 2**31 - 1


def read_table(source: Source) -> Iterator[ReadItem]:
    """Read a table; its header row determines the delimiter and the columns.

    Behind a row that quotation marks break, reading goes on at the next line that is a row by itself.
    """
    csv.field_size_limit(_LARGEST_CELL)
    lines = _Lines(source)
    header, syntax = _read_header(lines, source.path)
    columns = columns_of(header)
    rows = csv.reader(lines, strict=True, **syntax)
    while True:
        lines.row.clear()
        problem, hint = "", ""
        try:
            cells = next(rows, None)
            if cells is None:
                return
            if lines.holds_rows(header, syntax):
                problem = "a quoted cell of it holds other rows"
            elif any(cell.strip() for cell in cells):
                yield document_of_row(cells, columns, source, lines.row)
        except FormatError as error:
            yield BadRecord(error)
            # The line that is not UTF-8 may stand in a cell that is open since lines above.
            if not lines.row or error.line == lines.row[0][0]:
                continue
            problem = "it holds a line that cannot be read"
        except csv.Error as error:
            problem = next((_WORDS[word] for word in _WORDS if word in str(error)), str(error))
        if problem:
            start, shown = lines.row[0][0], quoted(lines.row[0][1].strip())
            end = lines.go_back(header, syntax)
            left_out = f"; lines {start} to {end} are left out" if end > start else ""
            hint = f"a quotation mark in it may be missing, or not be doubled; reading goes on behind line {end}"
            problem = f"broken row {shown}: {problem}{left_out}"
            yield BadRecord(FormatError(problem, path=source.path, line=start, hint=hint))


_WORDS = {
    "unexpected end of data": "a quotation mark opened in it is never closed",
    "new-line character": "a carriage return stands in a cell without quotation marks",
}
"""For messages of the CSV parser that do not say what is wrong with the row."""

_Found = TypeVar("_Found")
_Syntax = dict[str, Any]
"""Delimiter and quotation mark, as arguments of the CSV parser."""


def _read_header(lines: _Lines, path: str) -> tuple[list[str], _Syntax]:
    """The names of the columns and how cells are separated; ``sep=;`` and what else stands above them is skipped."""

    def candidates() -> Iterator[tuple[int, list[str], str]]:
        for line in filter(str.strip, lines):
            headers = {}
            for delimiter in _DELIMITERS:
                with suppress(csv.Error):
                    headers[delimiter] = next(csv.reader([line], delimiter=delimiter))
            # The delimiter with which most columns are understood, then the one that gives most columns.
            known = {delimiter: _count_known(header) for delimiter, header in headers.items()}
            delimiter = max(known, key=known.__getitem__, default=_DELIMITERS[0])
            yield lines.number, headers.get(delimiter, [line]), delimiter

    header, delimiter = find_header(candidates(), path)
    # Web of Science quotes no cell, and its titles may begin with a quotation mark.
    quotes = None if delimiter == "\t" and header[:2] == ["PT", "AU"] else '"'
    return header, {"delimiter": delimiter, "quotechar": quotes}


def find_header(
    candidates: Iterable[tuple[int, list[str], _Found]], path: str
) -> tuple[list[str], _Found]:
    """The first of the numbered rows that names columns, one of them with a text, and what was given with it.

    Raises:
        FormatError: There is none.
    """
    texts = {plain_name(name) for name in (*NAMES["text"], *NAMES["abstract"])}
    first: tuple[int, list[str]] | None = None
    for number, header, found in islice(candidates, MOST_LINES_TO_HEADER):
        has_text = not texts.isdisjoint(map(plain_name, header))
        if has_text and (first is None or _count_known(header)[0] > 1):
            return header, found
        first = first or (number, header)
    line, header = first or (1, [])
    allowed = ", ".join((*NAMES["text"], *NAMES["abstract"]))
    shown_names = ", ".join(repr(name) for name in header[:20])
    problem = f"no column with a text; columns found: {shown_names}; allowed names: {allowed}"
    raise FormatError(problem, path=path, line=line, hint="the first row must name the columns")


def _count_known(cells: list[str]) -> tuple[int, int]:
    known = {plain_name(name) for names in NAMES.values() for name in names}
    return sum(plain_name(name) in known for name in cells), len(cells)


_ANY_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")


class _Lines:
    """Decoded lines for the CSV parser; it continues after the line that raised an error.

    Attributes:
        number: The number of the last line.
        row: The lines of the current row so far, with their numbers.
    """

    def __init__(self, source: Source) -> None:
        self.number = 0
        self.row: list[tuple[int, str]] = []
        self._lines = decode_lines(source)
        self._again: deque[NumberedLine] = deque()

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        self.number, line = self._again.popleft() if self._again else next(self._lines)
        if isinstance(line, FormatError):
            raise line
        self.row.append((self.number, line))
        return line

    def holds_rows(self, header: list[str], syntax: _Syntax) -> bool:
        """Whether all lines between the first and the last of the row are rows by themselves."""
        inner = self.row[1:-1]
        return bool(inner) and all(self._is_row(line, header, syntax) for _, line in inner)

    def go_back(self, header: list[str], syntax: _Syntax) -> int:
        """Give back the lines from the first that is a row by itself on; the number of the last that is left out."""
        self.row = [
            (number, piece)
            for number, line in self.row
            for piece in filter(None, _ANY_LINE.findall(line))
        ]
        start = 1
        while start < len(self.row) and not self._is_row(self.row[start][1], header, syntax):
            start += 1
        self._again.extendleft(reversed(self.row[start:]))
        return self.row[start - 1][0]

    def _is_row(self, line: str, header: list[str], syntax: _Syntax) -> bool:
        """Whether a line has the cells of a row. Of prose, delimiters are followed by blanks, or the start has some."""
        try:
            [cells] = csv.reader([line], strict=True, **syntax)
            [like] = csv.reader([self.row[0][1]], **syntax)
        except csv.Error:
            return False
        return (
            len(cells) == len(header) > 1
            and not any(
                cell[:1].isspace() > name[:1].isspace()
                for cell, name in zip(cells[1:], header[1:], strict=True)
            )
            and (" " in cells[0].strip()) <= any(" " in first.strip() for first in like[:1])
        )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The table's column names, unique, and the index of each column by meaning."""

    names: tuple[str, ...]
    by_meaning: dict[str, int]


def _without_surplus(
    cells: list[str], columns: _Columns, path: str, row: list[tuple[int, str]]
) -> tuple[list[str], str]:
    """The cells up to the last with a text, and a remark, where the surplus delimiter stands behind it for certain."""
    found = f"the row has {len(cells)} cells, the header {len(columns.names)}"
    last = max(columns.by_meaning.values())
    raw = "".join([line for _, line in row])
    for index, cell in enumerate(cells[: last + 1]):
        # A cell in quotes is whole; so is a single word that is none of the texts, and Scopus's [No author name available].
        may_be_cut = " " in cell or index in columns.by_meaning.values()
        may_be_cut &= not (cell.startswith("[") and cell.endswith("]"))
        if cell and may_be_cut and in_quotes(cell) not in raw:
            key = key_of_row(dict(zip(columns.names, cells[:index], strict=False))) or ""
            hint = "quote cells that hold the delimiter"
            raise Place(path, row[0][0], key).error(found, hint=hint)
    remark = f"{found}: what stands behind {quoted(columns.names[last])} is left out"
    return cells[: last + 1], remark


def document_of_row(
    cells: list[str], columns: _Columns, source: Source, row: list[tuple[int, str]]
) -> AnnotatedDocument:
    """The document of a row, of which the lines and their numbers are given as well.

    Raises:
        FormatError: It has no text, or a surplus cell that may stand before the text.
    """
    line, warnings = row[0][0], list[str]()
    if any(cell.strip() for cell in cells[len(columns.names) :]):
        cells, *warnings = _without_surplus(cells, columns, source.path, row)
    values = dict(zip(columns.names, cells, strict=False))
    known: dict[str, str | None] = {}
    for meaning, index in columns.by_meaning.items():
        if (name := columns.names[index]) in values:
            given = values[name] if meaning == "text" else given_text(values[name])
            values[name] = "" if is_placeholder(given) else given
            known[meaning] = values[name] or None
    key = key_of_row(values) or f"{source.stem}:{line}"
    place = Place(source.path, line, key)
    if not any(known.values()):
        raise place.error("the row has no text")
    text, title_length, used = text_of(known, place)
    hidden = {columns.by_meaning.get(meaning) for meaning in used}
    fields = {
        name: values[name]
        for index, name in enumerate(columns.names)
        if index not in hidden and name in values and plain_name(name) != "dockey"
    }
    return document_of(key, text, fields, title_length, tuple(warnings))


def columns_of(header: list[str]) -> _Columns:
    """The columns that a header row names."""
    plain = [plain_name(name) for name in header]
    by_meaning = {}
    for meaning in TEXT_FIELDS:
        found = [name for name in map(plain_name, NAMES[meaning]) if name in plain]
        if found:
            by_meaning[meaning] = plain.index(found[0])
    names: dict[str, None] = {}
    seen: Counter[str] = Counter()
    for index, name in enumerate(header, start=1):
        given = free = name.strip() or f"column {index}"
        while free in names:
            seen[given] += 1
            free = f"{given} (again{'' if seen[given] == 1 else f' {seen[given]}'})"
        names[free] = None
    return _Columns(tuple(names), by_meaning)
