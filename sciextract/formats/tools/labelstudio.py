"""Label Studio's JSON export: tasks with annotations by several people, and predictions by models.

The array is read task by task. Each annotation that was not cancelled gives one document, whose items have the
annotator's id in their source. Predictions are read where a task has no annotation, as undecided items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source, shown
from sciextract.formats.checks import list_at, object_at
from sciextract.formats.corpus_items import warnings_of
from sciextract.formats.json_lines import Record, unknown_fields
from sciextract.formats.texts import key_of
from sciextract.formats.tools.imported import ImportedItems, score_of, title_length_of
from sciextract.formats.tools.json_objects import read_objects
from sciextract.formats.tools.labelstudio_results import REGION_TYPES, ResultReader
from sciextract.formats.tools.labelstudio_writer import LabelStudioWriter
from sciextract.text.analyse import analyse

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
        "prediction beside an annotation is not read": len(layers["predictions"]) * bool(done),
    }
    documents = (
        _of_annotations(task, done) if done else _of_predictions(task, layers["predictions"])
    )
    yield from _with_warnings(documents, warnings_of(remarks))


def _objects(value: object, name: str, place: Place) -> list[dict[str, Any]]:
    listed = list_at(value, name, place)
    # Task lists of large projects hold ids of predictions and drafts in place of the objects.
    numbers = name in ("predictions", "drafts") and all(type(each) is int for each in listed)
    return [] if numbers else [object_at(e, f"{name}[{i}]", place) for i, e in enumerate(listed)]


def _key_of(data: Record, record: Record, source: Source, line: int) -> str:
    key, field = key_of({"doc_key": data.get("doc_key")}, source, line)
    number = record.get("id")
    has_number = not field and isinstance(number, int | str) and number != ""
    return f"{source.stem}:{number}" if has_number else key


def _without_data(record: Record, place: Place) -> FormatError:
    names = ", ".join(map(shown, list(record)[:8])) or "none"
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
        names = ", ".join(map(shown, list(data)[:8])) or "none"
        problem = f"no text: the fields are {names}; allowed is one string, or `text`"
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
    """The id of who annotated, never the address that exports may hold beside it."""
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
