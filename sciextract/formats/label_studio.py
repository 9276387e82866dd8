"""Label Studio's JSON: tasks with annotations by several people, and predictions by models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sciextract.documents.annotations import Entity, Span, State
from sciextract.documents.bibliography import described
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import (
    ABSTRACT,
    RELATION_PREFIX,
    AttributeKind,
    AttributeType,
    LabelSchema,
)
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.items import (
    COREFERENCE,
    LOOSE,
    UNFIT_ATTRIBUTE,
    CorpusItems,
    in_fitting_unit,
    score_of,
)
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    dump_line,
    key_of,
    label_at,
    list_at,
    object_at,
    objects_at,
    string_at,
    unknown_fields,
)
from sciextract.formats.layers import SpanLayers, named_attributes, span_layers
from sciextract.formats.sink import ArraySink, LineWriter
from sciextract.text.offsets import CODE_POINTS, UNITS, OffsetMap, Unit

LABELS_NAME, TEXT_NAME = "label", "text"
"""The names that results refer to as ``from_name`` and ``to_name``."""


def labelling_config(schema: LabelSchema) -> str:
    """The XML for Settings, Labeling Interface, Code: entity types with their colours and keys, relation types, attributes.

    Coreference is the relation ``COREF`` where the schema has coreference.
    """
    relations = [*schema.relation_labels, *([COREFERENCE] if schema.coreference else [])]
    view = Element("View")
    if relations:
        listed = SubElement(view, "Relations")
        for relation in relations:
            SubElement(listed, "Relation", value=relation)
    labels = SubElement(view, "Labels", name=LABELS_NAME, toName=TEXT_NAME)
    for entity in schema.entities:
        shown = {"value": entity.label, "background": entity.colour, "hotkey": entity.key}
        hint = {"hint": entity.definition} if entity.definition else {}
        SubElement(labels, "Label", shown | hint)
    for kind in schema.attributes:
        of_region = {"perRegion": "true"} if ABSTRACT not in kind.on else {}
        control = {"name": kind.label, "toName": TEXT_NAME} | of_region
        if _is_written(kind):
            SubElement(view, "TextArea", control)
        elif not all(target.startswith(RELATION_PREFIX) for target in kind.on):
            choices = SubElement(view, "Choices", control)
            for value in kind.values or [kind.label]:
                SubElement(choices, "Choice", value=value)
    SubElement(view, "Text", name=TEXT_NAME, value="$text")
    indent(view)
    return tostring(view, encoding="unicode") + "\n"


def _is_written(kind: AttributeType) -> bool:
    return kind.kind in (AttributeKind.TEXT, AttributeKind.VALUE)


#: Results that say something of a region or of the task, and where their values have it.
_ANSWERS = {"choices": "choices", "taxonomy": "taxonomy", "textarea": "text"}
REGION_TYPES = ("labels", "hypertextlabels")
INCLUSIVE_ENDS = Unit("ends as the last character, as in the first releases", CODE_POINTS.widths)
_DIRECTIONS = ("right", "left", "bi")


class ResultReader:
    """Reads the results of one annotation or prediction.

    Attributes:
        items: The entities, relations and clusters found.
    """

    def __init__(
        self, items: CorpusItems, offsets: OffsetMap, unit: Unit, place: Place, score: float | None
    ) -> None:
        """Take the text, what offsets count, and the score of regions that have none of their own."""
        self.items = items
        self._other_ids: set[str] = set()  # of results of other kinds, such as ratings
        self._offsets = offsets
        self._unit = unit
        self._place = place
        self._score = score
        self._relations: list[tuple[str, Record]] = []
        self._answers: list[tuple[str, Record]] = []
        self._by_id: dict[str, list[Entity]] = {}

    def read(self, results: object, field: str) -> None:
        """All results; regions first, since relations refer to them.

        Raises:
            FormatError: The results are no list.
        """
        for result, where in self.items.objects(results, field):
            with self.items.leaving_out():
                self._sort(result, where)
        for where, result in self._relations:
            with self.items.leaving_out(LOOSE):
                self._add_relation(result, where)
        for where, result in self._answers:
            with self.items.leaving_out(UNFIT_ATTRIBUTE):
                self._add_answer(result, where)

    def _sort(self, result: Record, field: str) -> None:
        """Add a region; note a relation, an answer, or something else."""
        kind = result.get("type")
        value = result.get("value") if kind in REGION_TYPES else None
        if isinstance(value, dict) and not isinstance(value.get("start"), int):
            # Regions of HTML have their characters next to their XPaths, or not at all.
            has_path = value.get("start") is None or isinstance(value.get("start"), str)
            value = value.get("globalOffsets") if has_path else value
        if kind == "relation":
            self._relations.append((field, result))
        elif kind in _ANSWERS and isinstance(result.get("value"), dict):
            self._answers.append((field, result))
        elif not isinstance(value, dict) or "start" not in value:
            self._other_ids.add(str(result.get("id")))
            self.items.unread[f"result of type {quoted(kind)}"] += 1
        else:
            mention = result["value"].get("text")
            start, end = value.get("start"), value.get("end")
            if self._unit is INCLUSIVE_ENDS and type(end) is int:
                end += 1
            where = f"{field}.value"
            span = self.items.span_at(start, end, mention, self._unit, self._offsets, where)
            self._add_entities(result, span, where)

    def _add_entities(self, result: Record, span: Span, field: str) -> None:
        own, value = score_of(result.get("score")), result["value"]
        listed = value.get(result["type"]) or value.get("labels")
        # A region without labels is a mention without a type.
        labels = list_at(listed, f"{field}.labels", self._place) or [""]
        for name in [string_at(label, f"{field}.labels", self._place) for label in labels]:
            entity = self.items.entity([span], name, self._score if own is None else own)
            self._by_id.setdefault(str(result.get("id")), []).append(entity)

    def _add_answer(self, result: Record, field: str) -> None:
        value, regions = result["value"], self._by_id.get(str(result.get("id")), [])
        targets: Sequence[Entity | None] = regions or [None]
        if "start" in value and not regions:
            allowed = "the id of a region of this annotation"
            raise self._place.unexpected(result.get("id"), allowed, field=f"{field}.id")
        label = label_at(result.get("from_name"), f"{field}.from_name", self._place)
        where = f"{field}.value"
        for chosen in list_at(value.get(_ANSWERS[result["type"]]), where, self._place):
            # Of a taxonomy the whole path; and a choice that is called as its question is there or not.
            path = chosen if isinstance(chosen, list) else [chosen]
            text = " / ".join([string_at(part, where, self._place) for part in path])
            for target in targets:
                self.items.attribute(target, label, "" if text == label else text)

    def _add_relation(self, result: Record, field: str) -> None:
        ends = []
        for name in ("from_id", "to_id"):
            region = str(result.get(name))
            if region not in self._by_id and region not in self._other_ids:
                allowed = "the id of a region of this annotation"
                raise self._place.unexpected(result.get(name), allowed, field=f"{field}.{name}")
            ends.append(self._by_id.get(region, []))
        if not all(ends):
            self._other_ids.add(str(result.get("id")))
            self.items.unread["relation of a result of another kind"] += 1
            return
        if any(len(end) > 1 for end in ends):
            self.items.remarks["relation of a region with several labels, read for the first"] += 1
        direction = result.get("direction") or "right"
        if direction not in _DIRECTIONS:
            allowed = ", ".join(_DIRECTIONS)
            raise self._place.unexpected(direction, allowed, field=f"{field}.direction")
        if direction == "bi":
            self.items.remarks["relation in both directions, read as from its first region"] += 1
        head, tail = ends[0][0], ends[1][0]
        if direction == "left":
            head, tail = tail, head
        labels = list_at(result.get("labels"), f"{field}.labels", self._place)
        for label in labels or [""]:
            name = string_at(label, f"{field}.labels", self._place)
            self.items.add_relation(head, tail, name)


class LabelStudioWriter(LineWriter):
    """Writes tasks; counts in ``losses`` what regions and relations cannot hold.

    Items that nobody has decided on become a prediction of the task, all others an annotation. Offsets count code
    points, as current releases of Label Studio do, and each region repeats its text.
    """

    _SINK = ArraySink

    def __init__(
        self, destination: Path | str | TextIO, *, schema: LabelSchema | None = None
    ) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream; ``schema`` tells choices from words."""
        super().__init__(destination)
        kinds = schema.attributes if schema else ()
        self._written = {kind.label for kind in kinds if _is_written(kind)}
        self._count = 0

    def write(self, document: AnnotatedDocument) -> None:
        layers = span_layers(document)
        self.losses.update(layers.losses)
        self._count += 1
        task = _task(document, layers, self._count, self._written, self.losses)
        self._sink.write_line(dump_line(task))


