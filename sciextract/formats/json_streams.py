"""The objects of a JSON file: one a line, spread over lines, the elements of an array, or of a reply with an array in it.

Each way of reading goes on behind a broken object. :func:`read_lines` is for formats that say "one object a line",
:func:`read_objects` for those that annotation tools write in either layout (objects come one at a time, in constant
memory), :func:`read_items` for exports of databases, which may wrap their records in an outer object.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import MAX_LINE_BYTES, BadRecord, Place, ReadItem, Source, shown
from sciextract.formats.decoding import decoded_lines, refuse_binary
from sciextract.formats.json_values import (
    KEY_FIELDS,
    Record,
    finite_number,
    parse_object,
    refuse_constant,
)

ParseOne = Callable[[Record, Source, int], AnnotatedDocument]
"""The document of an object, its file and its line."""

ParseMany = Callable[[Record, Source, int], Iterable[AnnotatedDocument]]
"""The documents of an object, its file and its line."""

Lines = Iterator[tuple[int, str | FormatError]]


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
_OUTSIDE = re.compile(r'"(?:[^"\\]|\\.)*+"|["{}\[\]]')
_INSIDE = re.compile(r'\\.|"', re.DOTALL)
_COMPACT = re.compile(r'(\s*)\{\s*"')
_CUT_OFF = "the file may be cut off: export it again"


def read_objects(source: Source, parse: ParseMany, *, numbered: bool = False) -> Iterator[ReadItem]:
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
        self._open: Counter[str] = Counter()  # the marks on the stack
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
        self._open[mark] += 1
        return False

    def _closes(self, mark: str) -> bool:
        """Note a closing bracket; whether the object ends with it. It closes what was left open inside."""
        opening, around = _CLOSING[mark], self._stack[: max(self._outer, 0)]  # at most one mark
        if self._open[opening] > around.count(opening):
            closed = ""
            while closed != opening:
                closed = self._stack.pop()
                self._open[closed] -= 1
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
        self._open.subtract(self._stack[self._outer :])
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


_CONTENT = re.compile(r"[^\s,]")
_FIRST_KEY = re.compile(r'\{\s*("(?:[^"\\]|\\.){0,100}")\s*:')
_UNDECODED = re.compile("[\udc80-\udcff]")
_LEAST_DROPPED = 1 << 18  # characters behind which the read part of a text is dropped
_LATIN_1_HINT = "if the file is in Latin-1: iconv -f latin1 -t utf-8 FILE > NEW"


class JsonItem(NamedTuple):
    """One object of the file, or what is wrong with it.

    Attributes:
        number: Which one it is, from 1.
        line: The line it begins on.
    """

    number: int
    line: int
    value: dict[str, Any] | FormatError


class _Position(NamedTuple):
    """The number of a line, from 1, and where it starts in the text."""

    line: int
    line_start: int


def _items(source: Source, list_keys: Sequence[str] = ()) -> Iterator[JsonItem]:
    """The file's objects in order; a broken one does not stop the others.

    JSON lines are read one at a time. In a list, reading goes on where the next item seems to begin.

    Args:
        source: The file.
        list_keys: Keys of an outer object under which the items may stand.

    Raises:
        FormatError: The file is empty, binary, or no JSON at all.
    """
    number = 0
    for number, (line, value) in enumerate(_values(source, list_keys), start=1):
        if not isinstance(value, dict | FormatError):
            place = Place(source.path, line)
            value = place.error(f"item {number} is {shown(value)}, allowed is a JSON object")
        yield JsonItem(number, line, value)
    if not number:
        raise FormatError("the file holds no record", path=source.path)


def read_items(
    source: Source,
    record_of: Callable[[dict[str, Any], JsonItem, Source], ReadItem],
    list_keys: Sequence[str] = (),
) -> Iterator[ReadItem]:
    """The file's objects as records; a bad one does not stop the others.

    Args:
        source: The file.
        record_of: Makes a record of an object; a FormatError says what is wrong with it.
        list_keys: Keys of an outer object under which the items may stand.

    Raises:
        FormatError: The file is empty, binary, or no JSON at all.
    """
    for item in _items(source, list_keys):
        if isinstance(item.value, FormatError):
            yield BadRecord(item.value)
            continue
        try:
            yield record_of(item.value, item, source)
        except FormatError as error:
            yield BadRecord(error)


def _values(source: Source, list_keys: Sequence[str]) -> Iterator[tuple[int, Any]]:
    chunks = _numbered_lines(source)
    start = _opening(chunks)
    if not start:
        raise FormatError("the file is empty: it holds blank lines only", path=source.path)
    chunks = chain(start, chunks)
    if _is_one_a_line(start):
        for line, same_line in groupby(chunks, key=itemgetter(0)):
            yield from _line_values(list(islice(same_line, 2)), line, source.path, list_keys)
        return
    content, problem = _all_bytes(chunks)
    yield from _whole(_text(content), start[0][0], source.path, list_keys)
    if problem is not None:
        raise problem


def _numbered_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """The source's lines with their numbers; chunks of one very long line have the same."""
    line, previous = 0, b"\n"
    for raw in source.lines():
        line += previous.endswith(b"\n")
        if line == 1 and previous == b"\n":
            refuse_binary(raw, source.path)
        previous = raw[-1:]
        yield line, raw


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _opening(chunks: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The lines up to the second one that is not blank; only one where that is a whole value."""
    start: list[tuple[int, bytes]] = []
    for line, raw in chunks:
        blank = not _text(raw).strip()
        if start or not blank:
            start.append((line, raw))
        if not blank and (len(start) > 1 or not raw.endswith(b"\n") or _is_whole(_text(raw))):
            break
    return start


def _is_whole(text: str) -> bool:
    try:
        _LENIENT_DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_one_a_line(start: list[tuple[int, bytes]]) -> bool:
    """Whether the first line is a value, or the first two that are not blank both open an object."""
    opened = [_text(raw).lstrip()[:1] for _, raw in (start[0], start[-1])]
    return opened == ["{", "{"] if len(start) > 1 else _is_whole(_text(start[0][1]))


def _line_values(
    chunks: list[tuple[int, bytes]], line: int, path: str, list_keys: Sequence[str]
) -> Iterator[tuple[int, Any]]:
    if len(chunks) > 1:
        problem = f"the line has more than {MAX_LINE_BYTES >> 20} MiB and is left out"
        yield line, Place(path, line).error(problem)
    else:
        yield from _expanded(_text(chunks[0][1]), line, path, list_keys)


def _all_bytes(chunks: Iterator[tuple[int, bytes]]) -> tuple[bytes, FormatError | None]:
    """What can be read of the rest, and why it is not all."""
    read: list[bytes] = []
    try:
        read.extend(raw for _, raw in chunks)
    except FormatError as error:
        return b"".join(read), error
    return b"".join(read), None


def _expanded(
    text: str, line: int, path: str, list_keys: Sequence[str]
) -> Iterator[tuple[int, Any]]:
    """The items of the values in a text that stand one behind the other."""
    position = counted = line_start = 0
    while (position := _next_content(text, position)) < len(text):
        line += text.count("\n", counted, position)
        line_start = _line_start(text, counted, position, line_start)
        counted = position
        value, position = _decoded(text, position, _Position(line, line_start), path)
        yield from ((line, item) for item in _items_of(value, list_keys))
        if isinstance(value, FormatError):
            return


def _next_content(text: str, position: int) -> int:
    """Where the next value or bracket stands, or the end of the text."""
    found = _CONTENT.search(text, position)
    return found.start() if found else len(text)


def _items_of(value: Any, list_keys: Sequence[str]) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        inner = next((value[key] for key in list_keys if isinstance(value.get(key), list)), None)
        return [value] if inner is None else inner
    return [value]


def _whole(text: str, line: int, path: str, list_keys: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """The items of a text that is spread over lines."""
    position = _next_content(text, 0)
    start = _list_start(text, position, list_keys)
    if start is not None:
        yield from _list_items(text, start, line, path)
        return
    for number, (place, value) in enumerate(_expanded(text, line, path, list_keys)):
        if number == 0 and isinstance(value, FormatError):
            raise value
        yield place, value


def _list_start(text: str, position: int, list_keys: Sequence[str]) -> int | None:
    """Where the list of items begins: at once, or in an object behind plain values."""
    if text.startswith("[", position):
        return position + 1
    names = "|".join(re.escape(key) for key in list_keys)
    plain = r'(?:"\w+"\s*:\s*(?:"[^"\\]*"|[\w.+-]+)\s*,\s*){0,20}'
    found = re.compile(rf'\{{\s*{plain}"(?:{names})"\s*:\s*\[').match(text, position)
    return found.end() if found and names else None


def _list_items(text: str, position: int, line: int, path: str) -> Iterator[tuple[int, Any]]:
    first_key = ""
    counted = line_start = 0
    while True:
        if (
            position > _LEAST_DROPPED
        ):  # the standard library counts the lines before each broken item
            line += text.count("\n", counted, position)
            line_start = _line_start(text, counted, position, line_start) - position
            text, position, counted = text[position:], 0, 0
        position = _next_content(text, position)
        line += text.count("\n", counted, position)
        line_start = _line_start(text, counted, position, line_start)
        counted = position
        if text.startswith("]", position):
            behind = text[position + 1 : position + 100].strip()
            if behind and behind[0] not in ",}":
                yield line, Place(path, line).error(f"broken JSON: {shown(behind)} behind the list")
            return
        if position == len(text):
            yield line, Place(path, line).error("broken JSON: the file ends inside the list")
            return
        key = _FIRST_KEY.match(text, position)
        first_key = first_key or (key[1] if key else "")
        value, end = _decoded(text, position, _Position(line, line_start), path)
        yield line, value
        if isinstance(value, FormatError):
            end = _restart(text, position, end, first_key, line_start)
            if end == len(text):
                return
        position = end


def _line_start(text: str, start: int, end: int, before: int) -> int:
    """Where the line of ``end`` starts, when that of ``start`` starts at ``before``: no long line is searched twice."""
    found = text.rfind("\n", start, end)
    return before if found < 0 else found + 1


def _restart(text: str, broken: int, noticed: int, first_key: str, line_start: int) -> int:
    """Where the next item seems to begin: an object with the key that the first item begins with.

    It stands behind the place where the broken item was noticed to be so, or on a line of its own, as far
    indented as the broken one (a string that is not closed reaches into the next item).
    """
    start = r"\{\s*" + re.escape(first_key) + r"\s*:"
    indent = text[line_start:broken] if line_start >= 0 else "cut off"
    found = [re.compile(start).search(text, max(noticed, broken + 1))]
    if not indent.strip():
        end = found[0].end() if found[0] else len(text)  # behind it nothing comes earlier
        found.append(
            re.compile(rf"(?m)(?<=^{re.escape(indent)}){start}").search(text, broken + 1, end)
        )
    return min((each.start() for each in found if each and first_key), default=len(text))


def _decoded(text: str, position: int, where: _Position, path: str) -> tuple[Any, int]:
    """The value at a position and its end; an error and where it was noticed if it is broken."""
    try:
        value, end = _LENIENT_DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        problem_line = where.line + text.count("\n", position, error.pos)
        column = error.pos - _line_start(text, position, error.pos, where.line_start) + 1
        problem = f"broken JSON: {error.msg}"
        return FormatError(problem, path=path, line=problem_line, column=column), error.pos
    except RecursionError:
        return FormatError("the JSON is nested too deeply", path=path, line=where.line), position
    except ValueError as error:
        return FormatError(f"broken JSON: {error}", path=path, line=where.line), position
    strange = _UNDECODED.search(text, position, end)
    if strange:
        place = Place(path, where.line + text.count("\n", position, strange.start()))
        return place.error(
            f"byte 0x{ord(strange[0]) - 0xDC00:02x} is not UTF-8", hint=_LATIN_1_HINT
        ), end
    return value, end


_LENIENT_DECODER = json.JSONDecoder(
    parse_float=finite_number, parse_constant=refuse_constant, strict=False
)
