"""doccano's JSON: ``label`` lists of ``[start, end, type]``, or ``entities`` and ``relations`` with ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import Entity
from sciextract.documents.bibliography import described
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.alignment import GivenSpan, given_span, to_spans
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.items import CorpusItems
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


class DoccanoWriter(LineWriter):
    """Writes one object a line; counts in ``losses`` what spans and relations cannot hold.

    Offsets count code points, as a copy of each mention tells; doccano leaves it aside. Ids of entities and relations are unique in the file. doccano refuses spans
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

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
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
    items = CorpusItems(place, source.provenance)
    columns = []
    for name in _SPAN_COLUMNS:
        value = record.get(name)
        # Labels of whole documents are strings, or a list of them.
        strings = isinstance(value, list) and value and all(isinstance(v, str) for v in value)
        if not isinstance(value, str) and not strings:
            columns.append(name)
        elif value:
            items.remarks[f"label of the whole document, kept as the field {name!r}"] += 1
    fields = unknown_fields(record, {key_field, "text", "relations", *columns}, place)
    by_id = _add_entities(items, record, columns, text, place)
    listed = record.get("relations")
    items.read_relations(listed, "relations", ("from_id", "to_id"), "type", by_id)
    yield items.document(text, fields)


def _add_entities(
    items: CorpusItems, record: Record, columns: list[str], text: str, place: Place
) -> dict[str, Entity]:
    """Add the spans of all columns, whose offsets are of one kind; gives the entities by their ids."""
    given: list[tuple[GivenSpan, str, object]] = []
    for column in columns:
        for index, value in enumerate(list_at(record.get(column), column, place)):
            with items.leaving_out():
                given.append(_read_span(items, value, f"{column}[{index}]", place))
    spans, remark = to_spans([span for span, *_ in given], text, place)
    items.bare_offsets = not remark and any(span.mention is None for span, *_ in given)
    if remark:
        items.remarks[remark] += 1
    by_id: dict[str, Entity] = {}
    for (found, label, number), span in zip(given, spans, strict=True):
        with items.leaving_out():
            if isinstance(span, FormatError):
                raise span
            if number is not None and (not isinstance(number, int | str) or str(number) in by_id):
                allowed = "a number or word of its own"
                raise place.unexpected(number, allowed, field=f"{found.field}.id")
            entity = items.entity([span], label)
            if number is not None:
                by_id[str(number)] = entity
    return by_id


def _read_span(
    items: CorpusItems, value: object, field: str, place: Place
) -> tuple[GivenSpan, str, object]:
    """A span with its label and id."""
    number = mention = None
    if isinstance(value, list) and len(value) == 3:
        start, end, label = value
    elif isinstance(value, dict):
        start, end, label = (value.get(key) for key in ("start_offset", "end_offset", "label"))
        number, mention = value.get("id"), value.get("text")
    else:
        allowed = "[start, end, label], or an object with start_offset, end_offset and label"
        raise place.unexpected(value, allowed, field=field)
    if type(label) is int:
        label = str(label)
        items.remarks["label that is a number of doccano, whose name the file does not hold"] += 1
    return (
        given_span(start, end, mention, field, place),
        label_at(label, f"{field} label", place),
        number,
    )