def _task(
    annotated: AnnotatedDocument,
    layers: SpanLayers,
    number: int,
    written: Container[str],
    losses: Counter[str],
) -> Record:
    document = annotated.document
    names = {entity.id: f"e{number}" for number, entity in enumerate(layers.entities, start=1)}
    results: list[Record] = []
    places: dict[str, Record] = {"": {}}
    for entity in layers.entities:
        span = entity.span
        place = {"start": span.char_start, "end": span.char_end, "text": span.of(document.text)}
        places[names[entity.id]] = place
        value = {**place, "labels": [entity.label] if entity.label else []}
        region = {"id": names[entity.id], "from_name": LABELS_NAME, "to_name": TEXT_NAME}
        score = {} if entity.score is None else {"score": entity.score}
        results.append({**region, "type": "labels", "value": value, **score})
    labels: dict[tuple[str, str], list[str]] = {}
    for head, tail, label in layers.relations:
        labels.setdefault((names[head.id], names[tail.id]), []).append(label)
    # Label Studio keeps one relation a pair of regions, with any number of labels.
    for (first, second), of_pair in labels.items():
        ends = {"from_id": first, "to_id": second}
        results.append({**ends, "type": "relation", "direction": "right", "labels": of_pair})
    said = named_attributes(annotated, {**names, "": ""}, losses).items()
    for index, ((target, label), attribute) in enumerate(said, start=1):
        kind = "textarea" if label in written else "choices"
        control = {"id": target or f"a{index}", "from_name": label, "to_name": TEXT_NAME}
        answer = {_ANSWERS[kind]: [attribute.value or label]}
        results.append({**control, "type": kind, "value": {**places[target], **answer}})
    annotations, predictions = [], []
    if layers.undecided:
        version = str(annotated.model or "sciextract")
        predictions.append({"model_version": version, "result": results})
    elif results:
        annotations.append({"id": number, "was_cancelled": False, "result": results})
    data = {"text": document.text, "doc_key": document.doc_key} | described(document.fields)
    lists = {"annotations": annotations, "predictions": predictions}
    return {"id": number, **lists, "data": data}


