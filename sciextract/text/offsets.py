"""Offsets of other worlds: UTF-16 units (JavaScript, Java, UIMA) and UTF-8 bytes, to code points and back."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate

from sciextract.errors import FormatError


class OffsetMap:
    """Converts offsets into one text; built once per text, each table on first use.

    Lone surrogates count as one UTF-16 unit and three UTF-8 bytes.

    >>> offsets = OffsetMap("🙂 β")
    >>> offsets.to_utf16(2), offsets.from_utf16(3), offsets.from_utf8(5)
    (3, 2, 2)
    """

    def __init__(self, text: str) -> None:
        """Takes the text; the tables are built on first use."""
        self._text = text
        self._utf8: array[int] | None = None  # bytes in front of each code point, and of the end
        self._is_bmp = not text or max(text) < "\U00010000"

    def to_utf16(self, char_offset: int) -> int:
        """The number of UTF-16 units in front of a code-point offset.

        Raises:
            FormatError: The offset lies outside the text.
        """
        offset = self._checked(char_offset)
        return offset if self._is_bmp else self._utf16[offset]

    def from_utf16(self, unit_offset: int) -> int:
        """The code-point offset of a UTF-16 unit offset.

        Raises:
            FormatError: The offset lies outside the text or between the halves of a surrogate pair.
        """
        if self._is_bmp:
            return self._checked(unit_offset)
        return _inverse(self._utf16, unit_offset, "UTF-16 offset")

    def from_utf8(self, byte_offset: int) -> int:
        """The code-point offset of a UTF-8 byte offset.

        Raises:
            FormatError: The offset lies outside the text or inside a character.
        """
        if self._text.isascii():
            return self._checked(byte_offset)
        # Not of the encoded text, which a lone surrogate does not have.
        widths = (
            1 + (char > "\x7f") + (char > "\u07ff") + (char > "\uffff") for char in self._text
        )
        self._utf8 = self._utf8 or array("q", accumulate(widths, initial=0))
        return _inverse(self._utf8, byte_offset, "UTF-8 offset")

    @cached_property
    def _utf16(self) -> array[int]:
        """UTF-16 units in front of each code point, and of the end: int64 (length + 1,)."""
        return array("q", accumulate((1 + (char > "\uffff") for char in self._text), initial=0))

    def _checked(self, offset: int) -> int:
        if not 0 <= offset <= len(self._text):
            raise _outside(offset, len(self._text), "offset")
        return offset


def _inverse(table: array[int], offset: int, unit: str) -> int:
    if not 0 <= offset <= table[-1]:
        raise _outside(offset, table[-1], unit)
    index = bisect_left(table, offset)
    if table[index] != offset:
        raise FormatError(
            f"{unit} {offset} points into the middle of character {index - 1}",
            hint="check which unit the offsets of this file count: code points, UTF-16 units or bytes",
        )
    return index


def _outside(offset: int, length: int, unit: str) -> FormatError:
    return FormatError(
        f"{unit} {offset} lies outside the text; expected 0 to {length}",
        hint="check that the offsets belong to this text, and which unit they count",
    )
