"""Years from a file of their own, for predictions whose records tell none."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sciextract.documents.bibliography import bibliography_of
from sciextract.errors import FormatError
from sciextract.formats.base import Source, shown
from sciextract.formats.decoding import decoded_content
from sciextract.formats.json_lines import parse_object
from sciextract.formats.packing import unpacked_name

_KEYS = ("doc_key", "id")


def read_years(path: Path) -> dict[str, int]:
    """Years by document key, from JSONL or CSV (or TSV) with a header.

    Raises:
        InputMissingError: There is no such file.
        FormatError: It cannot be read, or a record has no key; a record without a year is passed over.
    """
    years: dict[str, int] = {}
    for line, record in _records(path):
        key = next((record[name] for name in _KEYS if record.get(name) not in (None, "")), None)
        if not isinstance(key, str | int):
            problem = f"{shown(key)} found as key, allowed is a `doc_key` or `id` in each record"
            raise FormatError(problem, path=path, line=line)
        year = bibliography_of(record).year
        if year is not None:
            years[str(key)] = year
    return years


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    lines = decoded_content(Source(str(path))).splitlines(keepends=True)
    if unpacked_name(path.name).lower().endswith((".csv", ".tsv")):
        yield from _rows(lines, path)
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, parse_object(line, str(path), number)


def _rows(lines: Iterable[str], path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    delimiter = "\t" if ".tsv" in path.name.lower() else ","
    reader = csv.DictReader(lines, delimiter=delimiter)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        problem = f"broken CSV: {error}"
        raise FormatError(problem, path=path, line=reader.line_num) from error
