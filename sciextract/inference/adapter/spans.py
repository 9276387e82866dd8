"""The spans of a document as a head sees them: encoder states, scores of the bundled model, words, and memory."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.document import Document
from sciextract.inference.adapter.states import EncodedDocument
from sciextract.inference.candidates import sentence_ends, span_mask
from sciextract.inference.network import Floats, Ints
from sciextract.text.english import singular

Place = tuple[int, int]
"""First and last word of a span, inclusive."""

ROLES = 5
"""States of a span: first word, last word, mean, the word before, the word after."""

_FUNCTION_WORDS = frozenset((
    "a", "an", "the", "this", "that", "these", "those", "of", "in", "on", "for", "to", "with", "by", "from", "at",
    "as", "is", "are", "was", "were", "be", "been", "has", "have", "had", "and", "or", "but", "not", "we", "our",
    "it", "its", "their", "they", "can", "may", "which", "such", "than", "then", "also", "both", "between", "into",
    "over", "under", "using", "use", "via"
))  # fmt: skip
_FLAGS, _MOST_WIDTH = 8, 10
SHAPES = 1 + 4 * _FLAGS + 1 + _MOST_WIDTH
"""Columns of :func:`shape_features`; the first one is 1."""

_BUCKETS, _PART_WEIGHT = 128, 0.5
_COUNT_PRIOR = 0.3
_LEAST_LOGIT = -16.0


@dataclass(frozen=True, slots=True)
class Words:
    """A document's words, ready for spans of it.

    Attributes:
        encoded: The document with its states.
        stems: Each word without case, in the singular.
        hashes: uint64 (words + 1,), of the first so many stems; see :meth:`same_surfaces`.
        flags: float32 (words + 2, flags), what each word looks like; a row of zeros before the first and after the last.
        ends: int64 (words,), index after the last word of each word's sentence.
    """

    encoded: EncodedDocument
    stems: tuple[str, ...]
    hashes: NDArray[np.uint64]
    flags: Floats
    ends: Ints

    @classmethod
    def of(cls, encoded: EncodedDocument) -> Words:
        """The words of a document."""
        tokens = encoded.document.tokens
        texts = tokens.slices(encoded.document.text)
        flags = np.zeros((len(texts) + 2, _FLAGS), np.float32)
        if texts:
            flags[1:-1] = [_flags(text) for text in texts]
        stemmed = [_stem(text) for text in texts]
        hashes = [0]
        for _, number in stemmed:
            hashes.append((hashes[-1] * _FACTOR + number) & _WORD_MASK)
        stems = tuple(stem for stem, _ in stemmed)
        ends = sentence_ends(tokens.sentences, len(tokens))
        return cls(encoded, stems, np.array(hashes, np.uint64), flags, ends)

    @property
    def document(self) -> Document:
        """The document as the encoder sees it."""
        return self.encoded.document

    def all_spans(self, max_width: int) -> Ints:
        """All spans inside a sentence, at most so many words wide. Shape: (spans, 2), last word inclusive."""
        starts, widths = np.nonzero(span_mask(self.ends, max_width))
        return np.stack([starts, starts + widths], axis=1).astype(np.int64)

    def surface(self, first: int, last: int) -> str:
        """The words from first to last (inclusive) without case and plural, joined by blanks."""
        return " ".join(self.stems[first : last + 1])

    def surfaces(self, spans: Ints) -> list[str]:
        """The surface form of each span."""
        stems = self.stems
        return [" ".join(stems[first : last + 1]) for first, last in spans.tolist()]

    def same_surfaces(self, spans: Ints) -> Ints:
        """A number for each span, the same for equal surface forms. Shape: (spans,).

        Thousands of spans are compared by hashes of 64 bits, computed from those of the text's beginnings (Rabin and
        Karp), since joining their words takes longer than all else that is asked about them.
        """
        widths = spans[:, 1] - spans[:, 0] + 1
        powers = np.ones(int(widths.max(initial=0)) + 1, np.uint64)
        with np.errstate(over="ignore"):
            powers[1:] = np.cumprod(np.full(len(powers) - 1, _FACTOR, np.uint64))
            keys = self.hashes[spans[:, 1] + 1] - self.hashes[spans[:, 0]] * powers[widths]
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)

    def states(self, projection: Floats) -> tuple[Floats, Floats]:
        """Projected states of first and last subwords with a row of zeros before and after."""
        edge = ((1, 1), (0, 0))
        first, last = (
            np.pad(states.astype(np.float32) @ projection, edge)
            for states in (self.encoded.first, self.encoded.last)
        )
        return first, last


_FACTOR, _WORD_MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


@lru_cache(maxsize=1 << 15)
def _stem(word: str) -> tuple[str, int]:
    """A word without case, in the singular, and a hash of that."""
    stem = singular(word.casefold())
    digest = hashlib.blake2b(stem.encode("utf-8", "replace"), digest_size=8).digest()
    return stem, int.from_bytes(digest, "little")


@lru_cache(maxsize=1 << 15)
def _flags(word: str) -> tuple[float, ...]:
    letters = any(map(str.isalnum, word))
    return (
        float(letters),
        float(word.casefold() in _FUNCTION_WORDS),
        float(word[:1].isupper()),
        float(letters and word.isupper() and len(word) > 1),
        float(any(map(str.isdigit, word))),
        float("-" in word and letters),
        float(not letters),
        float(word in ("(", ")", "[", "]")),
    )


COMPONENTS = 96
"""Length of a projected state; the main components hold 93 % of the variance of an abstract's 384."""


