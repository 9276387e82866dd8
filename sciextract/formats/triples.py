"""Writer of triples for knowledge graphs: one tab-separated line a relation, with the sentence it stands in."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import Entity, Relation
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span, TokenRange
from sciextract.formats.items import live
from sciextract.formats.sink import LineWriter
from sciextract.formats.tables import (
    cell_of,
    field_cell,
    live_entities,
    live_relations,
    mention_text,
    tsv_row,
)

COLUMNS = (
    *("head_text", "relation", "tail_text", "head_label", "tail_label"),
    *("doc_key", "doi", "pmid", "year", "score", "sentence"),
)


class TriplesWriter(LineWriter):
    """Writes a header with the first document, then a line a relation; rejected items are left out.

    ``losses`` counts entities without a relation, and clusters.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        super().__init__(destination)
        self._started = False

    def write(self, document: AnnotatedDocument) -> None:
        """Append the relations of one document.

        Raises:
            OutputError: An entity lies outside the text, or the destination cannot be written.
        """
        if not self._started:
            self._sink.write_line(tsv_row(COLUMNS))
            self._started = True
        entities = live_entities(document)
        relations = live_relations(document, entities, self.losses)
        for relation in relations:
            self._sink.write_line(tsv_row(_cells(relation, entities, document.document)))
        self._count_left_out(document, entities, relations)

    def _count_left_out(
        self, document: AnnotatedDocument, entities: dict[str, Entity], relations: list[Relation]
    ) -> None:
        related = {end for relation in relations for end in (relation.head, relation.tail)}
        left_out = {
            "entity without a relation": len(entities.keys() - related),
            "cluster": len(live(document.annotations.clusters)),
        }
        self.losses.update({kind: number for kind, number in left_out.items() if number})


def _cells(relation: Relation, entities: dict[str, Entity], document: Document) -> list[str]:
    head, tail = entities[relation.head], entities[relation.tail]
    return [
        mention_text(head, document),
        relation.label,
        mention_text(tail, document),
        head.label,
        tail.label,
        document.doc_key,
        *[field_cell(document.fields, name) for name in ("doi", "pmid", "year")],
        cell_of(relation.score),
        _sentence(head, tail, document),
    ]


def _sentence(head: Entity, tail: Entity, document: Document) -> str:
    """The text from the first to the last sentence that the two mentions touch."""
    start = min(head.span.char_start, tail.span.char_start)
    end = max(head.span.char_end, tail.span.char_end)
    table = document.tokens
    tokens = table.covering(Span(start, end))
    if tokens is None:
        return Span(start, end).of(document.text)
    first = table.sentences[table.sentence_of(tokens.token_start)]
    last = table.sentences[table.sentence_of(tokens.token_end - 1)]
    whole = table.char_span(TokenRange(first.token_start, last.token_end))
    return whole.of(document.text)
