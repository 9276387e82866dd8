"""From files and projects to contributions, on all cores where that pays."""

from __future__ import annotations

import csv
import gc
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, Generic, TypeVar

from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import read
from sciextract.formats.base import STDIN, BadRecord, ReadItem, Source, quoted
from sciextract.formats.decoding import decoded_content, decoded_lines
from sciextract.formats.inputs import expand_inputs, is_aside
from sciextract.formats.json_values import parse_object
from sciextract.formats.packing import unpacked_name
from sciextract.graph.contribution import (
    Contribution,
    CountSettings,
    contribution_from,
    contribution_of,
)
from sciextract.graph.exchange_record import read_abstract

_Item = TypeVar("_Item")
_SECONDS_TO_NOTICE = 0.2


def read_ahead(items: Iterable[_Item], most: int) -> Generator[_Item, None, None]:
    """The same items in the same order, made by a thread that is up to ``most`` items ahead.

    What making them raises is raised here, after the items before it. A consumer that stops ends the thread.
    """
    reader = _Reader(items, most)
    try:
        yield from reader.items()
    finally:
        reader.end()


class _Reader(Generic[_Item]):
    def __init__(self, items: Iterable[_Item], most: int) -> None:
        self._items = items
        self._ready: Queue[_Item | _End] = Queue(most)
        self._unwanted = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def items(self) -> Iterator[_Item]:
        while not isinstance(item := self._ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error

    def end(self) -> None:
        self._unwanted.set()
        while self._thread.is_alive():
            try:
                self._ready.get(timeout=_SECONDS_TO_NOTICE)
            except Empty:
                continue
        self._thread.join()

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._items:
                self._ready.put(item)
                if self._unwanted.is_set():
                    break
        except BaseException as caught:  # noqa: BLE001 - told to the consumer
            error = caught
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
        self._ready.put(_End(error))


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error


Bundle = tuple[str, list[tuple[int, str]]]
"""A file, and some of its lines with their numbers."""
_RARELY = 50_000
Work = Callable[[Bundle], list[Any]]


def in_processes(work: Work, bundles: Iterable[Bundle], processes: int) -> Iterator[list[Any]]:
    """The results of ``work`` for each bundle, in order, in constant memory.

    Args:
        work: A picklable callable.
        bundles: Numbered lines.
        processes: How many work next to this one.
    """
    with ExitStack() as stack:
        idle = deque([stack.enter_context(_process(work)) for _ in range(processes)])
        busy: deque[Connection] = deque()
        for bundle in bundles:
            if idle:
                connection = idle.popleft()
                connection.send(bundle)
            else:
                connection = busy.popleft()
                result = connection.recv()
                connection.send(bundle)
                busy.append(connection)
                yield result
                continue
            busy.append(connection)
        while busy:
            yield busy.popleft().recv()


@contextmanager
def _process(work: Work) -> Iterator[Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.join()


def _serve(work: Work, connection: Connection) -> None:
    gc.freeze()
    gc.set_threshold(_RARELY)  # records come and go without cycles: there is little to look for
    try:
        while True:
            connection.send(work(connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        return


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
        workers: Processes next to this one; 0 reads here.
    """

    inputs: Sequence[str]
    counted: CountSettings
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
        from sciextract.store.rows import IN_VIEW
        from sciextract.store.views import WITH_UNDECIDED

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
    counted: CountSettings, years: Mapping[str, int], bundle: Bundle
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
            problem = f"{quoted(key)} found as key; expected a `doc_key` or `id` in each record"
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