_LAYERS = ("annotations", "completions", "predictions", "drafts")


def read_labelstudio(source: Source) -> Iterator[ReadItem]:
    """Read an array of tasks, one task, or one task a line; also the early layout with ``completions``."""
    return read_objects(source, _documents)


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    place = Place(source.path, line, _key_of({}, record, source, line))
    record = _task_of_min(record)
    if "data" not in record:
        names = ", ".join(map(quoted, list(record)[:8])) or "none"
        problem = f"the task has no `data`; its fields are {names}"
        raise place.error(problem, hint="export as JSON or JSON-MIN; CSV and TSV cannot be read")
    data = object_at(record["data"], "data", place)
    place = Place(source.path, line, _key_of(data, record, source, line))
    layers: dict[str, list[Record]] = {}
    for name in _LAYERS:
        listed = list_at(record.get(name), name, place)
        # Task lists of large projects hold ids of predictions and drafts in place of the objects.
        if name in ("predictions", "drafts") and all(type(layer) is int for layer in listed):
            listed = []
        layers[name] = [layer for layer, _ in objects_at(listed, name, place)]
    given = layers["annotations"] + layers["completions"]
    done = [layer for layer in given if not layer.get("was_cancelled")]
    predictions, drafts = layers["predictions"], layers["drafts"]
    name = _text_field(data, [*given, *predictions], place)
    text, fields = data[name], unknown_fields(data, {name, "doc_key"}, place)
    remarks = {
        "cancelled annotation is left out": len(given) - len(done),
        "draft is not read": len(drafts),
        "prediction next to an annotation is not read": len(predictions) * bool(done),
    }
    offsets = OffsetMap(text)
    # An annotation by each person, else what each model predicted, else a document without items.
    for number, layer in enumerate(done or predictions or [{}]):
        made_by = layer.get("completed_by" if done else "model_version")
        if isinstance(made_by, Mapping):
            # Exports may hold the address of the person next to the id: it stays out.
            made_by = made_by.get("id")
        if done:
            made_by = str(made_by) if isinstance(made_by, int | str) else ""
        provenance = f"{source.provenance}:{made_by}" if made_by else source.provenance
        state = State.UNDECIDED if predictions and not done else State.IMPORTED
        owner = f"{provenance} {number}" if number else ""
        field = f"{'annotations' if done else 'predictions'}[{number}].result"
        read = partial(_read_layer, layer, field, offsets, place, (provenance, state, owner))
        items, _ = in_fitting_unit(read, text, (*UNITS, INCLUSIVE_ENDS))
        # What is said of the task is counted once, with its first document.
        items.remarks.update(remarks if not number else {})
        yield items.document(text, fields)


