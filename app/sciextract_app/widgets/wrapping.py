"""What a passage is drawn from, character by character, and how it is wrapped into lines."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from sciextract.text.characters import visible


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
        marks: Numbers of the mentions around it, the innermost last; of a sign its own last.
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
        """True for document text, not for signs."""
        return self.kind is Kind.TEXT


# Unicode has no raised C, F, Q, S, X, Y, Z, and no raised small q.
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
# East Asian signs that close or follow something: no line begins with them.
_NEVER_FIRST = frozenset("、。，．・：；？！）］｝」』】〉》ー々")


def wrap(atoms: Iterable[Atom], width: int) -> list[list[Atom]]:
    """Lines of at most so many cells; at least one line.

    Lines break at blanks, behind the signs that follow them, and between wide characters. Blanks that find
    no room hang over the end and take no cells. A word longer than a line is broken anywhere; what is wider
    than the width has a line of its own.
    """
    writer = WrappedWriter(width)
    for atom in atoms:
        writer.add(atom)
    return [*writer.lines, writer.line]


class WrappedWriter:
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
            if atom.blank:  # not worth a line: it hangs over the end
                atom = atom._replace(shown="", cells=0)
            while self.line and self._used + atom.cells > self._width:
                self._end(self._break or _without_openings(self.line))
        self.line.append(atom)
        self._used += atom.cells
        if atom.kind is Kind.TEXT:
            self._text = atom
        if atom.newline:
            self._end(len(self.line))
            self._text = None

    def end_line(self) -> None:
        """Begin the next line here."""
        self._end(len(self.line))

    def _may_break_before(self, atom: Atom) -> bool:
        """Whether a line may begin with an atom that follows a blank, or a wide character or is one."""
        if atom.blank or not leads(atom) or (self.line and self.line[-1].kind is Kind.OPEN):
            return False
        after_blank = self._text is not None and self._text.blank
        return after_blank or atom.shown not in _NEVER_FIRST

    def _end(self, count: int) -> None:
        """End the line after so many atoms; the rest begins the next one."""
        self.lines.append(self.line[:count])
        self.line = self.line[count:]
        self._used = sum(atom.cells for atom in self.line)
        self._break = 0


def leads(atom: Atom) -> bool:
    """Whether it belongs to what follows: text, or an opening bracket."""
    return atom.is_text or atom.kind is Kind.OPEN


def _without_openings(line: list[Atom]) -> int:
    """How many atoms to keep so that no opening bracket stands alone at the end; all where there are only such."""
    count = len(line)
    while count and line[count - 1].kind is Kind.OPEN:
        count -= 1
    return count or len(line)
