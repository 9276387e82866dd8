"""Exchange records as the bytes of one small Parquet file: the parts that a large run writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Source
from sciextract.formats.corpora.arrow_rows import SCHEMA, RowBuffer
from sciextract.formats.json_lines import parse_object
from sciextract.formats.jsonl import parse_record

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
    """The Parquet file of what ``--export jsonl`` writes; ``formats.read`` gives the same documents of both.

    Candidates are not among its columns.

    Args:
        lines: Exchange records, each ended by a line feed.

    Raises:
        FormatError: A line is no exchange record.
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
