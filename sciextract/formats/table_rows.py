"""Annotations as rows of a table, one an item, and the cells of CSV and TSV."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import (
    NOT_REJECTED,
    Attribute,
    Cluster,
    Entity,
    Relation,
)
from sciextract.documents.bibliography import described, year_of
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats.layers import entities_in_text
from sciextract.formats.sink import LineWriter
from sciextract.text.characters import BLANK, without_surrogates

#: A formula, also behind what spreadsheets drop and in full width; apostrophes that stand there already.
_FORMULA = re.compile(f"'*(?:[\\t\\r\\n]|[{BLANK}]*[=+\\-@＝＋－＠])")
_UNSAFE = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SHORT_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
_QUOTED_IN_CSV = re.compile(r'[",;\t\r\n]|^\s|\s$')
_QUOTED_IN_TSV = re.compile('"')


def csv_row(cells: Iterable[str]) -> str:
    """The cells, comma-separated and quoted after RFC 4180, without a line end."""
    return exact_csv_row([guard_cell(cell) for cell in cells])


def exact_csv_row(cells: Iterable[str]) -> str:
    """:func:`csv_row` with the cells as they are, for programs that would keep the apostrophe."""
    return ",".join([_quote_cell(cell, _QUOTED_IN_CSV) for cell in cells])


def tsv_row(cells: Iterable[str]) -> str:
    """The cells, tab-separated, with escapes for control characters, without a line end."""
    return "\t".join([_quote_cell(guard_cell(escape_cell(cell)), _QUOTED_IN_TSV) for cell in cells])


def guard_cell(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet would run it.

    >>> guard_cell("=1+1"), guard_cell("n-gram"), guard_cell("'=1+1")
    ("'=1+1", 'n-gram', "''=1+1")
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguard_cell(cell: str) -> str:
    """What :func:`guard_cell` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def escape_cell(cell: str) -> str:
    r"""The cell with ``\t \n \r \\`` and ``\uXXXX`` for control characters and line separators.

    >>> escape_cell("a\tb\u2028c")
    'a\\tb\\u2028c'
    """
    return _UNSAFE.sub(
        lambda found: _SHORT_ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}", cell
    )


def cell_of(value: object) -> str:
    """A value of a record as a cell: strings as they are, nothing for ``None``, else as in JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def _quote_cell(cell: str, needs_quotes: re.Pattern[str]) -> str:
    return in_quotes(cell) if needs_quotes.search(cell) else cell


def in_quotes(cell: str) -> str:
    """The cell as RFC 4180 quotes it."""
    return '"' + cell.replace('"', '""') + '"'


#: In this order, always all of them. None is a name that a table of abstracts uses for its text.
COLUMNS = (
    *("kind", "doc_key", "id", "label", "char_start", "char_end", "fragments", "mention_text"),
    *("head_id", "head_label", "head_text", "tail_id", "tail_label", "tail_text"),
    *("cluster_id", "score", "state", "source", "doi", "pmid", "title", "year"),
    *("target_id", "value"),
)
Row = dict[str, str]


def rows_of(annotated: AnnotatedDocument, losses: Counter[str]) -> Iterator[Row]:
    """The rows of a document by column: entities, relations, mentions in clusters, attributes, in their order.

    What names an entity that does not exist is counted in ``losses``; what names a rejected one is
    left out with it.

    Raises:
        OutputError: An entity lies outside the text.
    """
    document = annotated.document
    common = _about(document)
    entities, relations, clusters = written_items(annotated, losses)
    for entity in entities.values():
        yield {"kind": "entity", **common, **_entity(entity, document), **_made(entity)}
    for relation in relations:
        own = {"id": relation.id, "label": relation.label}
        ends = _ends(relation, entities, document)
        yield {"kind": "relation", **common, **own, **ends, **_made(relation)}
    for cluster in clusters:
        missing = sum(mention not in entities for mention in cluster.mentions)
        losses += Counter({"mention of an entity that is not there": missing})
        scores = cluster.mention_scores or (cluster.score,) * len(cluster.mentions)
        for mention, score in zip(cluster.mentions, scores, strict=True):
            if mention not in entities:
                continue
            own = {"cluster_id": cluster.id, "score": cell_of(score)}
            row = {**_entity(entities[mention], document), **_made(cluster), **own}
            yield {"kind": "mention", **common, **row}
    for said in annotated.annotations.in_states(NOT_REJECTED).attributes:
        own = {"id": said.id, "label": said.label, "target_id": said.target, "value": said.value}
        yield {"kind": "attribute", **common, **own, **_made(said)}


def written_items(
    annotated: AnnotatedDocument, losses: Counter[str]
) -> tuple[dict[str, Entity], list[Relation], tuple[Cluster, ...]]:
    """Entities by id, relations and clusters that are not rejected; relations without an end are counted.

    Raises:
        OutputError: An entity lies outside the text.
    """
    entities = {entity.id: entity for entity in entities_in_text(annotated)}
    found = annotated.annotations.in_states(NOT_REJECTED)
    relations = [link for link in found.relations if {link.head, link.tail} <= entities.keys()]
    lost = len(found.relations) - len(relations)
    losses += Counter({"relation of an entity that is not there": lost})
    return entities, relations, found.clusters


def _about(document: Document) -> Row:
    about = described(document.fields)
    year = about.get("year")
    values = {name: cell_of(about.get(name)) for name in ("doi", "pmid", "title")}
    return {"doc_key": document.doc_key, **values, "year": cell_of(year_of(year))}


def _entity(entity: Entity, document: Document) -> Row:
    span = entity.span
    return {
        "id": entity.id,
        "label": entity.label,
        "char_start": str(span.char_start),
        "char_end": str(span.char_end),
        "fragments": ";".join([f"{part.char_start}-{part.char_end}" for part in entity.fragments]),
        "mention_text": entity.text_of(document.text),
    }


def _ends(relation: Relation, entities: Mapping[str, Entity], document: Document) -> Row:
    row = {}
    for side, entity_id in (("head", relation.head), ("tail", relation.tail)):
        entity = entities[entity_id]
        row[f"{side}_id"], row[f"{side}_label"] = entity.id, entity.label
        row[f"{side}_text"] = entity.text_of(document.text)
    return row


def _made(item: Entity | Relation | Cluster | Attribute) -> Row:
    return {"score": cell_of(item.score), "state": item.state.value, "source": item.source}


class TsvWriter(LineWriter):
    """Writes a row an item, tab-separated; rejected items are left out. Control characters and backslashes are escaped.

    The names of the columns come with the first document.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        super().__init__(destination)
        self._started = False

    def write(self, document: AnnotatedDocument) -> None:
        if not self._started:
            self._sink.write_line(self._line(COLUMNS))
            self._started = True
        for row in rows_of(document, self.losses):
            self._sink.write_line(self._line([row.get(name, "") for name in COLUMNS]))

    def _line(self, cells: Iterable[str]) -> str:
        return tsv_row(cells)


class CsvWriter(TsvWriter):
    """The same, comma-separated, cells kept exactly; lone surrogates become U+FFFD and are counted."""

    def _line(self, cells: Iterable[str]) -> str:
        found = [without_surrogates(cell) for cell in cells]
        self.lose("lone surrogate in a cell", sum(count for _, count in found))
        return csv_row([cell for cell, _ in found])
