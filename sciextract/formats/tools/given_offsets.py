"""Offsets of tools that run in a browser: code points in some versions, UTF-16 units in others.

The two differ behind characters outside the Basic Multilingual Plane (emoji, 𝔘, 𝛼). Where a file repeats the
mentions' strings, these decide; where it does not, offsets count as code points unless they cannot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import Place, shown
from sciextract.formats.checks import span_at
from sciextract.text.offsets import OffsetMap

# Label Studio writes a line end inside a mention as a backslash and an n, and browsers join blanks.
_BLANKS = re.compile(r"(?:\s|\\n)+")

READ_AS_UTF16 = "offsets count UTF-16 units; converted to characters"
AMBIGUOUS = (
    "offsets are read as code points; the text has characters outside the BMP, so if the tool counted "
    "UTF-16 units, mentions behind them are shifted"
)
LIKELY_UTF16 = AMBIGUOUS + ", and the edges of words speak for that"


class GivenSpan(NamedTuple):
    """A span as its file has it.

    Attributes:
        start: First offset, of a unit that is not known.
        end: Offset of the end, exclusive.
        mention: The mention's string, ``None`` where the file does not repeat it.
        field: Its place in the record, for messages.
    """

    start: int
    end: int
    mention: str | None
    field: str


def given_span(start: object, end: object, mention: object, field: str, place: Place) -> GivenSpan:
    """A span whose offsets are whole numbers in order.

    Raises:
        FormatError: They are not, or the mention is no string.
    """
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        problem = f"start {shown(start)} and end {shown(end)} found, allowed are 0 <= start < end"
        raise place.error(problem, field=field)
    if mention is not None and not isinstance(mention, str):
        raise place.error(f"{shown(mention)} found, allowed is the mention's text", field=field)
    return GivenSpan(start, end, mention, field)


def to_spans(given: Sequence[GivenSpan], text: str, place: Place) -> tuple[list[Span], str]:
    """The spans in code points, and a remark on their unit (empty when there is no doubt).

    Raises:
        FormatError: A span leaves the text or is not its mention, in either unit.
    """
    plain = [_fitting(each, Span(each.start, each.end), text) for each in given]
    if text.isascii() or max(text) < "\U00010000":
        return _all_of(plain, given, text, place), ""
    units = _from_utf16(given, text)
    if None in plain and units:
        return units, READ_AS_UTF16
    spans = _all_of(plain, given, text, place)
    proven = all(each.mention is not None for each in given)
    if proven or not units or units == spans:
        return spans, ""
    return spans, LIKELY_UTF16 if _cut_words(spans, text) > _cut_words(units, text) else AMBIGUOUS


def _all_of(
    found: list[Span | None], given: Sequence[GivenSpan], text: str, place: Place
) -> list[Span]:
    for span, each in zip(found, given, strict=True):
        if span is None:
            raise _problem(each, text, place)
    return [span for span in found if span is not None]


def _fitting(given: GivenSpan, span: Span, text: str) -> Span | None:
    if span.char_end > len(text):
        return None
    is_same = given.mention is None or _plain(given.mention) == _plain(span.of(text))
    return span if is_same else None


def _from_utf16(given: Sequence[GivenSpan], text: str) -> list[Span]:
    """The spans if all offsets count UTF-16 units, else nothing."""
    offsets, spans = OffsetMap(text), []
    for each in given:
        try:
            span = Span(offsets.from_utf16(each.start), offsets.from_utf16(each.end))
        except FormatError:
            return []
        if _fitting(each, span, text) is None:
            return []
        spans.append(span)
    return spans


def _plain(mention: str) -> str:
    return _BLANKS.sub(" ", mention)


def _cut_words(spans: Sequence[Span], text: str) -> int:
    """How many edges lie between two letters."""
    edges = [edge for span in spans for edge in (span.char_start, span.char_end)]
    return sum(
        text[edge - 1 : edge].isalnum() and text[edge : edge + 1].isalnum() for edge in edges
    )


def _problem(given: GivenSpan, text: str, place: Place) -> FormatError:
    try:
        span = span_at([given.start, given.end], len(text), given.field, place)
    except FormatError as error:
        return error
    found = f"the mention is {shown(given.mention)}, but the text has {shown(span.of(text))}"
    hint = "the text was changed after the annotation, so offsets cannot be trusted"
    return place.error(f"{found} at {[given.start, given.end]}", field=given.field, hint=hint)
