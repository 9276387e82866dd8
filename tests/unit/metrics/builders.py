"""Small documents in token units, and in characters, for the scorer's tests."""

from __future__ import annotations

from collections.abc import Iterable

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
    TokenRange,
)
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.metrics.counts import Mention, Partition, Scorable, ScoredEntity, ScoredRelation


def partition_of(letters: str) -> Partition:
    """``"a bc"`` as the clusters {a} and {b, c}; every letter is a mention."""
    return tuple([frozenset(map(mention_of_letter, group)) for group in letters.split()])


def mention_of_letter(letter: str) -> Mention:
    return (ord(letter), ord(letter) + 1)


def entity(start: int, end: int, label: str = "Task") -> ScoredEntity:
    return ScoredEntity((start, end), label)


def relation(head: ScoredEntity, tail: ScoredEntity, label: str = "USED-FOR") -> ScoredRelation:
    return ScoredRelation(head, tail, label)


def scored(
    entities: Iterable[ScoredEntity] = (),
    relations: Iterable[ScoredRelation] = (),
    clusters: str = "",
) -> Scorable:
    return Scorable("d", frozenset(entities), frozenset(relations), partition_of(clusters))


def words(text: str) -> TokenTable:
    """One sentence of the text's words."""
    spans, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        spans.append(Span(start, start + len(word)))
        start += len(word)
    sentences = (TokenRange(0, len(spans)),) if spans else ()
    return TokenTable(tuple(spans), sentences)


def annotated(
    text: str,
    entities: Iterable[tuple[str, str]] = (),
    relations: Iterable[tuple[str, str, str]] = (),
    clusters: Iterable[tuple[str, ...]] = (),
    doc_key: str = "d",
    state: State = State.UNDECIDED,
) -> AnnotatedDocument:
    """A document whose entities are its substrings, named by themselves."""
    return AnnotatedDocument(
        Document(doc_key, text, words(text)),
        Annotations(
            tuple([_entity(text, surface, label, state) for surface, label in entities]),
            tuple([Relation("->".join(pair), *pair) for pair in relations]),
            tuple([Cluster("=".join(group), group) for group in clusters]),
        ),
    )


def _entity(text: str, surface: str, label: str, state: State) -> Entity:
    start = text.index(surface)
    return Entity(surface, (Span(start, start + len(surface)),), label, state=state)
