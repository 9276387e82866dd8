"""Acronyms and their expansions in one text.

A. S. Schwartz and M. A. Hearst: A simple algorithm for identifying abbreviation definitions in biomedical text,
Pacific Symposium on Biocomputing 2003. Own code: the package ``abbreviations`` (last released in 2019) gives strings
without their places, and the one of scispaCy needs spaCy and a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

_BRACKETS = re.compile(r"\(([^()]{2,120})\)")
_END_OF_SENTENCE = re.compile(r"[.?!]\s|\n")
_CUT = re.compile(r"[;,:]\s")
_LONGEST_SHORT = 10
_MOST_WORDS = 2
_WORD = re.compile(r"[^\W_]+")
_LAST_WORD = re.compile(r"(\S{2,10})\s*$")


@dataclass(frozen=True, slots=True)
class Expansion:
    """An acronym and what it stands for, as both are written."""

    short: str
    long: str


def find_expansions(text: str) -> tuple[Expansion, ...]:
    """Each acronym that a text expands, with its first expansion, in text order.

    >>> find_expansions("We train a support vector machine (SVM) and a CNN (convolutional neural network).")
    (Expansion(short='SVM', long='support vector machine'), Expansion(short='CNN', long='convolutional neural network'))
    """
    found: dict[str, Expansion] = {}
    for match in _BRACKETS.finditer(text):
        for expansion in _defined(text[: match.start()], match[1]):
            found.setdefault(expansion.short, expansion)
    return tuple(found.values())


def _defined(before: str, inside: str) -> Iterator[Expansion]:
    """``long (SHORT)``, else ``SHORT (long)``."""
    inside = _CUT.split(inside, maxsplit=1)[0].strip()
    ends = [match.end() for match in _END_OF_SENTENCE.finditer(before)]
    before = before[ends[-1] if ends else 0 :]
    if _is_short_form(inside):
        long = long_form(inside, _last_words(before, inside))
        if long:
            yield Expansion(_bare(inside), long)
        return
    named = _LAST_WORD.search(before)
    if named and _is_short_form(named[1]) and _capitals(named[1]) and long_form(named[1], inside):
        yield Expansion(_bare(named[1]), inside)


def long_form(short: str, candidate: str) -> str:
    """The end of ``candidate`` that ``short`` stands for, or "".

    Where the last words begin with its letters, these are it; else the shortest end that holds its characters in
    order, the first at the beginning of a word (Schwartz and Hearst 2003, figure 1). That alone would read "SSL" as
    "supervised learning" in the second example.

    >>> long_form("HMM", "we use a hidden Markov model")
    'hidden Markov model'
    >>> long_form("SSL", "methods for self-supervised learning")
    'self-supervised learning'
    """
    short = _bare(short)
    return _by_initials(short, candidate) or _by_characters(short, candidate)


def _by_initials(short: str, candidate: str) -> str:
    words = list(_WORD.finditer(candidate))[-len(short) :]
    if "".join([word[0][0] for word in words]).lower() != short.lower():
        return ""
    long = candidate[words[0].start() :].strip()
    return long if _is_long_form(short, long) else ""


def _by_characters(short: str, candidate: str) -> str:
    place = len(candidate)
    for index in range(len(short) - 1, -1, -1):
        character = short[index].lower()
        if not character.isalnum():
            continue
        place -= 1
        while place >= 0 and not _fits(candidate, place, character, first=index == 0):
            place -= 1
        if place < 0:
            return ""
    long = candidate[place:].strip()
    return long if _is_long_form(short, long) else ""


def _fits(candidate: str, place: int, character: str, *, first: bool) -> bool:
    if candidate[place].lower() != character:
        return False
    return not first or place == 0 or not candidate[place - 1].isalnum()


def _is_long_form(short: str, long: str) -> bool:
    words = re.split(r"[\s-]+", long)
    enough = len(long) > len(short) and len(words) <= min(len(short) + 5, 2 * len(short))
    return enough and short not in long.split() and "(" not in long and ")" not in long


def _is_short_form(word: str) -> bool:
    """Two to ten characters in at most two words, with a letter, and beginning with a letter or a digit."""
    if not 2 <= len(word) <= _LONGEST_SHORT or len(word.split()) > _MOST_WORDS:
        return False
    return word[0].isalnum() and any(map(str.isalpha, word)) and _capitals(word) > 0


def _capitals(word: str) -> int:
    return sum(map(str.isupper, word))


def _bare(short: str) -> str:
    """Without the plural's ending: ``CNN`` for ``CNNs``."""
    return short[:-1] if short.endswith("s") and short[:-1].isupper() and len(short) > 2 else short


