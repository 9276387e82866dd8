"""The interface of engines: shards of the input, chunks of a shard, results of a chunk.

The inputs alone decide shards and chunks, so that their keys are the same for every engine and any number
of workers: a run that one engine began, another can continue with.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Protocol

from sciextract.documents.document import ModelId
from sciextract.errors import ExitCode, SciextractError
from sciextract.formats.lazy import LazyItem
from sciextract.workflows.annotate import RecordProblem, RunCounts
from sciextract.workflows.model_choice import ModelChoice

CHUNK_SIZE = 256
"""Records of a chunk, which is what a part of the output holds and a killed run loses at most per worker."""

PREDICTOR = "sciextract.scale.predicting:load_predictor"
"""Makes the predictor of a worker."""

ChunkKey = tuple[int, int]
"""Number of the shard, number of the chunk in it; both from 0."""


@dataclass(frozen=True, slots=True)
class InputShard:
    """A portion of the inputs that is read from its start to its end by one reader.

    Attributes:
        number: Its place in the order of the inputs, from 0.
        paths: Files, folders that are read as a whole, or ``-``; never a folder of single files.
        alone: Whether it is the only source of the run, so that an unusable file is an error, not a bad record.
    """

    number: int
    paths: tuple[str, ...]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive records of one shard.

    Attributes:
        shard: Number of the shard.
        number: Its place in the shard, from 0.
        items: Its records. Fewer than the chunk size: the shard ends here, and a shard whose
            records fill its chunks ends with a chunk of none.
        last: Whether the shard ends here.
        fingerprint: Hash of the records, to notice an input that was changed between two runs.
    """

    shard: int
    number: int
    items: tuple[LazyItem, ...]
    last: bool
    fingerprint: str

    @property
    def key(self) -> ChunkKey:
        return self.shard, self.number


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """The result of a chunk.

    Attributes:
        shard: Number of the shard.
        number: Number of the chunk in it.
        data: The lines that ``annotate --to jsonl`` writes for the chunk, each with its line feed.
        counts: What they hold.
        problems: What is missing, in the order of the records.
        fingerprint: That of the chunk.
        last: Whether the shard ends here.
        warnings: Warnings of its first few documents, ``DOC_KEY: WARNING``.
    """

    shard: int
    number: int
    data: bytes
    counts: RunCounts
    problems: tuple[RecordProblem, ...]
    fingerprint: str
    last: bool
    warnings: tuple[str, ...] = ()

    @property
    def key(self) -> ChunkKey:
        return self.shard, self.number


@dataclass(frozen=True, slots=True)
class Work:
    """The work of an engine; picklable.

    Attributes:
        shards: What to read, in order.
        choice: The model, as a folder where one is named; ``threads`` is 1.
        model: Its name and hash in the parent; a worker that loads another one refuses.
        input_format: Format of the inputs; their content decides when ``None``.
        given: Whether the input's entities stay, and only relations between them are predicted.
        chunk_size: Records of a chunk.
        ordered: Whether results come in the order of the input, else as soon as they are there.
        predictor: ``module:function`` that makes a predictor of the work, called once in each worker.
    """

    shards: tuple[InputShard, ...]
    choice: ModelChoice
    model: ModelId
    input_format: str | None = None
    given: bool = False
    chunk_size: int = CHUNK_SIZE
    ordered: bool = True
    predictor: str = PREDICTOR


Results = Generator[ChunkResult, None, None]
"""Results as they come; closing it ends all workers."""


class Engine(Protocol):
    """Something that predicts chunks: processes of this machine, or a cluster."""

    def results(self, work: Work, done: Mapping[ChunkKey, str]) -> Results:
        """The result of every chunk that is not done, each once.

        Args:
            work: What to read and how to predict.
            done: Fingerprints of chunks that an earlier run has done: they are read (a shard is read from its
                start), checked with :func:`~sciextract.scale.shards.check_unchanged`, and left out.

        Raises:
            FormatError: The only source is unusable.
            InputChangedError: A chunk that is done has other records now.
            WorkersFailedError: Workers cannot be started.
            SciextractError: A worker found that the model cannot do the work.
        """


class WorkersFailedError(SciextractError):
    """Workers cannot be started, or fail one after the other."""


class InputChangedError(SciextractError):
    """An input has other records than when a part of it was done."""


class WorkerRefusedError(SciextractError):
    """A worker cannot do the work; carries the message and exit code of its error.

    Args:
        message: What is wrong.
        hint: The next step.
        exit_code: The exit code of the original error.
    """

    def __init__(self, message: str, hint: str, exit_code: int) -> None:
        super().__init__(message, hint)
        self.exit_code = ExitCode(exit_code)

    def __reduce__(self) -> tuple[type[WorkerRefusedError], tuple[str, str, int]]:
        return type(self), (self.message, self.hint, self.exit_code)
