"""JSON arrays of the records that JSONL has one a line, and records spread over lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import ReadItem, Source
from sciextract.formats.json_lines import Record
from sciextract.formats.jsonl import parse_record
from sciextract.formats.jsonl_writer import encode
from sciextract.formats.sink import ArraySink
from sciextract.formats.tools.json_objects import read_objects


def read_json(source: Source) -> Iterator[ReadItem]:
    """Read objects of any of the shapes that JSONL takes: exchange records, input, SciERC fields.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_objects(source, _documents, numbered=True)


class JsonWriter:
    """Writes exchange records as an array, one a line. Nothing is lost."""

    def __init__(self, destination: Path | str | TextIO, *, candidates: bool = False) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream.

        Args:
            destination: Where to.
            candidates: Whether to write what the model considered, too.
        """
        self.losses: Counter[str] = Counter()
        self._candidates = candidates
        self._sink = ArraySink(destination)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""
        self._sink.write_element(encode(document, self._candidates))

    def close(self) -> None:
        """End the array, flush, and close the file that was opened here."""
        self._sink.close()


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    yield parse_record(record, source, line)
