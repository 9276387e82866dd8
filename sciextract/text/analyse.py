"""Token tables and documents from text; sentence ends never cut a span that matters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from sciextract.documents.document import Document, TokenTable
from sciextract.documents.spans import Span, TokenRange
from sciextract.text.sentences import split_sentences
from sciextract.text.tokenizer import tokenize


def analyse(
    text: str,
    protected: Iterable[Span] = (),
    *,
    title_length: int = 0,
    extra_abbreviations: Iterable[str] = (),
) -> TokenTable:
    """Tokens and sentences of a text.

    Args:
        text: Any Unicode text.
        protected: Spans that no sentence end may cut; sentences that do are merged.
        title_length: How many characters at the start are a known title, which then is one sentence
            whatever it looks like. Without it the layout decides.
        extra_abbreviations: A user's words that never end a sentence.
    """
    spans = tokenize(text)
    sentences = split_sentences(text, spans, extra_abbreviations)
    if title_tokens := bisect_left(spans, title_length, key=lambda span: span.char_start):
        behind = [
            TokenRange(max(sentence.token_start, title_tokens), sentence.token_end)
            for sentence in sentences
            if sentence.token_end > title_tokens
        ]
        sentences = (TokenRange(0, title_tokens), *behind)
    return _merged(TokenTable(spans, sentences), protected)


def make_document(
    doc_key: str,
    text: str,
    fields: Mapping[str, Any] | None = None,
    *,
    title_length: int = 0,
) -> Document:
    """A document with tokens and sentences derived from its text (see :func:`analyse`).

    Examples:
        >>> document = make_document("a", "We parse graphs. It works.", {"year": 2024})
        >>> len(document.tokens.spans), len(document.tokens.sentences)
        (7, 2)

    Args:
        doc_key: Its name in results and exports.
        text: The text, kept exactly.
        fields: Metadata such as ``title``, ``year`` or ``doi``.
        title_length: Characters of the title at the start of the text, which is then a sentence; 0 without one.
    """
    return Document(doc_key, text, analyse(text, title_length=title_length), fields or {})


def join_title(title: str, abstract: str) -> str:
    """Title and abstract as one text, a line end between them; either may be empty.

    Pass ``title_length=len(title)`` to :func:`analyse` so that the title is a sentence of its own
    whatever it looks like.

    Examples:
        >>> join_title("Graph parsing", "We parse graphs.")
        'Graph parsing\\nWe parse graphs.'
    """
    return f"{title}\n{abstract}" if title and abstract else title or abstract


def split_at(table: TokenTable, text: str, spans: Iterable[Span]) -> TokenTable:
    """The table with its tokens cut at the edges of spans, so that each span is made of whole tokens.

    Sentences that cut a span are merged. Given forms are kept for the tokens that stay whole; pieces
    get their characters of the text.
    """
    wanted = list(spans)
    cuts = sorted({edge for span in wanted for edge in (span.char_start, span.char_end)})
    pieces: list[list[Span]] = []
    firsts = [0]
    for token in table.spans:
        # The edges that lie within the token; most tokens have none.
        first, last = (
            bisect_right(cuts, token.char_start),
            bisect_left(cuts, token.char_end),
        )
        edges = [token.char_start, *cuts[first:last], token.char_end]
        pieces.append([Span(start, end) for start, end in pairwise(edges)])
        firsts.append(firsts[-1] + len(pieces[-1]))
    sentences = tuple(
        TokenRange(firsts[sentence.token_start], firsts[sentence.token_end])
        for sentence in table.sentences
    )
    forms: list[str] = []
    for form, parts in zip(table.forms or (), pieces, strict=False):
        forms.extend([form] if len(parts) == 1 else [part.of(text) for part in parts])
    flat = tuple(part for parts in pieces for part in parts)
    kept = None if table.forms is None else tuple(forms)
    return _merged(TokenTable(flat, sentences, kept), wanted)


def _merged(table: TokenTable, protected: Iterable[Span]) -> TokenTable:
    """The table with those sentences merged that share a protected span."""
    joined: set[int] = set()
    for span in protected:
        tokens = table.covering(span)
        if tokens is not None:
            first, last = tokens.token_start, tokens.token_end - 1
            joined.update(range(table.sentence_of(first) + 1, table.sentence_of(last) + 1))
    if not joined:
        return table
    starts = [s.token_start for index, s in enumerate(table.sentences) if index not in joined]
    sentences = tuple(
        TokenRange(start, end) for start, end in pairwise([*starts, len(table.spans)])
    )
    return TokenTable(table.spans, sentences, table.forms)
