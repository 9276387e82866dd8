"""Field values of BibTeX: delimiters removed, names of ``@string`` filled in, pieces put together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sciextract.formats.base import shown

_MARK = re.compile(r"(?<!\\)[{}\"#]")


class BrokenValueError(ValueError):
    """A value that is not made of whole pieces; most often a comma is missing before the next field."""


def plain_value(value: str, strings: Mapping[str, str]) -> str:
    """The value of ``{a}``, ``"a"``, a number, a name of ``@string``, or several of them joined by ``#``.

    >>> plain_value('"Proc. " # jan # { {A}}', {"jan": "January"})
    'Proc. January {A}'

    Raises:
        BrokenValueError: It is something else.
    """
    return "".join(_piece(piece.strip(), strings) for piece in _pieces(value))


def _piece(piece: str, strings: Mapping[str, str]) -> str:
    if piece[:1] in ("{", '"'):
        if _closing(piece) == len(piece) - 1:
            return piece[1:-1]
    elif not _MARK.search(piece):
        return strings.get(piece.lower(), piece)
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
