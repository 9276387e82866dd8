"""The desk with what works beside it: imports, predictions, the check, and the dialogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.worker import Worker, WorkerState, get_current_worker

from sciextract.store import Project
from sciextract.store.opening import SUFFIX
from sciextract.workflows.model_choice import ModelChoice
from sciextract_app import messages, opening
from sciextract_app.dialogs import results
from sciextract_app.presenters.adjudication_documents import open_differences
from sciextract_app.presenters.view_models import Feedback, counted
from sciextract_app.screens.desk import DeskScreen
from sciextract_app.screens.learning import Learning
from sciextract_app.screens.spreading import SPREADING, SpreadingDesk
from sciextract_app.workers import importing
from sciextract_app.workers.predicting import Plan
from sciextract_app.workers.project import Watch

if TYPE_CHECKING:
    from sciextract.workflows.annotate import Predictor

NEWCOMER = "Enter accepts, x rejects, Tab skips; ? shows all"
"""Told once, with the first predictions of the first project."""
_WORK = {
    "import": "the import",
    "predict": "the prediction",
    SPREADING: "the decision for the whole project",
}
"""What a group of workers does."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What runs beside the desk.

    Attributes:
        author: Who works: see :func:`sciextract.store.opening.person`.
        load: Gives the model, called in a thread; ``None`` where none shall predict.
        files: What to import first.
        told: What the person should know, empty for nothing.
        model: The model that the person named, ``None`` for the one in use.
    """

    author: str | None = None
    load: Callable[[], Predictor] | None = None
    files: tuple[str, ...] = ()
    told: str = ""
    model: str | None = None


class WorkingDesk(SpreadingDesk):
    """A desk whose project is filled by workers, each with a connection of its own."""

    def __init__(self, project: Project, keys: dict[str, str], beside: Beside) -> None:
        super().__init__(project, keys)
        self._beside = beside
        self._remembered = opening.remembered(project.path)
        self._watch: Watch | None = None
        self._newcomer = NEWCOMER
        self._plan = Plan()
        self._learning = Learning(self, beside, self._remembered)

    @property
    def writable(self) -> bool:
        """Whether the project can be changed."""
        return self.project.mode == "write"

    def on_mount(self) -> None:
        """Begin to work only once the text is on the screen."""
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if opening.recent_projects():
            self._newcomer = ""
        opening.remember(self._remembered)
        told = [self._beside.told]
        if left := open_differences(self.project):
            told.append(f"{counted(left, 'difference')} with others to decide: W")
        if not self.writable:
            told.append(f"{self.project.path.name} can only be read here: copy it to change it")
        if any(told):
            self.inform(Feedback("; ".join(filter(None, told)), problem=not self.writable))
        self._watch = Watch(self.project)
        self.set_interval(0.2, self._look_at_check)
        self._learning.begin()
        if files := self._new_files():
            self.bring_in(files)
        else:
            self.action_predict()

    def _new_files(self) -> Sequence[str]:
        """Files of the command line that are not in the project; of an empty one, made anew perhaps, none is."""
        files = self._beside.files
        if files and self.project.numbers():
            return opening.not_yet_imported(self._remembered, files)
        return files

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
        self.inform(Feedback(f"importing {', '.join(Path(each).name for each in files)}"))
        self._import(self.project.path, tuple(files))

    def action_bring_in(self) -> None:
        """Ask for files, then import them."""
        results.ask_files(self.app, lambda path: self.bring_in([str(path)]))

    def action_predict(self) -> None:
        """Let the model predict what needs it, in the background."""
        load = self._beside.load
        if load is not None and self.writable and self.project.numbers():
            self._predict(self.project.path, load)

    def action_statistics(self) -> None:
        """Show how the work goes."""
        from sciextract_app.screens.dashboard import DashboardScreen

        self.app.push_screen(DashboardScreen(self.project.path))

    def action_retrain(self) -> None:
        """Show the training, or what would be trained on."""
        self._learning.open_panel()

    def predict_with(self, model: str) -> None:
        """Let another model predict from now on, beginning with what is undecided."""
        if self._beside.load is not None:
            load = ModelChoice(model, candidates=True).load
            self._beside = replace(self._beside, load=load, model=model)
            self.action_predict()

    def after(self, feedback: Feedback) -> None:
        """Show the state after an action; once in a while it is time to offer a training."""
        super().after(feedback)
        self._learning.offer_after(feedback)

    def draw(self, rows: bool = True) -> None:
        """Show everything as it is now; predictions go on from the abstract that is open."""
        self._plan.aim(self.desk.number, self.desk.document_order.numbers)
        super().draw(rows)

    def stop(self) -> None:
        """Tell everything that works to stop; it leaves a sound project, a moment later."""
        self.workers.cancel_node(self)

    def end(self) -> None:
        """The last thing before the project is closed, when no event loop runs any more."""
        if self._watch is not None:
            self._watch.cancel()
        self.remember()

    @work(thread=True, exclusive=True, group="predict", exit_on_error=False)
    def _predict(self, path: Path, load: Callable[[], Predictor]) -> None:
        from sciextract_app.workers.predicting import PredictionJob

        worker = get_current_worker()
        PredictionJob(
            *(path, self._beside.author, load, self._plan),
            stopped=lambda: worker.is_cancelled,
            post=self.post_message,
        ).run()

    @work(thread=True, group="import", exit_on_error=False)
    def _import(self, path: Path, files: tuple[str, ...]) -> None:
        from sciextract_app.workers.importing import ImportJob

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
        feedback = importing.of_prediction(event)
        if feedback.message and not feedback.problem and self._newcomer:
            feedback = Feedback(f"{feedback.message}. {self._newcomer}")
            self._newcomer = ""
        self.inform(feedback)

    @on(messages.ModelInUse)
    def _model_in_use(self, event: messages.ModelInUse) -> None:
        self._learning.in_use(event)

    @on(messages.Imported)
    def _imported(self, event: messages.Imported) -> None:
        self.look_for_changes()
        told = Feedback(f"importing: {event.records:,} records so far")
        self.inform(told, passing=True)

    @on(messages.ImportEnded)
    def _import_ended(self, event: messages.ImportEnded) -> None:
        self.look_for_changes()
        self.inform(importing.of_import(event))
        if event.report is not None:
            opening.note_imported(self._remembered, event.files)
            opening.remember(self._remembered)
            self.action_predict()
        if event.bad:
            from sciextract_app.dialogs.pages import BadRecordsDialog

            count = event.report.bad if event.report else len(event.bad)
            self.app.push_screen(BadRecordsDialog(event.bad, count))

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            group = event.worker.group
            if group == "predict":
                self.predicting(None)
            if group == SPREADING:
                self.desk.bulk.drop()
            self.inform(importing.of_crash(_WORK.get(group, group), event.worker.error))

    @on(DeskScreen.Requested)
    def _requested(self, event: DeskScreen.Requested) -> None:
        results.answer(self, event.what)

    def _look_at_check(self) -> None:
        news = self._watch.news() if self._watch else None
        self.inform(news or Feedback())


def _is_a_project(file: str, opened: Path) -> bool:
    """Whether a file is a project, told by names alone: reading the open one would take its locks away."""
    return file.endswith(SUFFIX) or Path(file).resolve() == opened.resolve()
