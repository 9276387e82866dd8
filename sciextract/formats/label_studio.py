"""Label Studio's JSON: tasks with annotations by several people, and predictions by models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO
from xml.sax.saxutils import quoteattr

from sciextract.documents.annotations import Entity, State
from sciextract.documents.document import AnnotatedDocument, Document, warnings_of
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.alignment import GivenSpan, given_span, to_spans
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.items import (
    COREFERENCE,
    ImportedItems,
    bibliographic,
    score_of,
    title_length_of,
)
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    dump_line,
    key_of,
    list_at,
    object_at,
    objects_at,
    string_at,
    unknown_fields,
)
from sciextract.formats.layers import SpanLayers, span_layers
from sciextract.formats.sink import ArraySink, LineWriter
from sciextract.text.analyse import analyse

LABELS_NAME, TEXT_NAME = "label", "text"
"""The names that results refer to as ``from_name`` and ``to_name``."""


def labelling_config(schema: LabelSchema) -> str:
    """The XML for Settings, Labeling Interface, Code: entity types with their colours and keys, relation types.

    Coreference is the relation ``COREF`` where the schema has coreference.
    """
    relations = [*schema.relation_labels, *([COREFERENCE] if schema.coreference else [])]
    lines = ["<View>"]
    if relations:
        lines.append("  <Relations>")
        lines += [f"    <Relation value={quoteattr(each)}/>" for each in relations]
        lines.append("  </Relations>")
    lines.append(f'  <Labels name="{LABELS_NAME}" toName="{TEXT_NAME}">')
    for entity in schema.entities:
        value, colour = quoteattr(entity.label), quoteattr(entity.colour)
        hint = f" hint={quoteattr(entity.definition)}" if entity.definition else ""
        key = quoteattr(entity.key)
        lines.append(f"    <Label value={value} background={colour} hotkey={key}{hint}/>")
    lines += ["  </Labels>", f'  <Text name="{TEXT_NAME}" value="$text"/>', "</View>", ""]
    return "\n".join(lines)


REGION_TYPES = ("labels", "hypertextlabels")
INCLUSIVE_ENDS = "ends count the last character; converted to exclusive ends"
_DIRECTIONS = ("right", "left", "bi")
_Result = Mapping[str, Any]


class ResultReader:
    """Reads the results of one annotation or prediction.

    Attributes:
        items: The entities, relations and clusters found.
        unread: Results of other kinds, such as choices and ratings.
    """

    def __init__(
        self, text: str, items: ImportedItems, place: Place, score: float | None = None
    ) -> None:
        """Take the text, and the score of regions that have none of their own."""
        self.items = items
        self.unread: list[_Result] = []
        self._text = text
        self._place = place
        self._score = score
        self._given: list[tuple[GivenSpan, _Result]] = []
        self._relations: list[tuple[str, _Result]] = []
        self._by_id: dict[str, list[Entity]] = {}

    def read(self, results: object, field: str) -> None:
        """All results; regions first, since relations refer to them.

        Raises:
            FormatError: A result has a wrong shape, leaves the text, or is not the text at its offsets.
        """
        for item in objects_at(results, field, self._place):
            self._sort(*item)
        self._add_entities()
        for where, result in self._relations:
            self._add_relation(result, where)

    def _sort(self, result: _Result, field: str) -> None:
        kind = result.get("type")
        if kind == "relation":
            self._relations.append((field, result))
            return
        offsets = _offsets(result) if kind in REGION_TYPES else None
        if offsets is None:
            self.unread.append(result)
            self.items.remarks[f"result of type {quoted(kind)} is not read"] += 1
            return
        mention = result["value"].get("text")
        self._given.append((given_span(*offsets, mention, f"{field}.value", self._place), result))

    def _add_entities(self) -> None:
        spans, remark = self._spans([given for given, _ in self._given])
        if remark:
            self.items.remarks[remark] += 1
        for (given, result), span in zip(self._given, spans, strict=True):
            own = score_of(result.get("score"))
            score = self._score if own is None else own
            labels = list(self._labels(result, given.field))
            entities = [self.items.entity([span], label, score) for label in labels]
            self._by_id.setdefault(str(result.get("id")), []).extend(entities)

    def _spans(self, given: list[GivenSpan]) -> tuple[list[Span], str]:
        """The regions' spans. The first releases wrote the last character's offset as the end."""
        try:
            return to_spans(given, self._text, self._place)
        except FormatError:
            if any(each.mention is None for each in given):
                raise
            longer = [each._replace(end=each.end + 1) for each in given]
            with suppress(FormatError):
                return to_spans(longer, self._text, self._place)[0], INCLUSIVE_ENDS
            raise

    def _labels(self, result: _Result, field: str) -> Iterator[str]:
        """The labels of a region; one that has none is a mention without a type."""
        value = result["value"]
        labels = value.get(result["type"]) or value.get("labels")
        for label in list_at(labels, f"{field}.labels", self._place) or [""]:
            yield string_at(label, f"{field}.labels", self._place)

    def _add_relation(self, result: _Result, field: str) -> None:
        ends = [self._argument(result, name, field) for name in ("from_id", "to_id")]
        if not all(ends):
            self.unread.append(result)
            self.items.remarks["relation of a result that is not read"] += 1
            return
        if any(len(each) > 1 for each in ends):
            self.items.remarks["relation of a region with several labels, read for the first"] += 1
        head, tail = self._directed(result, ends, field)
        labels = list_at(result.get("labels"), f"{field}.labels", self._place)
        for label in labels or [""]:
            name = string_at(label, f"{field}.labels", self._place)
            self.items.add_relation(head, tail, name)

    def _directed(
        self, result: _Result, ends: list[list[Entity]], field: str
    ) -> tuple[Entity, Entity]:
        direction = result.get("direction") or "right"
        if direction not in _DIRECTIONS:
            raise self._place.unexpected(
                direction, f"{', '.join(_DIRECTIONS)}", field=f"{field}.direction"
            )
        if direction == "bi":
            self.items.remarks["relation in both directions, read as from its first region"] += 1
        first, second = ends[0][0], ends[1][0]
        return (second, first) if direction == "left" else (first, second)

    def _argument(self, result: _Result, name: str, field: str) -> list[Entity]:
        """The entities of a region; none where the region is of a kind that is not read."""
        region = result.get(name)
        found = self._by_id.get(str(region), [])
        if not found and all(region != each.get("id") for each in self.unread):
            raise self._place.unexpected(
                region, "the id of a region of this annotation", field=f"{field}.{name}"
            )
        return found


def _offsets(result: _Result) -> tuple[object, object] | None:
    """Start and end in characters; regions of HTML have them next to their XPaths, or not at all."""
    value = result.get("value")
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("start"), str) or value.get("start") is None:
        value = value.get("globalOffsets")
    if not isinstance(value, dict) or "start" not in value:
        return None
    return value.get("start"), value.get("end")


class LabelStudioWriter(LineWriter):
    """Writes tasks; counts in ``losses`` what regions and relations cannot hold.

    Items that nobody has decided on become a prediction of the task, all others an annotation. Offsets count code
    points, as current releases of Label Studio do, and each region repeats its text.
    """

    _SINK = ArraySink

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        super().__init__(destination)
        self._count = 0

    def write(self, document: AnnotatedDocument) -> None:
        """Append one task.

        Raises:
            OutputError: An entity is not a range of the document's text.
        """
        layers = span_layers(document)
        self.losses.update(layers.losses)
        self._count += 1
        self._sink.write_line(dump_line(_task(document, layers, self._count)))


def _task(annotated: AnnotatedDocument, layers: SpanLayers, number: int) -> Record:
    document = annotated.document
    results = _results(document.text, layers)
    annotations, predictions = [], []
    if layers.undecided:
        predictions.append(
            {"model_version": str(annotated.model or "sciextract"), "result": results}
        )
    elif results:
        annotations.append({"id": number, "was_cancelled": False, "result": results})
    data = {"text": document.text, "doc_key": document.doc_key} | bibliographic(document.fields)
    return {
        "id": number,
        "annotations": annotations,
        "predictions": predictions,
        "data": data,
    }


def _results(text: str, layers: SpanLayers) -> list[Record]:
    names = {each.id: f"e{number}" for number, each in enumerate(layers.entities, start=1)}
    regions = [_region(each, names[each.id], text) for each in layers.entities]
    labels: dict[tuple[str, str], list[str]] = {}
    for head, tail, label in layers.relations:
        labels.setdefault((names[head.id], names[tail.id]), []).append(label)
    # Label Studio keeps one relation a pair of regions, with any number of labels.
    relations: list[Record] = [
        {"from_id": head, "to_id": tail, "type": "relation", "direction": "right", "labels": each}
        for (head, tail), each in labels.items()
    ]
    return [*regions, *relations]


def _region(entity: Entity, name: str, text: str) -> Record:
    span = entity.span
    region: Record = {
        "id": name,
        "from_name": LABELS_NAME,
        "to_name": TEXT_NAME,
        "type": "labels",
        "value": {
            "start": span.char_start,
            "end": span.char_end,
            "text": span.of(text),
            "labels": [entity.label] if entity.label else [],
        },
    }
    return region if entity.score is None else region | {"score": entity.score}


__all__ = ["LabelStudioWriter", "read_labelstudio"]

_LAYERS = ("annotations", "completions", "predictions", "drafts")
_KEPT_OF_ANNOTATION = ("id", "ground_truth", "lead_time", "created_at", "updated_at")


def read_labelstudio(source: Source) -> Iterator[ReadItem]:
    """Read an array of tasks, one task, or one task a line; also the early layout with ``completions``.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_objects(source, _documents)


