"""What an encoder computes about a document, for heads that run on it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.document import Document
from sciextract.inference.batching import SINGLE, Batching
from sciextract.inference.network import Floats, WordStates
from sciextract.text.analyse import make_document

if TYPE_CHECKING:
    from sciextract.inference.extractor import Extractor

Halves = NDArray[np.float16]

_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """A document with the states of its words.

    Attributes:
        document: The document as the encoder sees it; some encoders cut words at punctuation.
        first: float16 (words, hidden), state of each word's first subword.
        last: float16 (words, hidden), state of its last subword.
        span_logits: float32 (words, max width, 1 + labels of the model), logits of the model's entity head for
            the span of ``width + 1`` words that begins at a word; class 0 is "no entity".
    """

    document: Document
    first: Halves
    last: Halves
    span_logits: Floats

    @property
    def size_bytes(self) -> int:
        return self.first.nbytes + self.last.nbytes + self.span_logits.nbytes


def pack_states(document: Document, states: WordStates) -> EncodedDocument:
    """A document with its states, rounded to 16 bits: heads are trained on what takes half the memory."""
    first, last = states.first.astype(np.float16), states.last.astype(np.float16)
    return EncodedDocument(document, first, last, states.span_logits)


class EncoderStates:
    """Word states of documents by one encoder: computed once, kept in memory, never on disk.

    The documents that were used least recently are dropped when the limit is reached. May be used by several
    threads.

    Args:
        extractor: The model whose encoder is used.
        limit_mib: Most mebibytes that are kept; an abstract takes about 0.25.
    """

    def __init__(self, extractor: Extractor, limit_mib: int = 256) -> None:
        self.extractor = extractor
        self._limit = limit_mib * _MEBIBYTE
        self._kept: OrderedDict[tuple[str, int], EncodedDocument] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def of(self, document: Document) -> EncodedDocument:
        """The states of a document. Its key may be that of another document with the same text."""
        key = (document.text_sha256, hash(document.tokens))
        with self._lock:
            if (known := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return known
        found = pack_states(*self.extractor.word_states(document))
        with self._lock:
            if key not in self._kept:
                self._kept[key] = found
                self._size += found.size_bytes
            while self._size > self._limit and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.size_bytes
        return found

    def all_of(
        self, documents: Sequence[Document], batching: Batching = SINGLE
    ) -> list[EncodedDocument]:
        """The states of some documents, each computed by itself: a person waits for one at a time."""
        return [self.of(document) for document in documents]

    @cached_property
    def hidden(self) -> int:
        return int(self.of(make_document("", "a")).first.shape[1])
