"""The door to Parquet parts for those who must not import pyarrow themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciextract.errors import MissingExtraError

if TYPE_CHECKING:
    from sciextract.formats.parquet import ParquetPart


def check_parquet() -> None:
    """Import what writes Parquet, so that a long run fails before it begins.

    Raises:
        MissingExtraError: The extra ``formats`` is not installed.
    """
    try:
        import sciextract.formats.parquet  # noqa: F401 - only whether it can be had
    except ModuleNotFoundError as error:
        raise MissingExtraError("the format 'parquet'", "formats") from error


def parquet_part(lines: bytes) -> ParquetPart:
    """Exchange records, one a line, as a whole Parquet file: see :mod:`sciextract.formats.parquet`.

    Raises:
        MissingExtraError: The extra ``formats`` is not installed.
        FormatError: A line is no exchange record.
    """
    check_parquet()
    from sciextract.formats.parquet import parquet_part as encoded

    return encoded(lines)
