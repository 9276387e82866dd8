"""Readers and writers. :func:`read` and :func:`open_writer` are the doors; the registry lists the formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from sciextract.formats.base import BadRecord, FieldChoice, ReadItem, Writer
from sciextract.formats.inputs import read_inputs
from sciextract.formats.registry import get_format
from sciextract.formats.sink import CountingWriter

__all__ = ["BadRecord", "ReadItem", "Writer", "open_writer", "read"]


def read(
    paths: Sequence[str | Path],
    format: str | None = None,
    fields: FieldChoice | None = None,
    texts: Mapping[str, str] | None = None,
) -> Iterator[ReadItem]:
    """Read documents one by one, in constant memory.

    Examples:
        >>> [first, *others] = read(["sample_data/library.bib"])
        >>> first.document.doc_key, len(others)
        ('cs-01', 25)

    Args:
        paths: Files, folders (all readable files below, sorted), patterns (``papers/*.jsonl``, ``**`` for any depth)
            and ``-`` (standard input). A name that exists is not used as a pattern.
        format: The id of the format; by default the content and the name of each file decide.
        fields: Which fields of SciERC records with gold and predictions to read; the gold by default.
        texts: By their SHA-256 the texts of records that hold offsets only, as in a release without texts.

    Yields:
        An :class:`AnnotatedDocument` per record, or a :class:`BadRecord` with the error and its place. An unusable
        file among several is one :class:`BadRecord`.

    Raises:
        UsageError: No format has that id.
        InputMissingError: A path does not exist, or nothing matches a pattern; raised at once, before anything is read.
        FormatError: The only file is empty or unusable; raised while reading.
    """
    return read_inputs(paths, format, fields=fields, texts=texts)


def open_writer(format: str, destination: Path | str | TextIO, **options: Any) -> Writer:
    """Open a writer, which has ``write(document)``, ``close()`` and ``losses``.

    Examples:
        >>> import io
        >>> stream = io.StringIO()
        >>> writer = open_writer("jsonl", stream)
        >>> for item in read(["sample_data/text/cs-03.txt"]):
        ...     writer.write(item)
        >>> writer.close()
        >>> stream.getvalue().count("\\n"), writer.losses
        (1, Counter())

    Args:
        format: The id of a format that can be written.
        destination: A file or folder, an open text stream, or ``-`` (standard output).
        options: Options of the format, such as ``schema``.

    Returns:
        The writer. ``losses`` counts by kind what the format cannot hold, including what was lost when it was read.

    Raises:
        UsageError: No format that can be written has that id.
        OutputError: The destination cannot be opened.
    """
    spec = get_format(format, "write")
    writer = spec.load_writer()(destination, **options)
    return CountingWriter(writer, spec.holds, has_attributes="attributes" in spec.options)
