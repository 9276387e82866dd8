"""Lexical features of a pair of mentions: the words that both share, for the antecedent scorer.

Computed on the words of a document, not on subwords, by inference and training alike. Words are compared in
Unicode's compatibility form and without case, so that full-width letters and ligatures equal plain ones. Word lists
(determiners, pronouns, plurals) are English; in other languages and scripts these features are 0.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sciextract.inference.network import Floats, Ints
from sciextract.text.plurals import singular

Bools = NDArray[np.bool_]

FEATURES = {
    "same string": "Both have the same words.",
    "same stems": "The same words, plurals counting as singulars.",
    "same without determiner": "The same stems after leading determiners and possessives.",
    "same last word": "The last content words have the same stem.",
    "same head": "The last content words before a preposition have the same stem.",
    "same first word": "The first content words have the same stem.",
    "shared word": "Some content word is in both.",
    "overlap": "Shared content words over all content words of both (Jaccard), 0 to 1.",
    "mention contained": "All content words of the mention are in the antecedent.",
    "antecedent contained": "All content words of the antecedent are in the mention.",
    "shared word, other head": "Some content word is in both, and the heads differ.",
    "modifiers contradict": "Same head, and each has content words that the other lacks.",
    "numbers contradict": "Each has words with digits, and none of them is in both.",
    "number differs": "Same head, in the plural in one and in the singular in the other.",
    "acronym": "One is the acronym of the other: its initials, hyphenated words split.",
    "acronym in parentheses": "That, with at most one word between them.",
    "acronym inside": "A word of one is the acronym of the other.",
    "nearest same head": "Same head, and no other mention with that head stands between them.",
    "sentences between": "Sentences from antecedent to mention, at most 6, over 6.",
    "same sentence": "Both are in one sentence.",
    "length difference": "Words of the mention less words of the antecedent, from -4 to 4, over 4.",
    "parenthesis": "The mention follows the antecedent in parentheses.",
    "apposition": "A comma, colon or dash, and perhaps a determiner, is all that stands between them.",
    "copula": 'One to five words stand between them, among them a form of "to be" or "called".',
    "mention plural": "The head of the mention is a plural.",
    "mention one word": "The mention is one word.",
    "mention pronoun": "The mention is a pronoun.",
    "mention definite": "It starts with, or follows, a definite article, demonstrative or possessive.",
    "mention demonstrative": "The same, demonstratives only.",
    "mention indefinite": "It starts with, or follows, an indefinite article.",
    "antecedent plural": "The head of the antecedent is a plural.",
    "antecedent one word": "The antecedent is one word.",
    "antecedent pronoun": "The antecedent is a pronoun.",
    "antecedent definite": "It starts with, or follows, a definite article, demonstrative or possessive.",
    "antecedent demonstrative": "The same, demonstratives only.",
    "antecedent indefinite": "It starts with, or follows, an indefinite article.",
    "antecedent in first sentence": "The antecedent is in the first sentence of the text.",
}
"""Every feature by name, in the order of the columns of :meth:`MentionWords.features`."""

_DETERMINERS = {"the"}
_DEMONSTRATIVES = {"this", "these", "that", "those", "such", "aforementioned", "same"}
_POSSESSIVES = {"our", "its", "their", "his", "her", "my", "your", "whose"}
_INDEFINITE = {"a", "an", "another", "some", "any"}
_PRONOUNS = {
    "he", "her", "him", "his", "it", "its", "itself", "one", "ones", "our", "ours", "she", "that", "their", "theirs",
    "them", "themselves", "these", "they", "this", "those", "we", "us", "which", "who", "both", "former", "latter",
}  # fmt: skip
_PREPOSITIONS = {
    "about", "among", "as", "at", "between", "by", "for", "from", "in", "into", "of", "on", "over", "that", "through",
    "to", "under", "using", "via", "which", "with", "within", "without",
}  # fmt: skip
_OTHER_FUNCTION_WORDS = {"and", "or", "but", "is", "are", "be", "been", "each", "other", "not"}
_COPULAS = {
    "is",
    "are",
    "was",
    "were",
    "be",
    "called",
    "named",
    "termed",
    "i.e.",
    "namely",
    "dubbed",
}
_OPENING, _CLOSING = {"(", "[", "{", "-lrb-", "-lsb-"}, {")", "]", "}", "-rrb-", "-rsb-"}
_BREAKS = {",", ":", ";", "-", "--", "\u2013", "\u2014"}
_HYPHENS = "-\u2010\u2011\u2012\u2013/"

_DEFINITE, _DEMONSTRATIVE, _A, _PRONOUN, _CONTENT, _PLURAL, _NUMBER, _PREPOSITION = (
    1 << bit for bit in range(8)
)
_COPULA, _OPEN, _CLOSE, _BREAK, _LEADING = (1 << bit for bit in range(8, 13))

_LISTS = (
    (_DETERMINERS | _DEMONSTRATIVES | _POSSESSIVES, _DEFINITE),
    (_DEMONSTRATIVES, _DEMONSTRATIVE),
    (_INDEFINITE, _A),
    (_PRONOUNS, _PRONOUN),
    (_PREPOSITIONS, _PREPOSITION),
    (_COPULAS, _COPULA),
    (_OPENING, _OPEN),
    (_CLOSING, _CLOSE),
    (_BREAKS, _BREAK),
    (_DETERMINERS | _DEMONSTRATIVES | _POSSESSIVES | _INDEFINITE, _LEADING),
)
_NO_CONTENT = set().union(
    _DETERMINERS, _DEMONSTRATIVES, _POSSESSIVES, _INDEFINITE, _PRONOUNS, _PREPOSITIONS, _COPULAS,
    _OTHER_FUNCTION_WORDS, _OPENING, _CLOSING,
)  # fmt: skip


class _Word(NamedTuple):
    """A word: folded, in the singular, its initials, its letters if it looks like an acronym, and what it is."""

    folded: str
    stem: str
    initials: str
    acronym: str
    kind: int


_LONGEST_CACHED, _MOST_CACHED = 40, 10
"""Characters of a word and words of a mention that are kept; longer ones hardly repeat."""


def _word(text: str) -> _Word:
    """The word; words of usual length are kept, for they come again."""
    return _cached(text) if len(text) <= _LONGEST_CACHED else _analysed(text)


def _analysed(text: str) -> _Word:
    plain = unicodedata.normalize("NFKC", text)
    folded = plain.casefold()
    stem = singular(folded)
    kind = sum(flag for words, flag in _LISTS if folded in words)
    if folded not in _NO_CONTENT and any(map(str.isalnum, folded)):
        kind |= _CONTENT
    if stem != folded:
        kind |= _PLURAL
    if any(map(str.isdigit, folded)):
        kind |= _NUMBER
    initials = folded[:1] if folded[:1].isalnum() else ""
    for before, letter in itertools.pairwise(folded):
        if before in _HYPHENS and letter.isalnum():
            initials += letter
    return _Word(folded, stem, initials, _acronym(plain), kind)


_cached = lru_cache(maxsize=1 << 15)(_analysed)


def _acronym(word: str) -> str:
    """The folded letters of a word with two capitals and at most ten letters, without the s of a plural; else nothing.

    >>> [_acronym(word) for word in ("HMMs", "n-gram", "CRF", "Model", "DiT")]
    ['hmm', '', 'crf', '', 'dit']
    """
    letters = "".join(filter(str.isalnum, word))
    if letters.endswith("s") and letters[:-1].isupper():
        letters = letters[:-1]
    capitals = sum(map(str.isupper, letters))
    return letters.casefold() if capitals >= 2 and len(letters) <= 10 else ""


class _Phrase(NamedTuple):
    """A mention by itself.

    Attributes:
        names: Hashes of the string, the stems, those without leading determiners, the last content word, the head and
            the first content word; 0 for nothing.
        acronyms: The whole mention as an acronym, one of its words as an acronym, the initials of all words, those
            of content words; hashes of at least two letters, 0 for nothing.
        content: Stems of its content words, each once.
        numbers: Those with digits.
        length: Its words.
        head: What its head is.
        pronoun: Whether it is nothing but a pronoun.
    """

    names: tuple[int, ...]
    acronyms: tuple[int, ...]
    content: frozenset[str]
    numbers: frozenset[str]
    length: int
    head: int
    pronoun: bool


def _phrase(texts: tuple[str, ...]) -> _Phrase:
    """The mention; usual ones are kept, for they come again, in training once an epoch."""
    usual = len(texts) <= _MOST_CACHED and all(len(text) <= _LONGEST_CACHED for text in texts)
    return _cached_phrase(texts) if usual else _described(texts)


def _described(texts: tuple[str, ...]) -> _Phrase:
    words = [_word(text) for text in texts]
    content = [word for word in words if word.kind & _CONTENT]
    stems = [word.stem for word in words]
    bare = next((n for n, word in enumerate(words) if not word.kind & _LEADING), len(words))
    head = _head(words)
    last, first = (content[-1].stem, content[0].stem) if content else ("", "")
    acronyms = (
        words[0].acronym if len(words) == 1 else "",
        next((word.acronym for word in words if word.acronym), ""),
        "".join([word.initials for word in words]),
        "".join([word.initials for word in content]),
    )
    names = (
        " ".join([word.folded for word in words]), " ".join(stems), " ".join(stems[bare:]),
        last, head.stem if head else "", first,
    )  # fmt: skip
    return _Phrase(
        names=tuple([hash(each) if each else 0 for each in names]),
        acronyms=tuple([hash(each) if len(each) > 1 else 0 for each in acronyms]),
        content=frozenset([word.stem for word in content]),
        numbers=frozenset([word.stem for word in content if word.kind & _NUMBER]),
        length=len(words),
        head=head.kind if head else 0,
        pronoun=bool(words) and all(word.kind & _PRONOUN for word in words),
    )


_cached_phrase = lru_cache(maxsize=1 << 14)(_described)


def _head(words: Sequence[_Word]) -> _Word | None:
    """The last content word before the first preposition that follows one; ``None`` without content words."""
    head = None
    for word in words:
        if word.kind & _CONTENT:
            head = word
        elif head is not None and word.kind & _PREPOSITION:
            break
    return head


@dataclass(frozen=True, slots=True)
class MentionWords:
    """What the features need to know of the mentions of a document; each array has a row for each mention.

    Attributes:
        names: int64 (mentions, 6), as in :class:`_Phrase`.
        acronyms: int64 (mentions, 4), as in :class:`_Phrase`.
        content: uint8 (mentions, bytes): content words as bits.
        numbers: uint8 (mentions, bytes): words with digits as bits.
        sizes: int64 (mentions, 3): words, content words, words with digits.
        places: int64 (mentions, 3): first word, last word, sentence.
        nearest: int64 (mentions,): first word of the nearest earlier mention with the same head, or a number after
            all words.
        own: float32 (mentions, 7): the features of an antecedent; all but the last one are also those of a mention.
        before: int64 (mentions, 2): kinds of the word before and the one before that.
        closed: bool (mentions,): whether a bracket closes after it.
        copulas: int64 (words + 1,): copulas before each word of the document.
    """

    names: Ints
    acronyms: Ints
    content: NDArray[np.uint8]
    numbers: NDArray[np.uint8]
    sizes: Ints
    places: Ints
    nearest: Ints
    own: Floats
    before: Ints
    closed: Bools
    copulas: Ints

    @staticmethod
    def of(texts: Sequence[str], spans: Ints, ends: Ints) -> MentionWords:
        """The mentions of a document.

        Args:
            texts: Its words.
            spans: int64 (mentions, 2), first and last word, inclusive, in text order. A last word before the first
                one is a mention without words.
            ends: int64 (words,), index after the last word of each word's sentence.
        """
        words = tuple(texts)
        phrases = [_phrase(words[first : last + 1]) for first, last in spans.tolist()]
        names = _rows([phrase.names for phrase in phrases], 6)
        sizes = [(each.length, len(each.content), len(each.numbers)) for each in phrases]
        kinds = np.array([0, 0, *[_word(word).kind for word in words], 0, 0], dtype=np.int64)
        starts, stops = np.clip(spans, 0, len(words)).T
        first, before = kinds[starts + 2], kinds[starts + 1]
        sentence = np.searchsorted(np.unique(ends), np.append(ends, len(words))[starts])
        determiner = first | np.where(first & _LEADING, 0, before)
        heads = np.array([phrase.head for phrase in phrases], dtype=np.int64)
        own = (
            heads & _PLURAL != 0,
            [phrase.length == 1 for phrase in phrases],
            [phrase.pronoun for phrase in phrases],
            determiner & _DEFINITE != 0,
            determiner & _DEMONSTRATIVE != 0,
            determiner & _A != 0,
            sentence == 0,
        )
        vocabulary: dict[str, int] = {}
        return MentionWords(
            names=names,
            acronyms=_rows([phrase.acronyms for phrase in phrases], 4),
            content=_bits([phrase.content for phrase in phrases], vocabulary),
            numbers=_bits([phrase.numbers for phrase in phrases], vocabulary),
            sizes=_rows(sizes, 3),
            places=np.stack([starts, stops, sentence], axis=1),
            nearest=_nearest(names[:, 4], starts, stops, len(words) + 1),
            own=np.array(own, dtype=np.float32).T,
            before=np.stack([before, kinds[starts]], axis=1),
            closed=kinds[stops + 3] & _CLOSE != 0,
            copulas=np.concatenate([[0], np.cumsum(kinds[2:-2] & _COPULA != 0)]),
        )

    def features(self, links: Ints) -> Floats:
        """The features of links (links, 2), mention and antecedent. Shape: (links, len(FEATURES))."""
        late, early = links[:, 0], links[:, 1]
        names = self.names[late]
        same = (names == self.names[early]) & (names != 0)
        same_head = same[:, 4]
        mine, other = self.sizes[late], self.sizes[early]
        shared = _common(self.content, late, early)
        some = shared > 0
        union = mine[:, 1] + other[:, 1] - shared
        whole, other_whole = shared == mine[:, 1], shared == other[:, 1]
        same_numbers = _common(self.numbers, late, early)
        place, other_place = self.places[late], self.places[early]
        sentences = place[:, 2] - other_place[:, 2]
        between = place[:, 0] - other_place[:, 1] - 1
        acronym, inside = self._acronyms(late, early)
        before, next_but_one = self.before[late].T
        one, broken = between == 1, before & _BREAK != 0
        broken_before = (next_but_one & _BREAK != 0) & (before & _LEADING != 0)
        copulas = self.copulas[place[:, 0]] > self.copulas[other_place[:, 1] + (between >= 0)]
        own, antecedent = self.own[late], self.own[early]
        columns = (
            some,
            shared / np.maximum(union, 1),
            some & whole,
            some & other_whole,
            some & ~same_head,
            same_head & ~whole & ~other_whole,
            (mine[:, 2] > 0) & (other[:, 2] > 0) & (same_numbers == 0),
            same_head & (own[:, 0] != antecedent[:, 0]),
            acronym,
            acronym & (between >= 0) & (between <= 1),
            inside,
            same_head & (other_place[:, 1] >= self.nearest[late]),
            np.minimum(sentences, 6) / 6,
            sentences == 0,
            np.clip(mine[:, 0] - other[:, 0], -4, 4) / 4,
            one & self.closed[late] & (before & _OPEN != 0),
            (one & broken) | ((between == 2) & broken_before),
            (between >= 1) & (between <= 5) & copulas,
        )
        found = np.empty((len(links), len(FEATURES)), dtype=np.float32)
        found[:, :6] = same
        for column, values in enumerate(columns, 6):
            found[:, column] = values
        found[:, 24:30] = own[:, :-1]
        found[:, 30:] = antecedent
        return found

    def _acronyms(self, late: Ints, early: Ints) -> tuple[Bools, Bools]:
        """Whether one mention, or a word of it, is the acronym of the other."""
        mine, other = self.acronyms[late], self.acronyms[early]
        short, other_short = mine[:, :2, None], other[:, :2, None]
        forward = (short == other[:, None, 2:]) & (short != 0)
        backward = (other_short == mine[:, None, 2:]) & (other_short != 0)
        whole, inside = (forward | backward).any(axis=2).T
        return whole, inside


def _rows(values: Sequence[tuple[int, ...]], width: int) -> Ints:
    return np.array(values, dtype=np.int64).reshape(-1, width)


def _bits(sets: Sequence[frozenset[str]], vocabulary: dict[str, int]) -> NDArray[np.uint8]:
    """Sets of words as bits; new words join the vocabulary. Shape: (sets, bytes)."""
    numbers = np.array(
        [vocabulary.setdefault(word, len(vocabulary)) for each in sets for word in each],
        dtype=np.int64,
    )
    found = np.zeros((len(sets), len(vocabulary) // 8 + 1), dtype=np.uint8)
    rows = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    np.bitwise_or.at(found, (rows, numbers >> 3), (1 << (numbers & 7)).astype(np.uint8))
    return found


def _nearest(heads: Ints, starts: Ints, stops: Ints, none: int) -> Ints:
    """Per mention the first word of the nearest one with the same head that ends before it."""
    seen: dict[int, list[tuple[int, int]]] = {}
    found = []
    rows = zip(heads.tolist(), starts.tolist(), stops.tolist(), strict=True)
    for head, start, stop in rows:
        earlier = seen.setdefault(head, []) if head else []
        found.append(next((first for first, last in reversed(earlier) if last < start), none))
        earlier.append((start, stop))
    return np.array(found, dtype=np.int64)


_SET_BITS = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def _common(sets: NDArray[np.uint8], left: Ints, right: Ints) -> Ints:
    """How many bits both sets of each pair have. Shape: (pairs,)."""
    return np.asarray(_SET_BITS[sets[left] & sets[right]].sum(axis=1), dtype=np.int64)
