"""The normal form of a mention: what two mentions must share to be called the same across abstracts."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache

from sciextract.text.plurals import singular


class MergeRule(IntFlag):
    """What had to be changed in a mention, or known about it, to find the node it means."""

    NONE = 0
    DETERMINER = 1
    CASE = 2
    HYPHEN = 4
    PLURAL = 8
    PUNCTUATION = 16
    SPACE = 32
    ACRONYM = 64
    CORPUS_ACRONYM = 128
    COREFERENCE = 256
    NESTED_ACRONYM = 512
    HEAD = 1024
    MODIFIER = 2048

    @property
    def words(self) -> tuple[str, ...]:
        """The rules in words, for people and files.

        >>> (MergeRule.CASE | MergeRule.PLURAL).words
        ('case', 'plural')
        """
        return tuple([_WORDS[rule] for rule in MergeRule if rule and rule in self])


_WORDS = {
    MergeRule.DETERMINER: "determiner",
    MergeRule.CASE: "case",
    MergeRule.HYPHEN: "hyphen",
    MergeRule.PLURAL: "plural",
    MergeRule.PUNCTUATION: "punctuation",
    MergeRule.SPACE: "space",
    MergeRule.ACRONYM: "acronym expanded in the same text",
    MergeRule.CORPUS_ACRONYM: "acronym that most of the corpus expands so",
    MergeRule.COREFERENCE: "coreference",
    MergeRule.NESTED_ACRONYM: "acronym within the name",
    MergeRule.HEAD: "last word that adds nothing",
    MergeRule.MODIFIER: "first word that adds nothing",
}


NAMING_VERSION = 3
"""Counts up when the same mention gets another normal form, so that no graph mixes both."""

_DETERMINERS = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "our", "their", "its", "his", "her", "my",
     "your", "such", "some", "any", "each", "every", "both", "all", "another", "other", "said")
)  # fmt: skip
_PRONOUNS = frozenset(
    ("it", "they", "them", "itself", "themselves", "which", "who", "whom", "one", "ones", "we", "us",
     "he", "she", "i", "you", "former", "latter", "here", "there", "what")
)  # fmt: skip
_HYPHENS = re.compile("[-\u2010-\u2015\u2212\u00ad_/~]+")
_DROPPED = re.compile("[\"'`´‘’‚“”„«»,;:?!(){}\\[\\]$\\\\|<>…]+")
_FULL_STOP = re.compile(r"(?<![0-9])\.|\.(?![0-9])")
_GAP = re.compile(r"(?<=[0-9]) (?=[0-9])")
_ACRONYM = re.compile(r"[A-Za-z0-9&+#*-]{2,10}")
_CONTROLS = {"Cc", "Cf", "Cs", "Co", "Cn"}
_REMEMBERED = 1 << 17
_LOUDEST_PLURAL = 5
# Plain numbers: this runs for every mention of a corpus, and flags cost ten times as much to join.
_DETERMINER, _CASE, _HYPHEN = map(int, (MergeRule.DETERMINER, MergeRule.CASE, MergeRule.HYPHEN))
_PLURAL, _PUNCTUATION = map(int, (MergeRule.PLURAL, MergeRule.PUNCTUATION))


@dataclass(frozen=True, slots=True)
class NormalForm:
    """What a mention comes down to.

    Attributes:
        key: Lower case, without spaces; of an acronym as it is written, such as ``SVM``. Empty for a mention that
            names nothing, such as ``this`` or ``it``.
        folded: The key in lower case.
        spaced: The same with spaces between words, to see which forms differ by a space only.
        rules: What had to be changed: bits of :class:`~sciextract.graph.normalisation.MergeRule`.
        words: The words of ``spaced`` with their capitals.
    """

    key: str
    folded: str
    spaced: str
    rules: int
    words: tuple[str, ...]

    @property
    def is_acronym(self) -> bool:
        """Whether the key keeps its capitals, because an acronym may not be what the lower case word is."""
        return self.key != self.folded


@lru_cache(maxsize=_REMEMBERED)
def normal_form(surface: str) -> NormalForm:
    """Takes away determiner, case, hyphens, plural of the last word and punctuation.

    >>> normal_form("the Support-Vector Machines").key
    'supportvectormachine'
    >>> normal_form("The SVMs").key, normal_form("data set").key == normal_form("Datasets").key
    ('SVM', True)
    """
    words = _plain(surface).split()
    bare = _without_determiners(words)
    text = " ".join(bare)
    pure = "".join(
        bare
    ).isalnum()  # then there is nothing to split or to drop, and no need to look for it
    apart = bare if pure else _without_punctuation(_HYPHENS.sub(" ", text)).split()
    last = _singular(apart)
    spaced = " ".join([*apart[:-1], last]) if apart else ""
    folded = _joined(spaced.casefold())
    acronym = len(bare) == 1 and _is_acronym(last if pure else _with_hyphens(text, last))
    if not any(map(str.isalnum, folded)) or (folded in _PRONOUNS and not acronym):
        return NormalForm("", "", "", 0, ())
    key = _joined(spaced) if acronym else folded
    rules = (
        _DETERMINER * (len(bare) < len(words))
        | _CASE * (text != text.casefold() and not acronym)
        | _HYPHEN * (not pure and _HYPHENS.search(text) is not None)
        | _PLURAL * (last != apart[-1])
        | _PUNCTUATION * (not pure and text != _without_punctuation(text))
    )
    return NormalForm(key, folded, spaced.casefold(), rules, (*apart[:-1], last))


def _plain(surface: str) -> str:
    """Compatibility characters unified; control and format characters, which nobody sees, gone."""
    if surface.isascii() and surface.isprintable():
        return surface
    text = unicodedata.normalize("NFKC", surface)
    return "".join([_printable(character) for character in text])


def _printable(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character) in _CONTROLS else character


def _without_determiners(words: list[str]) -> list[str]:
    # "A" at the end is a name (of a class, of an algorithm), "this" is none.
    end = len(words) - (1 if words and len(words[-1]) == 1 else 0)
    first = 0
    while first < end and words[first].casefold() in _DETERMINERS:
        first += 1
    return words[first:]


def _without_punctuation(text: str) -> str:
    return " ".join(_FULL_STOP.sub(" ", _DROPPED.sub("", text)).split())


def _singular(words: list[str]) -> str:
    """The last word in the singular; of one in capitals only where it is too long for an acronym."""
    if not words:
        return ""
    last = words[-1]
    if last.isupper() and len(last) <= _LOUDEST_PLURAL:
        return last
    found = singular(last.casefold())
    if found != last.casefold():
        return last[: len(found)] if last.casefold().startswith(found) else found
    return _acronym_singular(last)


def _acronym_singular(word: str) -> str:
    """``GPU`` for ``GPUs``, ``GAN`` for ``GANs``: endings that no lower case word would lose."""
    return word[:-1] if word.endswith("s") and word[:-1].isupper() and len(word) > 2 else word


def _with_hyphens(word: str, last: str) -> str:
    """The word with its last part in the singular."""
    return "-".join([*_HYPHENS.split(word)[:-1], last])


def _is_acronym(word: str) -> bool:
    """One short word with two or more capitals, and as many capitals as small letters at least."""
    if not _ACRONYM.fullmatch(word):
        return False
    capitals = sum(map(str.isupper, word))
    return capitals >= 2 and 2 * capitals >= sum(map(str.isalpha, word))


def _joined(spaced: str) -> str:
    """Spaces go, except between two digits: ``1 0`` is not ``10``."""
    if " " not in spaced:
        return spaced
    return _GAP.sub("\x00", spaced).replace(" ", "").replace("\x00", " ")


def clean(string: str) -> str:
    """The string with a question mark for each lone surrogate, which no UTF-8 file can hold."""
    return string if string.isascii() else string.encode("utf-8", "replace").decode("utf-8")
