"""doccano's JSON: ``label`` lists of ``[start, end, type]``, or ``entities`` and ``relations`` with ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import Entity
from sciextract.documents.bibliography import described
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.items import CorpusItems, in_fitting_unit
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    dump_line,
    key_of,
    label_at,
    list_at,
    string_at,
    unknown_fields,
)
from sciextract.formats.layers import span_layers
from sciextract.formats.sink import LineWriter
from sciextract.text.offsets import OffsetMap, Unit


class DoccanoWriter(LineWriter):
    """Writes one object a line; counts in ``losses`` what spans and relations cannot hold.

    Offsets count code points, as a copy of each mention tells; doccano leaves it aside. Ids of entities and relations are unique in the file. doccano refuses spans
    without a label.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        super().__init__(destination)
        self._entity_count = self._relation_count = 0

    def write(self, document: AnnotatedDocument) -> None:
        layers = span_layers(document, untyped=False)
        self.losses.update(layers.losses)
        first = self._entity_count + 1
        numbers = {entity.id: number for number, entity in enumerate(layers.entities, start=first)}
        self._entity_count += len(numbers)
        entities, relations = [], []
        for entity in layers.entities:
            span = entity.span
            place = {"start_offset": span.char_start, "end_offset": span.char_end}
            copy = {"text": span.of(document.document.text)}
            entities.append({"id": numbers[entity.id], "label": entity.label, **place, **copy})
        for head, tail, label in layers.relations:
            self._relation_count += 1
            ends = {"from_id": numbers[head.id], "to_id": numbers[tail.id]}
            relations.append({"id": self._relation_count, **ends, "type": label})
        text = {"doc_key": document.document.doc_key, "text": document.document.text}
        lists = {"entities": entities, "relations": relations, "Comments": []}
        self._sink.write_line(dump_line({**text, **lists} | described(document.document.fields)))


_SPAN_COLUMNS = ("entities", "label", "labels", "annotations")


def read_doccano(source: Source) -> Iterator[ReadItem]:
    """Read an export of a sequence labelling or relation extraction project.

    Relations of type ``COREF`` become clusters. Labels of whole documents, comments and metadata are kept as fields.
    """
    return read_objects(source, _documents)


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    if record.get("text") is None:
        names = ", ".join(map(quoted, list(record)[:12])) or "none"
        problem = f"no text: the columns are {names}; expected 'text', and 'label', 'labels' or 'entities'"
        hint = "name the columns so when exporting, or: jq -c '{text: .OLD_NAME, label: .OTHER_NAME}' FILE"
        raise place.error(problem, hint=hint)
    text = string_at(record["text"], "text", place)
    columns, kept = [], []
    for name in _SPAN_COLUMNS:
        value = record.get(name)
        # Labels of whole documents are strings, or a list of them.
        strings = isinstance(value, list) and value and all(isinstance(v, str) for v in value)
        if not isinstance(value, str) and not strings:
            columns.append(name)
        elif value:
            kept.append(f"label of the whole document, kept as the field {name!r}")
    fields = unknown_fields(record, {key_field, "text", "relations", *columns}, place)
    offsets = OffsetMap(text)

    def add_entity(
        value: object, items: CorpusItems, by_id: dict[str, Entity], unit: Unit, field: str
    ) -> None:
        number = copy = None
        if isinstance(value, list) and len(value) == 3:
            start, end, label = value
        elif isinstance(value, dict):
            start, end, label = (value.get(key) for key in ("start_offset", "end_offset", "label"))
            number, copy = value.get("id"), value.get("text")
        else:
            allowed = "[start, end, label], or an object with start_offset, end_offset and label"
            raise place.unexpected(value, allowed, field=field)
        if type(label) is int:
            label = str(label)
            items.remarks[
                "label that is a number of doccano, whose name the file does not hold"
            ] += 1
        span = items.span_at(start, end, copy, unit, offsets, field)
        label = label_at(label, f"{field} label", place)
        if number is not None and (not isinstance(number, int | str) or str(number) in by_id):
            raise place.unexpected(number, "a number or word of its own", field=f"{field}.id")
        entity = items.entity([span], label)
        if number is not None:
            by_id[str(number)] = entity

    def read(unit: Unit) -> tuple[CorpusItems, dict[str, Entity]]:
        items, by_id = CorpusItems(place, source.provenance), dict[str, Entity]()
        for column in columns:
            for index, value in enumerate(list_at(record.get(column), column, place)):
                with items.leaving_out():
                    add_entity(value, items, by_id, unit, f"{column}[{index}]")
        return items, by_id

    items, by_id = in_fitting_unit(read, text)
    items.remarks.update(kept)
    listed = record.get("relations")
    items.read_relations(listed, "relations", ("from_id", "to_id"), "type", by_id)
    yield items.document(text, fields)
