"""A training as it goes, and its result: what its run folder says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sciextract.codec import convert
from sciextract.errors import FormatError
from sciextract.retraining import events
from sciextract.retraining.remote.jobs import location_of
from sciextract.retraining.run_folder import FINISHED, LOG, Run, RunStatus

if TYPE_CHECKING:
    from sciextract.metrics.promotion import Compared

TASKS = {"entity": "entities", "relation": "relations", "coreference": "coreference"}
"""Tasks with their names."""
_PHASES = {
    "starting": "starting",
    "preparing": "preparing: snapshot of your decisions",
    "training": "training",
    "exporting": "exporting the new model",
    "validating": "cross-validation: training without some finished abstracts, to predict them",
    "gating": "comparing both models on the held-out abstracts",
    "done": "done",
    "stopped": "stopped",
    "failed": "failed",
    "died": "ended unexpectedly",
}


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A training at one moment.

    Attributes:
        state: As in the status, or ``starting`` before there is one, ``died`` when its process has ended.
        status: Epochs, share, remaining time; of a training without a status nothing of that.
        model: The model it started from.
        device: Where it runs.
        rate: Documents a second, ``None`` when not known.
        losses: By task the loss of every report.
        scores: By task F1 (0 to 100) on the dev abstracts after every epoch; ``None`` where nothing tells.
        message: What happens, or what went wrong.
        hint: The next step.
        notes: What to mind, such as labels that the model does not know yet.
        host: The other machine that trains, empty for this one.
        there: Whether the job is on that machine, wholly sent.
        left: Whether the watching was stopped, not the job.
    """

    state: str
    status: RunStatus = field(default_factory=lambda: RunStatus("starting", 0, ""))
    model: str = ""
    device: str = ""
    rate: float | None = None
    losses: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    message: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    host: str = ""
    there: bool = False
    left: bool = False

    @property
    def unwatched(self) -> bool:
        """Whether a job may go on on another machine while nobody follows it."""
        return self.there and (self.state == "died" or (self.state == "stopped" and self.left))

    @property
    def runs(self) -> bool:
        """Whether a process works on it."""
        return self.state not in FINISHED and self.state != "died"

    @property
    def phase(self) -> str:
        """The state in words."""
        on = f" on {self.host}" if self.host else ""
        if self.unwatched:
            return f"not followed: the job is{on}"
        if self.runs and self.status.lost:
            return f"no connection to {self.host}; the job keeps running there"
        if self.state == "training" and self.status.epoch:
            return f"training{on}: epoch {self.status.epoch} of {self.status.epochs}"
        if self.host and self.runs and self.message:
            return self.message
        return _PHASES.get(self.state, self.state)


class RunReader:
    """Reads a run folder again and again: only what is new of its events.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._seen = 0
        self._start = events.RunStarted(device="", epochs=0)
        self._rate: float | None = None
        self._losses: dict[str, list[float]] = {task: [] for task in TASKS}
        self._scores: dict[str, list[float | None]] = {task: [] for task in TASKS}
        self._notes: list[str] = []
        self._left = False

    def read(self, alive: bool, pid: int | None = None) -> RunProgress:
        """The training now.

        Args:
            alive: Whether its process still runs.
            pid: Its process, where that is known: the end of an earlier one is not its end.
        """
        status = self.run.status()
        # A training that goes on has the status of its end until the new process has written its own.
        if status is not None and status.state in FINISHED and pid not in (None, status.pid):
            status = None
        lines = self.run.metrics(self._seen)
        self._seen += len(lines)
        for event in events.known_events(lines):
            self._take(event)
        state = status.state if status is not None else "starting"
        known = status or RunStatus(state, 0, "")
        message, hint = known.message, known.hint
        if not alive and state not in FINISHED:
            state, message, hint = "died", _last_words(self.run), _WHAT_NOW
        place = location_of(self.run)
        return RunProgress(
            state=state,
            status=known,
            model=self._start.start_model or "",
            device=self._start.device,
            rate=self._rate,
            losses={task: tuple(values) for task, values in self._losses.items() if values},
            scores={task: tuple(values) for task, values in self._scores.items() if values},
            message=message,
            hint=hint,
            notes=tuple(self._notes),
            host=place.host if place else "",
            there=place is not None and place.state == "started",
            left=self._left,
        )

    def _take(self, event: events.TrainingEvent) -> None:
        self._left = isinstance(event, events.Stopped)
        match event:
            case events.RunStarted():
                self._start = event
            case events.Step():
                self._rate = event.documents_per_second
                for task, values in self._losses.items():
                    values.append(getattr(event.loss, task))
            case events.DevScored():
                # Relations as the comparison counts them: without regard to direction where their label has none.
                found = (event.entity, event.unordered, event.coreference)
                for scores, score in zip(self._scores.values(), found, strict=True):
                    scores.append(score)
            case events.Warned() | events.ForgettingMethod():
                if event.message not in self._notes:  # a run that continues says it again
                    self._notes.append(event.message)


_WHAT_NOW = "Enter starts again; the complete log is the file log in the run folder"
# Enough for the last lines of a traceback; the whole log may be long.
_LOG_BYTES = 4000


def _last_words(run: Run) -> str:
    """The end of what the process wrote."""
    try:
        with (run.folder / LOG).open("rb") as stream:
            stream.seek(max(0, stream.seek(0, 2) - _LOG_BYTES))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        text = ""
    lines = map(str.strip, text.splitlines())
    # Lines of JSON are events, which were read already.
    kept = [line for line in lines if line and not line.startswith("{")]
    return "\n".join(kept[-3:]) or "its process has ended"


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The end of a training.

    Attributes:
        words: The verdict in a sentence.
        reasons: Why, and what to mind.
        model: Name of the new model, empty where none came of it.
        offered: Whether the new model is not in use and can be taken.
        compared: Both models on the held-out abstracts, ``None`` where that cannot be read.
    """

    words: str
    reasons: tuple[str, ...]
    model: str
    offered: bool
    compared: Compared | None

    @property
    def headline(self) -> str:
        """Tasks with both scores, in a line: ``entities 66.1 to 68.4, relations 40.2 to 41.0``."""
        tasks = self.compared.tasks if self.compared else {}
        return ", ".join(
            f"{TASKS.get(task, task)} {score.before:.1f} to {score.after:.1f}"
            for task, score in tasks.items()
        )


def training_result(run: Run, used: bool = False) -> TrainingResult | None:
    """The result of a run that came to its end, ``None`` for any other.

    Args:
        run: The run.
        used: Whether the person has taken the new model since.
    """
    status, gate = run.status(), run.record().gate or {}
    if status is None or status.state != "done":
        return None
    offered = bool(status.model) and not (status.promoted or used or status.verdict == "worse")
    listed = gate.get("reasons")
    return TrainingResult(
        f"{status.model} is in use now, because you chose it" if used else status.message,
        (
            *(map(str, listed) if isinstance(listed, list) else ()),
            *([status.hint] if offered else []),
        ),
        status.model,
        offered,
        _read_compared(gate),
    )


def _read_compared(scores: Any) -> Compared | None:
    # Only here: it takes numpy, which the start of the desk does not wait for.
    from sciextract.metrics.promotion import Compared

    try:
        return convert(scores, Compared, "the comparison")
    except FormatError:
        return None