@dataclass(frozen=True, slots=True)
class _Task:
    """A task's text, and what belongs to all of its annotations."""

    key: str
    text: str
    fields: Record
    place: Place
    provenance: str


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    place = Place(source.path, line, _key_of({}, record, source, line))
    if "data" not in record:
        raise _without_data(record, place)
    data = object_at(record["data"], "data", place)
    place = Place(source.path, line, _key_of(data, record, source, line))
    layers = {name: _objects(record.get(name), name, place) for name in _LAYERS}
    given = layers["annotations"] + layers["completions"]
    done = [each for each in given if not each.get("was_cancelled")]
    task = _task_of(record, data, [*given, *layers["predictions"]], source, place)
    remarks = {
        "cancelled annotation is left out": len(given) - len(done),
        "draft is not read": len(layers["drafts"]),
        "prediction next to an annotation is not read": len(layers["predictions"]) * bool(done),
    }
    documents = (
        _of_annotations(task, done) if done else _of_predictions(task, layers["predictions"])
    )
    yield from _with_warnings(documents, warnings_of(remarks))


def _objects(value: object, name: str, place: Place) -> list[dict[str, Any]]:
    listed = list_at(value, name, place)
    # Task lists of large projects hold ids of predictions and drafts in place of the objects.
    numbers = name in ("predictions", "drafts") and all(type(each) is int for each in listed)
    return [] if numbers else [each for each, _ in objects_at(listed, name, place)]


