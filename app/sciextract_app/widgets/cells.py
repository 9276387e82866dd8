"""Text measured in cells: glyphs as a terminal draws them, and words fitted, padded and wrapped to a width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sciextract.text.characters import visible

ELLIPSIS = "…"

_JOINER = "\u200d"

_CARRIER = "◌"

# Without U+00A0, U+2007 and U+202F, which hold words together.
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
    if character != _JOINER and (cells := cell_len(character)):
        return Glyph(place, place + 1, character, cells, blank=text[place] in _BREAKS)
    # It has no width and stands on what is before it; alone it is drawn on a dotted circle.
    mark = "" if character == _JOINER else character
    if last is None or last.newline:
        return Glyph(place, place + 1, _CARRIER + mark, 1)
    following = shown[place + 1 : place + 2]
    if character == _JOINER and _is_picture(last.shown[:1]) and _is_picture(following):
        return _grow(last, place + 2, _JOINER + following)
    return _grow(last, place + 1, mark)


def _grow(glyph: Glyph, char_end: int, more: str) -> Glyph:
    shown = glyph.shown + more
    return Glyph(glyph.char_start, char_end, shown, cell_len(shown), glyph.blank)


def _is_picture(character: str) -> bool:
    """Whether a joiner next to it makes one emoji; between letters terminals draw it in no uniform way."""
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
    # Nearly all texts are such, and are fitted without a look at each of their glyphs.
    if text.isprintable() and (text.isascii() or all(cell_len(glyph) == 1 for glyph in set(text))):
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


_CONSOLE = Console()  # only measures


def word_lines(sentences: Iterable[str], width: int, style: str = "") -> list[Text]:
    """Sentences in lines of so many cells; what a terminal would obey is shown as signs."""
    return [Text(line, style) for sentence in sentences for line in _wrap(visible(sentence), width)]


# Definitions of types are wrapped at nearly every key, always the same ones.
@lru_cache(maxsize=256)
def _wrap(words: str, width: int) -> tuple[str, ...]:
    text = Text(words)
    lines = [text] if text.cell_len <= width else text.wrap(_CONSOLE, max(2, width))
    return tuple(line.plain.rstrip() for line in lines)


def named_lines(rows: Iterable[tuple[str, str]], width: int, names: int) -> list[Text]:
    """Names in so many cells and values, which wrap below themselves; without a name a value has the whole width."""
    lines = []
    for name, value in rows:
        column = names if name else 0
        for place, part in enumerate(word_lines([value], width - column)):
            first = padded("" if place else name, column - 1).ljust(column)
            lines.append(Text().append(first, "dim").append_text(part))
    return lines


def score(value: float | None) -> str:
    """A probability in four cells.

    >>> score(0.914), score(1.0), score(None)
    (' .91', '1.00', '    ')
    """
    return "    " if value is None else f"{value:.2f}".removeprefix("0").rjust(4)


_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, cells: int) -> str:
    """A lying bar, filled up with blanks to so many cells.

    >>> bar(0.5, 5)
    '██▌  '
    """
    eighths = round(min(max(share, 0.0), 1.0) * cells * 8)
    if share > 0 and not eighths:
        eighths = 1  # what is there is seen
    whole, rest = divmod(eighths, 8)
    return (_EIGHTHS[8] * whole + _EIGHTHS[rest].strip()).ljust(cells)
