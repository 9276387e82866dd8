"""What the desk has to do with trainings: the offer, the header, the model that comes of one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sciextract.errors import SciextractError
from sciextract.retraining.run_folder import Run
from sciextract.store import open_project
from sciextract_app import opening
from sciextract_app.dialogs.base import ErrorDialog
from sciextract_app.messages import ModelInUse
from sciextract_app.presenters.retraining_plan import TrainingOptions, is_due, offer
from sciextract_app.presenters.retraining_run import headline
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.workers.training import Order, TrainingWatch

if TYPE_CHECKING:
    from sciextract_app.opening import Remembered
    from sciextract_app.screens.working import Beside, WorkingDesk

LOOK_SECONDS = 1.0


class Learning:
    """The trainings of the project that is open at a desk.

    Args:
        screen: The desk.
        beside: What runs beside it.
        remembered: What is remembered of the project.

    Attributes:
        watch: The training that is looked at.
        author: Who works.
        model: The model that the person named or took, ``None`` for the one in use.
        path: The project.
        setup: Where and how the next training shall run.
    """

    def __init__(self, screen: WorkingDesk, beside: Beside, remembered: Remembered) -> None:
        self.watch = TrainingWatch(screen.project.path)
        self.author = beside.author
        self.model = beside.model
        self.path = screen.project.path
        self.setup = TrainingOptions()
        self._screen = screen
        self._remembered = remembered

    @property
    def writable(self) -> bool:
        """Whether the project can be changed."""
        return self._screen.writable

    def begin(self) -> None:
        """Take up a training that goes on since the desk was open last, and look at it."""
        self.watch.find()
        self._draw()
        self._screen.set_interval(LOOK_SECONDS, self.look)

    def open_panel(self) -> None:
        """Show the training that works, what came of the last one, or what would be trained on."""
        from sciextract_app.screens.retraining import RetrainingScreen

        self.watch.find()
        self._screen.app.push_screen(RetrainingScreen(self))

    def look(self) -> None:
        """Show how far it is; tell once what came of it."""
        ended = self.watch.look()
        self._draw()
        if ended:
            self._tell_end()

    def start(self, resumed: Run | None = None) -> None:
        """Begin a training as it is set up, or take up one that was stopped.

        Raises:
            OutputError: It cannot begin.
        """
        order = Order(self.path.resolve(), self.model, self.author, self.setup)
        self.watch.start(order, resumed)
        self._note_offered(self._screen.desk.totals.done)
        self._draw()

    def use(self, name: str) -> None:
        """Use a model from now on, and predict with it what is undecided."""
        self._screen.run_worker(
            partial(self._use, name), thread=True, group="use", exit_on_error=False
        )

    def in_use(self, event: ModelInUse) -> None:
        """A model was taken, or could not be."""
        if event.error is not None:
            self._screen.app.push_screen(ErrorDialog("The new model cannot be used", event.error))
            return
        self.watch.used = True
        self._take(event.model)
        self._screen.hint(f"{event.model} is in use now; what is undecided is predicted anew")

    def offer_after(self, feedback: Feedback) -> None:
        """Offer a training, once for every twenty more abstracts that are done."""
        done = self._screen.desk.totals.done
        if not feedback.changed or not is_due(done, self._remembered.offered):
            return
        if self.watch.runs or not self.writable:
            return
        self._note_offered(done)
        words = [feedback.message, offer(done)]
        self._screen.tell(Feedback("  ".join(filter(None, words)), feedback.problem))

    def _note_offered(self, done: int) -> None:
        self._remembered.offered = done
        opening.remember(self._remembered)

    def _draw(self) -> None:
        if self._screen.training != self.watch.progress:
            self._screen.training = self.watch.progress
            self._screen.draw_header()

    def _tell_end(self) -> None:
        found, live = self.watch.outcome(), self.watch.live
        if found is None:
            what = live.phase if live else "ended"
            why = f": {live.message.splitlines()[0]}" if live and live.message else ""
            problem = bool(live and live.state != "stopped")
            self._screen.tell(Feedback(f"training {what}{why}; F8 shows it", problem))
            return
        if found.model and not found.offered:
            self._take(found.model)
        scores = headline(found.rows)
        told = f"New model: {scores} on your held-out abstracts. " if scores else ""
        self._screen.hint(f"{told}{'In use now' if not found.offered else 'Use it?'} F8 shows it")

    def _take(self, model: str) -> None:
        self.model = model
        self._screen.predict_with(model)

    def _use(self, name: str) -> None:
        from sciextract.workflows import models

        try:
            with open_project(self.path, self.author) as project:
                models.use(name, project)
        except SciextractError as error:
            self._screen.post_message(ModelInUse(name, error))
        else:
            self._screen.post_message(ModelInUse(name))
