"""Places in a text that edges may go to, and those where a string stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from unicodedata import combining

from sciextract.documents.annotations import Span
from sciextract.errors import ActionRefusedError
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


def move_edge(
    doc: DocumentState, fragments: tuple[Span, ...], edge: str, steps: int, characters: bool
) -> tuple[Span, ...]:
    """Fragments whose first start or last end is some tokens or characters further, see :meth:`Edit.move_edge`.

    Raises:
        ActionRefusedError: Nothing would be left, or it would leave the text.
    """
    if edge not in (START, END):
        raise ActionRefusedError(f"unknown edge {edge!r}; choose from: {START}, {END}")
    fragment = fragments[0] if edge == START else fragments[-1]
    place = fragment.char_start if edge == START else fragment.char_end
    step = next_character if characters else next_token_edge
    for _ in range(abs(steps)):
        place = step(doc, edge, place, 1 if steps > 0 else -1)
    empty = place >= fragment.char_end if edge == START else place <= fragment.char_start
    if empty or not 0 <= place <= len(doc.text):  # -1 where no token is left to go to
        raise ActionRefusedError("the entity would be empty or leave the text")
    if edge == START:
        return (Span(place, fragment.char_end), *fragments[1:])
    return (*fragments[:-1], Span(fragment.char_start, place))


def check_fragments(text: str, fragments: tuple[Span, ...]) -> None:
    """Refuse fragments that are not ascending, non-empty ranges of a text.

    Raises:
        ActionRefusedError: They are none.
    """
    end = 0
    for span in fragments:
        if not end <= span.char_start < span.char_end <= len(text):
            raise ActionRefusedError(
                f"the span [{span.char_start}, {span.char_end}) is not part of the text; expected "
                f"non-empty ranges from {end} to {len(text)}, ascending"
            )
        end = span.char_end
    if not fragments:
        raise ActionRefusedError("an entity needs at least one span")
