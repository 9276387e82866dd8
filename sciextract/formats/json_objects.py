"""JSON objects in any layout: one a line, one spread over lines, or the elements of an array.

Annotation tools write all three. The objects come one at a time, whatever the layout, and a broken one does
not hide those behind it as far as its brackets can be told apart from theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem, Source, shown
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.json_lines import Record, parse_object
from sciextract.formats.records import KEY_FIELDS

Lines = Iterator[tuple[int, str | FormatError]]
Parse = Callable[[Record, Source, int], Iterable[AnnotatedDocument]]

_CLOSING = {"}": "{", "]": "["}
# A whole string, else a single mark: then an opening quotation mark has no partner on its line.
_OUTSIDE = re.compile(r'"(?:[^"\\]|\\.)*+"|["{}\[\]]')
_INSIDE = re.compile(r'\\.|"', re.DOTALL)
_COMPACT = re.compile(r'(\s*)\{\s*"')
_CUT_OFF = "the file may be cut off: export it again"


def read_objects(source: Source, parse: Parse, *, numbered: bool = False) -> Iterator[ReadItem]:
    """Parse each object with ``parse(record, source, line)``, which may give several documents.

    Args:
        source: The file.
        parse: Gives the documents of an object.
        numbered: Whether an object without a key is called by its position, since many can stand on one line.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    for number, (line, record) in enumerate(json_objects(source), start=1):
        if isinstance(record, FormatError):
            yield BadRecord(record)
            continue
        if numbered and all(record.get(name) in (None, "") for name in KEY_FIELDS):
            record = {**record, KEY_FIELDS[0]: f"{source.stem}:{number}"}
        try:
            yield from parse(record, source, line)
        except FormatError as error:
            yield BadRecord(error)


def json_objects(source: Source) -> Iterator[tuple[int, Record | FormatError]]:
    """The line on which each object starts, and the object or what is wrong with it.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    lines, start = decoded_lines(source), []
    for item in lines:
        start.append(item)
        if isinstance(item[1], FormatError) or item[1].strip():
            break
    else:
        raise FormatError("the file is empty: it holds blank lines only", path=source.path)
    read = _spread_out if _is_spread_out(start[-1][1]) else _one_a_line
    yield from read(chain(start, lines), source.path)


def _is_spread_out(line: str | FormatError) -> bool:
    stripped = line.strip() if isinstance(line, str) else ""
    return stripped.startswith("[") or stripped == "{"


def _one_a_line(lines: Lines, path: str) -> Iterator[tuple[int, Record | FormatError]]:
    for number, line in lines:
        if isinstance(line, FormatError):
            yield number, line
        elif line.strip():
            try:
                yield number, parse_object(line, path, number)
            except FormatError as error:
                yield number, error


def _spread_out(lines: Lines, path: str) -> Iterator[tuple[int, Record | FormatError]]:
    scanner = _Scanner(path)
    for number, line in lines:
        if isinstance(line, FormatError):
            scanner.drop()
            yield number, line
        else:
            yield from scanner.feed(number, line)
    yield from scanner.end()


class _Scanner:
    """Finds where objects start and end by their brackets alone, so that each is decoded by itself."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stack: list[str] = []
        self._outer = -1  # how many brackets are open around the object; -1 outside of objects
        self._parts: list[str] = []
        self._first_line = self._line = self._count = 0
        self._indent = ""
        self._in_string = False

    def feed(self, number: int, line: str) -> Iterator[tuple[int, Record | FormatError]]:
        """The objects that end on this line."""
        self._line = number
        if self._is_next_object(line):
            yield self._broken("the record has no end")
        taken = 0
        for start, end, mark in self._marks(line):
            is_outside, depth = self._outer < 0, len(self._stack)
            is_last = self._closes(mark) if mark in _CLOSING else self._opens(mark, line[:start])
            if is_outside:
                lone = mark if len(self._stack) == depth else ""
                yield from self._stray(line[taken:start] + lone)
                taken = start if self._outer >= 0 else end
            elif is_last:
                yield self._finished(line[taken:end])
                taken = end
        if self._outer >= 0:
            self._parts.append(line[taken:])
        else:
            self._in_string = False
            yield from self._stray(line[taken:])

    def drop(self) -> None:
        """Forget the object that is open: a line of it cannot be read."""
        if self._outer >= 0:
            self._close_object()

    def end(self) -> Iterator[tuple[int, FormatError]]:
        """What is missing at the end of the file."""
        if self._outer >= 0:
            yield self._broken("the file ends inside this record")
        elif self._stack:
            problem = "the array is not closed"
            error = FormatError(problem, path=self._path, line=self._line, hint=_CUT_OFF)
            yield self._line, error

    def _marks(self, line: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and character of the brackets outside of strings."""
        position = 0
        while match := (_INSIDE if self._in_string else _OUTSIDE).search(line, position):
            start, position = match.span()
            if match[0] == '"':
                self._in_string = not self._in_string
            elif position == start + 1:
                yield start, position, match[0]

    def _opens(self, mark: str, before: str) -> bool:
        """Note an opening bracket, and what is before it on its line; never the end of an object."""
        if self._outer < 0 and (mark == "{" or self._stack):
            self._outer = len(self._stack)
            self._first_line = self._line
            self._indent = before
            self._count += 1
        self._stack.append(mark)
        return False

    def _closes(self, mark: str) -> bool:
        """Note a closing bracket; whether the object ends with it. It closes what was left open inside."""
        inner = self._stack[max(self._outer, 0) :]
        if _CLOSING[mark] in inner:
            while self._stack.pop() != _CLOSING[mark]:
                pass
        return 0 <= self._outer >= len(self._stack)

    def _finished(self, rest: str) -> tuple[int, Record | FormatError]:
        text, line = "".join([*self._parts, rest]), self._first_line
        self._close_object()
        try:
            return line, parse_object(text, self._path, line)
        except FormatError as error:
            problem = f"record {self._count}: {error.problem}"
            return line, FormatError(problem, path=self._path, line=line)

    def _close_object(self) -> None:
        del self._stack[self._outer :]
        self._outer = -1
        self._parts = []
        self._in_string = False

    def _is_next_object(self, line: str) -> bool:
        """Whether a line opens like the one that opened the unfinished object: ``{"`` as far to the right."""
        found = _COMPACT.match(line) if self._outer >= 0 else None
        return found is not None and found[1] == self._indent

    def _broken(self, problem: str) -> tuple[int, FormatError]:
        line = self._first_line
        self._close_object()
        text = f"record {self._count}: {problem}"
        return line, FormatError(text, path=self._path, line=line, hint=_CUT_OFF)

    def _stray(self, text: str) -> Iterator[tuple[int, FormatError]]:
        """An error for anything but commas and blanks between objects."""
        stray = text.strip(", \t\r\n")
        if stray:
            problem = f"{shown(stray)} found between records, allowed are JSON objects"
            yield self._line, FormatError(problem, path=self._path, line=self._line)
