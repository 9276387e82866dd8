"""Trainings from the desk: a process of their own, which continues when the desk is left, and what is shown of it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sciextract.errors import MissingExtraError, OutputError, SciextractError
from sciextract.retraining.run_folder import FINISHED, LOG, Run, is_begun, new_run, runs_of
from sciextract.store import open_project
from sciextract.store.opening import USER_VARIABLE
from sciextract.workflows.models import choice
from sciextract_app.opening import Remembered, remember
from sciextract_app.shared.actions import key_of
from sciextract_app.shared.jobs import DeskPort, Job
from sciextract_app.shared.view_models import Feedback
from sciextract_app.training.plan import is_due, offer
from sciextract_app.training.progress import (
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
        options: Further options of ``sciextract retrain``, as they are typed.
    """

    project: Path
    model: str | None = None
    author: str | None = None
    options: str = ""


def command(request: TrainingRequest, folder: Path) -> list[str]:
    """The words that start a training in a run folder; one that was begun knows itself what was wanted of it."""
    words = [sys.executable, "-m", "sciextract", "retrain", "--json", "--run", str(folder)]
    if not is_begun(folder):
        words += ["--project", str(request.project), *shlex.split(request.options)]
        words += ["--model", request.model] if request.model else []
    return words


def obstacle() -> SciextractError | None:
    """Why nothing can be trained here: packages that are not installed."""
    # find_spec imports nothing; PyTorch would take seconds.
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
        for run in runs_of(project):
            status = run.status()
            if status is not None and status.state not in FINISHED and run.is_alive():
                return cls(run)
        return None

    @property
    def pid(self) -> int | None:
        """Its process, where this one started it."""
        return None if self._child is None else self._child.pid

    def is_alive(self) -> bool:
        """Whether its process still works."""
        # poll() also collects the child: a process that has ended but is not collected looks alive to others.
        return self.run.is_alive() if self._child is None else self._child.poll() is None

    def stop(self) -> bool:
        """Ask it to stop at a point from which it can go on; says whether there was a process to ask."""
        if not self.is_alive():
            return False
        status = self.run.status()
        pid = self.pid or (status.pid if status else 0)
        if pid <= 0:  # 0 and below would signal a group of processes, such as this one's
            return False
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGINT)
            return True
        return False


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
        return self.live.status.epoch, self.live.status.epochs

    @property
    def run(self) -> Run | None:
        """The run that is looked at."""
        return self._reader.run if self._reader else None

    def find(self) -> None:
        """Look for a training that somebody started, unless one is known."""
        if not self.runs:
            found = Training.running(self._project)
            if found is not None:
                self._watch(found)

    def start(self, request: TrainingRequest, resumed: Run | None = None) -> None:
        """Begin one, or take up one that was stopped.

        Raises:
            OutputError: It cannot begin.
        """
        self._watch(Training.start(request, resumed))

    def show(self, run: Run) -> None:
        """Look at one that came to its end some time ago."""
        self._watch(Training(run))

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
        # First, so that the last words of a process that ends just now are read.
        alive = self._training.is_alive()
        self.live = self._reader.read(alive, self._training.pid)
        return before is not None and not self.live.runs

    def outcome(self) -> TrainingResult | None:
        """The result, once it is done."""
        if self._reader is None or self.live is None or self.live.state != "done":
            return None
        return training_result(self._reader.run, self.used)

    def _watch(self, training: Training) -> None:
        self._training, self._reader = training, RunReader(training.run)
        self.live, self.used = None, False
        self.look()


class RetrainingWork:
    """The trainings of the open project.

    Args:
        desk: The desk.
        author: Who works on the project.
        model: The model that the person named, ``None`` for the one in use.
        record: What is remembered of the project: when a training was offered last.
        predict_with: Called with the name of a new model that is in use.

    Attributes:
        watch: The training that is shown.
        model: The model that a training starts from, ``None`` for the one in use.
        path: The project.
        options: Options of the next training.
    """

    def __init__(
        self,
        desk: DeskPort,
        author: str | None,
        model: str | None,
        record: Remembered,
        predict_with: Callable[[str], object],
    ) -> None:
        self.path = desk.project.path
        self.watch = TrainingWatch(self.path)
        self.model = model
        self.options = ""
        self._desk = desk
        self._author = author
        self._record = record
        self._predict_with = predict_with
        self._drawn: tuple[int, int] | None = None

    @property
    def writable(self) -> bool:
        """Whether the project can be changed."""
        return self._desk.writable

    def begin(self) -> None:
        """Find a training that has gone on since the project was open last."""
        self.watch.find()
        self._draw()

    def poll(self) -> None:
        """Show the progress; once it has ended, the result."""
        ended = self.watch.look()
        self._draw()
        if not ended:
            return
        outcome, live = self.watch.outcome(), self.watch.live
        if outcome is None:
            phase = live.phase if live else "ended"
            why = f": {live.message.splitlines()[0]}" if live and live.message else ""
            problem = bool(live and live.state != "stopped")
            self._desk.show_reply(
                Feedback(f"training {phase}{why}; {key_of('app.retrain')} shows it", problem)
            )
            return
        if outcome.model and not outcome.offered:
            self._predict(outcome.model)
        scores = outcome.headline
        compared = f"New model: {scores} on your held-out abstracts. " if scores else ""
        use = "Use it?" if outcome.offered else "In use now"
        self._desk.show_reply(Feedback(f"{compared}{use} {key_of('app.retrain')} shows it"))

    def start(self, resumed: Run | None = None) -> None:
        """Begin a training as it is set up, or resume one.

        Raises:
            OutputError: It cannot begin.
        """
        request = TrainingRequest(self.path.resolve(), self.model, self._author, self.options)
        self.watch.start(request, resumed)
        self._record_offer(self._desk.finished)
        self._draw()

    def use(self, name: str) -> None:
        """Use a model from now on, and predict with it what is undecided."""

        def work(job: Job) -> None:
            with open_project(self.path, self._author) as project:
                choice.use(name, project)
            job.call(tell_used)

        def tell_used() -> None:
            self.watch.used = True
            self._predict(name)
            words = f"{name} is in use now; undecided abstracts are predicted again"
            self._desk.show_reply(Feedback(words))

        def show_error(error: SciextractError) -> None:
            self._desk.show_error("The new model cannot be used", error)

        self._desk.run_job("use", work, show_error)

    def offer_after(self, feedback: Feedback) -> None:
        """Offer a training after an action, once for every twenty more abstracts that are done."""
        done = self._desk.finished
        if not feedback.changed or not is_due(done, self._record.offered):
            return
        if self.watch.runs or not self.writable:
            return
        self._record_offer(done)
        words = [feedback.message, offer(done)]
        self._desk.show_reply(Feedback("  ".join(filter(None, words)), feedback.problem))

    def _record_offer(self, done: int) -> None:
        self._record.offered = done
        remember(self._record)

    def _draw(self) -> None:
        if self._drawn != self.watch.progress:
            self._drawn = self.watch.progress
            self._desk.draw_header()

    def _predict(self, model: str) -> None:
        self.model = model
        self._predict_with(model)
