"""Places in a text that edges may go to, and those where a string stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from unicodedata import combining

from sciextract.documents.annotations import Span
from sciextract.store.document_state import DocumentState

START, END = "start", "end"


def find_occurrences(doc: DocumentState, surface: str) -> Iterator[Span]:
    """Where a string stands in the text with whole tokens under it."""
    start = doc.text.find(surface) if surface else -1
    while start >= 0:
        span = Span(start, start + len(surface))
        if doc.stored.document.tokens.aligned(span) is not None:
            yield span
        start = doc.text.find(surface, start + 1)


def next_token_edge(doc: DocumentState, edge: str, place: int, step: int) -> int:
    """The nearest start or end of a token before or behind a place; -1 where there is none."""
    # Tokens are in text order, so that their starts and their ends both ascend.
    spans = doc.stored.document.tokens.spans
    edges = [span.char_start if edge == START else span.char_end for span in spans]
    index = bisect_right(edges, place) if step > 0 else bisect_left(edges, place) - 1
    return edges[index] if 0 <= index < len(edges) else -1


def next_character(doc: DocumentState, edge: str, place: int, step: int) -> int:
    """The next place that cuts off no combining mark and leaves no blank at the entity's edge."""
    text, place = doc.text, place + step
    while 0 < place < len(text) and (
        combining(text[place]) or text[place if edge == START else place - 1].isspace()
    ):
        place += step
    return place
