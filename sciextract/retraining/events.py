"""The events of a training: lines of ``metrics.jsonl`` and of ``sciextract retrain --json``, typed.

The keys and their order are a contract with the programs that read them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from sciextract.codec import convert
from sciextract.errors import FormatError
from sciextract.formats.base import quoted

if TYPE_CHECKING:
    from sciextract.metrics.promotion import GateReport

_LARGEST = 1e15
"""Numbers from here on are refused: no loss, score or count is as large."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class TrainingEvent:
    """Something that happened in a training. What derives from it is such a dataclass, too.

    Attributes:
        kind: Its name, ``event`` in JSON.
        brief: Whether JSON leaves out what is ``None``.
        there: Its number among the events of a job on another machine; ``None`` for an event of this one.
    """

    kind: ClassVar[str]
    brief: ClassVar[bool] = False

    there: int | None = None

    def __init_subclass__(cls, *, kind: str, brief: bool = False) -> None:
        cls.kind, cls.brief = kind, brief
        dataclass(frozen=True, kw_only=True)(cls)

    def to_json(self) -> dict[str, Any]:
        values = {"event": self.kind, **asdict(self)}
        # Last, and of events from elsewhere only.
        there = values.pop("there")
        if self.brief:
            values = {name: value for name, value in values.items() if value is not None}
        return values if there is None else {**values, "there": there}


class RunStarted(TrainingEvent, kind="start", brief=True):
    """A retraining begins, or continues.

    Attributes:
        run: Name of the run.
        folder: Its folder on this machine.
        project: The project file.
        start_model: The model that is trained on.
        why: Why that one, where nobody chose it.
        weights: Precision of its weights.
        device: Where the network is trained.
        epochs: Epochs there will be at most.
        patience: Evaluations for which dev may stand still before the training ends; ``None`` for no such end.
        bf16: Whether the encoder computes in bfloat16, which only some devices do fast; else in float32.
    """

    run: str | None = None
    folder: str | None = None
    project: str | None = None
    start_model: str | None = None
    why: str | None = None
    weights: str | None = None
    device: str
    epochs: int
    patience: int | None = None
    bf16: bool | None = None


class FilesStarted(TrainingEvent, kind="start"):
    """A training from files begins, or continues; ``bf16`` as in :class:`RunStarted`."""

    epochs: int
    device: str
    bf16: bool


class SnapshotOpened(TrainingEvent, kind="snapshot"):
    """What the snapshot holds: documents of each split, undecided ones, and which part of train is the base's."""

    train: int
    dev: int
    gate: int
    undecided: int
    share_of_base: float


class DataRead(TrainingEvent, kind="data"):
    """The files of a training from files are read."""

    train: int
    dev: int
    windows: int


class Warned(TrainingEvent, kind="warning"):
    """Something to mind; the training continues."""

    message: str


class DocumentsLabelled(TrainingEvent, kind="labelled"):
    """So many abstracts have labels of the start model."""

    documents: int
    of: int


class ForgettingMethod(TrainingEvent, kind="forgetting", brief=True):
    """What is done against forgetting."""

    method: str | None = None
    message: str


class Resumed(TrainingEvent, kind="resumed", brief=True):
    """The training continues after an epoch, perhaps after some steps of the next one."""

    epoch: int
    steps: int | None = None


class MemoryShort(TrainingEvent, kind="memory"):
    """From now on so few documents are computed at once."""

    device: str
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanLosses:
    entity: float
    relation: float
    coreference: float


class Step(TrainingEvent, kind="step"):
    """An optimiser step: documents of the epoch so far, their mean losses, the rate."""

    epoch: int
    documents: int
    of: int
    loss: MeanLosses
    documents_per_second: float


class DevScored(TrainingEvent, kind="dev"):
    """F1 (0 to 100) on dev after an epoch; ``None`` where no document is complete in the layer."""

    epoch: int
    entity: float | None = None
    relation: float | None = None
    strict: float | None = None
    coreference: float | None = None
    unordered: float | None = None
    mean: float | None = None


class Exporting(TrainingEvent, kind="export"):
    """The new model is exported."""


class FoldStarted(TrainingEvent, kind="fold"):
    """Cross-validation: the training without ``documents`` of the finished abstracts begins, ``number`` of ``of``."""

    number: int
    of: int
    documents: int


class GateScored(TrainingEvent, kind="gate"):
    """Both models on the held-out abstracts; JSON has the keys of the report next to the kind."""

    report: GateReport

    def to_json(self) -> dict[str, Any]:
        return {"event": self.kind, **self.report.to_json()}


class RunDone(TrainingEvent, kind="done", brief=True):
    """A retraining has come to its end.

    Attributes:
        model: The registered model.
        folder: Its folder.
        promoted: Whether it predicts in the project now.
        message: What was decided, in a sentence.
        hint: The next step.
    """

    model: str
    folder: str
    promoted: bool
    message: str
    hint: str


class FilesDone(TrainingEvent, kind="done", brief=True):
    """A training from files has come to its end: the model folder and its scores."""

    output: str
    scores: Mapping[str, Any]


class Failed(TrainingEvent, kind="error"):
    """The training cannot go on."""

    message: str
    hint: str = ""


class Stopped(TrainingEvent, kind="stopped"):
    """The user interrupted the training, or watching it; ``hint`` names the command that continues."""

    message: str
    hint: str = ""


Listener = Callable[[TrainingEvent], object]
"""Gets every event as it happens."""

JOB_EVENTS: tuple[type[TrainingEvent], ...] = (
    RunStarted, Step, DevScored, SnapshotOpened, DocumentsLabelled, Resumed, MemoryShort, Warned, ForgettingMethod,
    Exporting, FoldStarted, Failed, Stopped,
)  # fmt: skip
"""What a job on another machine may send."""


def parse_event(values: Mapping[str, Any]) -> TrainingEvent:
    """An event of a job from its JSON.

    Raises:
        FormatError: It is of none of ``JOB_EVENTS``, or a value is missing or of another type; says which.
    """
    kind = values.get("event")
    kinds = {event.kind: event for event in JOB_EVENTS}
    if kind not in kinds:
        raise FormatError(f"{quoted(kind)} found; expected {', '.join(kinds)}")
    event = convert(values, kinds[kind], str(kind))
    losses = asdict(event.loss) if isinstance(event, Step) else {}
    for name, value in [*values.items(), *losses.items()]:
        # Another machine sends them, and a screen draws them: NaN is refused as well.
        if isinstance(value, int | float) and not abs(value) < _LARGEST:
            raise FormatError(
                f"{kind}: {name} is {value:.3g}; expected a number below {_LARGEST:g}"
            )
    return event


def known_events(lines: Iterable[Mapping[str, Any]]) -> Iterator[TrainingEvent]:
    """The events of a job among lines of ``metrics.jsonl``, without torn and foreign ones."""
    for values in lines:
        with suppress(FormatError):
            yield parse_event(values)


def print_json(event: TrainingEvent) -> None:
    """Print an event as one JSON line on stdout."""
    print(json.dumps(event.to_json()), flush=True)
