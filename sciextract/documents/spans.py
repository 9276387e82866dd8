"""Ranges of characters and tokens. Starts are inclusive, ends exclusive, always."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of Unicode code points of a document's text.

    >>> Span(0, 5).of("graph theory")
    'graph'
    """

    char_start: int
    char_end: int

    def of(self, text: str) -> str:
        """The characters of ``text`` that the span covers."""
        return text[self.char_start : self.char_end]

    def overlaps(self, other: Span) -> bool:
        """Whether both spans share at least one character."""
        return self.char_start < other.char_end and other.char_start < self.char_end

    def contains(self, other: Span) -> bool:
        """Whether ``other`` lies inside this span (or equals it)."""
        return self.char_start <= other.char_start and other.char_end <= self.char_end


@dataclass(frozen=True, slots=True, order=True)
class TokenRange:
    """A range of document token indices.

    >>> len(TokenRange(2, 5))
    3
    """

    token_start: int
    token_end: int

    def __len__(self) -> int:
        return self.token_end - self.token_start

    def contains(self, other: TokenRange) -> bool:
        """Whether ``other`` lies inside this range (or equals it)."""
        return self.token_start <= other.token_start and other.token_end <= self.token_end
