"""A training as a process of its own, which continues when the desk is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from sciextract.errors import MissingExtraError, OutputError, SciextractError
from sciextract.retraining.run_folder import FINISHED, LOG, Run, is_begun, new_run, runs_of
from sciextract.store.opening import USER_VARIABLE
from sciextract_app.presenters.retraining_plan import (
    TrainingOptions,
)
from sciextract_app.presenters.retraining_run import (
    RunProgress,
    RunReader,
    TrainingResult,
    training_result,
)

NEEDED = ("torch", "transformers", "safetensors", "onnx", "onnxscript")


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """What to train.

    Attributes:
        project: The project file.
        model: The model to start from; the one in use when ``None``.
        author: Who works: see :func:`sciextract.store.opening.person`.
        setup: Where and how.
    """

    project: Path
    model: str | None = None
    author: str | None = None
    setup: TrainingOptions = field(default_factory=TrainingOptions)


def command(request: TrainingRequest, folder: Path) -> list[str]:
    """The words that start a training in a run folder; one that was begun knows itself what was wanted of it."""
    words = [sys.executable, "-m", "sciextract", "retrain", "--json", "--run", str(folder)]
    if is_begun(folder):
        return [*words, "--device", request.setup.device]
    words += ["--project", str(request.project), *request.setup.words()]
    return [*words, "--model", request.model] if request.model else words


def obstacle() -> SciextractError | None:
    """Why nothing can be trained here: packages that are not installed."""
    if all(find_spec(name) is not None for name in NEEDED):
        return None
    return MissingExtraError("training", "train")


class Training:
    """A run, and its process where this one started it.

    Args:
        run: The run folder.
        child: The process, ``None`` where another one started it.
    """

    def __init__(self, run: Run, child: subprocess.Popen[bytes] | None = None) -> None:
        self.run = run
        self._child = child

    @classmethod
    def start(cls, request: TrainingRequest, resumed: Run | None = None) -> Training:
        """Begin a training, or take up one that was stopped.

        Raises:
            OutputError: The run folder cannot be written, or no process can be started.
        """
        run = resumed or new_run(request.project)
        env = {**os.environ, **({USER_VARIABLE: request.author} if request.author else {})}
        try:
            with (run.folder / LOG).open("ab") as log:
                child = subprocess.Popen(
                    command(request, run.folder),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=env,
                    start_new_session=True,  # neither Ctrl-C nor a closed terminal reaches it
                )
        except OSError as error:
            raise OutputError(
                f"training cannot begin in {run.folder}: {error.strerror}",
                "free some space or set SCIEXTRACT_HOME to a writable folder",
            ) from error
        return cls(run, child)

    @classmethod
    def running(cls, project: Path) -> Training | None:
        """The newest training of a project whose process still works, whoever started it."""
        return _first_running(runs_of(project))

    @property
    def pid(self) -> int | None:
        """Its process, where this one started it."""
        return None if self._child is None else self._child.pid

    def is_alive(self) -> bool:
        """Whether its process still works."""
        if self._child is not None:
            return self._child.poll() is None
        return self.run.is_alive()

    def stop(self) -> bool:
        """Ask it to stop at a point from which it can go on; says whether there was a process to ask."""
        if not self.is_alive():
            return False
        status = self.run.status()
        pid = self._child.pid if self._child is not None else status.pid if status else 0
        if pid <= 0:
            return False
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGINT)
            return True
        return False


def _first_running(runs: Sequence[Run]) -> Training | None:
    for run in runs:
        status = run.status()
        if status is not None and status.state not in FINISHED and run.is_alive():
            return Training(run)
    return None


class TrainingWatch:
    """At most one training at a time; looking at it costs little.

    Args:
        project: The project file.

    Attributes:
        live: The training when it was looked at last, ``None`` where there is none.
        used: Whether the person has taken the new model.
    """

    def __init__(self, project: Path) -> None:
        self._project = project
        self._training: Training | None = None
        self._reader: RunReader | None = None
        self.live: RunProgress | None = None
        self.used = False

    @property
    def runs(self) -> bool:
        """Whether a training works now."""
        return self.live is not None and self.live.runs

    @property
    def progress(self) -> tuple[int, int] | None:
        """The epoch and how many there will be; (0, 0) before the first one, ``None`` when none works."""
        if self.live is None or not self.live.runs:
            return None
        return self.live.epoch, self.live.epochs

    @property
    def run(self) -> Run | None:
        """The run that is looked at."""
        return self._reader.run if self._reader else None

    def find(self) -> None:
        """Look for a training that somebody started, unless one is known."""
        if not self.runs:
            found = Training.running(self._project)
            if found is not None:
                self._take(found)

    def start(self, request: TrainingRequest, resumed: Run | None = None) -> None:
        """Begin one, or take up one that was stopped.

        Raises:
            OutputError: It cannot begin.
        """
        self._take(Training.start(request, resumed))

    def show(self, run: Run) -> None:
        """Look at one that came to its end some time ago."""
        self._take(Training(run))

    def forget(self) -> None:
        """Look at none any more; one that works continues."""
        self._training = self._reader = self.live = None

    def stop(self) -> bool:
        """Ask it to stop; says whether there was one to ask."""
        return self.runs and self._training is not None and self._training.stop()

    def look(self) -> bool:
        """Read anew; says whether it came to its end since the last look."""
        if self._reader is None or self._training is None:
            return False
        before = self.live
        if before is not None and not before.runs:
            return False
        alive = self._training.is_alive()  # first, so that the last words are read
        self.live = self._reader.read(alive, self._training.pid)
        return before is not None and not self.live.runs

    def outcome(self) -> TrainingResult | None:
        """The result, once it is done."""
        if self._reader is None or self.live is None or self.live.state != "done":
            return None
        status = self._reader.run.status()
        model = str(self._reader.done.get("model") or (status.model if status else ""))
        promoted = bool(self._reader.done.get("promoted", status.promoted if status else False))
        done = self._reader.done
        better = (self._reader.gate or {}).get("verdict") == "promote"
        words = [done.get("message") if better else "", done.get("hint")]
        lines = tuple(str(each) for each in words if each)
        return training_result(self._reader.gate, model, promoted, self.used, lines)

    def _take(self, training: Training) -> None:
        self._training, self._reader = training, RunReader(training.run)
        self.live, self.used = None, False
        self.look()
