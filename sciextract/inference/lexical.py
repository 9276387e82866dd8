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
from sciextract.text.english import singular

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
    "is", "are", "was", "were", "be", "called", "named", "termed", "i.e.", "namely", "dubbed",
}  # fmt: skip
_OPENING, _CLOSING = {"(", "[", "{", "-lrb-", "-lsb-"}, {")", "]", "}", "-rrb-", "-rsb-"}
_BREAKS = {",", ":", ";", "-", "--", "\u2013", "\u2014"}
_HYPHENS = "-\u2010\u2011\u2012\u2013/"

_DEFINITE, _DEMONSTRATIVE, _A, _PRONOUN, _CONTENT, _PLURAL, _NUMBER, _PREPOSITION = (
    1 << bit for bit in range(8)
)
_COPULA, _OPEN, _CLOSE, _BREAK, _LEADING = (1 << bit for bit in range(8, 13))

_KINDS: dict[str, int] = {}
for _words, _flag in (
    (_DETERMINERS | _DEMONSTRATIVES | _POSSESSIVES, _DEFINITE | _LEADING),
    (_DEMONSTRATIVES, _DEMONSTRATIVE),
    (_INDEFINITE, _A | _LEADING),
    (_PRONOUNS, _PRONOUN),
    (_PREPOSITIONS, _PREPOSITION),
    (_COPULAS, _COPULA),
    (_OPENING, _OPEN),
    (_CLOSING, _CLOSE),
    (_BREAKS, _BREAK),
):
    _KINDS |= {word: _KINDS.get(word, 0) | _flag for word in _words}
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
    return _cached(text) if len(text) <= _LONGEST_CACHED else _analyse(text)


def _analyse(text: str) -> _Word:
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = plain.casefold()
    stem = singular(folded)
    kind = _KINDS.get(folded, 0)
    if folded not in _NO_CONTENT and any(map(str.isalnum, folded)):
        kind |= _CONTENT
    if stem != folded:
        kind |= _PLURAL
    if not folded.isalpha() and any(map(str.isdigit, folded)):
        kind |= _NUMBER
    initials = folded[:1] if folded[:1].isalnum() else ""
    if not folded.isalnum():
        for before, letter in itertools.pairwise(folded):
            if before in _HYPHENS and letter.isalnum():
                initials += letter
    # Nearly every word has no capital behind its first letter.
    acronym = "" if plain[1:].islower() else _acronym(plain)
    return _Word(folded, stem, initials, acronym, kind)


