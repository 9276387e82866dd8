"""Parquet, one row a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError, OutputError
from sciextract.formats.arrow_rows import (
    ARROW_ERRORS,
    SCHEMA,
    RowBuffer,
    class_features,
    documents_of,
)
from sciextract.formats.base import STDIN, ReadItem, Source
from sciextract.formats.json_values import parse_object
from sciextract.formats.jsonl import parse_record
from sciextract.formats.urls import is_url

_BATCH_ROWS = 256
_BUFFER_BYTES = 1 << 16
"""Read at a time from each column: else a row group, which may be the whole file, is in memory at once."""


def read_parquet(source: Source) -> Iterator[ReadItem]:
    """Read our own Parquet files, and those of others with text, tagged tokens or SciERC fields.

    Raises:
        FormatError: The file is not a Parquet file, is damaged, or no column holds text.
        InputMissingError: It does not exist.
    """
    with _place(source) as place, _opened(place, source) as file:
        schema = file.schema_arrow
        batches = _batches(file, source)
        yield from documents_of(batches, schema, source, class_features(schema))


@contextmanager
def _place(source: Source) -> Iterator[str | pa.NativeFile]:
    """What pyarrow reads from: it needs to go to and fro, and knows local files best itself."""
    if source.path == STDIN:
        yield pa.BufferReader(source.content())
    elif is_url(source.path):
        with source.opened() as stream:
            yield pa.PythonFile(stream, mode="r")
    else:
        yield source.path


def _opened(place: str | pa.NativeFile, source: Source) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(place, buffer_size=_BUFFER_BYTES, pre_buffer=False)
    except FileNotFoundError:
        raise InputMissingError(f"{source.path}: no such file") from None
    except ARROW_ERRORS as error:
        raise FormatError(f"this is not a Parquet file: {error}", path=source.path) from error


def _batches(file: pq.ParquetFile, source: Source) -> Iterator[pa.RecordBatch]:
    try:
        yield from file.iter_batches(batch_size=_BATCH_ROWS)
    except ARROW_ERRORS as error:
        raise FormatError(f"the file is damaged: {error}", path=source.path) from error


class ParquetWriter:
    """Writes row groups of about a thousand documents, rejected items included.

    Attributes:
        losses: Lone surrogates, which become U+FFFD; everything else fits.
    """

    def __init__(self, destination: Path | str) -> None:
        """Write to a file.

        Raises:
            OutputError: The file cannot be opened.
        """
        self._path = destination
        self._rows = RowBuffer(self._append)
        if not isinstance(destination, str | Path) or str(destination) == STDIN:
            raise OutputError("Parquet is not text", "name a file with --output")
        try:
            self._file = pq.ParquetWriter(str(destination), SCHEMA, compression="zstd")
        except ARROW_ERRORS as error:
            raise self._failed(error) from error

    @property
    def losses(self) -> Counter[str]:
        """What could not be held so far."""
        return self._rows.losses

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        self._rows.add(document)

    def close(self) -> None:
        """Write what is left and end the file.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        self._rows.flush()
        try:
            self._file.close()
        except ARROW_ERRORS as error:
            raise self._failed(error) from error

    def _append(self, batch: pa.RecordBatch) -> None:
        try:
            self._file.write_batch(batch)
        except ARROW_ERRORS as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> OutputError:
        return OutputError(f"{self._path}: cannot be written: {error}", "choose another --output")


_NAME = "part.jsonl"


class ParquetPart(NamedTuple):
    """A whole Parquet file.

    Attributes:
        data: Its bytes; the same for the same lines and version of pyarrow.
        rows: How many documents it holds.
        losses: What its columns cannot hold, by kind: lone surrogates, which become U+FFFD.
    """

    data: bytes
    rows: int
    losses: Mapping[str, int]


def parquet_part(lines: bytes) -> ParquetPart:
    """The Parquet file of what ``--to jsonl`` writes; ``formats.read`` gives the same documents of both.

    Candidates are not among its columns.

    Args:
        lines: Exchange records, each ended by a line feed.

    Raises:
        FormatError: A line is not an exchange record.
    """
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, SCHEMA, compression="zstd") as file:
        buffer = RowBuffer(file.write_batch)
        rows = sum(1 for each in _documents(lines) if buffer.add(each))
        buffer.flush()
    return ParquetPart(sink.getvalue().to_pybytes(), rows, dict(buffer.losses))


def _documents(lines: bytes) -> Iterator[AnnotatedDocument]:
    """Only line feeds end lines: :func:`bytes.splitlines` would cut at carriage returns, too."""
    source = Source(_NAME)
    for number, line in enumerate(lines.split(b"\n"), start=1):
        if line:
            yield parse_record(parse_object(line.decode("utf-8"), _NAME, number), source, number)
