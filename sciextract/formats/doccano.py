"""doccano's JSON: ``label`` lists of ``[start, end, type]``, or ``entities`` and ``relations`` with ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from sciextract.documents.annotations import Entity
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError
from sciextract.formats.alignment import GivenSpan, given_span, to_spans
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.items import ImportedItems, bibliographic, title_length_of
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    dump_line,
    key_of,
    label_at,
    list_at,
    objects_at,
    string_at,
    unknown_fields,
)
from sciextract.formats.layers import span_layers
from sciextract.formats.sink import LineWriter
from sciextract.text.analyse import analyse


class DoccanoWriter(LineWriter):
    """Writes one object a line; counts in ``losses`` what spans and relations cannot hold.

    Offsets count code points. Ids of entities and relations are unique in the file. doccano refuses spans
    without a label.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        super().__init__(destination)
        self._entity_count = self._relation_count = 0

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: An entity is not a range of the document's text.
        """
        self._sink.write_line(dump_line(self._record(document)))

    def _record(self, annotated: AnnotatedDocument) -> Record:
        layers = span_layers(annotated, untyped=False)
        self.losses.update(layers.losses)
        first = self._entity_count + 1
        numbers = {each.id: number for number, each in enumerate(layers.entities, start=first)}
        self._entity_count += len(numbers)
        record: Record = {"doc_key": annotated.document.doc_key, "text": annotated.document.text}
        record["entities"] = [
            {
                "id": numbers[each.id],
                "label": each.label,
                "start_offset": each.span.char_start,
                "end_offset": each.span.char_end,
            }
            for each in layers.entities
        ]
        record["relations"] = []
        for head, tail, label in layers.relations:
            self._relation_count += 1
            ends = {"from_id": numbers[head.id], "to_id": numbers[tail.id]}
            record["relations"].append({"id": self._relation_count, **ends, "type": label})
        return record | {"Comments": []} | bibliographic(annotated.document.fields)


__all__ = ["DoccanoWriter", "read_doccano"]

_SPAN_COLUMNS = ("entities", "label", "labels")


def read_doccano(source: Source) -> Iterator[ReadItem]:
    """Read an export of a sequence labelling or relation extraction project.

    Relations of type ``COREF`` become clusters. Labels of whole documents, comments and metadata are kept as fields.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_objects(source, _documents)


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    if record.get("text") is None:
        raise _other_columns(record, place)
    text = string_at(record["text"], "text", place)
    columns = [name for name in _SPAN_COLUMNS if _holds_spans(record.get(name))]
    fields = unknown_fields(record, {key_field, "text", "relations", *columns}, place)
    reader = _Reader(text, ImportedItems(key, source.provenance), place)
    reader.read(record, columns)
    for name in _SPAN_COLUMNS:
        if fields.get(name):
            reader.items.remarks[f"label of the whole document, kept as the field {name!r}"] += 1
    tokens = analyse(text, reader.items.spans, title_length=title_length_of(text, fields))
    yield reader.items.annotated(Document(key, text, tokens, fields))


def _holds_spans(value: object) -> bool:
    """Whether a column is a list of spans (or empty); labels of whole documents are strings."""
    if isinstance(value, str):
        return False
    return (
        not isinstance(value, list) or not all(isinstance(each, str) for each in value) or not value
    )


def _other_columns(record: Record, place: Place) -> FormatError:
    names = ", ".join(map(quoted, list(record)[:12])) or "none"
    problem = (
        f"no text: the columns are {names}; expected 'text', and 'label', 'labels' or 'entities'"
    )
    hint = (
        "name the columns so when exporting, or: jq -c '{text: .OLD_NAME, label: .OTHER_NAME}' FILE"
    )
    return place.error(problem, hint=hint)


class _Reader:
    """The items of one record."""

    def __init__(self, text: str, items: ImportedItems, place: Place) -> None:
        self.items = items
        self._text = text
        self._place = place
        self._given: list[tuple[GivenSpan, str, object]] = []
        self._by_id: dict[object, Entity] = {}

    def read(self, record: Record, columns: list[str]) -> None:
        """Spans of all columns first: their offsets are of one kind, and relations refer to them."""
        for column in columns:
            for index, value in enumerate(list_at(record.get(column), column, self._place)):
                self._add_span(value, f"{column}[{index}]")
        self._add_entities()
        for relation in objects_at(record.get("relations"), "relations", self._place):
            self._add_relation(*relation)

    def _add_span(self, value: object, field: str) -> None:
        if isinstance(value, list) and len(value) == 3:
            start, end, label = value
            number = None
        elif isinstance(value, dict):
            start, end, label = (value.get(key) for key in ("start_offset", "end_offset", "label"))
            number = value.get("id")
        else:
            allowed = "[start, end, label], or an object with start_offset, end_offset and label"
            raise self._place.unexpected(value, f"{allowed}", field=field)
        given = given_span(start, end, None, field, self._place)
        self._given.append((given, label_at(label, f"{field} label", self._place), number))

    def _add_entities(self) -> None:
        spans, remark = to_spans([given for given, *_ in self._given], self._text, self._place)
        if remark:
            self.items.remarks[remark] += 1
        for (given, label, number), span in zip(self._given, spans, strict=True):
            entity = self.items.entity([span], label)
            if number is None:
                continue
            if not isinstance(number, int | str) or number in self._by_id:
                raise self._place.unexpected(
                    number, "a number or word of its own", field=f"{given.field}.id"
                )
            self._by_id[number] = entity

    def _add_relation(self, value: dict[str, Any], field: str) -> None:
        head, tail = (self._entity(value, name, field) for name in ("from_id", "to_id"))
        label = value.get("type")
        name = "" if label is None else string_at(label, f"{field}.type", self._place)
        self.items.add_relation(head, tail, name)

    def _entity(self, value: dict[str, Any], name: str, field: str) -> Entity:
        number = value.get(name)
        known = self._by_id.get(number) if isinstance(number, int | str) else None
        if known is None:
            raise self._place.unexpected(
                number, "the id of an entity of this record", field=f"{field}.{name}"
            )
        return known
