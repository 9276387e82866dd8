"""Finds quoted strings in the text that they were taken from, where a language model may have changed them a little.

No library among the dependencies finds a string in a text within an edit distance: difflib does not minimise edits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise, takewhile
from typing import NamedTuple

from sciextract.documents.annotations import Span
from sciextract.text.characters import IDEOGRAPH
from sciextract.text.english import singular

_ALIKE = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
    # Double ones too: inside a JSON string a model often writes single quotation marks.
    **dict.fromkeys("\"`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033\u00ab\u00bb", "'"),
}  # fmt: skip
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")

LIMIT = 0.2
"""Edits for each letter of a word, chosen on SciERC: ``python -m research.quotes``."""

_LONGEST_ACRONYM = 6
_SHORTEST = 4
_JOINTS = " -"
_WORD = re.compile(r"[^\W_]+")
# Each of them is a word for the tokenizer.
_WORD_ALONE = re.compile(f"[{IDEOGRAPH}]")
_CHARACTER = re.compile(r"(?s).[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]*")


class Fit(StrEnum):
    """How a quote stands in a text."""

    EXACT = "exact"
    NORMALISED = "normalised"
    EDITED = "edited"


class Found(NamedTuple):
    """A place of a quote, and how it stands there."""

    span: Span
    fit: Fit


class Folded(NamedTuple):
    """A text in which spacing, quotation marks, hyphens and compatibility forms are alike.

    Attributes:
        text: Blanks only between letters or digits, one at a time.
        spans: The characters of the original behind each of its characters.
    """

    text: str
    spans: Sequence[Span]


def fold(text: str) -> Folded:
    """The text with one kind of blank, quotation mark and hyphen, in compatibility form (NFKC).

    >>> fold("\u201cn \u2013 gram\u201d  models").text == fold("'n-gram' models").text
    True
    >>> fold("\ufb01ne CO\u2082").text
    'fine CO2'
    """
    letters: list[str] = []
    spans: list[Span] = []
    is_apart = False
    for character in _CHARACTER.finditer(text):
        at, end = character.span()
        letter = character[0]
        if letter.isspace():
            is_apart = True
            continue
        if letter in _INVISIBLE:
            continue
        letter = _ALIKE.get(letter, letter)
        before = letters[-1] if letters else ""
        if letter == before == "'":  # `` and '' are one mark
            spans[-1] = Span(spans[-1].char_start, end)
            continue
        if is_apart and before.isalnum() and letter[0].isalnum():
            letters.append(" ")
            spans.append(Span(at - 1, at))
        is_apart = False
        plain = unicodedata.normalize("NFKC", letter)
        # Signs that become words would be parts of those before them: a trade mark.
        if not letter[0].isalnum() and len(plain) > len(letter):
            plain = letter
        letters += plain
        spans += [Span(at, end)] * len(plain)
    return Folded("".join(letters), spans)


class QuoteFinder:
    """Finds quotes in one text.

    Args:
        text: The text.
        sentences: Its sentences; a quote that was changed is looked for inside of each.
        limit: Edits for each letter of a word that are allowed.
    """

    def __init__(self, text: str, sentences: Sequence[Span], limit: float = LIMIT) -> None:
        self._text = text
        self._ends = [sentence.char_end for sentence in sentences]
        self._limit = limit
        self._folded = fold(text)
        self._lower = _lower(self._folded.text)
        self._words = list(_WORD.finditer(self._folded.text))
        self._written = {joints: _without(joints, self._lower) for joints in ("", _JOINTS)}

    def find(self, quote: str) -> list[Found]:
        """Where the quote stands, in text order; nowhere is an empty list.

        It stands so wherever spacing, quotation marks, hyphens and case are alike. If it does so nowhere, it
        stands where its words are written in one or apart; else where it differs least from as many words of one
        sentence, each by a few letters. It is never a part of a word.
        """
        quote = quote.strip()
        if self._is_too_long(quote):
            return []
        plain = fold(quote).text
        for fit, spans in (  # each is looked for only where the one before has found nothing
            (Fit.NORMALISED, self._find_written(plain, "")),
            (Fit.EDITED, self._find_written(plain, _JOINTS)),
            (Fit.EDITED, self._find_changed(plain)),
        ):
            # In another case, a short name in capitals is a word: IT and it, WHO and who.
            found = [
                Found(span, Fit.EXACT if span.of(self._text) == quote else fit)
                for span in spans
                if len(plain) > _LONGEST_ACRONYM or span.of(self._text).isupper() == plain.isupper()
            ]
            if found:
                return found
        return []

    def cuts_words(self, quote: str) -> bool:
        """Whether a quote stands in the text, but as a part of longer words only."""
        quote = quote.strip()
        if self._is_too_long(quote) or self.find(quote):
            return False
        return fold(quote).text in self._folded.text

    def _is_too_long(self, quote: str) -> bool:
        """Nobody quotes more than there is: a file may have megabytes in the place of a quote."""
        return len(quote) > 2 * len(self._text)

    def _find_written(self, quote: str, joints: str) -> Iterator[Span]:
        """Where a quote stands as whole words, whatever its case, and whichever signs of ``joints`` are between them."""
        kept, letters = self._written[joints]
        _, wanted = _without(joints, _lower(quote))
        at = letters.find(wanted) if wanted else -1
        while at >= 0:
            edges = kept[at], kept[at + len(wanted) - 1] + 1
            around = (self._lower[max(edge - 1, 0) : edge + 1] for edge in edges)
            if not any(
                len(span) > 1 and span.isalnum() and not _WORD_ALONE.search(span) for span in around
            ):
                yield self._span(*edges)
            at = letters.find(wanted, at + 1)

    def _span(self, start: int, end: int) -> Span:
        spans = self._folded.spans
        return Span(spans[start].char_start, spans[end - 1].char_end)

    def _find_changed(self, quote: str) -> Iterator[Span]:
        """The words that differ least from a quote, in every sentence that has them."""
        if not (wanted := list(_WORD.finditer(quote))):
            return
        text, gaps = self._folded.text, _gaps_of(wanted)
        fitting: list[tuple[int, Span]] = []
        for first in range(len(self._words) - len(wanted) + 1):
            words = self._words[first : first + len(wanted)]
            distance = 0
            for mine, its in zip(wanted, words, strict=True):
                edits = self._edits(mine[0], its[0])
                if edits is None:
                    break
                distance += edits
            else:
                # Signs around the words belong to it where the text has them: a bracket, not a full stop.
                start, end = words[0].start(), words[-1].end()
                before, behind = reversed(quote[: wanted[0].start()]), quote[wanted[-1].end() :]
                start -= _count_alike(before, reversed(text[:start]))
                span = self._span(start, end + _count_alike(behind, text[end:]))
                cut = any(span.char_start < end < span.char_end for end in self._ends)
                if not cut and _gaps_of(words) == gaps:
                    fitting.append((distance, span))
        least = min(fitting, default=(0, None))[0]
        yield from (span for distance, span in fitting if distance == least)

    def _edits(self, word: str, other: str) -> int | None:
        """How many letters two words differ by; ``None`` if by too many to be the same word.

        Short words, names in capitals and what has digits are other things if one letter differs: B and T cells.
        """
        one, two = word.lower(), other.lower()
        if one == two:
            return 0
        has_signs = any(not char.isalpha() or char.isupper() for char in word[1:])
        fixed = has_signs or len(word) < _SHORTEST
        most = int(self._limit * len(word))
        if fixed or abs(len(one) - len(two)) > max(most, 1):
            return None
        if singular(one) == singular(two):
            return 1
        # Levenshtein (1966), row by row.
        row = list(range(len(two) + 1))
        for count, letter in enumerate(one, start=1):
            diagonal, row[0] = row[0], count
            for at, its in enumerate(two, start=1):
                changed = diagonal + (letter != its)
                diagonal, row[at] = row[at], min(changed, row[at] + 1, row[at - 1] + 1)
        return row[-1] if row[-1] <= most else None


def _gaps_of(words: Sequence[re.Match[str]]) -> list[str]:
    return [one.string[one.end() : other.start()].strip(_JOINTS) for one, other in pairwise(words)]


def _lower(text: str) -> str:
    """The text in lower case, as long as before: some letters become two."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _count_alike(one: Iterable[str], other: Iterable[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _without(signs: str, text: str) -> tuple[list[int], str]:
    """The text without some signs, except between digits, and where its characters were."""
    kept = [
        at
        for at, letter in enumerate(text)
        if letter not in signs or (text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit())
    ]
    return kept, "".join(text[at] for at in kept)