def projection_of(documents: Sequence[EncodedDocument], hidden: int) -> Floats:
    """The main components of the states of some documents. Shape: (hidden, COMPONENTS)."""
    states = [document.last.astype(np.float32) for document in documents if len(document.last)]
    if not states:
        return np.eye(hidden, COMPONENTS, dtype=np.float32)
    joined = np.concatenate(states)
    joined -= joined.mean(axis=0)
    _, vectors = np.linalg.eigh(joined.T @ joined / np.float32(len(joined)))
    return np.ascontiguousarray(vectors[:, ::-1][:, :COMPONENTS], dtype=np.float32)


def wide_features(words: Words, spans: Ints, projection: Floats) -> Floats:
    """States of spans by role. Shape: (spans, ROLES * COMPONENTS)."""
    first, last = words.states(projection)
    sums = np.cumsum((first + last) / 2, axis=0, dtype=np.float32)
    starts, ends = spans[:, 0] + 1, spans[:, 1] + 1
    mean = (sums[ends] - sums[starts - 1]) / (ends - starts + 1)[:, None].astype(np.float32)
    parts = (first[starts], last[ends], mean, last[starts - 1], first[ends + 1])
    return np.concatenate(parts, axis=1)


def products(words: Words, spans: Ints, projection: Floats, weights: Floats) -> Floats:
    """``wide_features(words, spans, projection) @ weights``, computed once a word instead of once a span. Shape: (spans, columns)."""
    first, last = words.states(projection)
    by_role = weights.reshape(ROLES, first.shape[1], -1)
    sums = np.cumsum(((first + last) / 2) @ by_role[2], axis=0, dtype=np.float32)
    starts, ends = spans[:, 0] + 1, spans[:, 1] + 1
    mean = (sums[ends] - sums[starts - 1]) / (ends - starts + 1)[:, None].astype(np.float32)
    found = (first @ by_role[0])[starts] + (last @ by_role[1])[ends] + mean
    return np.asarray(found + (last @ by_role[3])[starts - 1] + (first @ by_role[4])[ends + 1])


def model_scores(words: Words, spans: Ints) -> Floats:
    """Log-probabilities by the bundled model; the last column is 1 where the span is too wide for it.

    Shape: (spans, 2 + labels of the model). A span too wide is certainly "no entity" for it.
    """
    logits = words.encoded.span_logits
    found = np.full((len(spans), logits.shape[2] + 1), _LEAST_LOGIT, np.float32)
    found[:, 0], found[:, -1] = 0, 1
    width = spans[:, 1] - spans[:, 0]
    rows = np.flatnonzero(width < logits.shape[1])
    own = logits[spans[rows, 0], width[rows]].astype(np.float32)
    own -= own.max(axis=1, keepdims=True)
    own -= np.log(np.exp(own).sum(axis=1, keepdims=True))
    found[rows, :-1] = np.maximum(own, _LEAST_LOGIT)
    found[rows, -1] = 0
    return found


def shape_features(words: Words, spans: Ints) -> Floats:
    """What the ends of a span and the words around it look like, its width, and whether signs are inside.

    Shape: (spans, SHAPES).
    """
    starts, ends = spans[:, 0] + 1, spans[:, 1] + 1
    width = np.minimum(ends - starts, _MOST_WIDTH - 1)
    flags = words.flags
    signs = np.cumsum(flags[:, 6])
    inside = (signs[ends] - signs[starts - 1] > 0).astype(np.float32)
    parts = (flags[starts], flags[ends], flags[starts - 1], flags[ends + 1])
    one = np.ones((len(spans), 1), np.float32)
    return np.concatenate(
        [one, *parts, inside[:, None], np.eye(_MOST_WIDTH, dtype=np.float32)[width]], axis=1
    )


SPELLINGS = 2 * _BUCKETS
"""Columns of how the first and the last word of a span are spelled, half for each."""


