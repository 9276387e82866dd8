"""From the fields of a record to its text and key; the same rules for JSONL and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sciextract.formats.base import Place, Source, shown
from sciextract.text.analyse import join_title

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
