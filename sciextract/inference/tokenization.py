"""Words as subwords: encoder input, sliding windows for long texts, words cut at punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from sciextract.documents.document import Document
from sciextract.documents.spans import Span, TokenRange
from sciextract.text.analyse import split_at

Ints = NDArray[np.int64]

MAX_SUBWORDS_PER_WORD = 48
"""Longer words (URLs, sequences) lose their middle subwords, so that one word never fills a window."""

MOST_KNOWN_WORDS = 30_000
"""Words whose subwords are remembered: nine of ten words of an abstract occurred in the ones before."""

LONGEST_KNOWN_WORD = 40
"""In characters; longer words hardly ever come again."""


@dataclass(frozen=True, slots=True)
class Subwords:
    """Subwords of a document without special tokens.

    Attributes:
        ids: (subwords,) vocabulary ids.
        starts: (words + 1,) index of the first subword of each word, then the number of subwords.
    """

    ids: Ints
    starts: Ints

    @property
    def counts(self) -> Ints:
        """Subwords per word, at least one. Shape: (words,)."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class EncoderInput:
    """One window ready for the encoder.

    Attributes:
        input_ids: (subwords,) with special tokens.
        word_first: (words,) index of each word's first subword in ``input_ids``.
        word_last: (words,) index of its last subword.
    """

    input_ids: Ints
    word_first: Ints
    word_last: Ints


