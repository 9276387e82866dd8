"""Mentions bracketed in their text, ``[beam search|Method]``, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sciextract.documents.annotations import Entity
from sciextract.text.characters import visible


def bracketed(text: str, entities: Iterable[Entity]) -> Iterator[tuple[str, str]]:
    """Pieces of a text and the brackets between them, each with the label of the innermost mention there.

    >>> from sciextract.documents.annotations import Entity
    >>> from sciextract.documents.spans import Span
    >>> parser = Entity("E1", (Span(4, 10),), "Method")
    >>> "".join(piece for piece, _ in bracketed("Our parser works.", [parser]))
    'Our [parser|Method] works.'
    """
    start = 0
    inside: list[str] = []
    for position, opens, label in _edges(entities):
        yield text[start:position], inside[-1] if inside else ""
        start = position
        if opens:
            inside.append(label)
        else:
            del inside[len(inside) - 1 - inside[::-1].index(label)]
        yield ("[" if opens else f"|{visible(label)}]"), label
    yield text[start:], ""


def _edges(entities: Iterable[Entity]) -> list[tuple[int, bool, str]]:
    """Where mentions open and close: at one place closings first, inner before outer, then openings."""
    edges = []
    for row, entity in enumerate(entities):
        for fragment in entity.fragments:
            start, end = fragment.char_start, fragment.char_end
            edges.append((start, True, -end, row, entity.label))
            edges.append((end, False, -start, -row, entity.label))
    return [(position, opens, label) for position, opens, _, _, label in sorted(edges)]