def _last_words(before: str, short: str) -> str:
    words = list(re.finditer(r"\S+", before))
    most = min(len(short) + 5, 2 * len(short))
    return before[words[-most].start() if len(words) > most else 0 :].rstrip()


_ALIKE = 0.75
_SHORTEST = 3
"""Letters that a shortened word has: "net" for "network"."""
_ENDING = re.compile(r"(?:ations?|ional|ions?|ors?|ers?|ing|ed|al|ive|s)$")
_STEM = 4
"""Letters that must be left of a word without its ending."""

_USE_SHARE, _CLAUSE_SHARE = 0.05, 0.1
"""Of the abstracts that use an acronym, so many must give an expansion; more where function words stand in it.

One of 202 abstracts with LiDAR has "localization, object detection and tracking (LiDAR)": the letters fit, and nobody else
means that. BERT's true expansion has a function word as well.
"""
_FUNCTION_WORDS = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "being", "by", "for", "from", "in", "into", "is", "of", "on", "or",
     "role", "that", "the", "to", "via", "we", "which", "with")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CorpusAcronym:
    """An acronym with all expansions that a corpus gives it.

    Attributes:
        expansions: What it stands for and in how many abstracts, the most frequent first; wordings of the same
            thing, such as "convolution" next to "convolutional neural network", are counted together.
    """

    expansions: tuple[tuple[int, int], ...]

    def meaning(self, least_share: float) -> int | None:
        """The expansion that an abstract without one means too, ``None`` where that is open.

        Args:
            least_share: How large a share of the abstracts must give it; 1 allows no second expansion.
        """
        name, abstracts = self.expansions[0]
        return (
            name if abstracts >= least_share * sum(count for _, count in self.expansions) else None
        )


def corpus_acronym(
    counts: Mapping[int, int], spaced: Mapping[int, str], uses: int
) -> CorpusAcronym | None:
    """Counts wordings of the same expansion together.

    Args:
        counts: Abstracts by the number of the expansion.
        spaced: The expansions in normal form with spaces.
        uses: Abstracts that use the acronym, with an expansion or without one.

    Returns:
        The expansions that enough of these abstracts give, or ``None`` where there is none.
    """
    groups: list[list[int]] = []
    for each in sorted(counts, key=lambda name: (-counts[name], spaced[name])):
        alike = next(
            (group for group in groups if same_meaning(spaced[group[0]], spaced[each])), None
        )
        if alike is None:
            groups.append([each])
        else:
            alike.append(each)
    merged = [
        (group[0], abstracts)
        for group in groups
        if (abstracts := sum(counts[each] for each in group))
        >= uses
        * (_USE_SHARE if _FUNCTION_WORDS.isdisjoint(spaced[group[0]].split()) else _CLAUSE_SHARE)
    ]
    return CorpusAcronym(tuple(sorted(merged, key=lambda pair: -pair[1]))) if merged else None


def same_meaning(first: str, second: str) -> bool:
    """Whether two expansions of one acronym are wordings of one thing: their words begin alike.

    >>> same_meaning("convolutional neural network", "convolution neural network")
    True
    >>> same_meaning("gated recurrent unit", "gated recursive unit")
    False
    >>> same_meaning("single shot detector", "single shot detection")
    True
    """
    pairs = list(zip(first.split(), second.split(), strict=False))
    if len(first.split()) != len(second.split()):
        return first.replace(" ", "") == second.replace(" ", "")
    return all(_alike(pair) for pair in pairs)


def _alike(words: Sequence[str]) -> bool:
    same = [first == second for first, second in zip(*words, strict=False)]
    common = len(list(takewhile(bool, same)))
    shortened = common == len(same) >= _SHORTEST
    stems = {_ENDING.sub("", each) for each in words}
    return (
        shortened
        or common >= _ALIKE * max(map(len, words))
        or (len(stems) == 1 and len(stems.pop()) >= _STEM)
    )
