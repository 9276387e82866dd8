"""JSON objects, one a line: decoded strictly, every problem placed, their fields checked, and written as one line."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn, TypeVar

from sciextract.codec import convert
from sciextract.documents.annotations import TokenRange
from sciextract.documents.bibliography import NAMES, plain_name
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
)
from sciextract.formats.record_check import is_placeholder
from sciextract.text.analyse import join_title

Record = dict[str, Any]
_Kind = TypeVar("_Kind")
ParseOne = Callable[[Record, Source, int], AnnotatedDocument]
"""The document of an object, its file and its line."""

#: The standard library writes by recursion: what is deeper may be read and could not be written again.
_DEEPEST = 100
_ONE_A_LINE = "each line must hold one JSON object; --from json reads arrays and spread-out objects"


def read_lines(source: Source, parse: ParseOne) -> Iterator[ReadItem]:
    """Parse each non-blank line with ``parse(record, source, line)``, one at a time.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    for number, line in record_lines(source):
        if isinstance(line, FormatError):
            yield BadRecord(line)
        else:
            yield parse_line(line, source, number, parse)


def record_lines(source: Source) -> Iterator[NumberedLine]:
    """Line numbers (from 1) and lines that are not blank, or why one cannot be read.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    found = False
    for number, line in decode_lines(source):
        if isinstance(line, FormatError) or line.strip():
            found = True
            yield number, line
    if not found:
        raise FormatError("the file is empty: it holds blank lines only", path=source.path)


def parse_line(line: str, source: Source, number: int, parse: ParseOne) -> ReadItem:
    """The document of a line, or what is wrong with it."""
    try:
        return parse(parse_object(line, source.path, number), source, number)
    except FormatError as error:
        return BadRecord(error)


def parse_object(line: str, path: str, number: int) -> Record:
    """The JSON object in a text that starts at line ``number``. Raw control characters inside strings are kept.

    Raises:
        FormatError: Broken JSON, NaN or infinite numbers, repeated keys, too deep nesting, or no object.
    """
    try:
        value = DECODER.decode(line.rstrip("\r\n"))
    except (ValueError, RecursionError) as error:
        raise json_error(error, path, number) from None
    if not isinstance(value, dict):
        problem = f"the line holds {quoted(value)}; expected a JSON object"
        raise FormatError(problem, path=path, line=number, hint=_ONE_A_LINE)
    return value


def json_error(error: ValueError | RecursionError, path: str, number: int) -> FormatError:
    """What :data:`DECODER` raised of a text that starts at line ``number``, with its place."""
    if isinstance(error, json.JSONDecodeError):
        at = {"line": number + error.lineno - 1, "column": error.colno}
        return FormatError(f"broken JSON: {error.msg}", path=path, hint=_ONE_A_LINE, **at)
    problem = f"broken JSON: {error}"
    if isinstance(error, RecursionError):
        problem = "the JSON is nested too deeply"
    elif not isinstance(error, _UnusableError):
        problem = "an integer has too many digits"
    return FormatError(problem, path=path, line=number)


def unknown_fields(record: Record, known: Container[str], place: Place) -> Record:
    """The fields that the reader does not interpret, to be kept.

    Raises:
        FormatError: One is nested so deeply that it could not be written again.
    """
    fields = {name: value for name, value in record.items() if name not in known}
    for name, value in fields.items():
        if isinstance(value, (dict, list)) and _is_deeper(value, _DEEPEST):
            raise place.error(f"nested deeper than {_DEEPEST} levels", field=quoted(name))
    return fields


def _is_deeper(value: dict[str, Any] | list[Any], levels: int) -> bool:
    """Whether a list or object holds anything below so many levels."""
    children = value.values() if isinstance(value, dict) else value
    if levels == 1:
        return len(value) > 0
    return any(isinstance(part, (dict, list)) and _is_deeper(part, levels - 1) for part in children)


class _UnusableError(ValueError):
    """JSON that the standard library would accept, but that cannot be kept as it is."""


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) != len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise _UnusableError(f"the key {quoted(repeated)} occurs twice in one object")
    return record


def finite_number(digits: str) -> float:
    """A number with a point or exponent, for ``parse_float``.

    Raises:
        ValueError: It is too large for a float.
    """
    number = float(digits)
    if math.isinf(number):
        raise _UnusableError(f"the number {quoted(digits)} is too large")
    return number


def refuse_constant(constant: str) -> NoReturn:
    """Refuse ``NaN`` and ``Infinity``, for ``parse_constant``.

    Raises:
        ValueError: The text holds one.
    """
    raise _UnusableError(f"{constant} is not a JSON number")


DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=finite_number,
    parse_constant=refuse_constant,
    strict=False,
)


def dump_line(record: Record) -> str:
    """One line of JSON without a line feed: valid UTF-8, and no character that ends lines or moves a terminal.

    Lone surrogates, C1 controls and Unicode line separators are written as escapes; they read back as
    the same characters.
    """
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", _ENCODER.encode(record))


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Bounds(NamedTuple):
    """Inclusive token indices that a span may use, and what they belong to."""

    first: int
    last: int
    what: str


def list_at(value: object, field: str, place: Place) -> list[Any]:
    """``value`` as a list; ``None`` counts as an empty one.

    Raises:
        FormatError: It is something else.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise place.unexpected(value, "a list", field=field)
    return value


