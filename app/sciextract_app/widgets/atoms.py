"""The smallest parts of a drawn passage."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


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
