"""The first step of a build: what each abstract in files and projects contributes, on all cores where that pays."""

from __future__ import annotations

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, groupby, islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, quoted
from sciextract.formats.inputs import expand_inputs, is_aside
from sciextract.formats.lazy import LazyItem, read_lazily
from sciextract.formats.opening import unpacked_name
from sciextract.graph.extraction import CountSettings, Extraction, extract

# A worker reads 64 records in some 90 ms; sending them, and what is extracted, takes a tenth of that.
_RECORDS_A_TASK = 64
_BUNDLES_AHEAD = 16
# Starting a worker takes 0.2 s or more on a busy machine, reading this much here 0.7 s.
_MANY_BYTES = 8 << 20


class Reading(NamedTuple):
    """What to read and how.

    Attributes:
        inputs: Files, folders, project files and ``-``.
        counted: What counts of an abstract.
        undecided: Whether what nobody has decided in a project counts.
        workers: Processes next to this one; 0 reads here.
    """

    inputs: Sequence[str]
    counted: CountSettings
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
            below = [one for one in Path(path).rglob("*") if one.is_file() and not is_aside(one)]
            inside = list(filter(_is_data, sorted(map(str, below))))
            # A folder without JSONL or Parquet files is one input of a format that is a folder.
            files += inside or [path]
        # Neighbouring files are one input, so that many small parts keep all workers busy.
        for are_projects, neighbours in groupby(files, lambda file: file.endswith(".sciextract")):
            some = list(neighbours)
            try:
                if are_projects:
                    for annotated in chain.from_iterable(map(self._read_project, some)):
                        yield self._extract(annotated, annotated.document.doc_key)
                    continue
                records = read_lazily(some, None)
                bundles = iter(lambda: list(islice(records, _RECORDS_A_TASK)), [])  # noqa: B023 - read within this turn
                size = sum([os.path.getsize(path) for path in some if os.path.isfile(path)])
                if self.workers and size > _MANY_BYTES:
                    found = in_processes(self.extract_all, bundles, self.workers)
                else:
                    found = map(self.extract_all, bundles)
                yield from chain.from_iterable(found)
            except FormatError as error:
                if len(files) == 1:
                    raise
                yield BadRecord(error)

    def extract_all(self, records: Sequence[LazyItem]) -> list[Extraction | BadRecord]:
        """What some records contribute; those that cannot be read stay as they are."""
        items = [(record.read(), record.place) for record in records]
        return [one if isinstance(one, BadRecord) else self._extract(one, at) for one, at in items]

    def _extract(self, annotated: AnnotatedDocument, place: str) -> Extraction | BadRecord:
        try:
            return extract(annotated, self.counted)
        except Exception as error:  # noqa: BLE001 - whatever one record does, the others go on
            problem = f"left out: {type(error).__name__}: {quoted(str(error))}"
            return BadRecord(FormatError(problem, path=place))

    def _read_project(self, file: str) -> Iterator[AnnotatedDocument]:
        from sciextract.store import open_project
        from sciextract.store.document_state import WITH_UNDECIDED
        from sciextract.store.rows import IN_VIEW

        with open_project(file, read=True) as project:
            yield from project.stream(WITH_UNDECIDED if self.undecided else IN_VIEW)


def in_processes(
    work: Callable[[Sequence[LazyItem]], list[Any]],
    bundles: Iterable[Sequence[LazyItem]],
    processes: int,
) -> Iterator[list[Any]]:
    """The results of ``work`` for each bundle, in order, in constant memory; some bundles are worked on ahead.

    Args:
        work: A picklable callable.
        bundles: Records.
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


def _is_data(path: str) -> bool:
    return unpacked_name(path).lower().endswith((".jsonl", ".parquet"))
