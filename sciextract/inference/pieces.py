"""Words to word pieces: encoder input with the first and last piece of every word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Ints = NDArray[np.int64]

MAX_PIECES_PER_WORD = 48
"""Longer words (URLs, sequences) lose their middle pieces, so that one word never fills a window."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Word pieces of a document without special tokens.

    Attributes:
        ids: (pieces,) vocabulary ids.
        starts: (words + 1,) index of the first piece of each word, then the number of pieces.
    """

    ids: Ints
    starts: Ints

    @property
    def counts(self) -> Ints:
        """Pieces per word, at least one. Shape: (words,)."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class EncoderInput:
    """One window ready for the encoder.

    Attributes:
        input_ids: (pieces,) with special tokens.
        word_first: (words,) index of each word's first piece in ``input_ids``.
        word_last: (words,) index of its last piece.
    """

    input_ids: Ints
    word_first: Ints
    word_last: Ints


class PieceEncoder:
    """Splits words into pieces of a trained vocabulary and frames windows with special tokens.

    Args:
        tokenizer: A trained tokenizer of any family; its truncation and padding are switched off.
        prefix: Special token ids before the text (``[CLS]``).
        suffix: Special token ids after it (``[SEP]``).
        unknown: Id for words the tokenizer maps to nothing (control characters).
    """

    def __init__(
        self, tokenizer: Tokenizer, prefix: Sequence[int], suffix: Sequence[int], unknown: int
    ) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._prefix = np.array(prefix, dtype=np.int64)
        self._suffix = np.array(suffix, dtype=np.int64)
        self._unknown = unknown

    @property
    def special_count(self) -> int:
        """Number of special tokens around a window."""
        return len(self._prefix) + len(self._suffix)

    def split(self, words: Sequence[str]) -> Pieces:
        """The pieces of each word; every word has at least one."""
        if not words:
            return Pieces(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64))
        clean = [word if word.isprintable() else _without_surrogates(word) for word in words]
        encoding = self._tokenizer.encode(clean, is_pretokenized=True, add_special_tokens=False)
        ids = np.array(encoding.ids, dtype=np.int64)
        owners = np.array(encoding.word_ids, dtype=np.int64)
        counts = np.bincount(owners, minlength=len(words))
        if counts.min() == 0 or counts.max() > MAX_PIECES_PER_WORD:
            ids, counts = self._repair(ids, counts)
        return Pieces(ids, np.concatenate([[0], np.cumsum(counts)]))

    def _repair(self, ids: Ints, counts: Ints) -> tuple[Ints, Ints]:
        """Gives empty words the unknown id and shortens overlong ones."""
        parts, start, half = [], 0, MAX_PIECES_PER_WORD // 2
        for count in counts.tolist():
            word = ids[start : start + count]
            start += count
            if count == 0:
                word = np.array([self._unknown], dtype=np.int64)
            elif count > MAX_PIECES_PER_WORD:
                word = np.concatenate([word[:half], word[-half:]])
            parts.append(word)
        return np.concatenate(parts), np.array([len(part) for part in parts])

    def frame(self, pieces: Pieces, word_start: int, word_end: int) -> EncoderInput:
        """The encoder input of the words [word_start, word_end)."""
        starts = pieces.starts[word_start : word_end + 1]
        body = pieces.ids[starts[0] : starts[-1]]
        shifted = starts - starts[0] + len(self._prefix)
        ids = np.concatenate([self._prefix, body, self._suffix])
        return EncoderInput(ids, shifted[:-1], shifted[1:] - 1)


@dataclass(frozen=True, slots=True)
class PaddedInput:
    """Several windows as one encoder call; words are numbered through.

    Attributes:
        input_ids: int64 (windows, pieces), padded with 0.
        attention_mask: int64 (windows, pieces).
        word_first: int64 (words of all windows,), index into the flattened pieces.
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


def _without_surrogates(word: str) -> str:
    return word.encode("utf-8", "replace").decode("utf-8")
