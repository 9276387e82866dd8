"""The desk with what works beside it: imports, predictions, the check, and the dialogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.worker import Worker, WorkerState, get_current_worker

from sciextract.store import Project
from sciextract.store.opening import SUFFIX
from sciextract.workflows.annotate import Predictor
from sciextract_app import messages, recent
from sciextract_app.dialogs import answers
from sciextract_app.dialogs.bad_records import BadRecordsDialog
from sciextract_app.presenter.shown import Feedback
from sciextract_app.screens.desk import DeskScreen
from sciextract_app.screens.mouse import MouseDesk
from sciextract_app.workers import outcome
from sciextract_app.workers.importing import ImportJob
from sciextract_app.workers.predicting import PredictionJob
from sciextract_app.workers.watch import Watch

NEWCOMER = "Enter accepts, x rejects, Tab skips; ? shows all"
"""Told once, with the first predictions of the first project."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What runs beside the desk.

    Attributes:
        author: Who works: see :func:`sciextract.store.opening.person`.
        load: Gives the model, called in a thread; ``None`` where none shall predict.
        files: What to import first.
        told: What the person should know, empty for nothing.
    """

    author: str | None = None
    load: Callable[[], Predictor] | None = None
    files: tuple[str, ...] = ()
    told: str = ""


class WorkingDesk(MouseDesk):
    """A desk whose project is filled by workers, each with a connection of its own."""

    def __init__(self, project: Project, keys: dict[str, str], beside: Beside) -> None:
        super().__init__(project, keys)
        self._beside = beside
        self._remembered = recent.remembered(project.path)
        self._watch: Watch | None = None
        self._newcomer = NEWCOMER

    @property
    def writable(self) -> bool:
        """Whether the project can be changed."""
        return self.project.mode == "write"

    def on_mount(self) -> None:
        """Begin to work only once the text is on the screen."""
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if recent.recent_projects():
            self._newcomer = ""
        recent.remember(self._remembered)
        told = [self._beside.told]
        if not self.writable:
            told.append(f"{self.project.path.name} can only be read here: copy it to change it")
        if any(told):
            self.tell(Feedback("; ".join(filter(None, told)), problem=not self.writable))
        self._watch = Watch(self.project)
        self.set_interval(0.2, self._look_at_check)
        files = recent.not_yet_imported(self._remembered, self._beside.files)
        if files:
            self.bring_in(files)
        else:
            self.action_predict()

    def bring_in(self, files: Sequence[str]) -> None:
        """Import files in the background; what can be predicted is predicted after that."""
        if not self.writable:
            self.tell(Feedback("nothing imported: the project can only be read here", problem=True))
            return
        if any(_is_a_project(each, self.project.path) for each in files):
            self.tell(
                Feedback("a project cannot be imported: Ctrl+O opens another one", problem=True)
            )
            return
        self.tell(Feedback(f"importing {', '.join(Path(each).name for each in files)}"))
        self._import(self.project.path, tuple(files))

    def action_bring_in(self) -> None:
        """Ask for files, then import them."""
        answers.ask_files(self.app, lambda path: self.bring_in([str(path)]))

    def action_predict(self) -> None:
        """Let the model predict what needs it, in the background."""
        load = self._beside.load
        if load is not None and self.writable and self.project.numbers():
            self._predict(self.project.path, load, self.desk.number)

    def stop(self) -> None:
        """Tell everything that works to stop; it leaves a sound project, a moment later."""
        self.workers.cancel_node(self)

    def end(self) -> None:
        """The last thing before the project is closed, when no event loop runs any more."""
        if self._watch is not None:
            self._watch.cancel()
        self.remember()

    @work(thread=True, exclusive=True, group="predict", exit_on_error=False)
    def _predict(self, path: Path, load: Callable[[], Predictor], first: int) -> None:
        worker = get_current_worker()
        PredictionJob(
            *(path, self._beside.author, load, first),
            stopped=lambda: worker.is_cancelled,
            post=self.post_message,
        ).run()

    @work(thread=True, group="import", exit_on_error=False)
    def _import(self, path: Path, files: tuple[str, ...]) -> None:
        worker = get_current_worker()
        ImportJob(
            *(path, self._beside.author, files),
            stopped=lambda: worker.is_cancelled,
            post=self.post_message,
        ).run()

    @on(messages.ModelLoaded)
    def _model_loaded(self, event: messages.ModelLoaded) -> None:
        self.predicting((0, 0), event.model)

    @on(messages.Predicted)
    def _predicted(self, event: messages.Predicted) -> None:
        self.predicting((event.done, event.total))
        self.look_for_changes()

    @on(messages.PredictionEnded)
    def _prediction_ended(self, event: messages.PredictionEnded) -> None:
        self.predicting(None)
        self.look_for_changes()
        feedback = outcome.of_prediction(event)
        if feedback.message and not feedback.problem and self._newcomer:
            feedback = Feedback(f"{feedback.message}. {self._newcomer}")
            self._newcomer = ""
        self._tell_if_any(feedback)

    @on(messages.Imported)
    def _imported(self, event: messages.Imported) -> None:
        self.look_for_changes()
        self.tell(Feedback(f"importing: {event.records:,} records so far"))

    @on(messages.ImportEnded)
    def _import_ended(self, event: messages.ImportEnded) -> None:
        self.look_for_changes()
        self.tell(outcome.of_import(event))
        if event.report is not None:
            recent.note_imported(self._remembered, event.files)
            recent.remember(self._remembered)
            self.action_predict()
        if event.bad:
            count = event.report.bad if event.report else len(event.bad)
            self.app.push_screen(BadRecordsDialog(event.bad, count))

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            what = "the import" if event.worker.group == "import" else "the prediction"
            self.predicting(None)
            self.tell(outcome.of_crash(what, event.worker.error))

    @on(DeskScreen.Requested)
    def _requested(self, event: DeskScreen.Requested) -> None:
        answers.answer(self, event.what)

    def _look_at_check(self) -> None:
        news = self._watch.news() if self._watch else None
        self._tell_if_any(news or Feedback())

    def _tell_if_any(self, feedback: Feedback) -> None:
        if feedback.message:
            self.tell(feedback)


def _is_a_project(file: str, opened: Path) -> bool:
    """Whether a file is a project, told by names alone: reading the open one would take its locks away."""
    return file.endswith(SUFFIX) or Path(file).resolve() == opened.resolve()
