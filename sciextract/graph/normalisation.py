"""The normal form of a mention, which mentions of one thing share across abstracts; and words that tell little in names.

All word lists are in lower case and in the singular.
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntFlag
from functools import lru_cache
from typing import NamedTuple

from sciextract.text.english import singular
from sciextract.text.spelling import american


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
    VERSION = 4096
    SPELLING = 8192
    NUMERAL = 32768
    SYNONYM = 65536
    READER = 16384
    LINK = 131072

    @property
    def words(self) -> tuple[str, ...]:
        """The rules in words, for people and files.

        >>> (MergeRule.CASE | MergeRule.PLURAL).words
        ('case', 'plural')
        """
        return tuple([_WORDS.get(rule, str(rule.name).lower()) for rule in self])


# Of those whose names say too little.
_WORDS = {
    MergeRule.ACRONYM: "acronym expanded in the same text",
    MergeRule.CORPUS_ACRONYM: "acronym that most of the corpus expands so",
    MergeRule.NESTED_ACRONYM: "acronym within the name",
    MergeRule.HEAD: "last word that adds nothing",
    MergeRule.MODIFIER: "first word that adds nothing",
    MergeRule.VERSION: "version or part of a data set",
    MergeRule.SPELLING: "British or American spelling",
    MergeRule.SYNONYM: "synonym in a list",
    MergeRule.READER: "a reader merged it",
    MergeRule.LINK: "linked to the same concept",
}


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_DETERMINERS = _words(
    "a an the this that these those our their its his her my your such some any each every both all another other said"
)
_PRONOUNS = _words(
    "it they them itself themselves which who whom one ones we us he she i you former latter here there what"
)
_HYPHENS = re.compile("[-\u2010-\u2015\u2212\u00ad_/~]+")
_DROPPED = re.compile("[\"'`´‘’‚“”„«»,;:?!(){}\\[\\]$\\\\|<>…]+")
_FULL_STOP = re.compile(r"(?<![0-9])\.|\.(?![0-9])")
_ACCENTS = re.compile("[\u0300-\u036f]")
_GAP = re.compile(r"(?<=[0-9]) (?=[0-9])")
_ACRONYM = re.compile(r"[A-Za-z0-9&+#*-]{2,10}")
_CONTROLS = {"Cc", "Cf", "Cs", "Co", "Cn"}
_REMEMBERED = 1 << 17
_LOUDEST_PLURAL = 5
# Plain numbers: this runs for every mention of a corpus, and flags cost ten times as much to join.
_DETERMINER, _CASE, _HYPHEN = map(int, (MergeRule.DETERMINER, MergeRule.CASE, MergeRule.HYPHEN))
_PLURAL, _PUNCTUATION, _SPELLING, _NUMERAL = map(
    int, (MergeRule.PLURAL, MergeRule.PUNCTUATION, MergeRule.SPELLING, MergeRule.NUMERAL)
)


class NormalForm(NamedTuple):
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
    """Takes away determiner, case, hyphens, plural of the last word, punctuation, British spelling and Roman numerals.

    >>> normal_form("the Support-Vector Machines").key
    'supportvectormachine'
    >>> normal_form("localisation of tumours").spaced
    'localization of tumor'
    >>> normal_form("The SVMs").key, normal_form("data set").key == normal_form("Datasets").key
    ('SVM', True)
    """
    if not (surface.isascii() and surface.isprintable()):
        # Compatibility characters are unified; control and format characters, which nobody sees, go.
        text = without_accents(surface)
        seen = [one for one in text if one.isspace() or unicodedata.category(one) not in _CONTROLS]
        surface = "".join([" " if character.isspace() else character for character in seen])
    words = surface.split()
    bare = _without_determiners(words)
    text = " ".join(bare)
    # Then there is nothing to split or to drop, and no need to look for it: true for three of four mentions.
    pure = "".join(bare).isalnum()
    apart = bare if pure else _without_punctuation(_HYPHENS.sub(" ", text)).split()
    last = _singular(apart[-1]) if apart else ""
    plural = bool(apart) and last != apart[-1]
    written = [*apart[:-1], last] if apart else []
    numbered = read_numerals(written)
    apart = [_spell(word) for word in numbered]
    last = apart[-1] if apart else ""
    spaced = " ".join(apart)
    folded = _join(spaced.casefold())
    acronym = False
    if len(bare) == 1:
        # One short word with two or more capitals, and as many capitals as small letters at least.
        whole = last if pure else "-".join([*_HYPHENS.split(text)[:-1], last])
        capitals = sum(map(str.isupper, whole))
        many = capitals >= 2 and 2 * capitals >= sum(map(str.isalpha, whole))
        acronym = many and _ACRONYM.fullmatch(whole) is not None
    if not any(map(str.isalnum, folded)) or (folded in _PRONOUNS and not acronym):
        return NormalForm("", "", "", 0, ())
    key = _join(spaced) if acronym else folded
    rules = (
        _DETERMINER * (len(bare) < len(words))
        | _CASE * (text != text.casefold() and not acronym)
        | _HYPHEN * (not pure and _HYPHENS.search(text) is not None)
        | _PLURAL * plural
        | _SPELLING * (apart != numbered)
        | _NUMERAL * (numbered != written)
        | _PUNCTUATION * (not pure and text != _without_punctuation(text))
    )
    return NormalForm(key, folded, spaced.casefold(), rules, tuple(apart))


def _without_determiners(words: list[str]) -> list[str]:
    # "A" at the end is a name (of a class, of an algorithm), "this" is none.
    end = len(words) - (1 if words and len(words[-1]) == 1 else 0)
    first = 0
    while first < end and words[first].casefold() in _DETERMINERS:
        # "ALL" is a leukemia, by itself and in "ALL patients"; in "ALL PATIENTS" it is a determiner.
        loud = len(words[first]) > 1 and words[first].isupper()
        if loud and not " ".join(words[first + 1 :]).isupper():
            break
        first += 1
    return words[first:]


def without_determiner(surface: str) -> str:
    """A mention as a title.

    >>> without_determiner("The growth"), without_determiner("a")
    ('growth', 'a')
    """
    return " ".join(_without_determiners(surface.split())) or surface


_NUMERALS = _words(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand million billion "
    "first second third half several many few more most less least none high low higher lower"
)
_PARTICIPLE = re.compile(
    r"(?!infrared$)[a-z]{4,}(?<!e)(?<!watersh)(?<!testb)(?<!seab)(?<!riverb)(?<!flatb)(?<!rup)(?<!bip)ed$"
)
_PARTICIPLES = _words(
    "decreasing increasing resulting following remaining existing using including containing showing being varying "
    "corresponding underlying emerging growing"
)


def names_nothing(form: NormalForm) -> bool:
    """Whether a mention is a numeral, a number or a participle by itself, such as "two" or "increased", and names no thing.

    >>> [names_nothing(normal_form(surface)) for surface in ("two", "3.5 %", "increased", "testbed", "learning")]
    [True, True, True, False, False]
    """
    if form.is_acronym:
        return False
    words = form.spaced.split()
    if words and words[0].isalpha() and words[0] not in _NUMERALS:  # as nearly all mentions
        return len(words) == 1 and (
            words[0] in _PARTICIPLES or _PARTICIPLE.match(words[0]) is not None
        )
    return all(word in _NUMERALS or not any(map(str.isalpha, word)) for word in words)


_ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4", "V": "5"}
_NUMBERED = frozenset(("type", "phase", "stage", "grade", "class", "level"))


def read_numerals(words: list[str]) -> list[str]:
    """Words with Arabic numerals for Roman ones where something is numbered.

    >>> read_numerals(["type", "II", "diabetes"])
    ['type', '2', 'diabetes']
    """
    if _ROMAN.keys().isdisjoint(words):
        return words
    before = ["", *words]
    return [
        _ROMAN.get(word, word) if previous.casefold() in _NUMBERED else word
        for previous, word in zip(before, words, strict=False)
    ]


def _spell(word: str) -> str:
    """A word in American spelling; names with capitals inside, and acronyms, stay."""
    plain = word.casefold()
    found = american(plain)
    if found == plain:
        return word
    if word.isupper() and len(word) > _LOUDEST_PLURAL:
        return found.upper()
    if word[1:] != plain[1:]:
        return word
    return found if word == plain else found[:1].upper() + found[1:]


def without_accents(text: str) -> str:
    """The text with compatibility characters unified and without accents on letters, which not everybody types.

    >>> without_accents("Fréchet")
    'Frechet'
    """
    if text.isascii():
        return text
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", bare)


def _without_punctuation(text: str) -> str:
    return " ".join(_FULL_STOP.sub(" ", _DROPPED.sub("", text)).split())


def _singular(word: str) -> str:
    """A word in the singular; in capitals only where it is too long for an acronym, such as "BraTS"."""
    loud = word.isupper() and len(word) <= _LOUDEST_PLURAL
    if loud or (word.endswith("S") and not word.isupper()):
        return word
    found = singular(word.casefold())
    if found != word.casefold():
        return word[: len(found)] if word.casefold().startswith(found) else found
    # "GPU" for "GPUs", "GAN" for "GANs": endings that no lower case word would lose.
    return word[:-1] if word.endswith("s") and word[:-1].isupper() and len(word) > 2 else word


def _join(spaced: str) -> str:
    """Spaces go, except between two digits: ``1 0`` is not ``10``."""
    if " " not in spaced:
        return spaced
    return _GAP.sub("\x00", spaced).replace(" ", "").replace("\x00", " ")


def clean(string: str) -> str:
    """The string with a question mark for each lone surrogate, which no UTF-8 file can hold."""
    return string if string.isascii() else string.encode("utf-8", "replace").decode("utf-8")


METHOD_HEADS = _words(
    "algorithm approach architecture baseline engine framework method methodology model network paradigm procedure scheme setup solution strategy system technique technology"
)
"""Last words that add nothing to the name of a method: an "NMT system" is NMT."""

TASK_HEADS = frozenset(("application", "challenge", "problem", "task"))
"""Last words that add nothing to the name of a task."""

METRIC_HEADS = frozenset(("measure", "metric", "point", "score"))
"""Last words that add nothing to an acronym or a proper name of a metric, as in "BLEU score"."""

DATA_HEADS = frozenset(("corpus", "data", "dataset"))
"""Last words that stand for each other: "parallel corpus" and "parallel data"."""

DATA_PARTS = DATA_HEADS | _words(
    "benchmark challenge collection competition database dev development leaderboard set split suite test train training val validation"
)
"""Last words that leave the name of a data set the same: the "KITTI test set" is part of KITTI."""

MECHANISM = "mechanism"
"""Adds nothing to a single word either: an "attention mechanism" is attention."""

ADJECTIVES = _words(
    "art aware based box domain driven end free language level resource scale shot source space specific step target time trained wise"
)
"""Last words of what describes a thing, such as "sentence-level" or "low-resource", and is not a thing itself."""

EMPTY_MODIFIERS = _words(
    "conventional current different existing many new novel popular powerful proposed recent several strong traditional typical various vanilla"
)
"""First words that say how somebody judges a thing, not which one it is."""
