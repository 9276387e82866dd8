"""Retraining from the review screen: the offer, the progress, the new model, and what there is to train on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.retraining.remote.jobs import location_of
from sciextract.retraining.remote.trainer import cancel_job
from sciextract.retraining.run_folder import Run, runs_of
from sciextract.store import Project, open_project
from sciextract.workflows.models import choice
from sciextract_app.messages import ModelInUse
from sciextract_app.opening import Remembered, remember
from sciextract_app.presenters.retraining_plan import (
    EarlierRuns,
    TrainingData,
    TrainingOptions,
    earlier_runs,
    is_due,
    offer,
    training_data,
)
from sciextract_app.presenters.retraining_run import headline
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.workers.host import ReviewHost
from sciextract_app.workers.training import TrainingRequest, TrainingWatch


class RetrainingService:
    """The trainings of the open project.

    Args:
        host: The review screen.
        author: Who works on the project.
        model: The model that the person named, ``None`` for the one in use.
        record: What is remembered of the project: when a training was offered last.
        predict_with: Called with the name of a new model that is in use.

    Attributes:
        watch: The training that is shown.
        model: The model that a training starts from, ``None`` for the one in use.
        path: The project.
        setup: Where and how the next training shall run.
    """

    def __init__(
        self,
        host: ReviewHost,
        author: str | None,
        model: str | None,
        record: Remembered,
        predict_with: Callable[[str], object],
    ) -> None:
        self.path = host.project.path
        self.watch = TrainingWatch(self.path)
        self.model = model
        self.setup = TrainingOptions()
        self._host = host
        self._author = author
        self._record = record
        self._predict_with = predict_with
        self._drawn: tuple[int, int] | None = None

    @property
    def writable(self) -> bool:
        """Whether the project can be changed."""
        return self._host.writable

    def begin(self) -> None:
        """Find a training that has gone on since the project was open last."""
        self.watch.find()
        self._draw()

    def poll(self) -> None:
        """Show the progress; once it has ended, the result."""
        ended = self.watch.look()
        self._draw()
        if ended:
            self._show_result()

    def start(self, resumed: Run | None = None) -> None:
        """Begin a training as it is set up, or resume one.

        Raises:
            OutputError: It cannot begin.
        """
        request = TrainingRequest(self.path.resolve(), self.model, self._author, self.setup)
        self.watch.start(request, resumed)
        self._record_offer(self._host.desk.totals.done)
        self._draw()

    def use(self, name: str) -> None:
        """Use a model from now on; a :class:`ModelInUse` follows."""
        self._host.start_thread("use", lambda _: self._use(name))

    def receive(self, message: ModelInUse) -> None:
        """A model is in use: predict with it what is undecided."""
        if message.error is None:
            self.watch.used = True
            self._take(message.model)
            words = f"{message.model} is in use now; undecided abstracts are predicted again"
            self._host.show_reply(Feedback(words))

    def offer_after(self, feedback: Feedback) -> None:
        """Offer a training after an action, once for every twenty more abstracts that are done."""
        done = self._host.desk.totals.done
        if not feedback.changed or not is_due(done, self._record.offered):
            return
        if self.watch.runs or not self.writable:
            return
        self._record_offer(done)
        words = [feedback.message, offer(done)]
        self._host.show_reply(Feedback("  ".join(filter(None, words)), feedback.problem))

    def _record_offer(self, done: int) -> None:
        self._record.offered = done
        remember(self._record)

    def _draw(self) -> None:
        if self._drawn != self.watch.progress:
            self._drawn = self.watch.progress
            self._host.draw_header()

    def _show_result(self) -> None:
        outcome, live = self.watch.outcome(), self.watch.live
        if outcome is None:
            phase = live.phase if live else "ended"
            why = f": {live.message.splitlines()[0]}" if live and live.message else ""
            problem = bool(live and live.state != "stopped")
            self._host.show_reply(Feedback(f"training {phase}{why}; F8 shows it", problem))
            return
        if outcome.model and not outcome.offered:
            self._take(outcome.model)
        scores = headline(outcome.rows)
        compared = f"New model: {scores} on your held-out abstracts. " if scores else ""
        use = "Use it?" if outcome.offered else "In use now"
        self._host.show_reply(Feedback(f"{compared}{use} F8 shows it"))

    def _take(self, model: str) -> None:
        self.model = model
        self._predict_with(model)

    def _use(self, name: str) -> None:
        try:
            with open_project(self.path, self._author) as project:
                choice.use(name, project)
        except SciextractError as error:
            self._host.post_message(ModelInUse(name, error))
        else:
            self._host.post_message(ModelInUse(name))


@dataclass
class JobCancelled(Message):
    """The machine has answered a request to stop a job.

    Attributes:
        host: The machine.
        error: Why the job could not be stopped, ``None`` where it was.
    """

    host: str
    error: SciextractError | None = None


def cancelled(run: Run) -> JobCancelled:
    """Stop the job of a run on its machine."""
    place = location_of(run)
    if place is None:
        return JobCancelled("")
    try:
        cancel_job(run, place)
    except SciextractError as error:
        return JobCancelled(place.host, error)
    return JobCancelled(place.host)


@dataclass
class TrainingDataReady(Message):
    """What there is to train on is counted.

    Attributes:
        material: What there is, ``None`` when it could not be read.
        earlier: Earlier trainings.
        model: The model that a training starts from.
        error: Why it could not be read.
    """

    material: TrainingData | None
    earlier: EarlierRuns
    model: str = ""
    error: SciextractError | None = None


@dataclass(frozen=True, slots=True)
class TrainingDataJob:
    """Counts what there is to train on.

    Attributes:
        path: The project.
        model: The model that the person named, ``None`` for the one in use.
        post: Takes the message; must not mind the thread.
    """

    path: Path
    model: str | None
    post: Callable[[Message], object]

    def run(self) -> None:
        """Count, and post the result."""
        earlier = earlier_runs(runs_of(self.path))
        try:
            with open_project(self.path, read=True) as project:
                found = TrainingDataReady(training_data(project), earlier, self._model(project))
        except SciextractError as error:
            found = TrainingDataReady(None, earlier, error=error)
        self.post(found)

    def _model(self, project: Project) -> str:
        return self.model or choice.current(project).name
