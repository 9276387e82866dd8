"""Formats of parts: from the lines of a chunk to the bytes of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sciextract.errors import UsageError


@dataclass(frozen=True, slots=True)
class Encoded:
    """A part.

    Attributes:
        data: Its bytes.
        losses: What the format could not hold, by kind.
    """

    data: bytes
    losses: Mapping[str, int] = field(default_factory=dict)


def encoder(export: str) -> Callable[[bytes], Encoded]:
    """What makes parts of a format.

    Raises:
        UsageError: Parts have no such format.
        MissingExtraError: What writes it is not installed.
    """
    if export == "jsonl":
        return Encoded
    if export == "parquet":
        return _parquet()
    raise UsageError(f"parts cannot be {export!r}", "formats of parts: jsonl, parquet")


def _parquet() -> Callable[[bytes], Encoded]:
    from sciextract.formats.registry import get_format

    get_format("parquet", "write").load_writer()
    from sciextract.formats.corpora.parquet_part import parquet_part

    def encoded(lines: bytes) -> Encoded:
        part = parquet_part(lines)
        return Encoded(part.data, part.losses)

    return encoded