def _key_of(data: Record, record: Record, source: Source, line: int) -> str:
    key, field = key_of({"doc_key": data.get("doc_key")}, source, line)
    number = record.get("id")
    has_number = not field and isinstance(number, int | str) and number != ""
    return f"{source.stem}:{number}" if has_number else key


def _without_data(record: Record, place: Place) -> FormatError:
    names = ", ".join(map(quoted, list(record)[:8])) or "none"
    problem = f"the task has no `data`; its fields are {names}"
    return place.error(problem, hint="export as JSON: JSON-MIN and CSV leave out relations")


def _task_of(
    record: Record, data: Record, layers: list[dict[str, Any]], source: Source, place: Place
) -> _Task:
    name = _text_field(data, layers, place)
    fields = unknown_fields(data, {name, "doc_key"}, place)
    fields["labelstudio"] = unknown_fields(record, {"data", *_LAYERS}, place)
    return _Task(place.doc_key, data[name], fields, place, source.provenance)


def _text_field(data: Record, layers: list[dict[str, Any]], place: Place) -> str:
    """The field of ``data`` that regions lie in: the one they name, else ``text``, else the only string."""
    strings = [name for name, value in data.items() if isinstance(value, str)]
    named = {str(source).removeprefix("$") for source in _sources(layers)}
    named &= set(strings)
    if len(named) == 1:
        return named.pop()
    if "text" in strings:
        return "text"
    strings = [name for name in strings if name != "doc_key" and "://" not in data[name][:20]]
    if len(strings) != 1:
        names = ", ".join(map(quoted, list(data)[:8])) or "none"
        problem = f"no text: the fields are {names}; expected one string, or `text`"
        raise place.error(problem, field="data")
    return strings[0]


