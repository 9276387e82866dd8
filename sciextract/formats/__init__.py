"""Readers and writers. :func:`read` and :func:`open_writer` are the doors; the registry lists the formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from sciextract.formats.base import BadRecord, FieldChoice, ReadItem, Writer
from sciextract.formats.inputs import read_inputs
from sciextract.formats.registry import get_format
from sciextract.formats.sink import EVERYTHING, CountingWriter

__all__ = ["BadRecord", "ReadItem", "Writer", "open_writer", "read"]


def read(
    paths: Sequence[str | Path], format: str | None = None, fields: FieldChoice | None = None
) -> Iterator[ReadItem]:
    """Read documents from files, folders (all readable files below, sorted), patterns (``papers/*.jsonl``, ``**``
    for any depth; what exists under that name is meant itself) and ``-`` (standard input).

    Memory stays constant: documents come one by one. Without ``format`` the content and the name of each
    file decide. An unusable file is an error when it is the only one; among several it becomes a
    :class:`BadRecord` and the others are read. Of SciERC records that hold gold and predictions the gold is read,
    unless ``fields`` chooses.

    Raises:
        UsageError: No format has that id.
        InputMissingError: A path does not exist, or nothing matches a pattern; raised at once, before anything is read.
        FormatError: The only file is empty or unusable; raised while reading.
    """
    return read_inputs([str(path) for path in paths], format, fields=fields)


def open_writer(format: str, destination: Path | str | TextIO, **options: Any) -> Writer:
    """A writer of that format to a file, an open text stream or ``-`` (standard output).

    Its ``losses`` count what the format cannot hold, also of what readers kept without interpreting it.

    Raises:
        UsageError: No format that can be written has that id.
        OutputError: The destination cannot be opened.
    """
    spec = get_format(format, "write")
    writer = spec.load_writer()(destination, **options)
    return writer if EVERYTHING in spec.holds else CountingWriter(writer, spec.holds)
