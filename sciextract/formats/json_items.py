"""The objects of a JSON file, whether it holds a list, one object, a reply with a list in it, or JSON lines."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

from sciextract.errors import FormatError
from sciextract.formats.base import MAX_LINE_BYTES, BadRecord, Place, ReadItem, Source, shown
from sciextract.formats.decoding import refuse_binary

_CONTENT = re.compile(r"[^\s,]")
_FIRST_KEY = re.compile(r'\{\s*("(?:[^"\\]|\\.){0,100}")\s*:')
_UNDECODED = re.compile("[\udc80-\udcff]")
_CUT = 1 << 18
_HINT = "if the file is in Latin-1: iconv -f latin1 -t utf-8 FILE > NEW"


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


def read_items(source: Source, list_keys: Sequence[str] = ()) -> Iterator[JsonItem]:
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


def read_records(
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
    for item in read_items(source, list_keys):
        if isinstance(item.value, FormatError):
            yield BadRecord(item.value)
            continue
        try:
            yield record_of(item.value, item, source)
        except FormatError as error:
            yield BadRecord(error)


def _values(source: Source, list_keys: Sequence[str]) -> Iterator[tuple[int, Any]]:
    pieces = _numbered_pieces(source)
    start = _opening(pieces)
    if not start:
        raise FormatError("the file is empty: it holds blank lines only", path=source.path)
    pieces = chain(start, pieces)
    if _one_a_line(start):
        for line, same_line in groupby(pieces, key=itemgetter(0)):
            yield from _line_values(list(islice(same_line, 2)), line, source.path, list_keys)
        return
    content, problem = _all_bytes(pieces)
    yield from _whole(_text(content), start[0][0], source.path, list_keys)
    if problem is not None:
        raise problem


def _numbered_pieces(source: Source) -> Iterator[tuple[int, bytes]]:
    """The source's lines with their numbers; pieces of one very long line have the same."""
    line, previous = 0, b"\n"
    for raw in source.lines():
        line += previous.endswith(b"\n")
        if line == 1 and previous == b"\n":
            refuse_binary(raw, source.path)
        previous = raw[-1:]
        yield line, raw


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _opening(pieces: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The lines up to the second one that is not blank; only one where that is a whole value."""
    start: list[tuple[int, bytes]] = []
    for line, raw in pieces:
        blank = not _text(raw).strip()
        if start or not blank:
            start.append((line, raw))
        if not blank and (len(start) > 1 or not raw.endswith(b"\n") or _is_whole(_text(raw))):
            break
    return start


def _is_whole(text: str) -> bool:
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _one_a_line(start: list[tuple[int, bytes]]) -> bool:
    """Whether the first line is a value, or the first two that are not blank both open an object."""
    opened = [_text(raw).lstrip()[:1] for _, raw in (start[0], start[-1])]
    return opened == ["{", "{"] if len(start) > 1 else _is_whole(_text(start[0][1]))


def _line_values(
    pieces: list[tuple[int, bytes]], line: int, path: str, list_keys: Sequence[str]
) -> Iterator[tuple[int, Any]]:
    if len(pieces) > 1:
        problem = f"the line has more than {MAX_LINE_BYTES >> 20} MiB and is left out"
        yield line, Place(path, line).error(problem)
    else:
        yield from _expanded(_text(pieces[0][1]), line, path, list_keys)


def _all_bytes(pieces: Iterator[tuple[int, bytes]]) -> tuple[bytes, FormatError | None]:
    """What can be read of the rest, and why it is not all."""
    read: list[bytes] = []
    try:
        read.extend(raw for _, raw in pieces)
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
        if position > _CUT:  # the standard library counts the lines before each broken item
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
        value, end = _DECODER.raw_decode(text, position)
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
        return place.error(f"byte 0x{ord(strange[0]) - 0xDC00:02x} is not UTF-8", hint=_HINT), end
    return value, end


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {shown(digits)} is too large")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse, strict=False)