def _sources(layers: list[dict[str, Any]]) -> Iterator[object]:
    """What text regions name as their origin, such as ``$text``; new exports leave it out."""
    for layer in layers:
        results = layer.get("result")
        for each in results if isinstance(results, list) else []:
            if isinstance(each, dict) and each.get("type") in REGION_TYPES and "source" in each:
                yield each["source"]


def _of_annotations(task: _Task, annotations: list[dict[str, Any]]) -> Iterator[AnnotatedDocument]:
    for number, annotation in enumerate(annotations):
        who = _annotator(annotation.get("completed_by"))
        source = f"{task.provenance}:{who}" if who else task.provenance
        owner = f"{source} {number}" if number else ""
        items = ImportedItems(task.key, source, owner=owner)
        yield _document(task, annotation, items, f"annotations[{number}].result")


def _of_predictions(task: _Task, predictions: list[dict[str, Any]]) -> Iterator[AnnotatedDocument]:
    """Undecided items of each model; a document without items where there is no prediction either."""
    if not predictions:
        yield _document(task, {}, ImportedItems(task.key, task.provenance), "result")
    for number, prediction in enumerate(predictions):
        version = prediction.get("model_version")
        source = f"{task.provenance}:{version}" if version else task.provenance
        owner = f"{source} {number}" if number else ""
        items = ImportedItems(task.key, source, State.UNDECIDED, owner)
        yield _document(task, prediction, items, f"predictions[{number}].result")


def _annotator(completed_by: object) -> str:
    """The id of who annotated, never the address that exports may hold next to it."""
    number = completed_by.get("id") if isinstance(completed_by, Mapping) else completed_by
    return str(number) if isinstance(number, int | str) else ""


def _document(
    task: _Task, annotation: dict[str, Any], items: ImportedItems, field: str
) -> AnnotatedDocument:
    reader = ResultReader(task.text, items, task.place, score_of(annotation.get("score")))
    reader.read(annotation.get("result"), field)
    about = {name: annotation[name] for name in _KEPT_OF_ANNOTATION if name in annotation}
    unread = {"results": reader.unread} if reader.unread else {}
    kept = unknown_fields({**about, **unread}, (), task.place)
    own = task.fields["labelstudio"] | ({"annotation": kept} if kept else {})
    fields = task.fields | {"labelstudio": own}
    spans = items.spans
    tokens = analyse(task.text, spans, title_length=title_length_of(task.text, fields))
    document = Document(task.key, task.text, tokens, fields)
    return AnnotatedDocument(document, items.annotations(), warnings=items.warnings())


def _with_warnings(
    documents: Iterator[AnnotatedDocument], warnings: tuple[str, ...]
) -> Iterator[AnnotatedDocument]:
    """The documents of a task; the first one carries the warnings about the task."""
    for document in documents:
        yield replace(document, warnings=(*warnings, *document.warnings))
        warnings = ()