class SubwordTokenizer:
    """Splits words into subwords of a trained vocabulary and frames windows with special tokens.

    Args:
        tokenizer: A trained tokenizer of any family; its truncation and padding are switched off.
        prefix: Special token ids before the text (``[CLS]``).
        suffix: Special token ids after it (``[SEP]``).
        unknown: Id for words the tokenizer maps to nothing (control characters).
        limit: Most subwords of a window; a word keeps at most half as many.

    Each word is split by itself, as if it began a text: its subwords depend on no neighbour, whatever the
    tokenizer's family, so that they can be remembered.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        prefix: Sequence[int],
        suffix: Sequence[int],
        unknown: int,
        limit: int = 2 * MAX_SUBWORDS_PER_WORD,
    ) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._prefix = np.array(prefix, dtype=np.int64)
        self._suffix = np.array(suffix, dtype=np.int64)
        self._unknown = unknown
        self._most = min(MAX_SUBWORDS_PER_WORD, limit // 2)
        self._known: dict[str, tuple[int, ...]] = {}

    def split(self, words: Sequence[str]) -> Subwords:
        """The subwords of each word; every word has at least one."""
        if len(self._known) > MOST_KNOWN_WORDS:
            self._known = {}
        known = self._known  # another thread may start a new table meanwhile
        new = self._subwords_of([word for word in dict.fromkeys(words) if word not in known])
        parts = [known.get(word) or new[word] for word in words]
        known.update({word: p for word, p in new.items() if len(word) <= LONGEST_KNOWN_WORD})
        counts = np.array([len(part) for part in parts], dtype=np.int64)
        ids = np.array(list(chain.from_iterable(parts)), dtype=np.int64)
        return Subwords(ids, np.concatenate([[0], np.cumsum(counts)]))

    def _subwords_of(self, words: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """The subwords of words that differ: the unknown one for none, without a middle where too many."""
        if not words:
            return {}
        clean = [
            word if word.isprintable() else word.encode("utf-8", "replace").decode("utf-8")
            for word in words
        ]
        encoding = self._tokenizer.encode(clean, is_pretokenized=True, add_special_tokens=False)
        found: list[list[int]] = [[] for _ in words]
        for subword, owner in zip(encoding.ids, encoding.word_ids, strict=True):
            if owner is not None:  # special subwords have no owner
                found[owner].append(subword)
        return {word: self._fitted(ids) for word, ids in zip(words, found, strict=True)}

    def _fitted(self, ids: list[int]) -> tuple[int, ...]:
        half = self._most // 2
        if len(ids) > self._most:
            return (*ids[:half], *ids[-half:])
        return tuple(ids) or (self._unknown,)

    def frame(self, subwords: Subwords, word_start: int, word_end: int) -> EncoderInput:
        """The encoder input of the words [word_start, word_end)."""
        starts = subwords.starts[word_start : word_end + 1]
        body = subwords.ids[starts[0] : starts[-1]]
        shifted = starts - starts[0] + len(self._prefix)
        ids = np.concatenate([self._prefix, body, self._suffix])
        return EncoderInput(ids, shifted[:-1], shifted[1:] - 1)


@dataclass(frozen=True, slots=True)
class PaddedInput:
    """Several windows as one encoder call; words are numbered through.

    Attributes:
        input_ids: int64 (windows, subwords), padded with 0.
        attention_mask: int64 (windows, subwords).
        word_first: int64 (words of all windows,), index into the flattened subwords.
        word_last: int64 (words of all windows,).
        offsets: Index of each window's first word, then the number of words.
    """

    input_ids: Ints
    attention_mask: Ints
    word_first: Ints
    word_last: Ints
    offsets: tuple[int, ...]


def pad(windows: Sequence[EncoderInput], pad_id: int = 0) -> PaddedInput:
    """Pads windows to the longest one."""
    length = max(len(window.input_ids) for window in windows)
    ids = np.full((len(windows), length), pad_id, dtype=np.int64)
    mask = np.zeros((len(windows), length), dtype=np.int64)
    offsets = [0]
    for row, window in enumerate(windows):
        ids[row, : len(window.input_ids)] = window.input_ids
        mask[row, : len(window.input_ids)] = 1
        offsets.append(offsets[-1] + len(window.word_first))
    first = np.concatenate([w.word_first + row * length for row, w in enumerate(windows)])
    last = np.concatenate([w.word_last + row * length for row, w in enumerate(windows)])
    return PaddedInput(ids, mask, first, last, tuple(offsets))


CONTEXT_SHARE = 4
"""A window gives up to a quarter of its subwords to context on each side."""


@dataclass(frozen=True, slots=True)
class Window:
    """Words the encoder sees, and the part of them whose predictions are kept."""

    seen: TokenRange
    kept: TokenRange

    @property
    def kept_rows(self) -> slice:
        """The kept words, counted from the first one that the encoder sees."""
        first = self.seen.token_start
        return slice(self.kept.token_start - first, self.kept.token_end - first)


def plan_windows(
    subword_counts: NDArray[np.int64], sentences: tuple[TokenRange, ...], limit: int
) -> list[Window]:
    """Windows whose kept parts cover all words once, cut between sentences where possible.

    Args:
        subword_counts: (words,) subwords of each word, each at most ``limit // 2``.
        sentences: Token ranges that cover all words.
        limit: Most subwords a window may hold, special tokens not counted.
    """
    total = int(subword_counts.sum())
    if total <= limit:
        whole = TokenRange(0, len(subword_counts))
        return [Window(whole, whole)] if len(whole) else []
    ends = np.concatenate([[0], np.cumsum(subword_counts)])
    context = limit // CONTEXT_SHARE
    chunks = _chunks(ends, sentences, limit - 2 * context)
    return [Window(_widened(ends, chunk, context), chunk) for chunk in chunks]


def _chunks(
    ends: NDArray[np.int64], sentences: tuple[TokenRange, ...], room: int
) -> Iterator[TokenRange]:
    """Runs of whole sentences with at most ``room`` subwords; longer sentences are cut between words."""
    start = end = 0
    for part in _short_ranges(ends, sentences, room):
        if end > start and ends[part.token_end] - ends[start] > room:
            yield TokenRange(start, end)
            start = end
        end = part.token_end
    if end > start:
        yield TokenRange(start, end)


def _short_ranges(
    ends: NDArray[np.int64], sentences: tuple[TokenRange, ...], room: int
) -> Iterator[TokenRange]:
    for sentence in sentences:
        start = sentence.token_start
        while ends[sentence.token_end] - ends[start] > room:
            cut = int(np.searchsorted(ends, ends[start] + room, side="right")) - 1
            cut = max(cut, start + 1)
            yield TokenRange(start, cut)
            start = cut
        if start < sentence.token_end:
            yield TokenRange(start, sentence.token_end)


def _widened(ends: NDArray[np.int64], chunk: TokenRange, context: int) -> TokenRange:
    left = int(np.searchsorted(ends, ends[chunk.token_start] - context, side="left"))
    right = int(np.searchsorted(ends, ends[chunk.token_end] + context, side="right")) - 1
    return TokenRange(min(left, chunk.token_start), max(right, chunk.token_end))


_PART = re.compile(r"[^\W_]+|[\W_]")


def with_cut_words(document: Document) -> Document:
    """The document with tokens of letters and digits, or of one other character; the sentences stay.

    >>> from sciextract.text.analyse import make_document
    >>> document = with_cut_words(make_document("1", "IL-2-induced"))
    >>> document.tokens.slices(document.text)
    ('IL', '-', '2', '-', 'induced')
    """
    parts = list(_parts(document))
    if len(parts) == len(document.tokens):
        return document
    return replace(document, tokens=split_at(document.tokens, document.text, parts))


def _parts(document: Document) -> Iterator[Span]:
    for token in document.tokens.spans:
        for found in _PART.finditer(document.text, token.char_start, token.char_end):
            yield Span(found.start(), found.end())
