"""Finds given tokens in the exact text they come from."""

from __future__ import annotations

from sciextract.documents.spans import Span, TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.formats.base import Place, shown
from sciextract.text.ptb import unescape


def align_tokens(text: str, sentences: list[list[str]], place: Place) -> TokenTable:
    """The token table of ``sentences`` in ``text``; only white space may lie between tokens.

    A token stands in the text as it is or unescaped (``-LRB-`` as an opening parenthesis).

    Raises:
        FormatError: A token does not follow the one before it.
    """
    spans: list[Span] = []
    ranges: list[TokenRange] = []
    position = 0
    for index, sentence in enumerate(sentences):
        first = len(spans)
        for number, token in enumerate(sentence):
            span = _next(text, position, token)
            if span is None:
                found = f"{shown(token)} found, but `text` goes on with {shown(text[position:])}"
                raise place.error(found, field=f"sentences[{index}][{number}]")
            spans.append(span)
            position = span.char_end
        if sentence:
            ranges.append(TokenRange(first, len(spans)))
    forms = tuple([token for sentence in sentences for token in sentence])
    table = TokenTable(tuple(spans), tuple(ranges))
    return table if table.slices(text) == forms else TokenTable(table.spans, table.sentences, forms)


def _next(text: str, position: int, token: str) -> Span | None:
    while position < len(text) and text[position].isspace() and text[position] != token[0]:
        position += 1
    for form in (token, unescape(token)):
        if form and text.startswith(form, position):
            return Span(position, position + len(form))
    return None
