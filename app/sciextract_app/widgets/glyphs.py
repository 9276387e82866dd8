"""Text as what a terminal draws: glyphs of one or more characters, each so many cells wide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len

from sciextract.text.visible import visible

ELLIPSIS = "…"
_JOINER = "\u200d"
_CARRIER = "◌"
_BREAKS = frozenset(" \t\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u3000")


class Glyph(NamedTuple):
    """Characters that a terminal draws as one.

    Attributes:
        char_start: Its first character.
        char_end: Its end.
        shown: What is written: never a control character, empty for the end of a line.
        cells: How many columns it takes.
        blank: Whether a line may be broken behind it.
        newline: Whether it ends a line.
    """

    char_start: int
    char_end: int
    shown: str
    cells: int
    blank: bool = False
    newline: bool = False


def glyphs(text: str) -> list[Glyph]:
    """The glyphs of a text, in order; each of its characters belongs to exactly one.

    Marks of zero width belong to what stands before them, emoji joined by a zero-width joiner are one
    glyph, a carriage return belongs to the line feed behind it, and control characters are symbols of one cell.
    """
    shown = visible(text, keep="\n")
    found: list[Glyph] = []
    place = 0
    while place < len(text):
        glyph = _next(text, shown, place, found[-1] if found else None)
        if found and glyph.char_start < place:
            found.pop()
        found.append(glyph)
        place = glyph.char_end
    return found


def _next(text: str, shown: str, place: int, last: Glyph | None) -> Glyph:
    """The glyph at a place, or the last one grown by the characters there."""
    character = shown[place]
    if character == "\n" or text.startswith("\r\n", place):
        return Glyph(place, place + 1 + (character != "\n"), "", 0, newline=True)
    if character.isascii():
        return Glyph(place, place + 1, character, 1, blank=character == " ")
    if character == _JOINER or not (cells := cell_len(character)):
        return _attached(shown, place, last)
    return Glyph(place, place + 1, character, cells, blank=text[place] in _BREAKS)


def _attached(shown: str, place: int, last: Glyph | None) -> Glyph:
    """A character without width, on what stands before it; alone it is drawn on a dotted circle."""
    character = shown[place]
    mark = "" if character == _JOINER else character
    if last is None or last.newline:
        return Glyph(place, place + 1, _CARRIER + mark, 1)
    following = shown[place + 1 : place + 2]
    if character == _JOINER and _is_picture(last.shown[:1]) and _is_picture(following):
        return _grown(last, place + 2, _JOINER + following)
    return _grown(last, place + 1, mark)


def _grown(glyph: Glyph, char_end: int, more: str) -> Glyph:
    shown = glyph.shown + more
    return Glyph(glyph.char_start, char_end, shown, cell_len(shown), glyph.blank)


def _is_picture(character: str) -> bool:
    """Whether a joiner beside it makes one emoji; between letters terminals draw it in no uniform way."""
    return "\u2190" <= character <= "\u2bff" or "\U0001f000" <= character <= "\U0001faff"


def pieces(text: str) -> Iterator[tuple[str, int]]:
    """What is written for each glyph of one line of text, and its cells; line ends are symbols."""
    for glyph in glyphs(visible(text)):
        yield glyph.shown, glyph.cells


def fit(text: str, width: int) -> str:
    """The beginning of a text that fits in so many cells, with an ellipsis where something is left out.

    >>> fit("coreference", 6)
    'coref…'
    """
    if text.isascii() and text.isprintable():
        return text if len(text) <= width else text[: max(0, width - 1)] + ELLIPSIS[:width]
    shown = list(pieces(text))
    if sum(cells for _, cells in shown) <= width:
        return "".join(piece for piece, _ in shown)
    kept, room = [], width - 1
    for piece, cells in shown:
        if cells > room:
            break
        kept.append(piece)
        room -= cells
    return "".join(kept) + ELLIPSIS if width > 0 else ""


def padded(text: str, width: int) -> str:
    """The same, filled with blanks to exactly that width."""
    shown = fit(text, max(0, width))
    return shown + " " * (width - cell_len(shown))
