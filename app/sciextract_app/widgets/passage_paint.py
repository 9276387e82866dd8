"""The look of a passage: which sign and which style each part of a laid-out line has."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from sciextract.documents.annotations import State
from sciextract_app.shared.view_models import Mark, Passage, Role
from sciextract_app.widgets.lines import ink
from sciextract_app.widgets.paragraphs import Line
from sciextract_app.widgets.wrapping import Atom, Kind, raised_clusters, raised_key

FOCUSED, SURE, UNDECIDED, UNCERTAIN = "⟦⟧", "«»", "‹›", "‹?"
DECIDED, REJECTED = "⌊⌋", "✗✗"
"""Brackets around a mention, each of one cell."""
ROLES = {Role.HEAD: "⟦►", Role.TAIL: "►⟧", Role.END: "⟦⟧", Role.LINKED: "{}"}
"""Those of the ends of a relation in focus, and of the cluster of a link in focus."""
OTHER_EDGES = "~"
"""Instead of the first bracket where the model knows other edges."""
UNSURE = 0.6
"""Undecided items below this score have a mark."""
_ENDS = frozenset({Role.HEAD, Role.TAIL, Role.END})
_BOLD = Style(bold=True)
_STRIKE = Style(strike=True)
_UNDERLINE = Style(underline=True)
_REVERSE = Style(reverse=True)


class Piece(NamedTuple):
    """Something written on a line.

    Attributes:
        shown: What is written.
        style: Its look.
        cells: Its width.
    """

    shown: str
    style: Style
    cells: int


@dataclass(frozen=True, slots=True)
class Look:
    """The styles of a theme.

    Attributes:
        text: Of everything.
        title: Added for the title.
        cursor: Added for the token under the cursor.
        selection: Added for what is selected.
        candidate: Added for a span that the model offers.
        hint: Added for jump letters.
        next_hint: Added for jump letters that touch others.
        hit: Added for words that were searched for.
        label: Foreground, and ground of an enclosing mention, by label.
    """

    text: Style
    title: Style
    cursor: Style
    selection: Style
    candidate: Style
    hint: Style
    next_hint: Style
    hit: Style
    label: Callable[[str], Style]


def brackets(mark: Mark, passage: Passage) -> str:
    """The two brackets of a mention: they show focus, sure, undecided, uncertain and decided without colour."""
    if mark.role in ROLES:
        return ROLES[mark.role]
    if mark.focused:
        return FOCUSED
    if mark.state is State.REJECTED:
        return REJECTED
    if mark.state is not State.UNDECIDED:
        return DECIDED
    score = 1.0 if mark.score is None else mark.score
    sure = SURE if mark.score is not None and score >= passage.sure else UNDECIDED
    shown = UNCERTAIN if score < UNSURE and sure is UNDECIDED else sure
    return OTHER_EDGES + shown[1] if mark.item_id in passage.other_edges else shown


class Painter:
    """Draws the lines of one passage.

    Args:
        passage: What to draw.
        look: The styles.
    """

    def __init__(self, passage: Passage, look: Look) -> None:
        self._passage = passage
        self._look = look
        spans = (*passage.hits, passage.candidate, passage.selection, passage.cursor)
        self._edges = sorted({passage.title_end, *chain(*filter(None, spans))})
        self._styles: dict[tuple[tuple[int, ...], int | Kind], Style] = {}
        """By mentions, and by the kind of sign or the place among the edges at which the look of text may change."""

    def segments(self, line: Line, width: int) -> list[Segment]:
        """A line as Rich's segments, neighbours of one look joined; jump letters stay within the width."""
        parts: Iterable[tuple[str, Style]] = map(self._write_atom, line.atoms)
        if self._passage.hints:
            pieces = [Piece(*self._write_atom(atom), atom.cells) for atom in line.atoms]
            parts = [piece[:2] for piece in overlay(pieces, self._hints(line, width))]
        found: list[tuple[list[str], Style]] = []
        for shown, style in parts:
            # Styles are kept, so most are the same object: comparing their fields takes longer.
            if not found or (found[-1][1] is not style and found[-1][1] != style):
                found.append(([], style))
            found[-1][0].append(shown)
        return [Segment(text, style) for shown, style in found if (text := "".join(shown))]

    def _write_atom(self, atom: Atom) -> tuple[str, Style]:
        """What an atom shows, and its look."""
        is_text = atom.kind is Kind.TEXT
        key = atom.marks, bisect_right(self._edges, atom.char_start) if is_text else atom.kind
        style = self._styles.get(key)
        if style is None:
            made = self._text_style if is_text else self._sign_style
            style = self._styles[key] = made(atom)
        if is_text:
            return atom.shown, style
        mark = self._passage.marks[atom.marks[-1]]
        if atom.kind is Kind.KEY:
            return raised_key(mark.key), style
        if atom.kind is Kind.CLUSTER:
            return raised_clusters(mark.cluster), style
        return brackets(mark, self._passage)[atom.kind is Kind.CLOSE], style

    def _text_style(self, atom: Atom) -> Style:
        look, passage, char = self._look, self._passage, atom.char_start
        style = look.text + look.title if char < passage.title_end else look.text
        marks = [self._passage.marks[index] for index in atom.marks]
        if marks:
            # The innermost mention gives colour and line, the outermost of several the ground.
            inner = marks[-1]
            style += self._ground(marks) + self._colour(inner)
            # Bold is the strongest that a terminal without colours has: it belongs to what needs a decision.
            if inner.state is State.UNDECIDED:
                style += _BOLD
            if inner.state is not State.UNDECIDED or len(marks) > 1:
                style += _UNDERLINE
            if inner.state is State.REJECTED:
                style += _STRIKE
            if inner.role in _ENDS:
                style += _BOLD
            if any(mark.focused for mark in marks):
                style += _REVERSE
        # Later ones win: the cursor is seen on everything else.
        for span, added in (
            *((hit, look.hit) for hit in passage.hits),
            (passage.candidate, look.candidate),
            (passage.selection, look.selection),
            (passage.cursor, look.cursor),
        ):
            if span is not None and span[0] <= char < span[1]:
                style += added
        return style

    def _sign_style(self, atom: Atom) -> Style:
        marks = [self._passage.marks[index] for index in atom.marks]
        mark = marks[-1]
        style = self._look.text + self._ground(marks) + self._colour(mark) + _BOLD
        bracket = atom.kind in (Kind.OPEN, Kind.CLOSE)
        marked = mark.focused or (mark.partner and bracket)
        around = any(outer.focused for outer in marks[:-1])
        return style + _REVERSE if marked or around else style

    def _ground(self, marks: list[Mark]) -> Style:
        if len(marks) == 1 and marks[0].state is not State.UNDECIDED:
            return Style.null()
        return ground(self._look.label(marks[0].label))

    def _colour(self, mark: Mark) -> Style:
        return ink(self._look.label(mark.label))

    def _hints(self, line: Line, width: int) -> list[tuple[int, Piece]]:
        """Columns and letters of the hints on a line; those that touch look different by turns."""
        found: list[tuple[int, Piece]] = []
        free, style = 0, self._look.next_hint
        for atom, column in zip(line.atoms, line.columns, strict=True):
            for char in range(atom.char_start, atom.char_end):
                letters = self._passage.hints.get(char, "")
                if letters:
                    cells = cell_len(letters)
                    start = max(free, min(column, width - cells))
                    touches = style is self._look.hint and free == start
                    style = self._look.next_hint if touches else self._look.hint
                    found.append((start, Piece(letters, self._look.text + style, cells)))
                    free = start + cells
        return found


@lru_cache(maxsize=1024)
def ground(look: Style) -> Style:
    """The ground of a style alone, none where the terminal's own is meant."""
    colour = look.bgcolor
    return Style(bgcolor=None if colour is None or colour.is_default else colour)


def overlay(parts: Iterable[Piece], over: Iterable[tuple[int, Piece]]) -> list[Piece]:
    """Pieces written over others at ascending columns; of a wide one that is cut blanks remain."""
    found: list[Piece] = []
    waiting = list(over)
    column = covered = 0
    for part in parts:
        end = column + part.cells
        whole = column >= covered
        while waiting and waiting[0][0] < max(end, column + 1):
            start, piece = waiting.pop(0)
            found.append(_blanks(start - max(column, covered), part.style))
            found.append(piece)
            covered, whole = max(start, covered) + piece.cells, False
        found.append(part if whole else _blanks(end - covered, part.style))
        column = end
    return found + [piece for _, piece in waiting]


def _blanks(cells: int, style: Style) -> Piece:
    return Piece(" " * cells, style, max(0, cells))
