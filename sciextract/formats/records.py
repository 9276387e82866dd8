"""Fields of decoded records: shape checks, and the text and key that they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sciextract.documents.spans import Span, TokenRange
from sciextract.formats.base import Place, Source, shown
from sciextract.text.analyse import join_title


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
        raise place.error(f"{shown(value)} found, allowed is a list", field=field)
    return value


def string_at(value: object, field: str, place: Place) -> str:
    """``value`` as a string.

    Raises:
        FormatError: It is something else.
    """
    if not isinstance(value, str):
        raise place.error(f"{shown(value)} found, allowed is a string", field=field)
    return value


def label_at(value: object, field: str, place: Place) -> str:
    """``value`` as a label: a string that is not empty.

    Raises:
        FormatError: It is something else.
    """
    if not isinstance(value, str) or not value:
        raise place.error(f"{shown(value)} found, allowed is a label (a string)", field=field)
    return value


def range_at(start: object, end: object, bounds: Bounds, field: str, place: Place) -> TokenRange:
    """Inclusive ``start`` and ``end`` inside ``bounds``, as a token range with an exclusive end.

    Raises:
        FormatError: They are no integers, in the wrong order, or outside.
    """
    first, last, what = bounds
    if type(start) is int and type(end) is int and first <= start <= end <= last:
        return TokenRange(start, end + 1)
    found = f"[{shown(start)}, {shown(end)}] found"
    if last < first:
        raise place.error(f"{found}, but {what} has no tokens", field=field)
    allowed = f"token indices from {first} to {last} ({what}), start <= end"
    raise place.error(f"{found}, allowed are {allowed}", field=field)


def span_at(value: object, text_length: int, field: str, place: Place) -> Span:
    """``[start, end]`` in characters, end exclusive, not empty, inside the text.

    Raises:
        FormatError: It is something else.
    """
    if isinstance(value, list) and len(value) == 2:
        start, end = value
        if type(start) is int and type(end) is int and 0 <= start < end <= text_length:
            return Span(start, end)
    allowed = f"[start, end] with 0 <= start < end <= {text_length} (characters of the text)"
    raise place.error(f"{shown(value)} found, allowed is {allowed}", field=field)


def number_at(value: object, field: str, place: Place) -> float:
    """``value`` as a number.

    Raises:
        FormatError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.error(f"{shown(value)} found, allowed is a number", field=field)
    return value


def object_at(value: object, field: str, place: Place) -> dict[str, Any]:
    """``value`` as an object.

    Raises:
        FormatError: It is something else.
    """
    if not isinstance(value, dict):
        raise place.error(f"{shown(value)} found, allowed is an object", field=field)
    return value


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
        FormatError: There is no text, or it is no string.
    """
    for name in TEXT_FIELDS:
        if not isinstance(record.get(name), str | None):
            raise place.error(f"{shown(record[name])} found, allowed is a string", field=name)
    text, title, abstract = (record.get(name) for name in TEXT_FIELDS)
    if text or (text is not None and not title and not abstract):
        return RecordText(text, 0, frozenset({"text"}))
    if title is None and abstract is None:
        raise place.error("no text: give `text`, or `title` and `abstract`, or SciERC `sentences`")
    joined = join_title(title or "", abstract or "")
    return RecordText(joined, len(title or ""), frozenset({"text", "abstract"}))


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
            problem = f"{shown(value)} found, allowed is a string or a number"
            raise Place(source.path, line).error(problem, field=name)
    return f"{source.stem}:{line}", ""
