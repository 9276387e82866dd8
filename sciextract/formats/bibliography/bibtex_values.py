"""Field values of BibTeX: delimiters removed, names of ``@string`` filled in, pieces put together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sciextract.formats.base import shown
from sciextract.formats.packing import HARMLESS_BYTES, MAX_RATIO

_MARK = re.compile(r"(?<!\\)[{}\"#]")


class BrokenValueError(ValueError):
    """A value that is not made of whole pieces; most often a comma is missing before the next field."""


@dataclass(slots=True)
class Strings:
    """The names of ``@string`` in one file, and what they may still make of too little.

    Attributes:
        values: What each name stands for.
    """

    values: dict[str, str] = field(default_factory=dict)
    _harmless: int = HARMLESS_BYTES

    def plain(self, value: str) -> str:
        """The value of ``{a}``, ``"a"``, a number, a name of ``@string``, or several of them joined by ``#``.

        >>> Strings({"jan": "January"}).plain('"Proc. " # jan # { {A}}')
        'Proc. January {A}'

        Raises:
            BrokenValueError: It is something else, or the names of the file make too much of little.
        """
        pieces = [_piece(piece.strip(), self.values) for piece in _pieces(value)]
        filled = sum(len(piece) for piece, is_name in pieces if is_name)
        if filled > MAX_RATIO * len(value):
            if self._harmless < filled:
                raise BrokenValueError(
                    f"{shown(value)} stands for {filled:,} characters, allowed are {MAX_RATIO} times its own"
                )
            self._harmless -= filled
        return "".join(piece for piece, _ in pieces)


def _piece(piece: str, strings: Mapping[str, str]) -> tuple[str, bool]:
    """What a piece stands for, and whether it is a name that was filled in."""
    if piece[:1] in ("{", '"'):
        if _closing(piece) == len(piece) - 1:
            return piece[1:-1], False
    elif not _MARK.search(piece):
        found = strings.get(piece.lower())
        return (piece, False) if found is None else (found, True)
    raise BrokenValueError(f"{shown(piece)} is not one value; is a comma missing?")


def _closing(piece: str) -> int:
    """Where the delimiter that opens the piece is closed, or -1."""
    if piece[0] == "{" and piece.find("}") == len(piece) - 1 and "{" not in piece[1:]:
        return len(piece) - 1
    depth = 0
    for mark in _MARK.finditer(piece, 1):
        sign = mark[0]
        if depth == 0 and sign == ("}" if piece[0] == "{" else '"'):
            return mark.start()
        depth += (sign == "{") - (sign == "}")
    return -1


def _pieces(value: str) -> Iterator[str]:
    """The value cut at each ``#`` outside braces and quotes."""
    start, depth, quoted = 0, 0, False
    for mark in _MARK.finditer(value) if "#" in value else ():
        sign = mark[0]
        depth += (sign == "{") - (sign == "}")
        if depth == 0 and sign == '"':
            quoted = not quoted
        if depth == 0 and sign == "#" and not quoted:
            yield value[start : mark.start()]
            start = mark.end()
    yield value[start:]