def string_at(value: object, field: str, place: Place) -> str:
    """``value`` as a string.

    Raises:
        FormatError: It is something else.
    """
    if not isinstance(value, str):
        raise place.unexpected(value, "a string", field=field)
    return value


def label_at(value: object, field: str, place: Place) -> str:
    """``value`` as a label: a string that is not empty.

    Raises:
        FormatError: It is something else.
    """
    if not isinstance(value, str) or not value:
        raise place.unexpected(value, "a label (a string)", field=field)
    return value


def range_at(start: object, end: object, bounds: Bounds, field: str, place: Place) -> TokenRange:
    """Inclusive ``start`` and ``end`` inside ``bounds``, as a token range with an exclusive end.

    Raises:
        FormatError: They are no integers, in the wrong order, or outside.
    """
    first, last, what = bounds
    if type(start) is int and type(end) is int and first <= start <= end <= last:
        return TokenRange(start, end + 1)
    found = f"[{quoted(start)}, {quoted(end)}] found"
    if last < first:
        raise place.error(f"{found}, but {what} has no tokens", field=field)
    allowed = f"token indices from {first} to {last} ({what}), start <= end"
    raise place.error(f"{found}; expected {allowed}", field=field)


def whole_number(value: object, field: str, place: Place) -> int:
    """A whole number, also where it is written as a string.

    Raises:
        FormatError: It is something else, or negative.
    """
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 16:
        value = int(value)
    if type(value) is not int or value < 0:
        raise place.unexpected(value, "a whole number", field=field)
    return value


def typed_at(
    value: object, kind: type[_Kind], field: str, place: Place, *, hint: str = ""
) -> _Kind:
    """``value`` as a dataclass, or what else :func:`sciextract.codec.convert` makes.

    Raises:
        FormatError: It has another shape.
    """
    try:
        return convert(value, kind, field)
    except FormatError as error:
        raise place.error(error.problem, hint=hint) from None


def object_at(value: object, field: str, place: Place) -> dict[str, Any]:
    """``value`` as an object.

    Raises:
        FormatError: It is something else.
    """
    if not isinstance(value, dict):
        raise place.unexpected(value, "an object", field=field)
    return value


def objects_at(value: object, field: str, place: Place) -> Iterator[tuple[Record, str]]:
    """The objects of a list, each with its field: ``FIELD[0]``, ``FIELD[1]``...; ``None`` counts as an empty list.

    Raises:
        FormatError: It is something else, or holds something else.
    """
    for index, item in enumerate(list_at(value, field, place)):
        yield object_at(item, f"{field}[{index}]", place), f"{field}[{index}]"


