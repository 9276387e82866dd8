"""Where everything in a passage stands: text and the signs around mentions, wrapped to a width of cells.

The layout depends on the text, on where mentions begin and end, and on the letters behind them, never on
what has the focus or has been decided; and lines begin where they began in the layout before. So nothing moves
while somebody reviews.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from sciextract_app.shared.view_models import Mark, Passage
from sciextract_app.widgets.paragraphs import (
    Line,
    Paragraph,
    cut,
    ends_line,
    name,
    same_place,
)

_EMPTY = Line((), (), 0)


class PassageLayout:
    """A passage wrapped to a width.

    Args:
        text: The exact text.
        marks: Its mentions; parts outside the text are left out.
        width: Cells of a line.
        before: An earlier layout, whose paragraphs serve again where nothing has changed.

    Attributes:
        paragraphs: Its parts.
    """

    def __init__(
        self, text: str, marks: Sequence[Mark], width: int, before: PassageLayout | None = None
    ) -> None:
        self._text = text
        self._width = max(1, width)
        self._edges = cut(text)
        self._starts = [start for start, _ in self._edges]
        # Mentions by paragraph, in order.
        self._touching: list[list[int]] = [[] for _ in self._edges]
        for index, mark in enumerate(marks):
            for number in self._numbers_of(mark):
                self._touching[number].append(index)
        same_text = before is not None and before._text == text
        self.paragraphs: list[Paragraph] = []
        for number, (start, end) in enumerate(self._edges):
            own = [marks[index] for index in self._touching[number]]
            # What stands as it stood keeps its lines: a decision moves nothing.
            known = before.paragraphs[number] if before and same_text else None
            if known is None or not known.is_like(own, self._width):
                known = Paragraph(text, start, end, own, self._width, known)
            self.paragraphs.append(known)
        self._tops = [0, *accumulate(len(paragraph.lines) for paragraph in self.paragraphs)]

    @property
    def height(self) -> int:
        """How many lines there are."""
        return self._tops[-1]

    def line(self, y: int) -> Line:
        """A line, its mentions by their place in the passage."""
        number, _ = self._paragraph_at(y)
        line = self.line_as_numbered(y)
        known, touching = self.paragraphs[number].numbers, self._touching[number]
        if known == touching:  # as in a text just opened
            return line
        index_of = dict(zip(known, touching, strict=True))
        # Most atoms have no mention, and neighbours the same ones: to make each anew takes longer than to paint it.
        named = {
            numbers: tuple(index_of[m] for m in numbers)
            for numbers in {a.marks for a in line.atoms}
        }
        atoms = [a._replace(marks=named[a.marks]) if a.marks else a for a in line.atoms]
        return line._replace(atoms=tuple(atoms))

    def line_as_numbered(self, y: int) -> Line:
        """A line, its mentions by the numbers that they keep in later layouts of the text."""
        number, own = self._paragraph_at(y)
        return self.paragraphs[number].lines[own]

    def cell_of(self, char: int) -> tuple[int, int]:
        """Line and column of a character; of the last one for what lies behind the text."""
        if not self._text:
            return 0, 0
        number = self._paragraph_of(min(char, len(self._text) - 1))
        y, column = self.paragraphs[number].cell_of(char)
        return self._tops[number] + y, column

    def end_of(self, char: int) -> int:
        """Where the glyph of a character ends."""
        if char >= len(self._text):
            return len(self._text)
        return self.paragraphs[self._paragraph_of(char)].end_of(char)

    def lines_of(self, char_start: int, char_end: int) -> range:
        """The lines with these characters; the one at which they would stand where there are none."""
        last = self.cell_of(max(char_start, char_end - 1))[0]
        return range(self.cell_of(char_start)[0], last + 1)

    def lines_of_mark(self, index: int, mark: Mark) -> range:
        """The lines that a mention and its signs stand on; none where it lies outside the text."""
        found = range(0)
        for number in self._numbers_of(mark):
            place = self._touching[number].index(index)
            paragraph = self.paragraphs[number]
            own = paragraph.lines_of_marks[paragraph.numbers[place]]
            top = self._tops[number]
            found = range(found.start if found else top + own.start, top + own.stop)
        return found

    def char_at(self, y: int, column: int) -> int | None:
        """The character under a cell: at a sign the mention's nearest one, beyond the end the line's last one."""
        if not 0 <= y < self.height:
            return None
        line = self.line_as_numbered(y)
        atom = line.atom_at(max(0, column))
        return line.last_char if atom is None else atom.char_start

    def marks_at(self, y: int, column: int) -> tuple[int, ...]:
        """Indices of the mentions under a cell, the innermost last."""
        atom = self.line(y).atom_at(column) if 0 <= y < self.height else None
        return atom.marks if atom else ()

    def _paragraph_of(self, char: int) -> int:
        return max(0, bisect_right(self._starts, char) - 1)

    def _paragraph_at(self, y: int) -> tuple[int, int]:
        """A line's paragraph, and which of its lines it is."""
        number = bisect_right(self._tops, y) - 1
        return number, y - self._tops[number]

    def _numbers_of(self, mark: Mark) -> range:
        """The paragraphs that a mention touches."""
        start, end = max(0, mark.char_start), min(len(self._text), mark.char_end)
        if start >= end:
            return range(0)
        first = self._paragraph_of(start)
        last = first if end < self._edges[first][1] else self._paragraph_of(end - 1)
        return range(first, last + 1 + ends_line(self._text, end - 1))  # its signs come behind


