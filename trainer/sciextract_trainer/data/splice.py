"""Mentions of a document replaced by others, token by token; everything behind them moves along."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span, TokenRange
from sciextract.documents.tokens import TokenTable


@dataclass(frozen=True, slots=True)
class Donor:
    """A mention that can stand elsewhere.

    Attributes:
        row: Its document among the training documents.
        text: Its characters.
        tokens: Their token ranges, from the first character of the mention.
        forms: The token strings as they were given.
    """

    row: int
    text: str
    tokens: tuple[Span, ...]
    forms: tuple[str, ...]

    def placed(self, char_start: int) -> list[Span]:
        """Its tokens where the mention begins at a character."""
        return [Span(char_start + s.char_start, char_start + s.char_end) for s in self.tokens]


def swap_mentions(item: AnnotatedDocument, new: Mapping[str, Donor]) -> AnnotatedDocument:
    """A document with some mentions replaced, and everything behind them moved.

    Args:
        item: The document.
        new: What stands in the place of an entity, by its id; the entities overlap no others.
    """
    entities = sorted((item.annotations.entity(each) for each in new), key=lambda each: each.span)
    spans = [entity.span for entity in entities]
    donors = [new[entity.id] for entity in entities]
    moved = _Moves(spans, [len(donor.text) for donor in donors])
    text = _spliced(item.document.text, spans, donors)
    document = replace(
        item.document,
        doc_key=f"{item.document.doc_key} (swapped)",
        text=text,
        tokens=_with_forms(text, *_spliced_tokens(item.document, spans, donors, moved)),
    )
    return replace(item, document=document, annotations=_moved(item.annotations, moved))


class _Moves:
    """Where characters are after ranges were replaced by others of given lengths."""

    def __init__(self, spans: Sequence[Span], lengths: Sequence[int]) -> None:
        self._ends = [span.char_end for span in spans]
        grown = (
            length - (span.char_end - span.char_start)
            for span, length in zip(spans, lengths, strict=True)
        )
        self._shifts = [0, *accumulate(grown)]

    def edge(self, char: int) -> int:
        """The new place of an edge that lies inside no replaced range."""
        return char + self._shifts[bisect_right(self._ends, char)]

    def span(self, span: Span) -> Span:
        return Span(self.edge(span.char_start), self.edge(span.char_end))


def _spliced(text: str, spans: Sequence[Span], donors: Sequence[Donor]) -> str:
    parts, at = [], 0
    for span, donor in zip(spans, donors, strict=True):
        parts += [text[at : span.char_start], donor.text]
        at = span.char_end
    return "".join([*parts, text[at:]])


def _spliced_tokens(
    document: Document, spans: Sequence[Span], donors: Sequence[Donor], moves: _Moves
) -> tuple[TokenTable, tuple[str, ...]]:
    """The token table with the tokens of each span replaced, and all its forms; sentences keep their ends."""
    table, given = document.tokens, document.tokens.strings(document.text)
    new: list[Span] = []
    forms: list[str] = []
    edges: list[int] = []  # how many new tokens there are before each old one
    by_first = {table.covering(span): donor for span, donor in zip(spans, donors, strict=True)}
    replaced = {words.token_start: (words, donor) for words, donor in by_first.items() if words}
    while len(edges) < len(table):
        at = len(edges)
        words, donor = replaced.get(at, (TokenRange(at, at + 1), None))
        edges += [len(new)] * len(words)
        if donor is None:
            new.append(moves.span(table.spans[at]))
            forms.append(given[at])
        else:
            new += donor.placed(moves.edge(table.spans[at].char_start))
            forms += donor.forms
    edges.append(len(new))
    sentences = tuple(TokenRange(edges[s.token_start], edges[s.token_end]) for s in table.sentences)
    return TokenTable(tuple(new), sentences), tuple(forms)


def _with_forms(text: str, table: TokenTable, forms: tuple[str, ...]) -> TokenTable:
    return table if forms == table.slices(text) else replace(table, forms=forms)


def _moved(annotations: Annotations, moves: _Moves) -> Annotations:
    """The same annotations at their new places; what a model considered is left out."""
    entities = tuple(
        replace(entity, fragments=tuple(moves.span(each) for each in entity.fragments))
        for entity in annotations.entities
    )
    return Annotations(entities, annotations.relations, annotations.clusters)
