"""Lines of a width, of atoms that are never broken themselves."""

from __future__ import annotations

from collections.abc import Iterable

from sciextract_app.widgets.atoms import Atom, Kind

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
        if self._may_break_before(atom):
            self._break = len(self.line)
        if self._used + atom.cells > self._width:
            atom = self._make_room(atom)
        self._append(atom)
        if atom.newline:
            self._end(len(self.line))
            self._text = None

    def _may_break_before(self, atom: Atom) -> bool:
        if self._text is None or atom.blank or not _leads(atom):
            return False
        if self.line and self.line[-1].kind is Kind.OPEN:
            return False
        return self._text.blank or self._between_wide(atom)

    def _between_wide(self, atom: Atom) -> bool:
        wide = atom.cells == _WIDE or (self._text is not None and self._text.cells == _WIDE)
        return wide and atom.shown not in _NEVER_FIRST

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

    def _append(self, atom: Atom) -> None:
        self.line.append(atom)
        self._used += atom.cells
        if atom.is_text:
            self._text = atom


def _leads(atom: Atom) -> bool:
    """Whether it belongs to what follows: text, or an opening bracket."""
    return atom.is_text or atom.kind is Kind.OPEN


def _without_openings(line: list[Atom]) -> int:
    """How many atoms to keep so that no opening bracket stands alone at the end; all where there are only such."""
    count = len(line)
    while count and line[count - 1].kind is Kind.OPEN:
        count -= 1
    return count or len(line)
