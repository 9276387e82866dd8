"""Parts of a passage that are laid out each by itself, so that a change costs no more than its own part.

A part ends where a line of the text ends. Texts far longer than any abstract have paragraphs of their own made:
a line ends there behind a sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property, lru_cache
from typing import NamedTuple

from rich.cells import cell_len

from sciextract.text.characters import visible
from sciextract_app.presenters.view_models import Mark
from sciextract_app.widgets.lines import Glyph, glyphs


class Kind(Enum):
    """What an atom is."""

    TEXT = "text"
    OPEN = "opening bracket"
    CLOSE = "closing bracket"
    KEY = "letter of the type"
    CLUSTER = "letters of the clusters"


class Atom(NamedTuple):
    """What is drawn as one and never broken.

    Attributes:
        kind: What it is.
        char_start: Its first character; of a sign the character that it stands at.
        char_end: Its end; the same for a sign.
        shown: What is written; empty for signs, which depend on the mention.
        cells: How many columns it takes; 0 for a blank that hangs over the end of a line.
        marks: Indices of the mentions around it, the innermost last; of a sign its own last.
        blank: Whether a line may be broken behind it.
        newline: Whether it ends a line.
    """

    kind: Kind
    char_start: int
    char_end: int
    shown: str
    cells: int
    marks: tuple[int, ...] = ()
    blank: bool = False
    newline: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is of the text, not a sign."""
        return self.kind is Kind.TEXT


_CAPITALS = str.maketrans("ABDEGHIJKLMNOPRTUVW0123456789", "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ⁰¹²³⁴⁵⁶⁷⁸⁹")
_SMALL = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")


@lru_cache(maxsize=256)
def raised_key(key: str) -> str:
    """The key of a type as a raised capital, as a plain one where Unicode has none.

    >>> raised_key("m") + raised_key("q")
    'ᴹQ'
    """
    capital = key.upper()
    return visible(capital if len(capital) == len(key) else key).translate(_CAPITALS)


@lru_cache(maxsize=1024)
def raised_clusters(letters: str) -> str:
    """Letters of clusters, raised where Unicode has such.

    >>> raised_clusters("ab")
    'ᵃᵇ'
    """
    return visible(letters).translate(_SMALL)


_WIDE = 2
_NEVER_FIRST = frozenset("、。，．・：；？！）］｝」』】〉》ー々")


def wrap(atoms: Iterable[Atom], width: int) -> list[list[Atom]]:
    """Lines of at most so many cells; at least one line.

    Lines break at blanks, behind the signs that follow them, and between wide characters. Blanks that find
    no room hang over the end and take no cells. A word longer than a line is broken anywhere; what is wider
    than the width has a line of its own.
    """
    writer = _Writer(width)
    for atom in atoms:
        writer.add(atom)
    return [*writer.lines, writer.line]


class _Writer:
    """The lines so far, and the one that is being filled."""

    def __init__(self, width: int) -> None:
        self.lines: list[list[Atom]] = []
        self.line: list[Atom] = []
        self._width = width
        self._used = 0
        self._break = 0  # the line may end before this atom; 0 for nowhere
        self._text: Atom | None = None

    def add(self, atom: Atom) -> None:
        """Put an atom behind the others, on a new line where it does not fit."""
        last = self._text
        # Called for every character, most of which stand inside of a word: nothing else is asked of those.
        breaks = last is not None and (last.blank or last.cells == _WIDE or atom.cells == _WIDE)
        if breaks and self._may_break_before(atom):
            self._break = len(self.line)
        if self._used + atom.cells > self._width:
            atom = self._make_room(atom)
        self.line.append(atom)
        self._used += atom.cells
        if atom.kind is Kind.TEXT:
            self._text = atom
        if atom.newline:
            self._end(len(self.line))
            self._text = None

    def _may_break_before(self, atom: Atom) -> bool:
        """Whether a line may begin with an atom that follows a blank, or a wide character or is one."""
        if atom.blank or not _leads(atom) or (self.line and self.line[-1].kind is Kind.OPEN):
            return False
        after_blank = self._text is not None and self._text.blank
        return after_blank or atom.shown not in _NEVER_FIRST

    def _make_room(self, atom: Atom) -> Atom:
        """End lines until the atom fits; a blank is not worth a line."""
        if atom.blank:
            return atom._replace(shown="", cells=0)
        while self.line and self._used + atom.cells > self._width:
            self._end(self._break or _without_openings(self.line))
        return atom

    def _end(self, count: int) -> None:
        """End the line after so many atoms; the rest begins the next one."""
        self.lines.append(self.line[:count])
        self.line = self.line[count:]
        self._used = sum(each.cells for each in self.line)
        self._break = 0


def _leads(atom: Atom) -> bool:
    """Whether it belongs to what follows: text, or an opening bracket."""
    return atom.is_text or atom.kind is Kind.OPEN


