"""Token tables from tokens and sentences that a format gives as character ranges, or gives in part."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sciextract.documents.spans import Span, TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.text.analyse import analyse, split_at


def token_table(
    text: str,
    tokens: Sequence[Span],
    sentences: Sequence[Span],
    protected: Iterable[Span] = (),
    *,
    title_length: int = 0,
) -> TokenTable:
    """The table of the given tokens and sentences; what is missing is derived from the text.

    Args:
        text: The text.
        tokens: Ascending, apart, not empty; none at all to derive them.
        sentences: None at all to derive them. Tokens between two sentences form one of their own.
        protected: Spans that no derived sentence end may cut.
        title_length: How many characters at the start are a known title.
    """
    if tokens and sentences:
        return TokenTable(tuple(tokens), _partition(tokens, sentences))
    derived = analyse(text, protected, title_length=title_length)
    if tokens:
        ranges = [derived.char_span(sentence) for sentence in derived.sentences]
        return TokenTable(tuple(tokens), _partition(tokens, ranges))
    if not sentences:
        return derived
    # Empty spans cut tokens at the edges of sentences but never join two sentences.
    cut = split_at(derived, text, [Span(edge, edge) for edge in _edges(sentences)])
    return TokenTable(cut.spans, _partition(cut.spans, sentences))


def are_sound(tokens: Sequence[Span]) -> bool:
    """Whether tokens in text order are apart and not empty."""
    return all(token.char_start < token.char_end for token in tokens) and all(
        left.char_end <= right.char_start for left, right in pairwise(tokens)
    )


def _partition(tokens: Sequence[Span], sentences: Sequence[Span]) -> tuple[TokenRange, ...]:
    """Token ranges between the edges of sentences; a token belongs where its first character lies."""
    starts = [token.char_start for token in tokens]
    cuts = {bisect_left(starts, edge) for edge in _edges(sentences)} | {0, len(tokens)}
    return tuple(TokenRange(start, end) for start, end in pairwise(sorted(cuts)))


def _edges(sentences: Sequence[Span]) -> list[int]:
    return sorted({edge for span in sentences for edge in (span.char_start, span.char_end)})