def word_spellings(stems: Sequence[str]) -> Floats:
    """How words begin and end: hashed prefixes and suffixes. Shape: (words, SPELLINGS / 2)."""
    by_word = np.zeros((len(stems), _BUCKETS), np.float32)
    for row, stem in enumerate(stems):
        by_word[row, _buckets(stem)] = _PART_WEIGHT
    return by_word


@lru_cache(maxsize=1 << 15)
def _buckets(stem: str) -> list[int]:
    """The columns of a word's prefixes of two and three letters, suffixes of two to four, and of the whole word."""
    whole = f"<{stem}>"
    parts = {whole[:3], whole[:4], whole[-3:], whole[-4:], whole[-5:], whole}
    return [zlib.crc32(part.encode("utf-8", "replace")) % _BUCKETS for part in parts]


@dataclass(slots=True)
class Memory:
    """How often each surface form, and each last word, was decided to be what in finished abstracts.

    Attributes:
        classes: 1 + labels; class 0 is "no entity".
        surfaces: Counts by surface form.
        heads: Counts by the last word of a span.
    """

    classes: int
    surfaces: dict[str, Ints] = field(default_factory=dict)
    heads: dict[str, Ints] = field(default_factory=dict)
    _begins: frozenset[str] | None = None

    def add(self, words: Words, classes: Mapping[Place, int], complete: bool) -> None:
        """Add an abstract: the class of each decided span; where it is complete, other last words are class 0."""
        for (first, last), number in classes.items():
            self._count(self.surfaces, words.surface(first, last), number)
            self._count(self.heads, words.stems[last], number)
        if complete:
            ends = {last for _, last in classes}
            for place, stem in enumerate(words.stems):
                if place not in ends:
                    self._count(self.heads, stem, 0)

    def add_absent(
        self, words: Words, classes: Mapping[Place, int], known: AbstractSet[str], max_width: int
    ) -> None:
        """Count where known surface forms stand in a complete abstract without being decided to be anything."""
        spans = words.all_spans(max_width)
        begins = {surface.partition(" ")[0] for surface in known}
        possible = np.array([stem in begins for stem in words.stems], np.bool_)
        spans = spans[possible[spans[:, 0]]]
        for surface, (first, last) in zip(words.surfaces(spans), spans.tolist(), strict=True):
            if surface in known and (first, last) not in classes:
                self._count(self.surfaces, surface, 0)

    def forget_absence(self, seen: Memory, uncovered: Sequence[int]) -> None:
        """Take back that forms are no entities which other abstracts have as types nobody looked for here."""
        for mine, others in ((self.surfaces, seen.surfaces), (self.heads, seen.heads)):
            for key, counts in mine.items():
                if others[key][list(uncovered)].any():
                    counts[0] = 0

    def features(self, words: Words, spans: Ints, without: Memory | None = None) -> Floats:
        """Log counts of each span's surface form and last word. Shape: (spans, 2 * classes + 1).

        The last column is 1 where the surface form is known.

        Args:
            words: The document.
            spans: (spans, 2).
            without: The document's own share, which is taken off.
        """
        if self._begins is None:
            self._begins = frozenset(surface.partition(" ")[0] for surface in self.surfaces)
        # Nearly all spans begin with a word that no known form begins with: only the others are spelled out.
        possible = np.array([stem in self._begins for stem in words.stems], np.bool_)
        rows = np.flatnonzero(possible[spans[:, 0]])
        surfaces = np.zeros((len(spans), self.classes), np.int64)
        own = without.surfaces if without else {}
        surfaces[rows] = self._rows(self.surfaces, own, words.surfaces(spans[rows]))
        heads = self._rows(self.heads, without.heads if without else {}, words.stems)
        both = np.concatenate([surfaces, heads[spans[:, 1]]], axis=1).astype(np.float32)
        known = (surfaces[:, 1:].sum(axis=1, keepdims=True) > 0).astype(np.float32)
        return np.concatenate([np.log(both / _COUNT_PRIOR + 1), known], axis=1)

    def _rows(
        self, counts: dict[str, Ints], own: dict[str, Ints], keys: Sequence[str]
    ) -> NDArray[np.int64]:
        found = np.zeros((len(keys), self.classes), np.int64)
        for row, key in enumerate(keys):
            if key in counts:
                found[row] = counts[key] - own[key] if key in own else counts[key]
        return found

    def _count(self, counts: dict[str, Ints], key: str, number: int) -> None:
        self._begins = None
        if key not in counts:
            counts[key] = np.zeros(self.classes, np.int64)
        counts[key][number] += 1


def total(memories: Iterable[Memory], classes: int) -> Memory:
    """The sum of the memories of several abstracts."""
    found = Memory(classes)
    for memory in memories:
        for mine, other in ((found.surfaces, memory.surfaces), (found.heads, memory.heads)):
            for key, counts in other.items():
                mine[key] = mine[key] + counts if key in mine else counts.copy()
    return found
