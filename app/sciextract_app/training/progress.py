"""A training as it goes: what its run folder says, safe against anything that stands there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sciextract.retraining.remote.jobs import location_of
from sciextract.retraining.run_folder import FINISHED, Run, RunStatus

TASKS = ("entity", "relation", "coreference")
NAMES = {"entity": "entities", "relation": "relations", "coreference": "coreference"}
_DEV_KEYS = {"entity": "entity", "relation": "unordered", "coreference": "coreference"}
"""Relations as the gate counts them; runs of earlier versions know only the ordered score."""
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
        epoch: The epoch that runs.
        epochs: How many there will be at most.
        share: Of the whole job, 0 to 1.
        remaining_s: Seconds, ``None`` when not known.
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
        lost: Why the line to it is down, empty while it is up.
        left: Whether the watching was stopped, not the job.
    """

    state: str
    epoch: int = 0
    epochs: int = 0
    share: float = 0.0
    remaining_s: float | None = None
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
    lost: str = ""
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
        if self.runs and self.lost:
            return f"no connection to {self.host}; the job keeps running there"
        if self.state == "training" and self.epoch:
            return f"training{on}: epoch {self.epoch} of {self.epochs}"
        if self.host and self.runs and self.message:
            return self.message
        return _PHASES.get(self.state, self.state)


