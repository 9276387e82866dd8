"""Offsets of other worlds: UTF-16 units (JavaScript, Java, UIMA), UTF-8 bytes, line ends counted otherwise, to code points and back."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from unicodedata import category, combining, normalize

from sciextract.errors import FormatError

_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Unit:
    """What offsets count.

    Attributes:
        name: For messages.
        widths: How many units each character of a text takes.
    """

    name: str
    widths: Callable[[str], Iterable[int]]

    @property
    def remark(self) -> str:
        """What is said of a file whose offsets were converted."""
        return f"offsets count {self.name}; converted to characters"


CODE_POINTS = Unit("code points", lambda text: (1 for _ in text))
UTF16 = Unit("UTF-16 units", lambda text: (1 + (char > "\uffff") for char in text))
# Not of the encoded text, which a lone surrogate does not have.
UTF8 = Unit(
    "UTF-8 bytes",
    lambda text: (1 + (char > "\x7f") + (char > "\u07ff") + (char > "\uffff") for char in text),
)
LINE_FEEDS = Unit(
    "each Windows line end as one character",
    lambda text: (pair != ("\r", "\n") for pair in pairwise(f"{text} ")),
)
WINDOWS_LINES = Unit(
    "each line end as two characters", lambda text: (1 + (char == "\n") for char in text)
)
# What takes no unit is counted with what follows it.
COMPOSED = Unit(
    "each letter with its accents as one character",
    lambda text: (not combining(following) for _, following in pairwise(f"{text} ")),
)
DECOMPOSED = Unit(
    "letters and their accents one by one", lambda text: (len(normalize("NFD", c)) for c in text)
)
GRAPHEMES = Unit(
    "characters as displayed",
    lambda text: (
        (char, following) != ("\r", "\n")
        and char != _JOINER
        and following != _JOINER
        and category(following)[0] != "M"
        for char, following in pairwise(f"{text} ")
    ),
)
UNITS = (CODE_POINTS, UTF16, UTF8, LINE_FEEDS, WINDOWS_LINES, COMPOSED, DECOMPOSED, GRAPHEMES)
"""Code points first, as most software has it; the others in the order in which they are tried."""


class OffsetMap:
    """Converts offsets into one text; built once per text, each table on first use.

    Lone surrogates count as one UTF-16 unit and three UTF-8 bytes.

    >>> offsets = OffsetMap("🙂 β")
    >>> offsets.from_unit(UTF16, 3), offsets.from_unit(UTF8, 5)
    (2, 2)

    Attributes:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        """Takes the text; the tables are built on first use."""
        self.text = text
        # Units in front of each code point, and of the end.
        self._tables: dict[str, array[int]] = {}
        self._is_bmp = not text or max(text) < "\U00010000"

    def from_unit(self, unit: Unit, offset: int) -> int:
        """The code-point offset of an offset that counts something else.

        Raises:
            FormatError: The offset lies outside the text or inside a character.
        """
        table: Sequence[int] = range(len(self.text) + 1)
        if unit is not CODE_POINTS and (unit is not UTF16 or not self._is_bmp):
            table = self._table(unit)
        if not 0 <= offset <= table[-1]:
            raise FormatError(
                f"offset ({unit.name}) {offset} lies outside the text; expected 0 to {table[-1]}",
                hint="check that the offsets belong to this text, and which unit they count",
            )
        index = bisect_left(table, offset)
        if table[index] != offset:
            raise FormatError(
                f"offset ({unit.name}) {offset} points into the middle of character {index - 1}",
                hint="check which unit the offsets of this file count: code points, UTF-16 units or bytes",
            )
        return index

    def _table(self, unit: Unit) -> array[int]:
        if unit.name not in self._tables:
            self._tables[unit.name] = array("q", accumulate(unit.widths(self.text), initial=0))
        return self._tables[unit.name]


# Of the scripts that write words apart, and join nothing else to them: Latin, Greek, Cyrillic, Armenian.
_LETTERS = re.compile("[A-Za-z\u00aa-\u058f\u1e00-\u1fff]")


def cuts_word(text: str, offset: int) -> bool:
    """Whether an offset lies between two letters, or between a letter and its accent.

    >>> cuts_word("kernels", 3), cuts_word("two kernels", 3), cuts_word("e\u0301tat", 1)
    (True, False, True)
    """
    before, behind = text[max(offset - 1, 0) : offset], text[offset : offset + 1]
    if not before or not behind or not _LETTERS.match(before) or not before.isalpha():
        return False
    return combining(behind) > 0 or (behind.isalpha() and _LETTERS.match(behind) is not None)