FEW = 200
"""Changed mentions up to which their lines are looked for; otherwise all are painted again."""


def same_layout(before: Passage, after: Passage) -> bool:
    """Whether everything stands where it stood."""
    if before.text != after.text or len(before.marks) != len(after.marks):
        return False
    return all(map(same_place, before.marks, after.marks))


def changed_lines(layout: PassageLayout, before: Passage, after: Passage) -> set[int]:
    """Lines that have to be painted again, for two passages of one layout."""
    if not _same_overall(before, after):
        return set(range(layout.height))
    pairs = enumerate(zip(before.marks, after.marks, strict=True))
    changed = [index for index, (old, new) in pairs if old is not new and old != new]
    if len(changed) > FEW:
        return set(range(layout.height))
    found: set[int] = set()
    for index in changed:
        found.update(layout.lines_of_mark(index, after.marks[index]))
    return found | _lines_of_spans(layout, before, layout, after)


def moved_lines(
    old: PassageLayout, before: Passage, new: PassageLayout, after: Passage, rows: range
) -> set[int]:
    """Those of some lines that have to be painted again, for a layout and the one made from it."""
    was = {name(mark): mark for mark in before.marks}
    pairs = [(index, mark, was.get(name(mark), mark)) for index, mark in enumerate(after.marks)]
    changed = [(index, now) for index, now, then in pairs if now is not then and now != then]
    if not _same_overall(before, after) or len(changed) > FEW:
        return set(rows)
    known = min(old.height, new.height)
    moved = {y for y in rows if y >= known or old.line_as_numbered(y) != new.line_as_numbered(y)}
    for index, mark in changed:
        moved.update(new.lines_of_mark(index, mark))
    return moved | _lines_of_spans(old, before, new, after)


def _same_overall(before: Passage, after: Passage) -> bool:
    names = ("hints", "hits", "sure", "other_edges", "title_end")
    return all(getattr(before, field) == getattr(after, field) for field in names)


def focus_of(passage: Passage) -> tuple[str | None, tuple[int, int]]:
    """What the person looks at: the focused mention and the cursor."""
    ids = (mark.item_id for mark in passage.marks if mark.focused)
    return next(ids, None), passage.cursor


def _lines_of_spans(
    old: PassageLayout, before: Passage, new: PassageLayout, after: Passage
) -> set[int]:
    """The lines of a cursor, a selection or a candidate that came, went or moved."""
    found: set[int] = set()
    for was, now in (
        (before.cursor, after.cursor),
        (before.selection, after.selection),
        (before.candidate, after.candidate),
    ):
        if was != now:
            found.update(old.lines_of(*was) if was else ())
            found.update(new.lines_of(*now) if now else ())
    return found