def _without_openings(line: list[Atom]) -> int:
    """How many atoms to keep so that no opening bracket stands alone at the end; all where there are only such."""
    count = len(line)
    while count and line[count - 1].kind is Kind.OPEN:
        count -= 1
    return count or len(line)


LONG = 6_000
"""Characters from which on a line of the text is laid out in several paragraphs."""
_LEAST, _MOST = 2_000, 4_000
_SENTENCE_END = re.compile(r"[.!?]\)? (?=[!-~])")
_BLANK = re.compile(r" (?=[!-~])")
_WORD = re.compile("[^ ]+")


class Line(NamedTuple):
    """One line of the screen.

    Attributes:
        atoms: What is on it, from left to right.
        columns: Where each one begins.
        cells: How many columns it takes.
    """

    atoms: tuple[Atom, ...]
    columns: tuple[int, ...]
    cells: int

    def atom_at(self, column: int) -> Atom | None:
        """What stands at a column, ``None`` beyond the end."""
        if not 0 <= column < self.cells:
            return None
        return self.atoms[bisect_right(self.columns, column) - 1]

    @property
    def last_char(self) -> int | None:
        """The last character of the text on it, ``None`` where there is none."""
        ends = (atom.char_end for atom in reversed(self.atoms) if atom.kind is Kind.TEXT)
        end = next(ends, None)
        return None if end is None else end - 1


def cut(text: str) -> list[tuple[int, int]]:
    """First character and end of every paragraph; the last one is empty where the text ends in a line feed.

    >>> cut("one\\ntwo")
    [(0, 4), (4, 7)]
    """
    found: list[tuple[int, int]] = []
    start = 0
    while (end := text.find("\n", start) + 1) > 0:
        found += _pieces(text, start, end)
        start = end
    return [*found, *_pieces(text, start, len(text))]


def ends_line(text: str, char: int) -> bool:
    """Whether a character belongs to the end of a line, which may be two characters."""
    return text[char] == "\n" or text.startswith("\r\n", char)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONG:
        least, most = start + _LEAST, start + _MOST
        found = _SENTENCE_END.search(text, least, most) or _BLANK.search(text, most, end)
        if found is None:
            break
        yield start, found.end()
        start = found.end()
    yield start, end


def places(mark: Mark) -> tuple[int, ...]:
    """What of a mention decides where things stand: two passages that agree in it have one layout."""
    return mark.char_start, mark.char_end, *_cells_behind(mark)


def same_place(old: Mark, new: Mark) -> bool:
    """Whether two mentions stand at one place."""
    return old is new or places(old) == places(new)


def _cells_behind(mark: Mark) -> tuple[int, ...]:
    behind = (raised_key(mark.key), raised_clusters(mark.cluster)) if mark.last else ()
    return tuple([cell_len(each) for each in behind])


