"""Writer of doccano's relation extraction layout, which it imports under the name ``JSONL(Relation)``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TextIO

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.json_lines import Record, dump_line
from sciextract.formats.sink import LineSink
from sciextract.formats.tools.imported import bibliographic
from sciextract.formats.tools.span_layers import span_layers


class DoccanoWriter:
    """Writes one object a line; counts in ``losses`` what spans and relations cannot hold.

    Offsets count code points. Ids of entities and relations are unique in the file. doccano refuses spans
    without a label.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        self.losses: Counter[str] = Counter()
        self._sink = LineSink(destination)
        self._entity_count = self._relation_count = 0

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: An entity is not a range of the document's text.
        """
        self._sink.write_line(dump_line(self._record(document)))

    def close(self) -> None:
        """Flush, and close the file that was opened here."""
        self._sink.close()

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
