"""Offsets that inputs give: tokens found in their text, partial token tables, UTF-16 units."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise

from sciextract.documents.annotations import Span, TokenRange
from sciextract.documents.document import TokenTable
from sciextract.errors import FormatError
from sciextract.formats.base import Place, quoted
from sciextract.text.analyse import analyse, split_at
from sciextract.text.offsets import OffsetMap, Unit
from sciextract.text.tokenizer import unescape


def align_tokens(text: str, sentences: list[list[str]], place: Place) -> TokenTable:
    """The token table of ``sentences`` in ``text``; only white space may lie between tokens.

    A token stands in the text as it is or unescaped (``-LRB-`` as an opening parenthesis).

    Raises:
        FormatError: A token does not follow the one before it.
    """
    spans: list[Span] = []
    ranges: list[TokenRange] = []
    position = 0
    for index, sentence in enumerate(sentences):
        first = len(spans)
        for number, token in enumerate(sentence):
            start = position
            while start < len(text) and text[start].isspace() and text[start] != token[0]:
                start += 1
            forms = (form for form in (token, unescape(token)) if form)
            form = next((form for form in forms if text.startswith(form, start)), None)
            if form is None:
                found = f"{quoted(token)} found, but `text` continues with"
                problem = f"{found} {quoted(text[position:])}"
                raise place.error(problem, field=f"sentences[{index}][{number}]")
            position = start + len(form)
            spans.append(Span(start, position))
        if sentence:
            ranges.append(TokenRange(first, len(spans)))
    given = tuple([token for sentence in sentences for token in sentence])
    table = TokenTable(tuple(spans), tuple(ranges))
    return table if table.slices(text) == given else TokenTable(table.spans, table.sentences, given)


def token_table(
    text: str,
    tokens: Sequence[Span],
    sentences: Sequence[Span],
    protected: Iterable[Span] = (),
    *,
    title_length: int = 0,
) -> TokenTable:
    """The table of the given tokens and sentences; what is missing is derived from the text.

    Args:
        text: The text.
        tokens: Ascending, apart, not empty; none at all to derive them.
        sentences: None at all to derive them. Tokens between two sentences form one of their own.
        protected: Spans that no derived sentence end may cut.
        title_length: How many characters at the start are a known title.
    """
    if tokens and sentences:
        return TokenTable(tuple(tokens), _partition(tokens, sentences))
    derived = analyse(text, protected, title_length=title_length)
    if tokens:
        ranges = [derived.char_span(sentence) for sentence in derived.sentences]
        return TokenTable(tuple(tokens), _partition(tokens, ranges))
    if not sentences:
        return derived
    # Empty spans cut tokens at the edges of sentences but never join two sentences.
    cut = split_at(derived, text, [Span(edge, edge) for edge in _edges(sentences)])
    return TokenTable(cut.spans, _partition(cut.spans, sentences))


def are_sound(tokens: Sequence[Span]) -> bool:
    """Whether tokens in text order are apart and not empty."""
    apart = all(left.char_end <= right.char_start for left, right in pairwise(tokens))
    return apart and all(token.char_start < token.char_end for token in tokens)


def _partition(tokens: Sequence[Span], sentences: Sequence[Span]) -> tuple[TokenRange, ...]:
    """Token ranges between the edges of sentences; a token belongs where its first character lies."""
    starts = [token.char_start for token in tokens]
    cuts = {bisect_left(starts, edge) for edge in _edges(sentences)} | {0, len(tokens)}
    return tuple(TokenRange(start, end) for start, end in pairwise(sorted(cuts)))


def _edges(sentences: Sequence[Span]) -> list[int]:
    return sorted({edge for span in sentences for edge in (span.char_start, span.char_end)})


# Label Studio writes a line end inside a mention as a backslash and an n, and browsers join blanks.
_BLANKS = re.compile(r"(?:\s|\\n)+")
_GREEK = re.compile("[α-ω]")
_LATIN = {"mu": "u"}  # for a micrometre; other letters are written as the first of their names


def repeats(written: str, fragments: Sequence[str]) -> bool:
    """Whether a file's copy of a mention is the mention, whatever its white space.

    Fragments are joined by a blank, in old files by nothing, in others by an ellipsis.

    >>> repeats("Breast [...] kernels", ["Breast", "kernels"])
    True
    """
    copies = (separator.join(fragments) for separator in (" ", "", " [...] ", " ... "))
    return _join_blanks(written) in map(_join_blanks, copies)


def is_variant(written: str, fragments: Sequence[str]) -> bool:
    """Whether a copy differs as normalised texts do: in signs, case, accents, compatibility forms, Greek letters.

    >>> is_variant("SARS CoV 2", ["SARS‐CoV‐2"]), is_variant("TNF-a", ["TNF-α"]), is_variant("TNF", ["IL2"])
    (True, True, False)
    """
    letters, *others = (
        {_letters(text, greek) for greek in (str, lambda name: _LATIN.get(name, name[0]))}
        for text in (written, "".join(fragments))
    )
    return any(letters & other - {""} for other in others)


def _join_blanks(text: str) -> str:
    return _BLANKS.sub(" ", text)


def _letters(text: str, greek: Callable[[str], str]) -> str:
    """Letters and digits of a text in their plainest form, Greek letters as ``greek`` makes of their names."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    named = _GREEK.sub(lambda found: greek(unicodedata.name(found[0]).split()[-1].lower()), plain)
    return "".join(filter(str.isalnum, named))


def span_between(
    start: int, end: int, unit: Unit, offsets: OffsetMap, field: str, place: Place
) -> Span:
    """The characters between two offsets that count a unit.

    Raises:
        FormatError: They are not in order, or not offsets of the text.
    """
    problem = f"{start} {end} found; expected START < END"
    with suppress(FormatError):
        if start < end:
            problem = f"{start} {end} found; expected offsets in the text"
            return Span(offsets.from_unit(unit, start), offsets.from_unit(unit, end))
    raise place.error(problem, field=field)
