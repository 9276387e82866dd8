"""The events of a training: lines of ``metrics.jsonl`` and of ``sciextract retrain --json``, typed.

The keys and their order are a contract with the programs that read them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args, get_origin, get_type_hints

from sciextract.formats.base import quoted

if TYPE_CHECKING:
    from sciextract.metrics.promotion import GateReport

_LARGEST = 1e15
"""Numbers from here on are refused: no loss, score or count is as large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a training.

    Attributes:
        kind: Its name, ``event`` in JSON.
        omitted: Fields that JSON leaves out where they are ``None``.
        there: Its number among the events of a job on another machine; ``None`` for an event of this one.
    """

    kind: ClassVar[str]
    omitted: ClassVar[frozenset[str]] = frozenset()

    there: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The event as plain values."""
        values = {"event": self.kind, **asdict(self)}
        there = values.pop("there")
        for name in self.omitted:
            if values[name] is None:
                del values[name]
        return values if there is None else {**values, "there": there}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """An event of this kind from plain values; unknown keys are ignored.

        Raises:
            ValueError: A value is missing or of another type; names it.
        """
        return cls(**_checked(cls, values, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """A retraining begins, or continues.

    Attributes:
        run: Name of the run.
        folder: Its folder on this machine.
        project: The project file.
        start_model: The model that is trained on.
        weights: Precision of its weights.
        device: Where the network is trained.
        epochs: Epochs there will be at most.
        patience: Evaluations for which dev may stand still before the training ends; ``None`` for no such end.
        bf16: Whether the encoder computes in bfloat16, which only some devices do fast; else in float32.
    """

    kind = "start"
    omitted = frozenset({"run", "folder", "project", "start_model", "weights", "patience", "bf16"})

    run: str | None = None
    folder: str | None = None
    project: str | None = None
    start_model: str | None = None
    weights: str | None = None
    device: str
    epochs: int
    patience: int | None = None
    bf16: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesStarted(Event):
    """A training from files begins, or continues; ``bf16`` as in :class:`RunStarted`."""

    kind = "start"

    epochs: int
    device: str
    bf16: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotOpened(Event):
    """What the snapshot holds: documents of each split, undecided ones, and which part of train is the base's."""

    kind = "snapshot"

    train: int
    dev: int
    gate: int
    undecided: int
    share_of_base: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRead(Event):
    """The files of a training from files are read."""

    kind = "data"

    train: int
    dev: int
    windows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(Event):
    """Something to mind; the training continues."""

    kind = "warning"

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled(Event):
    """So many abstracts have labels of the start model."""

    kind = "labelled"

    documents: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingMethod(Event):
    """What is done against forgetting."""

    kind = "forgetting"
    omitted = frozenset({"method"})

    method: str | None = None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(Event):
    """The training continues after an epoch, perhaps after some steps of the next one."""

    kind = "resumed"
    omitted = frozenset({"steps"})

    epoch: int
    steps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryShort(Event):
    """From now on so few documents are computed at once."""

    kind = "memory"

    device: str
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Mean loss of each task."""

    entity: float
    relation: float
    coreference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Event):
    """An optimiser step: documents of the epoch so far, their mean losses, the rate."""

    kind = "step"

    epoch: int
    documents: int
    of: int
    loss: Losses
    documents_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DevScored(Event):
    """F1 (0 to 100) on dev after an epoch; ``None`` where no document is complete in the layer."""

    kind = "dev"

    epoch: int
    entity: float | None = None
    relation: float | None = None
    strict: float | None = None
    coreference: float | None = None
    unordered: float | None = None
    mean: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporting(Event):
    """The new model is exported."""

    kind = "export"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldStarted(Event):
    """Cross-validation: the training without ``documents`` of the finished abstracts begins, ``number`` of ``of``."""

    kind = "fold"

    number: int
    of: int
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedStarted(Event):
    """The training of one of several seeds begins."""

    kind = "seed"

    seed: int
    number: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedScored(Event):
    """F1 of one of several seeds by task, next to the other keys in JSON."""

    kind = "seed_scores"

    seed: int
    scores: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """The event as plain values."""
        return {"event": self.kind, "seed": self.seed, **self.scores}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateScored(Event):
    """Both models on the held-out abstracts; JSON has the keys of the report next to the kind."""

    kind = "gate"

    report: GateReport

    def to_json(self) -> dict[str, Any]:
        """The event as plain values."""
        return {"event": self.kind, **self.report.to_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDone(Event):
    """A retraining has come to its end.

    Attributes:
        model: The registered model.
        folder: Its folder.
        promoted: Whether it predicts in the project now.
        curves: The figure of the learning curves.
        message: What was decided, in a sentence.
        hint: The next step.
    """

    kind = "done"
    omitted = frozenset({"curves"})

    model: str
    folder: str
    promoted: bool
    curves: str | None = None
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesDone(Event):
    """A training from files has come to its end: the model folder, its scores, the figure of the learning curves."""

    kind = "done"
    omitted = frozenset({"curves"})

    output: str
    scores: Mapping[str, Any]
    curves: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Event):
    """The training cannot go on."""

    kind = "error"

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped(Event):
    """The user interrupted the training, or watching it; ``hint`` names the command that continues."""

    kind = "stopped"

    message: str
    hint: str = ""


Listener = Callable[[Event], object]
"""Gets every event as it happens."""

JOB_EVENTS: tuple[type[Event], ...] = (
    RunStarted, Step, DevScored, SnapshotOpened, Labelled, Resumed, MemoryShort, Warned, ForgettingMethod,
    Exporting, FoldStarted, Failed, Stopped,
)  # fmt: skip
"""What a job on another machine may send."""


def parse_event(values: Mapping[str, Any]) -> Event:
    """An event of a job from its JSON.

    Raises:
        ValueError: It is of none of ``JOB_EVENTS``, or a value is missing or of another type; says which.
    """
    kind = values.get("event")
    of_kind = next((each for each in JOB_EVENTS if each.kind == kind), None)
    if of_kind is None:
        kinds = ", ".join(each.kind for each in JOB_EVENTS)
        raise ValueError(f"{quoted(kind)} found; expected {kinds}")
    try:
        json.dumps(values, allow_nan=False)
    except ValueError:
        raise ValueError(f"{kind}: it holds a number that JSON does not have") from None
    return of_kind.from_json(values)


def known_events(lines: Iterable[Mapping[str, Any]]) -> Iterator[Event]:
    """The events of a job among lines of ``metrics.jsonl``, without torn and foreign ones."""
    for values in lines:
        with suppress(ValueError):
            yield parse_event(values)


def print_json(event: Event) -> None:
    """Print an event as one JSON line on stdout."""
    json_report(event.to_json())


Report = Callable[[dict[str, Any]], object]
"""Gets the JSON lines of a command that makes models: their kind as ``event``, and figures that only their reader looks into."""


def json_report(line: dict[str, Any]) -> None:
    """Print one JSON line on stdout."""
    print(json.dumps(line), flush=True)


def as_mappings(report: Report) -> Listener:
    """A listener that passes the events of a training on as such lines."""
    return lambda event: report(event.to_json())


def _checked(cls: Any, values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The fields of a dataclass among JSON values, each of its type.

    Args:
        cls: The class.
        values: The values.
        prefix: What stands before a field's name in messages.
    """
    checked = {}
    for name, (kinds, nested, required) in _fields_of(cls).items():
        if name not in values and not required:
            continue
        value: Any = values.get(name)
        if value is None and type(None) in kinds:
            continue
        usable = not isinstance(value, int | float) or abs(value) < _LARGEST
        of_type = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        if not (of_type and usable):
            words = " or ".join(each.__name__ for each in kinds if each is not type(None))
            start = "" if prefix else f"{getattr(cls, 'kind', '')}: "
            raise ValueError(f"{start}{prefix}{name} is {quoted(value)}; expected {words}")
        checked[name] = nested(**_checked(nested, value, f"{name} ")) if nested else value
    return checked


@cache
def _fields_of(cls: Any) -> dict[str, tuple[tuple[type, ...], Any, bool]]:
    """By name of a field: the types of its JSON, the dataclass that it holds, and whether it must be there."""
    hints, found = get_type_hints(cls), {}
    for field in fields(cls):
        hint = hints[field.name]
        nested = hint if is_dataclass(hint) else None
        kinds: list[type] = []
        for each in get_args(hint) if isinstance(hint, UnionType) else (hint,):
            if each is float:
                kinds += [int, float]  # JSON of 1.0 may be 1
            else:
                kinds.append(dict if nested or get_origin(each) is Mapping else each)
        found[field.name] = tuple(kinds), nested, field.default is MISSING
    return found