def _read_layer(
    layer: Record,
    field: str,
    offsets: OffsetMap,
    place: Place,
    made_by: tuple[str, State, str],
    unit: Unit,
) -> tuple[CorpusItems, None]:
    items = CorpusItems(place, *made_by)
    reader = ResultReader(items, offsets, unit, place, score_of(layer.get("score")))
    reader.read(layer.get("result"), field)
    return items, None


_MIN_FIELDS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")


def _task_of_min(record: Record) -> Record:
    """The task of an annotation in JSON-MIN, where the regions of each control stand next to the data, without relations."""
    if "data" in record or "annotation_id" not in record:
        return record
    results, data = [], {}
    for name, value in record.items():
        is_control = isinstance(value, list) and all(isinstance(region, dict) for region in value)
        if is_control:
            for region in value:
                results.append({"type": REGION_TYPES["labels" not in region], "value": region})
        elif name not in _MIN_FIELDS:
            data[name] = value
    annotation = {"completed_by": record.get("annotator"), "result": results}
    return {"id": record.get("id"), "data": data, "annotations": [annotation]}


def _key_of(data: Record, record: Record, source: Source, line: int) -> str:
    key, field = key_of({"doc_key": data.get("doc_key")}, source, line)
    number = record.get("id")
    has_number = not field and isinstance(number, int | str) and number != ""
    return f"{source.stem}:{number}" if has_number else key


def _text_field(data: Record, layers: list[dict[str, Any]], place: Place) -> str:
    """The field of ``data`` that regions lie in: the one they name, else ``text``, else the only string."""
    strings = [name for name, value in data.items() if isinstance(value, str)]
    named = set()
    for layer in layers:
        results = layer.get("result")
        for result in results if isinstance(results, list) else []:
            # New exports leave the source out, such as "$text".
            is_region = isinstance(result, dict) and result.get("type") in REGION_TYPES
            if is_region and "source" in result:
                named.add(str(result["source"]).removeprefix("$"))
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
