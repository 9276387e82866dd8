"""Parts of a passage that are laid out each by itself, so that a change costs no more than its own part.

A part ends where a line of the text ends. Texts far longer than any abstract have paragraphs of their own made:
a line ends there behind a sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, count
from typing import NamedTuple

from rich.cells import cell_len

from sciextract_app.shared.view_models import Mark
from sciextract_app.widgets.cells import Glyph, glyphs
from sciextract_app.widgets.wrapping import (
    Atom,
    Kind,
    WrappedWriter,
    leads,
    raised_clusters,
    raised_key,
    wrap,
)

LONG = 6_000
"""Characters from which on a line of the text is laid out in several paragraphs."""
_LEAST, _MOST = 2_000, 4_000
_SLACK, _SLACK_FROM = 4, 40
"""Cells that a line has left for the signs of further mentions, where it is long enough."""
# Behind it a printable ASCII character: no glyph is parted, whatever signs of zero width a text has.
_SENTENCE_END = re.compile(r"[.!?]\)? (?=[!-~])")
_BLANK = re.compile(r" (?=[!-~])")


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


@lru_cache(maxsize=4)  # the same text is laid out again and again while its mentions change
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
    return mark.char_start, mark.char_end, *_suffix_widths(mark)


Name = tuple[str, int, int]


def name(mark: Mark) -> Name:
    """What tells a mention, or its fragment, from all others of a passage."""
    return mark.item_id, mark.char_start, mark.char_end


def same_place(old: Mark, new: Mark) -> bool:
    """Whether two mentions stand at one place."""
    if (old.key, old.cluster, old.last) == (new.key, new.cluster, new.last):
        return (old.char_start, old.char_end) == (new.char_start, new.char_end)
    return places(old) == places(new)


def _suffix_widths(mark: Mark) -> tuple[int, ...]:
    behind = (raised_key(mark.key), raised_clusters(mark.cluster)) if mark.last else ()
    return tuple([cell_len(sign) for sign in behind])


class Paragraph:
    """A part of the text, wrapped to a width.

    Args:
        text: The whole text.
        char_start: Its first character.
        char_end: Its end.
        marks: The mentions that touch it, in the order of the passage.
        width: Cells of a line.
        before: The same part of the text with other mentions: lines that these leave as they were serve again.

    Attributes:
        numbers: What lines call each of the mentions; those that were there before keep theirs.
        lines: Its lines.
    """

    def __init__(
        self,
        text: str,
        char_start: int,
        char_end: int,
        marks: Sequence[Mark],
        width: int,
        before: Paragraph | None = None,
    ) -> None:
        self.char_start = char_start
        self.char_end = char_end
        self.marks = marks
        self._text = text[char_start:char_end]
        self._length = len(text)
        self._width = width
        known = before.number_of if before else {}
        new = count(1 + max(known.values(), default=-1))
        self.numbers = [known[key] if (key := name(mark)) in known else next(new) for mark in marks]
        if before is not None and before._width == width:
            self.lines = self._wrapped_again(before)
        else:
            room = width - _SLACK if width >= _SLACK_FROM else width
            self.lines = tuple(map(_line, self._without_next(wrap(self._atoms(), room))))

    @cached_property
    def number_of(self) -> dict[Name, int]:
        """The numbers by mention."""
        return dict(zip(map(name, self.marks), self.numbers, strict=True))

    def is_like(self, marks: Sequence[Mark], width: int) -> bool:
        """Whether it stands as it stood with other mentions."""
        if width != self._width or len(marks) != len(self.marks):
            return False
        return all(map(same_place, self.marks, marks)) and [*map(name, marks)] == [*self.number_of]

    def _wrapped_again(self, before: Paragraph) -> tuple[Line, ...]:
        """Its lines, which begin where they began, so that a decision moves no word to another line.

        What finds no room any more goes over to the next line, which has some. Only lines from the first change on are
        looked at, up to the first one behind the last change that begins where it began.
        """
        old, glyph_of = before.lines, _glyphs(self._text)[1]
        was, now = ({name(mark): places(mark) for mark in side.marks} for side in (before, self))
        changed = [mark for mark, _ in was.items() ^ now.items()]  # came, went, or have other signs
        start = min((start for _, start, _ in changed), default=self.char_start)
        end = max((end for _, _, end in changed), default=self.char_end)
        first = sum(1 for line in old if line.atoms and line.atoms[0].char_start <= start) - 1
        while first > 0 and not _begins_glyph(old, first):
            first -= 1
        first = max(0, first)
        begins = {
            line.atoms[0].char_start: at
            for at, line in enumerate(old)
            if at > first and _begins_glyph(old, at)
        }
        writer, last, has_spilled = WrappedWriter(self._width), None, False
        begin = old[first].atoms[0].char_start - self.char_start if first else 0
        for atom in self._atoms(glyph_of[begin] if first else 0):
            opened = last is not None and last.kind is Kind.OPEN
            at = begins.get(atom.char_start, 0) if leads(atom) and not opened else 0
            if at and has_spilled:
                has_spilled = False
            elif at:
                writer.end_line()
                if atom.char_start >= end:
                    return (*old[:first], *map(_line, writer.lines), *old[at:])
            lines, last = len(writer.lines), atom
            writer.add(atom)
            has_spilled = has_spilled or len(writer.lines) > lines
        return (*old[:first], *map(_line, self._without_next([*writer.lines, writer.line])))

    def _without_next(self, lines: list[list[Atom]]) -> list[list[Atom]]:
        """The lines without that which begins behind a line feed: it belongs to the next paragraph."""
        found, _ = _glyphs(self._text)
        return lines[:-1] if found and found[-1].newline else lines

    def cell_of(self, char: int) -> tuple[int, int]:
        """Line and column of the last glyph that begins at a character or before it."""
        # Signs at the beginning of a line may stand at a character of the line before.
        last = bisect_right(self.lines, char, key=lambda line: line.atoms[0].char_start) - 1
        for y in range(last, -1, -1):
            line = self.lines[y]
            for atom, column in zip(reversed(line.atoms), reversed(line.columns), strict=True):
                if atom.kind is Kind.TEXT and atom.char_start <= char:
                    return y, column
        return 0, 0

    def end_of(self, char: int) -> int:
        """Where the glyph of a character ends."""
        found, glyph_of = _glyphs(self._text)
        return self.char_start + found[glyph_of[char - self.char_start]].char_end

    @cached_property
    def lines_of_marks(self) -> dict[int, range]:
        """The lines that each mention, by its number, and its signs stand on."""
        found: dict[int, range] = {}
        for y, line in enumerate(self.lines):
            for mark in set(chain.from_iterable({atom.marks for atom in line.atoms})):
                found[mark] = range(found[mark].start if mark in found else y, y + 1)
        return found

    def _span(self, mark: Mark) -> tuple[int, int]:
        """Where a mention begins and ends, counted from the beginning here."""
        base = self.char_start
        return mark.char_start - base, min(mark.char_end, self._length) - base

    def _atoms(self, first: int = 0) -> Iterator[Atom]:
        """Glyphs with the signs of the mentions between them; signs never part the characters of a glyph.

        Args:
            first: The glyph to begin with.
        """
        marks, numbers, base = self.marks, self.numbers, self.char_start
        found, glyph_of = _glyphs(self._text)
        opening, closing = self._edges(glyph_of)
        here = {index for index, mark in enumerate(marks) if mark.char_start < base}
        if first:
            here |= {mark for at, begun in opening.items() if at < first for mark in begun}
            here -= {mark for at, ended in closing.items() if at < first for mark in ended}
        around = tuple(sorted(here, key=lambda index: _order(marks, index)))

        def drawn(sign: int | None = None) -> tuple[int, ...]:
            """The numbers of the mentions here, that of a sign last."""
            own = () if sign is None else (sign,)
            return tuple([numbers[number] for number in (*(a for a in around if a != sign), *own)])

        for mark in closing.get(-1, ()) if not first else ():
            yield from _close_mark(marks[mark], base - 1, drawn(mark))
            around = tuple([open_mark for open_mark in around if open_mark != mark])
        inside = drawn()
        for index in range(first, len(found)):
            glyph = found[index]
            at = glyph.char_start + base
            for mark in opening.get(index, ()):
                around = tuple(sorted((*around, mark), key=lambda opened: _order(marks, opened)))
                yield Atom(Kind.OPEN, at, at, "", 1, drawn(mark))
                inside = drawn()
            end = glyph.char_end + base
            drawn_as = glyph.shown, glyph.cells, inside, glyph.blank, glyph.newline
            yield Atom(Kind.TEXT, at, end, *drawn_as)
            for mark in closing.get(index, ()):
                yield from _close_mark(marks[mark], end - 1, drawn(mark))
                around = tuple([other for other in around if other != mark])
                inside = drawn()

    def _edges(self, glyph_of: Sequence[int]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """By glyph: mentions that begin before it, outer ones first; that end behind it, inner ones first.

        What ends with a line feed has its signs in the next paragraph, before the first glyph.
        """
        opening: defaultdict[int, list[int]] = defaultdict(list)
        closing: defaultdict[int, list[int]] = defaultdict(list)
        for index in sorted(range(len(self.marks)), key=lambda place: _order(self.marks, place)):
            start, end = self._span(self.marks[index])
            if start >= 0:
                opening[glyph_of[start]].append(index)
            if end <= 0:
                closing[-1].insert(0, index)
            elif end <= len(glyph_of) and not ends_line(self._text, end - 1):
                closing[glyph_of[end - 1]].insert(0, index)
        return opening, closing


@lru_cache(maxsize=16)
def _glyphs(text: str) -> tuple[tuple[Glyph, ...], tuple[int, ...]]:
    """The glyphs of a text that is laid out again and again while its mentions change, and that of every character."""
    found = tuple(glyphs(text))
    return found, tuple(at for at, glyph in enumerate(found) for _ in range(*glyph[:2]))


def _begins_glyph(lines: Sequence[Line], at: int) -> bool:
    """Whether a line, not the first, begins with a glyph and all its opening brackets."""
    last, atom = lines[at - 1].atoms[-1], lines[at].atoms[0]
    return leads(atom) and last.kind is not Kind.OPEN


def _line(atoms: Sequence[Atom]) -> Line:
    columns, column = [], 0
    for atom in atoms:
        columns.append(column)
        column += atom.cells
    return Line(tuple(atoms), tuple(columns), column)


def _order(marks: Sequence[Mark], index: int) -> tuple[int, int, int]:
    return marks[index].char_start, -marks[index].char_end, index


def _close_mark(mark: Mark, char: int, around: tuple[int, ...]) -> Iterator[Atom]:
    yield Atom(Kind.CLOSE, char, char, "", 1, around)
    if mark.last:
        yield Atom(Kind.KEY, char, char, "", cell_len(raised_key(mark.key)), around)
        if mark.cluster:
            letters = raised_clusters(mark.cluster)
            yield Atom(Kind.CLUSTER, char, char, "", cell_len(letters), around)
