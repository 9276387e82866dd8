"""The first step of a build: what each abstract in files and projects contributes, on all cores where that pays."""

from __future__ import annotations

import csv
import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import read
from sciextract.formats.base import STDIN, BadRecord, ReadItem, Source, quoted
from sciextract.formats.decoding import decoded_content
from sciextract.formats.inputs import expand_inputs, is_aside
from sciextract.formats.json_streams import parsed_line, record_lines
from sciextract.formats.json_values import parse_object
from sciextract.formats.jsonl import parse_record
from sciextract.formats.packing import unpacked_name
from sciextract.graph.extraction import CountSettings, Extraction, extract

Bundle = tuple[str, list[tuple[int, str | FormatError]]]
"""A file, and some of its lines with their numbers; errors in place of lines that cannot be read."""

# A worker reads 64 records in some 90 ms; sending them, and what is extracted, takes a tenth of that.
_LINES_A_TASK = 64
_BUNDLES_AHEAD = 16
# Starting a worker takes 0.2 s or more on a busy machine, reading this much here 0.7 s.
_MANY_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read and how.

    Attributes:
        inputs: Files, folders, project files and ``-``.
        counted: What counts of an abstract.
        years: Years by document key, for abstracts that say none.
        undecided: Whether what nobody has decided in a project counts.
        workers: Processes next to this one; 0 reads here.
    """

    inputs: Sequence[str]
    counted: CountSettings
    years: Mapping[str, int]
    undecided: bool = True
    workers: int = 0

    def extractions(self) -> Iterator[Extraction | BadRecord]:
        """Extractions in input order, one by one, and records that cannot be read.

        Raises:
            InputMissingError: A path does not exist; before anything is read.
            FormatError: The only file is unusable.
        """
        files: list[str] = []
        for path in expand_inputs(self.inputs):
            inside: list[str] = []
            if os.path.isdir(path):
                below = [each for each in Path(path).rglob("*") if each.is_file()]
                names = sorted(map(str, [each for each in below if not is_aside(each)]))
                inside = [
                    each for each in names if _is_jsonl(each) or each.lower().endswith(".parquet")
                ]
            # A folder without JSONL or Parquet files is one input of a format that is a folder.
            files += inside or [path]
        # Neighbouring files of exchange records are one input, so that many small parts keep all workers busy.
        for exchanged, some in groupby(files, _holds_exchange_records):
            if exchanged:
                lines = list(some)
                work, bundles = partial(read_bundle, self), _bundles(lines)
                many = self.workers and sum(map(os.path.getsize, lines)) > _MANY_BYTES
                parsed = in_processes(work, bundles, self.workers) if many else map(work, bundles)
                yield from chain.from_iterable(parsed)
                continue
            for file in some:
                try:
                    for item in self._documents(file):
                        yield item if isinstance(item, BadRecord) else self.extract(item)
                except FormatError as error:
                    if len(files) == 1:
                        raise
                    yield BadRecord(error)

    def extract(self, document: AnnotatedDocument) -> Extraction:
        """What a document contributes, with its year from ``years`` where that has one."""
        return extract(document, self.counted, self.years.get(document.document.doc_key))

    def _documents(self, file: str) -> Iterator[ReadItem]:
        if not file.endswith(".sciextract"):
            yield from read([file])
            return
        from sciextract.store import open_project
        from sciextract.store.rows import IN_VIEW
        from sciextract.store.views import WITH_UNDECIDED

        with open_project(file, read=True) as project:
            yield from project.stream(WITH_UNDECIDED if self.undecided else IN_VIEW)


def in_processes(
    work: Callable[[Bundle], list[Any]], bundles: Iterable[Bundle], processes: int
) -> Iterator[list[Any]]:
    """The results of ``work`` for each bundle, in order, in constant memory; some bundles are worked on ahead.

    Args:
        work: A picklable callable.
        bundles: Numbered lines.
        processes: How many work next to this one.
    """
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _prepare_worker)
    waiting: deque[Future[list[Any]]] = deque()
    try:
        for bundle in bundles:
            waiting.append(pool.submit(work, bundle))
            if len(waiting) > processes + _BUNDLES_AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare_worker() -> None:
    def end_with_parent() -> None:
        # A worker does not notice by itself that the build was killed.
        if parent := parent_process():
            parent.join()
        os._exit(1)

    gc.freeze()
    # Records come and go without cycles: there is little to look for.
    gc.set_threshold(50_000)
    # Ctrl+C is for the build, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=end_with_parent, daemon=True).start()


def read_bundle(reading: Reading, bundle: Bundle) -> list[Extraction | BadRecord]:
    """The extractions of a bundle, and its records that cannot be read."""
    file, lines = bundle
    source = Source(file)
    results: list[Extraction | BadRecord] = []
    for number, line in lines:
        if isinstance(line, FormatError):
            item: ReadItem = BadRecord(line)
        else:
            item = parsed_line(line, source, number, parse_record)
        results.append(item if isinstance(item, BadRecord) else reading.extract(item))
    return results


def _bundles(files: Sequence[str]) -> Iterator[Bundle]:
    """Lines that hold something, in bundles of one file each."""
    for file in files:
        lines: list[tuple[int, str | FormatError]] = []
        try:
            for number, line in record_lines(Source(file)):
                lines.append((number, line))
                if len(lines) == _LINES_A_TASK:
                    yield file, lines
                    lines = []
        # Such as packed data that is cut off: what came before is read.
        except FormatError as error:
            lines.append((0, error))
        if lines:
            yield file, lines


def _is_jsonl(path: str) -> bool:
    return unpacked_name(path).lower().endswith(".jsonl")


def _holds_exchange_records(path: str) -> bool:
    """Whether a file is what ``annotate`` and ``export`` write, as far as its first line tells."""
    if path == STDIN or not _is_jsonl(path) or os.path.isdir(path):
        return False
    try:
        with closing(Source(path).lines()) as lines:
            return b'"schema_version"' in next(lines)
    except FormatError:
        return False


def read_years(path: Path) -> dict[str, int]:
    """Years by document key, from JSONL or CSV (or TSV) with a header.

    Raises:
        InputMissingError: There is no such file.
        FormatError: It cannot be read, or a record has no key; a record without a year is passed over.
    """
    years: dict[str, int] = {}
    lines = decoded_content(Source(str(path))).splitlines(keepends=True)
    reader = csv.DictReader(lines, delimiter="\t" if ".tsv" in path.name.lower() else ",")
    records: Iterator[tuple[int, Mapping[str, Any]]] = (
        (number, parse_object(line, str(path), number))
        for number, line in enumerate(lines, start=1)
        if line.strip()
    )
    if unpacked_name(path.name).lower().endswith((".csv", ".tsv")):
        records = ((reader.line_num, row) for row in reader)
    try:
        for line, record in records:
            found = [
                record[name] for name in ("doc_key", "id") if record.get(name) not in (None, "")
            ]
            key = found[0] if found else None
            if not isinstance(key, str | int):
                problem = f"{quoted(key)} found as key; expected a `doc_key` or `id` in each record"
                raise FormatError(problem, path=path, line=line)
            year = bibliography_of(record).year
            if year is not None:
                years[str(key)] = year
    except csv.Error as error:
        problem = f"broken CSV: {error}"
        raise FormatError(problem, path=path, line=reader.line_num) from error
    return years
