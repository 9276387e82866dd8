"""Writer of Label Studio tasks: an array with one task a line, written as a stream."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import Entity
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.json_lines import Record, dump_line
from sciextract.formats.sink import ArraySink
from sciextract.formats.tools.imported import bibliographic
from sciextract.formats.tools.labelstudio_config import LABELS_NAME, TEXT_NAME
from sciextract.formats.tools.span_layers import SpanLayers, span_layers


class LabelStudioWriter:
    """Writes tasks; counts in ``losses`` what regions and relations cannot hold.

    Items that nobody has decided on become a prediction of the task, all others an annotation. Offsets count code
    points, as current releases of Label Studio do, and each region repeats its text.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        self.losses: Counter[str] = Counter()
        self._sink = ArraySink(destination)
        self._count = 0

    def write(self, document: AnnotatedDocument) -> None:
        """Append one task.

        Raises:
            OutputError: An entity is not a range of the document's text.
        """
        layers = span_layers(document)
        self.losses.update(layers.losses)
        self._count += 1
        self._sink.write_element(dump_line(_task(document, layers, self._count)))

    def close(self) -> None:
        """End the array, flush, and close the file that was opened here."""
        self._sink.close()


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
