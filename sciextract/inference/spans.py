"""Span enumeration: which (start word, width) cells are real spans. One owner for training and inference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.spans import TokenRange


def sentence_ends(sentences: tuple[TokenRange, ...], word_count: int) -> NDArray[np.int64]:
    """Per word the index after the last word of its sentence. Shape: (words,)."""
    ends = np.full(word_count, word_count, dtype=np.int64)
    for sentence in sentences:
        ends[sentence.token_start : sentence.token_end] = sentence.token_end
    return ends


def span_mask(ends: NDArray[np.int64], max_width: int) -> NDArray[np.bool_]:
    """Cells (start word, width - 1) whose span stays inside its sentence. Shape: (words, max_width)."""
    last_words = np.arange(len(ends))[:, None] + np.arange(max_width)[None, :]
    return np.asarray(last_words < ends[:, None])
