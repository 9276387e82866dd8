"""Parsing, predicting and encoding of records in a worker, for every engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ModelMismatchError, SciextractError
from sciextract.formats.base import BadRecord, quoted
from sciextract.formats.exchange import encode
from sciextract.formats.lazy import LazyItem
from sciextract.scale.interface import Chunk, ChunkKey, ChunkResult, Work
from sciextract.workflows.annotate import (
    RecordProblem,
    RelationPredictor,
    RunCounts,
    annotate,
    warning_of,
)

MOST_WARNINGS = 5
"""Warnings of a chunk that are shown; the others are counted."""


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """The result of a record.

    Attributes:
        line: Its line with the line feed; empty when it is missing.
        counts: What the line holds.
        problem: Why it is missing.
        warning: ``DOC_KEY: WARNINGS``, empty without any.
    """

    line: bytes
    counts: RunCounts
    problem: RecordProblem | None = None
    warning: str = ""


def load_predictor(work: Work) -> RelationPredictor:
    return cast(RelationPredictor, work.choice.load())


class RecordPredictor:
    """Predicts records.

    Args:
        work: Which model, which settings.

    Raises:
        SciextractError: The model cannot be had.
        ModelMismatchError: It is not the one that the parent found.
    """

    def __init__(self, work: Work) -> None:
        module, _, name = work.predictor.partition(":")
        self._predictor: RelationPredictor = getattr(import_module(module), name)(work)
        self._given = work.given
        self._candidates = work.choice.candidates
        if self._predictor.model != work.model:
            raise ModelMismatchError(
                f"a worker found the model {self._predictor.model}, the run began with {work.model}",
                "leave the model as it is while a run is under way",
            )

    def outcomes(self, items: Sequence[LazyItem]) -> list[RecordOutcome]:
        """The outcomes of records, in their order; a record that raises an error is quarantined."""
        try:
            read = [item.read() for item in items]
            documents = [record for record in read if not isinstance(record, BadRecord)]
            kept = _OutcomeWriter(self._candidates)
            annotate(documents, self._predictor, kept, given=self._given)
        except SciextractError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever one record does, the others go on
            if len(items) > 1:
                # One by one, so that only the record that is to blame is lost.
                return [outcome for item in items for outcome in self.outcomes([item])]
            return [quarantine(items[0], f"{type(error).__name__}: {quoted(str(error))}")]
        predicted = iter(kept.outcomes)
        outcomes = []
        for record in read:
            if isinstance(record, BadRecord):
                problem = RecordProblem("bad", record.error.message, record.error.hint)
                outcomes.append(RecordOutcome(b"", RunCounts(bad=1), problem))
            else:
                outcomes.append(next(predicted))
        return outcomes


class _OutcomeWriter:
    """A writer that keeps the line of every document apart."""

    def __init__(self, candidates: bool) -> None:
        self.losses: Counter[str] = Counter()
        self.outcomes: list[RecordOutcome] = []
        self._candidates = candidates

    def write(self, document: AnnotatedDocument) -> None:
        line = f"{encode(document, self._candidates)}\n".encode()
        self.outcomes.append(
            RecordOutcome(line, RunCounts.of(document), warning=warning_of(document))
        )

    def close(self) -> None:
        """Nothing is open."""


def quarantine(item: LazyItem, reason: str) -> RecordOutcome:
    """A record that cannot be predicted, and is kept aside."""
    message = f"{item.place}: {reason}"
    problem = RecordProblem("quarantined", message, "", item.record())
    return RecordOutcome(b"", RunCounts(quarantined=1), problem)


def chunk_result(chunk: Chunk, outcomes: Sequence[RecordOutcome]) -> ChunkResult:
    """The result of a chunk, of the outcomes of its records in their order."""
    warnings = [outcome.warning for outcome in outcomes if outcome.warning]
    lines = b"".join(outcome.line for outcome in outcomes)
    counts = sum((outcome.counts for outcome in outcomes), RunCounts())
    problems = tuple(outcome.problem for outcome in outcomes if outcome.problem is not None)
    shown = tuple(warnings[:MOST_WARNINGS])
    return ChunkResult(*chunk.key, lines, counts, problems, chunk.fingerprint, chunk.last, shown)


LONG_TEXT = 100_000
"""Characters of a text that is not an abstract: books may take longer."""


@dataclass(slots=True)
class WorkerTask:
    """Some records of a chunk.

    Attributes:
        chunk: The chunk.
        start: Index of the first record in it.
        items: The records; one, but where a graph takes batches.
        attempts: How often a process has ended while it had them.
    """

    chunk: ChunkKey
    start: int
    items: Sequence[LazyItem]
    attempts: int = 0

    @property
    def characters(self) -> int:
        return sum(item.characters for item in self.items)

    def seconds(self, timeout: float) -> float:
        """What it may take: for each record ``timeout``, and as much for every ``LONG_TEXT`` characters more."""
        return sum(timeout * (1 + item.characters // LONG_TEXT) for item in self.items)

    def single(self) -> list[WorkerTask]:
        """A task for each record."""
        return [
            WorkerTask(self.chunk, self.start + row, [item]) for row, item in enumerate(self.items)
        ]


@dataclass(frozen=True, slots=True)
class Done:
    """A task's outcomes, in the order of its records."""

    task: WorkerTask
    outcomes: Sequence[RecordOutcome]


def tasks_of(chunk: Chunk, size: int) -> Iterator[WorkerTask]:
    """The records of a chunk, ``size`` at a time."""
    for start in range(0, len(chunk.items), size):
        yield WorkerTask(chunk.key, start, chunk.items[start : start + size])


Result = Done | Exception | str
"""What a worker reports: outcomes, the error that ends the run, or a note."""
