"""Acronyms and their expansions in one text.

A. S. Schwartz and M. A. Hearst: A simple algorithm for identifying abbreviation definitions in biomedical text,
Pacific Symposium on Biocomputing 2003. Own code: the package ``abbreviations`` (last released in 2019) gives strings
without their places, and the one of scispaCy needs spaCy and a model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from os.path import commonprefix

_BRACKETS = re.compile(r"\(([^()]{2,120})\)")
_END_OF_SENTENCE = re.compile(r"[.?!]\s|\n")
_CUT = re.compile(r"[;,:]\s")
_LONGEST_SHORT = 10
_MOST_WORDS = 2
_WORD = re.compile(r"[^\W_]+")
_LAST_WORD = re.compile(r"(\S{2,10})\s*$")
_LISTED = "a an and as at by for from in into is of on or that the to under via we which with"
FUNCTION_WORDS = frozenset(_LISTED.split())


def find_expansions(text: str) -> dict[str, str]:
    """Each acronym that a text expands, with its first expansion, as both are written and in text order.

    >>> find_expansions("We train a support vector machine (SVM) and a CNN (convolutional neural network).")
    {'SVM': 'support vector machine', 'CNN': 'convolutional neural network'}
    """
    found: dict[str, str] = {}
    for match in _BRACKETS.finditer(text):
        before = _END_OF_SENTENCE.split(text[: match.start()])[-1]
        inside = _CUT.split(match[1], maxsplit=1)[0].strip()
        if _is_short_form(inside):
            words = list(re.finditer(r"\S+", before))
            most = min(len(inside) + 5, 2 * len(inside))
            nearest = before[words[-most].start() if len(words) > most else 0 :].rstrip()
            if long := long_form(inside, nearest):
                found.setdefault(_bare(inside), long)
            continue
        named = _LAST_WORD.search(before)
        if named and _is_short_form(named[1]) and long_form(named[1], inside):
            found.setdefault(_bare(named[1]), inside)
    return found


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
    words = list(_WORD.finditer(candidate))[-len(short) :]
    if "".join([word[0][0] for word in words]).lower() == short.lower():
        long = candidate[words[0].start() :].strip()
        if _is_long_form(short, long):
            return long
    place, letters = len(candidate), list(map(str.lower, candidate))
    for index, character in reversed(list(enumerate(map(str.lower, short)))):
        if character.isalnum():
            places = [at for at, letter in enumerate(letters[:place]) if letter == character]
            if index == 0:
                places = [at for at in places if at == 0 or not candidate[at - 1].isalnum()]
            if not places:
                return ""
            place = places[-1]
    long = candidate[place:].strip()
    return long if _is_long_form(short, long) else ""


def _is_long_form(short: str, long: str) -> bool:
    words = re.split(r"[\s-]+", long)
    enough = len(long) > len(short) and len(words) <= min(len(short) + 5, 2 * len(short))
    if not enough or short in long.split() or "(" in long or ")" in long:
        return False
    if FUNCTION_WORDS.isdisjoint(words):
        return True
    # All other words must begin with letters of the acronym, in order: "Light detection and ranging" is LiDAR;
    # "role in facilitating visible", which holds R, G and B, is not RGB.
    rest = iter(short.casefold())
    initials = [word[0].casefold() for word in words if word and word not in FUNCTION_WORDS]
    return all(initial in rest for initial in initials)


def _is_short_form(word: str) -> bool:
    """Two to ten characters in at most two words, with a capital, and beginning with a letter or a digit."""
    fits = 2 <= len(word) <= _LONGEST_SHORT and len(word.split()) <= _MOST_WORDS
    return fits and word[0].isalnum() and any(map(str.isupper, word))


def _bare(short: str) -> str:
    """Without the plural's ending: ``CNN`` for ``CNNs``."""
    return short[:-1] if short.endswith("s") and short[:-1].isupper() and len(short) > 2 else short


_ALIKE = 0.7
"""Of the longer of two words, so much begins alike: "private" and "privacy", not "recurrent" and "recursive"."""
_SHORTEST = 3
"""Letters that a shortened word has: "net" for "network"."""
_ENDING = re.compile(r"(?<=\w{4})(?:ion|or|er|ing|ed|e)s?$")


def group_expansions(counts: Mapping[int, int], spaced: Mapping[int, str]) -> list[tuple[int, int]]:
    """What an acronym stands for in a corpus and in how many abstracts, the most frequent first.

    Wordings of the same thing, such as "convolution" next to "convolutional neural network", count together.

    Args:
        counts: Abstracts by the number of the expansion.
        spaced: The expansions in normal form with spaces.
    """
    groups: Counter[int] = Counter()
    for expansion in sorted(counts, key=lambda name: (-counts[name], spaced[name])):
        alike = (one for one in groups if same_meaning(spaced[one], spaced[expansion]))
        groups[next(alike, expansion)] += counts[expansion]
    return groups.most_common()


def same_meaning(first: str, second: str) -> bool:
    """Whether two expansions of one acronym are wordings of one thing: their words begin alike.

    >>> same_meaning("convolutional neural network", "convolution neural network")
    True
    >>> same_meaning("gated recurrent unit", "gated recursive unit")
    False
    >>> same_meaning("multibox detector", "multibox detection")
    True
    >>> same_meaning("differential privacy", "differentially private")
    True
    >>> same_meaning("magnetic resonance image", "magnetic resonance imaging")
    True
    >>> same_meaning("learning from human feedback", "learning with human feedback")
    True
    """
    # "Learning from feedback" and "learning with feedback" are one thing: function words say little.
    one = [word for word in first.split() if word not in FUNCTION_WORDS]
    other = [word for word in second.split() if word not in FUNCTION_WORDS]
    if len(one) != len(other):
        return first.replace(" ", "") == second.replace(" ", "")
    for words in zip(one, other, strict=True):
        common = len(commonprefix(words))  # noqa: RUF071 - characters are meant
        short, long = sorted(map(len, words))
        alike = common == short >= _SHORTEST or common >= _ALIKE * long
        if not alike and len({_ENDING.sub("", word) for word in words}) > 1:
            return False
    return True
