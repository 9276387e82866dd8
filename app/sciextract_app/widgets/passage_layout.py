"""Where everything in a passage stands: text and the signs around mentions, wrapped to a width of cells.

The layout depends on the text, on where mentions begin and end, and on the letters behind them, never on
what has the focus or has been decided. So nothing moves while somebody reviews.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from rich.cells import cell_len

from sciextract_app.presenter.shown import Mark
from sciextract_app.widgets.atoms import Atom, Kind
from sciextract_app.widgets.glyphs import Glyph, glyphs
from sciextract_app.widgets.raised import raised_clusters, raised_key
from sciextract_app.widgets.wrapping import wrap


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


def places(mark: Mark) -> tuple[int, ...]:
    """What of a mention decides where things stand: two passages that agree in it have one layout."""
    behind = (raised_key(mark.key), raised_clusters(mark.cluster)) if mark.last else ()
    return mark.char_start, mark.char_end, *(cell_len(each) for each in behind)


class PassageLayout:
    """A passage wrapped to a width.

    Args:
        text: The exact text.
        marks: Its mentions; parts outside the text are left out.
        width: Cells of a line.

    Attributes:
        lines: At least one.
    """

    def __init__(self, text: str, marks: Sequence[Mark], width: int) -> None:
        self._length = len(text)
        found = _glyphs(text)
        atoms = _atoms(found, marks, _glyph_of(found, len(text)))
        self.lines = tuple(_line(each) for each in wrap(atoms, max(1, width)))

    @cached_property
    def _starts(self) -> list[tuple[int, int, int]]:
        """First character, line and column of every glyph, in order."""
        return [
            (atom.char_start, y, column)
            for y, line in enumerate(self.lines)
            for atom, column in zip(line.atoms, line.columns, strict=True)
            if atom.kind is Kind.TEXT
        ]

    def cell_of(self, char: int) -> tuple[int, int]:
        """Line and column of a character; of the last one for what lies behind the text."""
        if not self._starts:
            return 0, 0
        place = bisect_right(self._starts, char, key=lambda each: each[0]) - 1
        return self._starts[max(0, place)][1:]

    def end_of(self, char: int) -> int:
        """Where the glyph of a character ends."""
        place = bisect_right(self._starts, char, key=lambda each: each[0])
        return self._starts[place][0] if place < len(self._starts) else self._length

    def lines_of(self, char_start: int, char_end: int) -> range:
        """The lines with these characters; the one at which they would stand where there are none."""
        last = self.cell_of(max(char_start, char_end - 1))[0]
        return range(self.cell_of(char_start)[0], last + 1)

    @cached_property
    def _mark_lines(self) -> dict[int, range]:
        found: dict[int, range] = {}
        for y, line in enumerate(self.lines):
            for mark in {mark for atom in line.atoms for mark in atom.marks}:
                found[mark] = range(found[mark].start if mark in found else y, y + 1)
        return found

    def lines_of_mark(self, index: int) -> range:
        """The lines that a mention and its signs stand on; none where it lies outside the text."""
        return self._mark_lines.get(index, range(0))

    def char_at(self, y: int, column: int) -> int | None:
        """The character under a cell: at a sign the mention's nearest one, beyond the end the line's last one."""
        if not 0 <= y < len(self.lines):
            return None
        atom = self.lines[y].atom_at(max(0, column))
        return self.lines[y].last_char if atom is None else atom.char_start

    def marks_at(self, y: int, column: int) -> tuple[int, ...]:
        """Indices of the mentions under a cell, the innermost last."""
        atom = self.lines[y].atom_at(column) if 0 <= y < len(self.lines) else None
        return atom.marks if atom else ()


@lru_cache(maxsize=4)
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


def _atoms(
    found: Sequence[Glyph], marks: Sequence[Mark], glyph_of: Sequence[int]
) -> Iterator[Atom]:
    """Glyphs with the signs of the mentions between them; signs never part the characters of a glyph."""
    opening, closing = _edges(marks, glyph_of)
    around: tuple[int, ...] = ()
    for index, glyph in enumerate(found):
        for mark in opening.get(index, ()):
            around = _with(around, mark, marks)
            at = glyph.char_start
            yield Atom(Kind.OPEN, at, at, "", 1, _own(around, mark))
        yield Atom(Kind.TEXT, *glyph[:4], around, glyph.blank, glyph.newline)
        for mark in closing.get(index, ()):
            yield from _closing(marks[mark], glyph.char_end - 1, _own(around, mark))
            around = tuple([each for each in around if each != mark])


def _edges(
    marks: Sequence[Mark], glyph_of: Sequence[int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """By glyph: mentions that begin before it, outer ones first; those that end behind it, inner ones first."""
    opening: defaultdict[int, list[int]] = defaultdict(list)
    closing: defaultdict[int, list[int]] = defaultdict(list)
    for index in sorted(range(len(marks)), key=lambda each: _order(marks, each)):
        start, end = max(0, marks[index].char_start), min(len(glyph_of), marks[index].char_end)
        if start < end:
            opening[glyph_of[start]].append(index)
            closing[glyph_of[end - 1]].insert(0, index)
    return opening, closing


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
