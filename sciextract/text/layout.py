"""Line ends: which of them separate titles, paragraphs and list items, and which only wrap prose."""

from __future__ import annotations

import re
from itertools import pairwise

from sciextract.documents.spans import Span

_LINE_END = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_FIRST_WORD = re.compile(r"\s*(\S+)")
# β-Catenin, n-gram, mRNA, p53: terms that keep their small first letter at the start of a sentence.
_LOWER_TERM = re.compile(r"[a-z]-[A-Za-z]|[α-ω]|[a-z]+[A-Z0-9]|[a-z]{1,3}-[A-Z0-9]")
_TERMINATOR = re.compile(r"[.!。]['\"”’)\]]{0,9}\s{0,99}$")
_TITLE_CHARACTERS = 400


def breaks_of(text: str) -> tuple[int, ...]:
    """The code-point offsets of the line ends at which a sentence ends, ascending.

    An empty line always separates. A single line end separates where the next line opens like a
    sentence and the line was not filled up, that is, the next word would still have fitted into the
    longest line of the text. A single line end in the whole text is never taken for wrapping.
    """
    lines = _lines_of(text)
    is_wrapped = sum(1 for line in lines if line.of(text).strip()) > 2
    width = max(len(line.of(text).rstrip()) for line in lines) if is_wrapped else None
    is_lower_case = text == text.lower()
    return tuple(
        line.char_end
        for line, following in pairwise(lines)
        if line.of(text).strip() and _separates(text, line, following, width, is_lower_case)
    )


def title_end_of(text: str, breaks: tuple[int, ...]) -> int:
    """Where the first line ends if it looks like a title (not long, no full stop at its end), else 0."""
    if not breaks or breaks[0] > _TITLE_CHARACTERS or _TERMINATOR.search(text[: breaks[0]]):
        return 0
    return breaks[0]


def _lines_of(text: str) -> list[Span]:
    lines, start = [], 0
    for match in _LINE_END.finditer(text):
        lines.append(Span(start, match.start()))
        start = match.end()
    lines.append(Span(start, len(text)))
    return lines


def opens_sentence(word: str, is_lower_case: bool) -> bool:
    """Whether a word that comes after a full stop or a line end can open a sentence.

    Args:
        word: The word, or at least its beginning.
        is_lower_case: Whether the whole text is lower case, so that capitals tell nothing.
    """
    first = word[0]
    has_case = first.lower() != first.upper()
    if first.isdigit() or (first.isalpha() and (is_lower_case or not has_case)):
        return True
    return first.isupper() or bool(_LOWER_TERM.match(word))


def _separates(
    text: str, line: Span, following: Span, width: int | None, is_lower_case: bool
) -> bool:
    opening = _FIRST_WORD.match(following.of(text))
    if opening is None:
        return True
    word = opening.group(1)
    is_full = width is not None and len(line.of(text).rstrip()) + 1 + len(word) > width
    return not is_full and (not word[0].isalnum() or opens_sentence(word, is_lower_case))