_cached = lru_cache(maxsize=1 << 15)(_analyse)


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
        numbers: Its first columns in :class:`MentionWords`: hashes of the string, the stems, those without leading
            determiners, the last content word, the head, the first content word; of the whole mention as an acronym,
            one of its words as an acronym, the initials of all words, those of content words (0 for nothing); how
            many words, content words, and words with digits it has.
        content: Stems of its content words, each once.
        digits: Those with digits.
        own: What its head and its words are: plural, one word, pronoun; 0 or 1.
    """

    numbers: tuple[int, ...]
    content: frozenset[str]
    digits: frozenset[str]
    own: tuple[int, int, int]


def _phrase(texts: tuple[str, ...]) -> _Phrase:
    """The mention; usual ones are kept, for they come again, in training once an epoch."""
    usual = len(texts) <= _MOST_CACHED and max(map(len, texts), default=0) <= _LONGEST_CACHED
    return _cached_phrase(texts) if usual else _describe(texts)


def _describe(texts: tuple[str, ...]) -> _Phrase:
    words = [_word(text) for text in texts]
    content = [word for word in words if word.kind & _CONTENT]
    stems = [word.stem for word in words]
    bare = 0
    while bare < len(words) and words[bare].kind & _LEADING:
        bare += 1
    head = _head(words)
    last, first = (content[-1].stem, content[0].stem) if content else ("", "")
    acronyms = [word.acronym for word in words if word.acronym]
    digits = [word.stem for word in content if word.kind & _NUMBER]
    all_content, all_digits = frozenset([word.stem for word in content]), frozenset(digits)
    pronoun = bool(words) and all(word.kind & _PRONOUN for word in words)
    return _Phrase(
        (
            _hash(" ".join([word.folded for word in words])),
            _hash(" ".join(stems)),
            _hash(" ".join(stems[bare:])),
            _hash(last),
            _hash(head.stem) if head else 0,
            _hash(first),
            _hash(words[0].acronym, 2) if len(words) == 1 else 0,
            _hash(acronyms[0], 2) if acronyms else 0,
            _hash("".join([word.initials for word in words]), 2),
            _hash("".join([word.initials for word in content]), 2),
            len(words),
            len(all_content),
            len(all_digits),
        ),
        all_content,
        all_digits,
        (int(head is not None and head.kind & _PLURAL != 0), int(len(words) == 1), int(pronoun)),
    )


def _hash(text: str, least: int = 1) -> int:
    """A number for a text; 0 where it has fewer characters than ``least``."""
    # Differs from process to process; numbers are only compared within one document.
    return hash(text) if len(text) >= least else 0


_cached_phrase = lru_cache(maxsize=1 << 14)(_describe)


def _head(words: Sequence[_Word]) -> _Word | None:
    """The last content word before the first preposition that follows one; ``None`` without content words."""
    head = None
    for word in words:
        if word.kind & _CONTENT:
            head = word
        elif head is not None and word.kind & _PREPOSITION:
            break
    return head


_NAMES, _SHORT, _LONG, _SIZES = slice(0, 6), slice(6, 8), slice(8, 10), slice(10, 13)
_START, _STOP, _SENTENCE, _NEAREST, _COPULAS_BEFORE, _COPULAS_AFTER = range(13, 19)
_IN_PARENTHESES, _AFTER_BREAK, _BREAK_BEFORE_DETERMINER = range(19, 22)
_OWN = slice(22, 29)
_PLURAL_HEAD = 22
"""Columns of :class:`MentionWords`."""


@dataclass(frozen=True, slots=True)
class MentionWords:
    """What the features need to know of the mentions of a document; each array has a row for each mention.

    Attributes:
        numbers: int64 (mentions, 29): those of :class:`_Phrase`; first word, last word, sentence; first word of the
            nearest earlier mention with the same head, or a number after all words; copulas before it, and up to the
            word after it; whether brackets stand around it, whether a comma or the like stands before it, and before a
            determiner that it follows; the features of an antecedent, all but the last one also those of a mention.
        content: uint8 (mentions, bytes): content words as bits.
        digits: uint8 (mentions, bytes): words with digits as bits.
    """

    numbers: Ints
    content: NDArray[np.uint8]
    digits: NDArray[np.uint8]

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
        count = len(words)
        phrases = [_phrase(words[first : last + 1]) for first, last in spans.tolist()]
        # Two words of padding on each side, so that looking around a mention needs no bounds.
        kinds = [0, 0, *[_word(word).kind for word in words], 0, 0]
        copulas = [0, *itertools.accumulate([kind & _COPULA != 0 for kind in kinds[2:-2]])]
        # One more for mentions without words, which may start behind the last word.
        sentence_of = [*ends.tolist(), count]
        sentences = {end: number for number, end in enumerate(sorted(set(sentence_of)))}
        nearest = _Nearest(count + 1)
        rows = []
        for phrase, (first, last) in zip(phrases, spans.tolist(), strict=True):
            start, stop = min(max(first, 0), count), min(max(last, 0), count)
            own, before, before_that = kinds[start + 2], kinds[start + 1], kinds[start]
            determiner = own if own & _LEADING else own | before
            sentence = sentences[sentence_of[start]]
            rows.append(
                (
                    *phrase.numbers,
                    start, stop, sentence, nearest.before(phrase.numbers[4], start, stop),
                    copulas[start], copulas[min(stop + 1, count)],
                    before & _OPEN != 0 and kinds[min(stop, count) + 3] & _CLOSE != 0,
                    before & _BREAK != 0,
                    before & _LEADING != 0 and before_that & _BREAK != 0,
                    *phrase.own,
                    determiner & _DEFINITE != 0, determiner & _DEMONSTRATIVE != 0, determiner & _A != 0,
                    sentence == 0,
                )
            )  # fmt: skip
        vocabulary: dict[str, int] = {}
        return MentionWords(
            np.array(rows, dtype=np.int64).reshape(-1, 29),
            _bits([phrase.content for phrase in phrases], vocabulary),
            _bits([phrase.digits for phrase in phrases], vocabulary),
        )

    def features(self, links: Ints) -> Floats:
        """The features of links (links, 2), mention and antecedent. Shape: (links, len(FEATURES))."""
        late, early = links[:, 0], links[:, 1]
        mine, other = self.numbers[late], self.numbers[early]
        same = (mine[:, _NAMES] == other[:, _NAMES]) & (mine[:, _NAMES] != 0)
        same_head = same[:, 4]
        (size, words, digits), (other_size, other_words, other_digits) = (
            mine[:, _SIZES].T,
            other[:, _SIZES].T,
        )
        shared = _common(self.content, late, early)
        some, whole, other_whole = shared > 0, shared == words, shared == other_words
        no_digits = ~(self.digits[late] & self.digits[early]).any(axis=1)
        sentences = mine[:, _SENTENCE] - other[:, _SENTENCE]
        between = mine[:, _START] - other[:, _STOP] - 1
        acronym, inside = _acronyms(mine, other)
        one = between == 1
        found = np.empty((len(links), len(FEATURES)), dtype=np.float32)
        found[:, :6] = same
        columns = (
            some,
            shared / np.maximum(words + other_words - shared, 1),
            some & whole,
            some & other_whole,
            some & ~same_head,
            same_head & ~whole & ~other_whole,
            (digits > 0) & (other_digits > 0) & no_digits,
            same_head & (mine[:, _PLURAL_HEAD] != other[:, _PLURAL_HEAD]),
            acronym,
            acronym & (between >= 0) & (between <= 1),
            inside,
            same_head & (other[:, _STOP] >= mine[:, _NEAREST]),
            np.minimum(sentences, 6) / 6,
            sentences == 0,
            np.minimum(np.maximum(size - other_size, -4), 4) / 4,
            one & (mine[:, _IN_PARENTHESES] != 0),
            (one & (mine[:, _AFTER_BREAK] != 0))
            | ((between == 2) & (mine[:, _BREAK_BEFORE_DETERMINER] != 0)),
            (between >= 1) & (between <= 5) & (mine[:, _COPULAS_BEFORE] > other[:, _COPULAS_AFTER]),
        )
        for column, values in enumerate(columns, 6):
            found[:, column] = values
        # The last of its own features, the first sentence, is asked of the antecedent only.
        found[:, 24:30] = mine[:, _OWN][:, :-1]
        found[:, 30:] = other[:, _OWN]
        return found


def _acronyms(mine: Ints, other: Ints) -> tuple[Bools, Bools]:
    """Whether one mention, or a word of it, is the acronym of the other."""
    short, other_short = mine[:, _SHORT], other[:, _SHORT]
    # Most documents have no acronym, and do not pay for the comparisons of all with all below.
    if not (short.any() or other_short.any()):
        nothing = np.zeros(len(mine), dtype=np.bool_)
        return nothing, nothing
    forward = (short[:, :, None] == other[:, None, _LONG]).any(axis=2) & (short != 0)
    backward = (other_short[:, :, None] == mine[:, None, _LONG]).any(axis=2) & (other_short != 0)
    whole, inside = (forward | backward).T
    return whole, inside


def _bits(sets: Sequence[frozenset[str]], vocabulary: dict[str, int]) -> NDArray[np.uint8]:
    """Sets of words as bits; new words join the vocabulary. Shape: (sets, bytes)."""
    values = [
        sum([1 << vocabulary.setdefault(word, len(vocabulary)) for word in words]) for words in sets
    ]
    # A matrix of words by mentions would be nearly all zeros, and eight times as large.
    size = len(vocabulary) // 8 + 1
    joined = b"".join([value.to_bytes(size, "little") for value in values])
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, size)


class _Nearest:
    """Finds the nearest earlier mention with the same head; mentions come in text order.

    Args:
        nothing: What stands for none.
    """

    def __init__(self, nothing: int) -> None:
        self._nothing = nothing
        self._seen: dict[int, list[tuple[int, int]]] = {}

    def before(self, head: int, start: int, stop: int) -> int:
        """First word of the nearest mention with this head (0 for none) that ends before ``start``."""
        if not head:
            return self._nothing
        earlier = self._seen.setdefault(head, [])
        found = self._nothing
        # Mentions may overlap: the one seen last need not end before this one.
        for first, last in reversed(earlier):
            if last < start:
                found = first
                break
        earlier.append((start, stop))
        return found


_SET_BITS = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def _common(sets: NDArray[np.uint8], left: Ints, right: Ints) -> Ints:
    """How many bits both sets of each pair have. Shape: (pairs,)."""
    return np.asarray(_SET_BITS[sets[left] & sets[right]].sum(axis=1), dtype=np.int64)