class RunReader:
    """Reads a run folder again and again: only what is new of its events.

    Args:
        run: The run.

    Attributes:
        gate: The report of the comparison, once there is one.
        done: The event of the end, once there is one.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.gate: dict[str, Any] | None = None
        self.done: dict[str, Any] = {}
        self._seen = 0
        self._start: dict[str, Any] = {}
        self._rate: float | None = None
        self._losses: dict[str, list[float]] = {task: [] for task in TASKS}
        self._scores: dict[str, list[float | None]] = {task: [] for task in TASKS}
        self._error = ("", "")
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
        events = self.run.metrics(self._seen)
        self._seen += len(events)
        for event in events:
            self._take(event)
        ended = status is not None and status.state in FINISHED
        state = status.state if status is not None and (alive or ended) else "starting"
        if not alive and not ended:
            state = "died"
        known = status or RunStatus(state, 0, "")
        message, hint = self._words(known, state)
        place = location_of(self.run)
        return RunProgress(
            state=state,
            epoch=_count(known.epoch),
            epochs=_count(known.epochs),
            share=min(1.0, max(0.0, _number(known.share) or 0.0)),
            remaining_s=_number(known.remaining_seconds),
            model=str(self._start.get("start_model") or ""),
            device=str(self._start.get("device") or ""),
            rate=self._rate,
            losses={task: tuple(values) for task, values in self._losses.items() if values},
            scores={task: tuple(values) for task, values in self._scores.items() if values},
            message=message,
            hint=hint,
            notes=tuple(self._notes),
            host=place.host if place else "",
            there=place is not None and place.state == "started",
            lost=str(known.lost or ""),
            left=self._left,
        )

    def _take(self, event: Mapping[str, Any]) -> None:
        self._left = event.get("event") == "stopped"
        match event.get("event"):
            case "start":
                self._start = dict(event)
            case "step":
                self._rate = _number(event.get("documents_per_second"))
                losses = _table(event.get("loss"))
                for task in TASKS:
                    value = _number(losses.get(task))
                    if value is not None:
                        self._losses[task].append(value)
            case "dev":
                for task in TASKS:
                    self._scores[task].append(_number(event.get(_DEV_KEYS[task], event.get(task))))
            case "warning" | "forgetting":
                words = str(event.get("message") or "")
                if words and words not in self._notes:  # a run that continues says it again
                    self._notes.append(words)
            case "gate":
                self.gate = dict(event)
            case "done":
                self.done = dict(event)
            case "error":
                self._error = (str(event.get("message") or ""), str(event.get("hint") or ""))

    def _words(self, status: RunStatus, state: str) -> tuple[str, str]:
        message, hint = str(status.message or ""), str(status.hint or "")
        if state in ("failed", "died"):
            message, hint = self._error[0] or message, self._error[1] or hint
        if state == "died":
            reason = message if status.state == "failed" else _last_words(self.run)
            return reason or "its process has ended", hint or _WHAT_NOW
        return message, hint


_WHAT_NOW = "Enter starts again; the complete log is the file log in the run folder"
# Enough for the last lines of a traceback; the whole log may be long.
_LOG_BYTES = 4000


def _last_words(run: Run) -> str:
    """The end of what the process wrote."""
    try:
        with (run.folder / "log").open("rb") as stream:
            stream.seek(max(0, stream.seek(0, 2) - _LOG_BYTES))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [
        # Lines of JSON are events, which were read already.
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.startswith("{")
    ]
    return "\n".join(lines[-3:])


def _number(value: Any) -> float | None:
    # True is an int in Python, and a training that diverges writes NaN, which no plot can show.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _count(value: Any) -> int:
    return int(_number(value) or 0)


def best(scores: Iterable[float | None]) -> float | None:
    """The highest of the known scores."""
    return max((each for each in scores if each is not None), default=None)


TARGET = "mean of tasks"


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """A score of both models.

    Attributes:
        name: What is scored.
        before: F1 of the model that was in use, 0 to 100.
        after: F1 of the new one.
        low: Lower end of the 90 % interval of the difference.
        high: Upper end of it.
        probability: How likely the new one is better, 0 to 1.
        gold: Items that there are to find.
        deeper: Whether it is one label of the task above.
    """

    name: str
    before: float
    after: float
    low: float
    high: float
    probability: float
    gold: int
    deeper: bool = False

    @property
    def direction(self) -> str:
        """``better`` or ``worse`` where the whole interval says so, else ``unclear``."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "unclear"


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The end of a training.

    Attributes:
        words: The verdict in a sentence.
        reasons: Why, and what to mind.
        rows: The scores: all tasks, then each with its labels.
        documents: Held-out abstracts that they come from.
        model: Name of the new model, empty where none came of it.
        offered: Whether the new model is not in use and can be taken.
        blind: The scores on the abstracts that were not corrected from suggestions, where they were asked for.
        blind_note: What those are worth.
    """

    words: str
    reasons: tuple[str, ...]
    rows: tuple[ScoreComparison, ...]
    documents: int
    model: str
    offered: bool
    blind: tuple[ScoreComparison, ...] = ()
    blind_note: str = ""


def training_result(
    gate: Mapping[str, Any] | None,
    model: str,
    promoted: bool,
    used: bool = False,
    notes: tuple[str, ...] = (),
) -> TrainingResult:
    """The verdict for people.

    Args:
        gate: The report of the comparison; ``None`` where there was none.
        model: Name of the new model.
        promoted: Whether the training put it in use.
        used: Whether the person has taken it since.
        notes: What the training itself says at its end.
    """
    report = gate or {}
    listed = report.get("reasons")
    reasons = tuple(str(each) for each in listed) if isinstance(listed, list) else ()
    offered = bool(model) and not promoted and not used and report.get("verdict") != "worse"
    words = _words(str(report.get("verdict", "")), model, promoted, used)
    documents = report.get("documents")
    count = documents if isinstance(documents, int) else 0
    blind = _table(report.get("blind"))
    return TrainingResult(
        words=words,
        reasons=(*reasons, *notes) if offered else reasons,
        rows=tuple(_rows(report)),
        documents=count,
        model=model,
        offered=offered,
        blind=tuple(_rows(blind)),
        blind_note=str(blind.get("told") or ""),
    )


def headline(rows: tuple[ScoreComparison, ...]) -> str:
    """Tasks with both scores, in a line: ``entities 66.1 to 68.4, relations 40.2 to 41.0``."""
    tasks = [row for row in rows if not row.deeper and row.name != TARGET]
    return ", ".join(f"{row.name} {row.before:.1f} to {row.after:.1f}" for row in tasks)


def _words(verdict: str, model: str, promoted: bool, used: bool) -> str:
    if used:
        return f"{model} is in use now, because you chose it"
    if promoted:
        return f"promoted: {model} is better and in use now"
    if not model:
        return "it produced no model"
    if verdict == "worse":
        return f"{model} is far worse than what predicts now; the old model stays in use. Finish more abstracts"
    if verdict == "too few":
        return f"too few abstracts to tell; the old model stays in use. Enter uses {model}"
    if verdict == "promote":
        return f"{model} is better, but not in use. Enter uses it"
    return f"kept the old model. Enter uses {model} anyway"


def _rows(report: Mapping[str, Any]) -> Iterator[ScoreComparison]:
    target = _compared(TARGET, report.get("target"))
    if target is not None:
        yield target
    tasks, labels = _table(report.get("tasks")), _table(report.get("labels"))
    for task in TASKS:
        found = _compared(NAMES[task], tasks.get(task))
        if found is None:
            continue
        yield found
        for label, scores in _table(labels.get(task)).items():
            row = _compared(label, scores, deeper=True)
            if row is not None:
                yield row


def _compared(name: str, scores: Any, deeper: bool = False) -> ScoreComparison | None:
    try:
        values = {**scores, "name": name, "deeper": deeper}
        return msgspec.convert(values, ScoreComparison)
    except (TypeError, msgspec.ValidationError):
        return None


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
