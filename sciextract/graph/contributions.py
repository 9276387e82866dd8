"""From files and projects to contributions, on all cores where that pays."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import read
from sciextract.formats.base import STDIN, BadRecord, ReadItem, Source
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.globs import expand_inputs
from sciextract.formats.json_lines import parse_object
from sciextract.formats.packing import unpacked_name
from sciextract.formats.parts_folder import is_aside
from sciextract.graph.contribution import (
    Contribution,
    Counted,
    contribution_from,
    contribution_of,
)
from sciextract.graph.exchange_record import read_abstract
from sciextract.graph.read_ahead import read_ahead
from sciextract.graph.reading_process import Bundle, in_processes

PROJECT_SUFFIX = ".sciextract"
_JSONL_SUFFIX = ".jsonl"
_PARQUET_SUFFIX = ".parquet"
_MARK = b'"schema_version"'
_LINES_A_TASK = 64
_BUNDLES_AHEAD = 16
_MANY_BYTES = 8 << 20
_OF_AN_ERROR = ("problem", "path", "line", "column", "hint")


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read and how.

    Attributes:
        inputs: Files, folders, project files and ``-``.
        counted: What counts of an abstract.
        years: Years by document key, for abstracts that say none.
        undecided: Whether what nobody has decided in a project counts.
        workers: Processes beside this one; 0 reads here.
    """

    inputs: Sequence[str]
    counted: Counted
    years: Mapping[str, int]
    undecided: bool = True
    workers: int = 0

    def contributions(self) -> Iterator[Contribution | BadRecord]:
        """Contributions in input order, one by one, and records that cannot be read.

        Raises:
            InputMissingError: A path does not exist; before anything is read.
            FormatError: The only file is unusable.
        """
        files = [file for path in expand_inputs(self.inputs) for file in _files(path)]
        for exchanged, some in groupby(files, _holds_exchange_records):
            if exchanged:
                yield from self._of_lines(list(some))
                continue
            for file in some:
                try:
                    yield from self._of(file)
                except FormatError as error:
                    if len(files) == 1:
                        raise
                    yield BadRecord(error)

    def _of(self, file: str) -> Iterator[Contribution | BadRecord]:
        if file.endswith(PROJECT_SUFFIX):
            return map(self._contribution, self._project(file))
        return map(self._contribution, read([file]))

    def _project(self, file: str) -> Iterator[AnnotatedDocument]:
        from sciextract.store import open_project
        from sciextract.store.state.rows import IN_VIEW
        from sciextract.store.state.views import WITH_UNDECIDED

        with open_project(file, read=True) as project:
            yield from project.stream(WITH_UNDECIDED if self.undecided else IN_VIEW)

    def _contribution(self, item: ReadItem) -> Contribution | BadRecord:
        if isinstance(item, BadRecord):
            return item
        return contribution_of(item, self.counted, self.years.get(item.document.doc_key))

    def _of_lines(self, files: Sequence[str]) -> Iterator[Contribution | BadRecord]:
        """What files of exchange records say: they are one input, however many parts they come in."""
        bad: deque[FormatError] = deque()
        work = partial(_parsed, self.counted, self.years)
        bundles = _bundles(files, bad)
        many = self.workers and sum(map(os.path.getsize, files)) > _MANY_BYTES
        done = (
            read_ahead(in_processes(work, bundles, self.workers), _BUNDLES_AHEAD)
            if many
            else map(work, bundles)
        )
        for results in done:
            while bad:
                yield BadRecord(bad.popleft())
            for each in results:
                yield BadRecord(_error(each)) if isinstance(each, dict) else each
        yield from map(BadRecord, bad)


def _parsed(
    counted: Counted, years: Mapping[str, int], bundle: Bundle
) -> list[Contribution | dict[str, Any]]:
    """The contributions of a bundle; errors as what they are made of, because they do not travel themselves."""
    file, lines = bundle
    source = Source(file)
    results: list[Contribution | dict[str, Any]] = []
    for number, line in lines:
        try:
            found = read_abstract(parse_object(line, file, number), source, number, years)
        except FormatError as error:
            results.append({name: getattr(error, name) for name in _OF_AN_ERROR})
        else:
            results.append(contribution_from(found, counted))
    return results


def _error(parts: dict[str, Any]) -> FormatError:
    return FormatError(parts.pop("problem"), **parts)


def _bundles(files: Sequence[str], bad: deque[FormatError]) -> Iterator[Bundle]:
    """Lines that hold something, in bundles of one file each; what cannot be decoded is put aside."""
    for file in files:
        lines: list[tuple[int, str]] = []
        for number, line in _lines(file, bad):
            lines.append((number, line))
            if len(lines) == _LINES_A_TASK:
                yield file, lines
                lines = []
        if lines:
            yield file, lines


def _lines(file: str, bad: deque[FormatError]) -> Iterator[tuple[int, str]]:
    try:
        for number, line in decoded_lines(Source(file)):
            if isinstance(line, FormatError):
                bad.append(line)
            elif line.strip():
                yield number, line
    except FormatError as error:  # such as packed data that is cut off: what came before is read
        bad.append(error)


def _files(path: str) -> list[str]:
    """The path itself; of a folder its JSONL and Parquet files, sorted, where it has some."""
    if not os.path.isdir(path):
        return [path]
    found = [each for each in Path(path).rglob("*") if each.is_file() and not is_aside(each)]
    files = sorted(map(str, found))
    return [each for each in files if _is_jsonl(each) or _is_parquet(each)] or [path]


def _is_parquet(path: str) -> bool:
    return path.lower().endswith(_PARQUET_SUFFIX)


def _is_jsonl(path: str) -> bool:
    return unpacked_name(path).lower().endswith(_JSONL_SUFFIX)


def _holds_exchange_records(path: str) -> bool:
    """Whether a file is what ``annotate`` and ``export`` write, as far as its first line tells."""
    if path == STDIN or not _is_jsonl(path) or os.path.isdir(path):
        return False
    try:
        with closing(Source(path).lines()) as lines:
            return _MARK in next(lines)
    except FormatError:
        return False