class Paragraph:
    """A part of the text, wrapped to a width once somebody looks at it.

    Args:
        text: The whole text.
        char_start: Its first character.
        char_end: Its end.
        marks: The mentions that touch it, in the order of the passage; lines name them by their place here.
        width: Cells of a line.
    """

    def __init__(
        self, text: str, char_start: int, char_end: int, marks: Sequence[Mark], width: int
    ) -> None:
        self.char_start = char_start
        self.char_end = char_end
        self.marks = marks
        self._text = text[char_start:char_end]
        self._length = len(text)
        self._width = width

    def is_like(self, marks: Sequence[Mark]) -> bool:
        """Whether it stands as it stood with other mentions."""
        if len(marks) != len(self.marks):
            return False
        return all(map(same_place, self.marks, marks))

    @cached_property
    def height(self) -> int:
        """How many lines it takes."""
        if "lines" in self.__dict__:
            return len(self.lines)
        words = self._plain_words()
        return len(self.lines) if words is None else _lines_of(words, self._width)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Its lines."""
        found = _glyphs(self._text)
        atoms = self._atoms(found)
        lines = wrap(atoms, self._width)
        if found and found[-1].newline:
            lines.pop()  # what follows begins the next paragraph
        return tuple([_line(each) for each in lines])

    @cached_property
    def starts(self) -> list[tuple[int, int, int]]:
        """First character, line and column of every glyph, in order."""
        return [
            (atom.char_start, y, column)
            for y, line in enumerate(self.lines)
            for atom, column in zip(line.atoms, line.columns, strict=True)
            if atom.kind is Kind.TEXT
        ]

    @cached_property
    def lines_of_marks(self) -> dict[int, range]:
        """The lines that each mention and its signs stand on."""
        found: dict[int, range] = {}
        for y, line in enumerate(self.lines):
            for mark in {mark for atom in line.atoms for mark in atom.marks}:
                found[mark] = range(found[mark].start if mark in found else y, y + 1)
        return found

    def _plain_words(self) -> list[tuple[int, int]] | None:
        """Cells of each word with its signs, and blanks behind it; ``None`` where that does not tell all."""
        text = self._text.removesuffix("\n")
        if not (text.isascii() and text.isprintable()):
            return None
        spans = [found.span() for found in _WORD.finditer(text)]
        starts = [start for start, _ in spans]
        signs = [0] * len(spans)
        for mark in self.marks:
            start, end = self._span(mark)
            for char, cells in ((start, 1), (end - 1, 1 + sum(_cells_behind(mark)))):
                if -1 <= char < len(self._text):
                    if char in (-1, len(text)) or text[char] == " ":
                        return None
                    signs[bisect_right(starts, char) - 1] += cells
        words = [end - start + more for (start, end), more in zip(spans, signs, strict=True)]
        if max(words, default=0) > self._width:
            return None
        following = [*starts, len(text)]
        blanks = [following[place + 1] - end for place, (_, end) in enumerate(spans)]
        return [(0, following[0]), *zip(words, blanks, strict=True)]

    def _span(self, mark: Mark) -> tuple[int, int]:
        """Where a mention begins and ends, counted from the beginning here."""
        base = self.char_start
        return mark.char_start - base, min(mark.char_end, self._length) - base

    def _atoms(self, found: Sequence[Glyph]) -> Iterator[Atom]:
        """Glyphs with the signs of the mentions between them; signs never part the characters of a glyph."""
        marks, base = self.marks, self.char_start
        opening, closing = self._edges(_glyph_of(found, len(self._text)))
        here = [index for index, mark in enumerate(marks) if mark.char_start < base]
        around = tuple(sorted(here, key=lambda each: _order(marks, each)))
        for mark in closing.get(-1, ()):
            yield from _closing(marks[mark], base - 1, _own(around, mark))
            around = tuple([each for each in around if each != mark])
        for index, glyph in enumerate(found):
            at = glyph.char_start + base
            for mark in opening.get(index, ()):
                around = _with(around, mark, marks)
                yield Atom(Kind.OPEN, at, at, "", 1, _own(around, mark))
            end = glyph.char_end + base
            yield Atom(
                Kind.TEXT,
                at,
                end,
                glyph.shown,
                glyph.cells,
                around,
                glyph.blank,
                glyph.newline,
            )
            for mark in closing.get(index, ()):
                yield from _closing(marks[mark], end - 1, _own(around, mark))
                around = tuple([each for each in around if each != mark])

    def _edges(self, glyph_of: Sequence[int]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """By glyph: mentions that begin before it, outer ones first; that end behind it, inner ones first.

        What ends with a line feed has its signs in the next paragraph, before the first glyph.
        """
        opening: defaultdict[int, list[int]] = defaultdict(list)
        closing: defaultdict[int, list[int]] = defaultdict(list)
        for index in sorted(range(len(self.marks)), key=lambda each: _order(self.marks, each)):
            start, end = self._span(self.marks[index])
            if start >= 0:
                opening[glyph_of[start]].append(index)
            if end <= 0:
                closing[-1].insert(0, index)
            elif end <= len(glyph_of) and not ends_line(self._text, end - 1):
                closing[glyph_of[end - 1]].insert(0, index)
        return opening, closing


def _lines_of(words: list[tuple[int, int]], width: int) -> int:
    """How many lines words take: those that do not fit begin the next one, blanks hang over the end."""
    lines, used = 1, 0
    for cells, blanks in words:
        if used + cells > width:
            lines, used = lines + 1, 0
        used = min(width, used + cells + blanks)
    return lines


@lru_cache(maxsize=16)
def _glyphs(text: str) -> tuple[Glyph, ...]:
    """The glyphs of a text that is laid out again and again while its mentions change."""
    return tuple(glyphs(text))


def _line(atoms: Sequence[Atom]) -> Line:
    columns, column = [], 0
    for atom in atoms:
        columns.append(column)
        column += atom.cells
    return Line(tuple(atoms), tuple(columns), column)


def _glyph_of(found: Sequence[Glyph], length: int) -> list[int]:
    """The glyph of every character."""
    glyph_of = [0] * length
    for index, glyph in enumerate(found):
        for char in range(glyph.char_start, glyph.char_end):
            glyph_of[char] = index
    return glyph_of


def _order(marks: Sequence[Mark], index: int) -> tuple[int, int, int]:
    return marks[index].char_start, -marks[index].char_end, index


def _with(around: tuple[int, ...], mark: int, marks: Sequence[Mark]) -> tuple[int, ...]:
    return tuple(sorted((*around, mark), key=lambda each: _order(marks, each)))


def _own(around: tuple[int, ...], mark: int) -> tuple[int, ...]:
    """The mentions around a sign, its own one last."""
    return (*(each for each in around if each != mark), mark)


def _closing(mark: Mark, char: int, around: tuple[int, ...]) -> Iterator[Atom]:
    yield Atom(Kind.CLOSE, char, char, "", 1, around)
    if mark.last:
        yield Atom(Kind.KEY, char, char, "", cell_len(raised_key(mark.key)), around)
        if mark.cluster:
            letters = raised_clusters(mark.cluster)
            yield Atom(Kind.CLUSTER, char, char, "", cell_len(letters), around)
