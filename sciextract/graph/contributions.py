"""From files and projects to contributions, on all cores where that pays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError
from sciextract.formats import read
from sciextract.formats.base import STDIN, BadRecord, ReadItem, Source
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.json_lines import parse_object
from sciextract.formats.jsonl import parse_record
from sciextract.graph.contribution import Contribution, contribution_of
from sciextract.graph.reading_process import Bundle, in_processes

PROJECT_SUFFIX = ".sciextract"
_JSONL_SUFFIXES = (".jsonl", ".jsonl.gz")
_LINES_A_TASK = 64
_MANY_BYTES = 8 << 20
_OF_AN_ERROR = ("problem", "path", "line", "column", "hint")


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read and how.

    Attributes:
        inputs: Files, folders, project files and ``-``.
        generic: Labels of mentions that name nothing of their own.
        years: Years by document key, for abstracts that say none.
        undecided: Whether what nobody has decided in a project counts.
        workers: Processes beside this one; 0 reads here.
    """

    inputs: Sequence[str]
    generic: frozenset[str]
    years: Mapping[str, int]
    undecided: bool = True
    workers: int = 0

    def contributions(self) -> Iterator[Contribution | BadRecord]:
        """Contributions in input order, one by one, and records that cannot be read.

        Raises:
            InputMissingError: A path does not exist; before anything is read.
            FormatError: The only file is unusable.
        """
        for path in self.inputs:
            if path != STDIN and not os.path.exists(path):
                raise InputMissingError(f"{path}: no such file or folder")
        files = [file for path in self.inputs for file in _files(path)]
        for file in files:
            try:
                yield from self._of(file)
            except FormatError as error:
                if len(files) == 1:
                    raise
                yield BadRecord(error)

    def _of(self, file: str) -> Iterator[Contribution | BadRecord]:
        if file.endswith(PROJECT_SUFFIX):
            return map(self._contribution, self._project(file))
        if self.workers and file.lower().endswith(_JSONL_SUFFIXES) and _is_large(file):
            return self._in_parallel(file)
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
        return contribution_of(item, self.generic, self.years.get(item.document.doc_key))

    def _in_parallel(self, file: str) -> Iterator[Contribution | BadRecord]:
        undecodable: list[FormatError] = []
        bundles = _bundles(file, undecodable)
        for results in in_processes(partial(_parsed, self, file), bundles, self.workers):
            yield from map(BadRecord, undecodable)
            undecodable.clear()
            yield from [
                BadRecord(_error(each)) if isinstance(each, dict) else each for each in results
            ]
        yield from map(BadRecord, undecodable)


def _parsed(reading: Reading, file: str, bundle: Bundle) -> list[Contribution | dict[str, Any]]:
    """The contributions of a bundle; errors as what they are made of, because they do not travel themselves."""
    results: list[Contribution | dict[str, Any]] = []
    for number, line in bundle:
        try:
            item = parse_record(parse_object(line, file, number), Source(file), number)
        except FormatError as error:
            results.append({name: getattr(error, name) for name in _OF_AN_ERROR})
        else:
            year = reading.years.get(item.document.doc_key)
            results.append(contribution_of(item, reading.generic, year))
    return results


def _error(parts: dict[str, Any]) -> FormatError:
    return FormatError(parts.pop("problem"), **parts)


def _bundles(file: str, undecodable: list[FormatError]) -> Iterator[Bundle]:
    """Lines that hold something, in bundles; what cannot be decoded is put aside."""
    bundle: Bundle = []
    for number, line in decoded_lines(Source(file)):
        if isinstance(line, FormatError):
            undecodable.append(line)
        elif line.strip():
            bundle.append((number, line))
        if len(bundle) == _LINES_A_TASK:
            yield bundle
            bundle = []
    if bundle:
        yield bundle


def _files(path: str) -> list[str]:
    """The path itself; of a folder its JSONL files, sorted, where it has some."""
    if not os.path.isdir(path):
        return [path]
    files = [str(each) for each in Path(path).rglob("*") if each.is_file()]
    return sorted(each for each in files if each.lower().endswith(_JSONL_SUFFIXES)) or [path]


def _is_large(file: str) -> bool:
    return os.path.getsize(file) > _MANY_BYTES
