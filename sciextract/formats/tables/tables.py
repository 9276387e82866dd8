"""Writers of tables for spreadsheets and statistics: one row an entity, relation or mention in a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import Cluster, Entity, Relation
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats.live import live
from sciextract.formats.sink import LineSink
from sciextract.formats.tables.cells import (
    cell_of,
    csv_row,
    field_cell,
    mention_text,
    storable,
    tsv_row,
)

#: In this order, always all of them. None is a name that a table of abstracts uses for its text.
COLUMNS = (
    *("kind", "doc_key", "id", "label", "char_start", "char_end", "fragments", "mention_text"),
    *("head_id", "head_label", "head_text", "tail_id", "tail_label", "tail_text"),
    *("cluster_id", "score", "state", "source", "doi", "pmid", "title", "year"),
)
FIELDS = ("doi", "pmid", "title", "year")

Row = dict[str, str]


class TableWriter:
    """Writes a header with the first document, then a row an item; rejected items are left out.

    Subclasses say how a row becomes a line.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        self.losses: Counter[str] = Counter()
        self._sink = LineSink(destination)
        self._started = False

    def write(self, document: AnnotatedDocument) -> None:
        """Append the items of one document.

        Raises:
            OutputError: An entity lies outside the text, or the destination cannot be written.
        """
        if not self._started:
            self._sink.write_line(self._line(COLUMNS))
            self._started = True
        for row in rows_of(document, self.losses):
            self._sink.write_line(self._line([row.get(column, "") for column in COLUMNS]))

    def close(self) -> None:
        """Flush, and close the file that was opened here."""
        self._sink.close()

    def _line(self, cells: Iterable[str]) -> str:
        raise NotImplementedError


class CsvWriter(TableWriter):
    """Comma-separated, cells kept exactly; lone surrogates become U+FFFD and are counted."""

    def _line(self, cells: Iterable[str]) -> str:
        found = [storable(cell) for cell in cells]
        lost = sum(count for _, count in found)
        if lost:
            self.losses["lone surrogate in a cell"] += lost
        return csv_row([cell for cell, _ in found])


class TsvWriter(TableWriter):
    """Tab-separated, one line a row: control characters and backslashes are written as escapes."""

    def _line(self, cells: Iterable[str]) -> str:
        return tsv_row(cells)


def rows_of(annotated: AnnotatedDocument, losses: Counter[str]) -> Iterator[Row]:
    """The rows of a document by column: entities, relations, mentions in clusters, in their order.

    What names an entity that does not exist is counted in ``losses``; what names a rejected one is
    left out with it.

    Raises:
        OutputError: An entity lies outside the text.
    """
    annotations, document = annotated.annotations, annotated.document
    common = {"doc_key": document.doc_key}
    common |= {name: field_cell(document.fields, name) for name in FIELDS}
    entities = live_entities(annotated)
    known = {entity.id for entity in annotations.entities}
    for entity in entities.values():
        yield {"kind": "entity", **common, **_entity(entity, document), **_made(entity)}
    for relation in live_relations(annotated, entities, losses):
        head, tail = entities[relation.head], entities[relation.tail]
        yield {"kind": "relation", **common, **_relation(relation, head, tail, document)}
    for cluster in live(annotations.clusters):
        missing = sum(mention not in known for mention in cluster.live_mentions)
        _count(losses, "mention of an entity that is not there", missing)
        for row in _mentions(cluster, entities, document):
            yield {"kind": "mention", **common, **row}


def live_entities(annotated: AnnotatedDocument) -> dict[str, Entity]:
    """The entities that are not rejected, by id."""
    return {entity.id: entity for entity in live(annotated.annotations.entities)}


def live_relations(
    annotated: AnnotatedDocument, entities: Mapping[str, Entity], losses: Counter[str]
) -> list[Relation]:
    """The relations that are not rejected, between ``entities``; broken ones are counted."""
    known = {entity.id for entity in annotated.annotations.entities}
    found = []
    for relation in live(annotated.annotations.relations):
        if relation.head in entities and relation.tail in entities:
            found.append(relation)
        elif not {relation.head, relation.tail} <= known:
            losses["relation of an entity that is not there"] += 1
    return found


def _entity(entity: Entity, document: Document) -> Row:
    span = entity.span
    return {
        "id": entity.id,
        "label": entity.label,
        "char_start": str(span.char_start),
        "char_end": str(span.char_end),
        "fragments": ";".join([f"{each.char_start}-{each.char_end}" for each in entity.fragments]),
        "mention_text": mention_text(entity, document),
    }


def _relation(relation: Relation, head: Entity, tail: Entity, document: Document) -> Row:
    return {
        "id": relation.id,
        "label": relation.label,
        "head_id": head.id,
        "head_label": head.label,
        "head_text": mention_text(head, document),
        "tail_id": tail.id,
        "tail_label": tail.label,
        "tail_text": mention_text(tail, document),
        **_made(relation),
    }


def _mentions(
    cluster: Cluster, entities: Mapping[str, Entity], document: Document
) -> Iterator[Row]:
    scores = cluster.mention_scores or (cluster.score,) * len(cluster.mentions)
    score_of = dict(zip(cluster.mentions, scores, strict=True))
    for mention in cluster.live_mentions:
        if mention in entities:
            score = score_of[mention]
            own = {"cluster_id": cluster.id, "score": cell_of(score)}
            yield {**_entity(entities[mention], document), **_made(cluster), **own}


def _made(item: Entity | Relation | Cluster) -> Row:
    return {"score": cell_of(item.score), "state": item.state.value, "source": item.source}


def _count(losses: Counter[str], kind: str, number: int) -> None:
    if number:
        losses[kind] += number
