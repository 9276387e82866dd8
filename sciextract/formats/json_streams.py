"""The objects of a JSON file in any layout: one a line, spread over lines, the elements of an array, or of a reply with an array in it.

Reading continues behind a broken object, and objects come one at a time. :func:`read_objects` is for formats that
annotation tools write in any layout, :func:`read_items` for exports of databases, which may wrap their records in an
outer object. Formats that say "one object a line" need only :func:`sciextract.formats.json_values.read_lines`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import TypeVar

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import (
    BadRecord,
    NumberedLine,
    Place,
    ReadItem,
    Source,
    decode_lines,
    quoted,
    read_placed,
)
from sciextract.formats.json_values import DECODER, KEY_FIELDS, Record, json_error, parse_object

ParseMany = Callable[[Record, Source, int], Iterable[AnnotatedDocument]]
"""The documents of an object, its file and its line."""

_Read = TypeVar("_Read")

_NO_LISTS = "(?!)"

Found = tuple[int, Record | FormatError]
"""The line on which an object starts, and the object or what is wrong with it."""


def read_objects(source: Source, parse: ParseMany, *, numbered: bool = False) -> Iterator[ReadItem]:
    """Parse each object with ``parse(record, source, line)``, which may give several documents.

    Args:
        source: The file.
        parse: Gives the documents of an object.
        numbered: Whether an object without a key is called by its position, since many can stand on one line.

    Raises:
        FormatError: The file is empty, or neither UTF-8 text nor JSON at all.
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


def read_items(
    source: Source,
    parse: Callable[[Record, Place], _Read],
    lists: str = _NO_LISTS,
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
    return read_placed(source, json_objects(source, lists), parse, nothing)


_BETWEEN = re.compile(r"[\s,]*")
_LONGEST_HEAD = 1 << 14
_PAIRS = "pairs that spaCy 2 trained on: jq -c '.[] | {text: .[0], label: .[1].entities}' FILE > NEW.jsonl"
_DAMAGED = "the file may be cut off or changed by hand: export it again"


def json_objects(source: Source, lists: str = _NO_LISTS) -> Iterator[Found]:
    """The objects of a file, one a line where the first line is one; any other layout is kept in memory as text.

    Behind a broken object, reading goes on at the next line that opens one as far to the left.

    Args:
        source: The file.
        lists: Keys of an outer object that stands for the objects of a list in it: a regular expression.

    Raises:
        FormatError: The file is empty, not UTF-8 text at all, or starts with neither an object nor an array.
    """
    lines = decode_lines(source, long_first=True)
    filled = ((number, line) for number, line in lines if not isinstance(line, str) or line.strip())
    number, line = first = next(filled, (0, ""))
    if not number:
        raise FormatError("the file is empty: it holds blank lines only", path=source.path)
    start = "{}" if isinstance(line, FormatError) else line.strip().removesuffix(",")
    if start[:1] not in ("[", "{"):
        problem = f"broken JSON: {quoted(str(line).strip())} found; expected JSON objects"
        raise FormatError(problem, path=source.path, line=number)
    opens_list = re.compile(rf'"(?:{lists})"\s*:\s*\[')
    if start[0] + start[-1] != "{}" or opens_list.search(start):
        yield from _read_text(chain([first], lines), source.path, opens_list)
        return
    for number, content in chain([first], filled):
        if isinstance(content, FormatError):
            yield number, content
            continue
        try:
            yield number, parse_object(content.strip().removesuffix(","), source.path, number)
        except FormatError as error:
            error.hint = _DAMAGED
            yield number, error


def _read_text(
    lines: Iterable[NumberedLine], path: str, opens_list: re.Pattern[str]
) -> Iterator[Found]:
    """The objects that stand one behind the other, in arrays, or in the list of an outer object."""
    parts: list[str] = []
    first, unreadable = 0, None
    try:
        for number, line in lines:
            first = first or number
            if isinstance(line, FormatError):
                yield number, line
            parts.append("\n" if isinstance(line, FormatError) else line)
    except FormatError as error:  # of a packed file that is cut off what came before is read
        unreadable = error
    text, at, number, outer, in_array = "".join(parts), 0, first, "", False
    while match := _BETWEEN.match(text, at):
        number, at = number + match[0].count("\n"), match.end()
        if at == len(text):
            break
        before = _outer_object(text, at, opens_list) if text[at] == "{" and not in_array else ""
        end = at + (len(before) or 1)
        try:
            if before:
                outer, in_array = before, True
            elif text[at] == ("]" if in_array else "["):
                if outer:
                    end = DECODER.raw_decode(outer + text[at:])[1] + at - len(outer)
                outer, in_array = "", not in_array
            else:
                value, end = DECODER.raw_decode(text, at)
                if not isinstance(value, dict):
                    stray = f"{quoted(text[at:end])} found between records; expected JSON objects"
                    is_pair = isinstance(value, list) and value and isinstance(value[0], str)
                    hint = _PAIRS if is_pair else ""
                    value = FormatError(stray, path=path, line=number, hint=hint)
                yield number, value
        except (ValueError, RecursionError) as error:
            is_placed = isinstance(error, json.JSONDecodeError)
            found = json_error(error, path, first if is_placed else number)
            place = {"line": found.line, "column": found.column}
            yield number, FormatError(found.problem, path=path, hint=_DAMAGED, **place)
            column = at - text.rfind("\n", 0, at) - 1
            following = re.compile(rf"\n,?[ \t]{{0,{column}}}\{{").search(text, at)
            end = following.start() if following else len(text)
            in_array = in_array and following is not None
        number, at = number + text.count("\n", at, end), end
    if unreadable:
        raise unreadable
    if in_array:
        problem = f"the {'outer object' if outer else 'array'} is not closed"
        yield number, FormatError(problem, path=path, line=number, hint=_DAMAGED)


def _outer_object(text: str, start: int, opens_list: re.Pattern[str]) -> str:
    """The start of an object up to its list of objects; empty for one without such a list."""
    for found in opens_list.finditer(text, start, start + _LONGEST_HEAD):
        head = text[start : found.end()]
        with suppress(ValueError, RecursionError):
            # A list deeper inside than its key says is not completed by this.
            DECODER.decode(head + "]}" + "}" * (found[0].count("{") - found[0].count("}")))
            return head
    return ""