TEXT_FIELDS = ("text", "title", "abstract")
KEY_FIELDS = ("doc_key", "id")


class RecordText(NamedTuple):
    """A record's text.

    Attributes:
        text: The text.
        title_length: How many characters at its start are a known title.
        used: The fields that it holds completely.
    """

    text: str
    title_length: int
    used: frozenset[str]


def text_of(record: Mapping[str, Any], place: Place) -> RecordText:
    """The record's text: ``text`` where there is one, else ``title`` and ``abstract`` joined. A title stays a field as well.

    Raises:
        FormatError: There is no text, or it is not a string.
    """
    for name in TEXT_FIELDS:
        if not isinstance(record.get(name), str | None):
            raise place.unexpected(record[name], "a string", field=name)
    text, title, abstract = (record.get(name) for name in TEXT_FIELDS)
    if text or (text is not None and not title and not abstract):
        return RecordText(text, 0, frozenset({"text"}))
    if title is None and abstract is None:
        raise place.error("no text: give `text`, or `title` and `abstract`, or SciERC `sentences`")
    joined = join_title(title or "", abstract or "")
    return RecordText(joined, len(title or ""), frozenset({"text", "abstract"}))


_TEXT_NAMES = {
    "abstract": (*NAMES["abstract"], "abstract inverted index", "descriptions"),
    "title": (*NAMES["title"], "titles"),
}


def with_usual_names(record: Record) -> Record:
    """The record with the title and abstract that it has under other names, or in other shapes, as ``title`` and ``abstract``.

    >>> with_usual_names({"display_name": "Sheets", "abstract_inverted_index": {"fold": [1], "We": [0]}})
    {'display_name': 'Sheets', 'abstract': 'We fold', 'title': 'Sheets'}
    """
    if record.get("text") or "sentences" in record:
        return record
    given = {plain_name(name): name for name in reversed(record)}
    found: dict[str, tuple[str, str]] = {}
    for meaning, names in _TEXT_NAMES.items():
        there = [given[plain] for name in names if (plain := plain_name(name)) in given]
        texts = [(name, text) for name in there if (text := running_string(record[name]))]
        if texts:
            found[meaning] = min(texts, key=lambda text: is_placeholder(text[1]))
    # What has a name alone may be a person, or a journal.
    if "abstract" not in found and plain_name(found.get("title", ("title",))[0]) != "title":
        del found["title"]
    kept = dict(record)
    for meaning, (name, text) in found.items():
        if meaning == "abstract":
            del kept[name]
        kept[meaning] = text
    return kept


def running_string(value: object) -> str:
    """A text as APIs give it: a string, a list of them or of DataCite's descriptions, words with their positions; else ""."""
    if isinstance(value, list):
        kinds = [part.get("descriptionType") for part in value if isinstance(part, dict)]
        parts = (
            part.get("description") or part.get("title") if isinstance(part, dict) else part
            for part in value
            if "Abstract" not in kinds or part.get("descriptionType") == "Abstract"
        )
        return " ".join(part for part in parts if isinstance(part, str))
    if isinstance(value, dict):
        words = value.get("InvertedIndex", value)
        places = words.items() if isinstance(words, dict) else ()
        if all(isinstance(at, list) and all(type(n) is int for n in at) for _, at in places):
            placed = sorted((n, word) for word, at in places for n in at)
            return " ".join(word for _, word in placed)
    return value if isinstance(value, str) else ""


def key_of(record: Mapping[str, Any], source: Source, line: int) -> tuple[str, str]:
    """The document's key and the field it comes from: ``doc_key``, ``id``, else ``FILE:LINE`` and "".

    Raises:
        FormatError: The key is neither a string nor a number.
    """
    for name in KEY_FIELDS:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value, name
        if type(value) in (int, float):
            return str(value), name
        if value is not None and value != "":
            problem = f"{quoted(value)} found; expected a string or a number"
            raise Place(source.path, line).error(problem, field=name)
    return f"{source.stem}:{line}", ""
