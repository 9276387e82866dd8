"""Documents whose words are cut at punctuation, for models that find names inside compounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sciextract.documents.document import Document
from sciextract.documents.spans import Span
from sciextract.text.analyse import split_at

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
