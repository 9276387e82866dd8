"""The objects of a JSON file: one a line, spread over lines, the elements of an array, or of a reply with an array in it.

Reading continues behind a broken object, and objects come one at a time, in constant memory. :func:`read_lines` is for
formats that say "one object a line", :func:`read_objects` for those that annotation tools write in any layout, and
:func:`read_items` for exports of databases, which may wrap their records in an outer object.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, Place, ReadItem, Source, quoted, read_each
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.json_values import KEY_FIELDS, Record, parse_object

ParseOne = Callable[[Record, Source, int], AnnotatedDocument]
"""The document of an object, its file and its line."""

ParseMany = Callable[[Record, Source, int], Iterable[AnnotatedDocument]]
"""The documents of an object, its file and its line."""

_Read = TypeVar("_Read")

Found = tuple[int, Record | FormatError]
"""The line on which an object starts, and the object or what is wrong with it."""


def read_lines(source: Source, parse: ParseOne) -> Iterator[ReadItem]:
    """Parse each non-blank line with ``parse(record, source, line)``, one at a time.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    for number, line in record_lines(source):
        if isinstance(line, FormatError):
            yield BadRecord(line)
        else:
            yield parsed_line(line, source, number, parse)


def record_lines(source: Source) -> Iterator[tuple[int, str | FormatError]]:
    """Line numbers (from 1) and lines that are not blank, or why one cannot be read.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    found = False
    for number, line in decoded_lines(source):
        if isinstance(line, FormatError) or line.strip():
            found = True
            yield number, line
    if not found:
        raise FormatError("the file is empty: it holds blank lines only", path=source.path)


def parsed_line(line: str, source: Source, number: int, parse: ParseOne) -> ReadItem:
    """The document of a line, or what is wrong with it."""
    try:
        return parse(parse_object(line, source.path, number), source, number)
    except FormatError as error:
        return BadRecord(error)


_CLOSING = {"}": "{", "]": "["}
# A whole string, else a single mark: then an opening quotation mark has no partner on its line.
_OUTSIDE = re.compile(r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"|["{}\[\]]')
_INSIDE = re.compile(r'\\.|"', re.DOTALL)
_COMPACT = re.compile(r'(\s*)\{\s*"')
_LONGEST_KEY = 100
_CUT_OFF = "the file may be cut off: export it again"


def read_objects(source: Source, parse: ParseMany, *, numbered: bool = False) -> Iterator[ReadItem]:
    """Parse each object with ``parse(record, source, line)``, which may give several documents.

    Args:
        source: The file.
        parse: Gives the documents of an object.
        numbered: Whether an object without a key is called by its position, since many can stand on one line.

    Raises:
        FormatError: The file is empty, or neither UTF-8 text nor JSON at all.
    """
    for number, (line, record) in enumerate(JsonObjects(source), start=1):
        if isinstance(record, FormatError):
            yield BadRecord(record)
            continue
        if numbered and all(record.get(name) in (None, "") for name in KEY_FIELDS):
            record = {**record, KEY_FIELDS[0]: f"{source.stem}:{number}"}
        try:
            yield from parse(record, source, line)
        except FormatError as error:
            yield BadRecord(error)


def read_items(
    source: Source,
    parse: Callable[[Record, Place], _Read],
    lists: str = "",
    nothing: str = "the file holds no record",
) -> Iterator[_Read | BadRecord]:
    """Parse each object with ``parse(record, place)``; the place has its number as the document's key.

    Args:
        source: The file.
        parse: Gives the document of an object, or whatever else it stands for.
        lists: Keys of an outer object under which the objects may stand in a list: a regular expression.
        nothing: What is said of a file without objects.

    Raises:
        FormatError: The file is empty, neither UTF-8 text nor JSON at all, or holds no object.
    """

    def read(found: Found, number: int) -> _Read:
        line, record = found
        if isinstance(record, FormatError):
            raise record
        return parse(record, Place(source.path, line, f"{source.stem}:{number}"))

    return read_each(JsonObjects(source, lists), read, FormatError(nothing, path=source.path))


class JsonObjects:
    """Finds where objects start and end by their brackets alone, so that each is decoded by itself."""

    def __init__(self, source: Source, lists: str = "") -> None:
        """Read ``source``; an object that has a list under a key that fits ``lists`` stands for the list's objects."""
        self._source = source
        self._path = source.path
        self._is_list = re.compile(lists or r"(?!)").fullmatch
        self._list_start = re.compile(rf'"(?:{lists or r"(?!)"})"\s*:\s*\Z')
        self._list_depth = 1  # how many brackets are open in the list that holds objects
        self._around: list[str] = []  # the outer object without what its list holds
        self._stack: list[str] = []
        self._open: Counter[str] = Counter()  # the marks on the stack
        self._outer = -1  # how many brackets are open around the object; -1 outside of objects
        self._parts: list[str] = []
        self._first_line = self._line = self._count = 0
        self._before = ""  # what stands before the object on its line
        self._in_string = False

    def __iter__(self) -> Iterator[Found]:
        """The objects.

        Raises:
            FormatError: The file is empty, not UTF-8 text at all, or starts with neither an object nor an array.
        """
        is_blank = True
        for number, line in decoded_lines(self._source, long_first=True):
            if isinstance(line, FormatError):
                is_blank = False
                # A line of the object that is open cannot be read: it is forgotten.
                if self._outer >= 0:
                    self._close_object()
                yield number, line
                continue
            if is_blank and (start := line.strip()):
                is_blank = False
                if start[0] not in "[{":
                    problem = f"broken JSON: {quoted(start)} found; expected JSON objects"
                    raise FormatError(problem, path=self._path, line=number)
            yield from self._feed(number, line)
        if is_blank:
            raise FormatError("the file is empty: it holds blank lines only", path=self._path)
        if self._outer >= 0:
            yield self._broken("the file ends inside this record")
        elif self._stack:
            problem = f"the {'array' if '[' in self._stack else 'outer object'} is not closed"
            error = FormatError(problem, path=self._path, line=self._line, hint=_CUT_OFF)
            yield self._line, error

    def _feed(self, number: int, line: str) -> Iterator[Found]:
        """The objects that end on this line."""
        self._line = number
        if (whole := self._alone(line)) is not None:
            self._count += 1
            yield number, whole
            return
        # A line that opens as far to the right as the unfinished object did opens the next one.
        opening = _COMPACT.match(line) if self._outer >= 0 else None
        if opening and opening[1] == self._before:
            yield self._broken("the record has no end")
        taken = 0
        for start, end, mark in self._marks(line):
            may_open_list = mark == "[" and len(self._stack) == self._outer + 1
            before = [*self._parts[-2:], line[taken:start]] if may_open_list else []
            if may_open_list and self._list_start.search("".join(before)[-_LONGEST_KEY:]):
                # The object that is open is the one around a list of objects.
                self._around = [*self._parts, line[taken:start], "[]"]
                self._outer, self._parts = -1, []
                self._count -= 1
                self._stack.append("[")
                self._open["["] += 1
                self._list_depth = len(self._stack)
                taken = end
                continue
            is_outside, depth = self._outer < 0, len(self._stack)
            is_between = self._is_between
            if mark in _CLOSING:
                is_last = self._closes(mark)
            else:
                is_last = False
                if is_outside and is_between and (mark == "{" or self._stack):
                    self._outer = len(self._stack)
                    self._first_line = self._line
                    self._before = line[:start]
                    self._count += 1
                self._stack.append(mark)
                self._open[mark] += 1
            if is_outside:
                lone = mark if len(self._stack) == depth else ""
                if is_between:
                    yield from self._stray(line[taken:start] + lone)
                else:
                    self._around.append(line[taken:end])
                    yield from self._check_around()
                taken = start if self._outer >= 0 else end
            elif is_last:
                yield self._finished(line[taken:end])
                taken = end
        if self._outer >= 0:
            self._parts.append(line[taken:])
        else:
            self._in_string = False
            if self._is_between:
                yield from self._stray(line[taken:])
            else:
                self._around.append(line[taken:])

    def _alone(self, line: str) -> Record | None:
        """An object that is alone on its line, as most are: decoded at once, which is eight times as fast."""
        text = line.strip().removesuffix(",")
        if self._outer >= 0 or not self._is_between or text[:1] + text[-1:] != "{}":
            return None
        try:
            record = parse_object(text, self._path, self._line)
        except FormatError:
            return None
        lists = (name for name, value in record.items() if isinstance(value, list))
        return None if any(map(self._is_list, lists)) else record

    def _marks(self, line: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and character of the brackets outside of strings."""
        position = 0
        while match := (_INSIDE if self._in_string else _OUTSIDE).search(line, position):
            start, position = match.span()
            if match[0] == '"':
                self._in_string = not self._in_string
            elif position == start + 1:
                yield start, position, match[0]

    @property
    def _is_between(self) -> bool:
        """Whether objects may start here: not in what an outer object has behind its list."""
        return not self._stack or (self._stack[-1] == "[" and len(self._stack) == self._list_depth)

    def _check_around(self) -> Iterator[tuple[int, FormatError]]:
        """What is wrong with what stands around the list, where the outer object has just ended."""
        if self._is_between:
            try:
                parse_object("".join(self._around), self._path, self._first_line)
            except FormatError as error:
                problem = f"around the records: {error.problem}"
                yield self._line, FormatError(problem, path=self._path)
            self._around = []

    def _closes(self, mark: str) -> bool:
        """Note a closing bracket; whether the object ends with it. It closes what was left open inside."""
        opening, around = _CLOSING[mark], self._stack[: max(self._outer, 0)]
        if self._open[opening] > around.count(opening):
            closed = ""
            while closed != opening:
                closed = self._stack.pop()
                self._open[closed] -= 1
        if len(self._stack) < self._list_depth:
            self._list_depth = 1
        return 0 <= self._outer >= len(self._stack)

    def _finished(self, rest: str) -> Found:
        text, line = "".join([*self._parts, rest]), self._first_line
        self._close_object()
        try:
            return line, parse_object(text, self._path, line)
        except FormatError as error:
            problem = f"record {self._count}: {error.problem}"
            column = error.column
            if column is not None and error.line == line:
                column += len(self._before)
            return line, FormatError(problem, path=self._path, line=error.line, column=column)

    def _close_object(self) -> None:
        self._open.subtract(self._stack[self._outer :])
        del self._stack[self._outer :]
        self._outer = -1
        self._parts = []
        self._in_string = False

    def _broken(self, problem: str) -> tuple[int, FormatError]:
        line = self._first_line
        self._close_object()
        text = f"record {self._count}: {problem}"
        return line, FormatError(text, path=self._path, line=line, hint=_CUT_OFF)

    def _stray(self, text: str) -> Iterator[tuple[int, FormatError]]:
        """An error for anything but commas and blanks between objects."""
        stray = text.strip(", \t\r\n")
        if stray:
            problem = f"{quoted(stray)} found between records; expected JSON objects"
            yield self._line, FormatError(problem, path=self._path, line=self._line)
