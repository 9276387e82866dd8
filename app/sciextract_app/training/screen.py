"""The panel of a training: what it would be made of, how it goes, and its result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from sciextract.errors import SciextractError
from sciextract.retraining.remote.jobs import known_hosts, location_of
from sciextract.retraining.remote.trainer import cancel_job
from sciextract.retraining.run_folder import Run
from sciextract_app.shared.jobs import Job, error_line, start_job
from sciextract_app.shared.presenters import refusal
from sciextract_app.shared.view_models import Feedback, Hint, Mode
from sciextract_app.training import plots
from sciextract_app.training.plan import (
    USUAL,
    EarlierRuns,
    TrainingPlan,
    check_options,
    nothing_to_learn,
    plan_lines,
    read_plan,
)
from sciextract_app.training.progress import RunProgress
from sciextract_app.training.work import obstacle
from sciextract_app.widgets.bars import FooterBar
from sciextract_app.widgets.cells import named_lines, word_lines
from sciextract_app.widgets.dialogs import (
    ErrorDialog,
    KeyedDialog,
    LineDialog,
    QuestionDialog,
    ask,
)
from sciextract_app.widgets.plots import Drawing, PlotPane, PlotScreen

if TYPE_CHECKING:
    from sciextract_app.training.work import RetrainingWork


_OPTIONS = (
    "Options of sciextract retrain, such as --device cuda, --epochs 12, --base FILE for a published data set that is "
    "trained on as well, or --remote [USER@]HOST for another machine: it needs a key for ssh, and the training texts "
    "are sent there. Empty: "
)


POLL_SECONDS = 0.5
_BACK = Hint("Esc", "back to the desk")


class RetrainingScreen(PlotScreen):
    """Shows one training, or what would be trained; closing it leaves the training alone.

    Args:
        service: The trainings of the project; keeps the options.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f8", "app.pop_screen", "back", id="retrain.leave"),
        Binding("enter", "go", "start, or use the new model", id="retrain.go"),
        Binding("g", "resume", "continue a stopped training", id="retrain.resume"),
        Binding("x", "stop", "stop", id="retrain.stop"),
        Binding("n", "plan", "a new training", id="retrain.new"),
        Binding("l", "last", "the result of the last training", id="retrain.last"),
        Binding("o", "options", "options of the next training", id="retrain.options"),
    ]

    def __init__(self, service: RetrainingWork) -> None:
        super().__init__(f"{service.path.name}: retraining")
        self._service = service
        self._watch = service.watch
        self._material: TrainingPlan | None = None
        self._shown: object = None
        self._message_state = (False, False)

    def on_mount(self) -> None:
        """Look at the training, and count what there is to train on."""
        self._count()
        self.look()
        self.set_interval(POLL_SECONDS, self.look)

    def look(self) -> None:
        """Show the training as it is now."""
        self._service.poll()
        state_of_message = (self._watch.runs, self._watch.used)
        # What was said of a training that ran does not hold of one that has ended.
        if state_of_message != self._message_state:  # the last message does not hold any more
            self._message_state = state_of_message
            self.show_message(Feedback())
        state = (self._watch.live, self._watch.used, self._material, self._service.options)
        if state != self._shown:
            # While it runs the pane stays where the person has scrolled to.
            top = self._watch.live is None
            self._shown = state
            self.query_one(FooterBar).show((self._hints(), Mode.REVIEW))
            found = self._watch.outcome()
            draw: Drawing = self._plan
            if found is not None:
                draw = lambda width, _: plots.outcome_lines(found, width)
            elif self._watch.live is not None:
                draw = partial(plots.live_lines, self._watch.live)
            self.query_one(PlotPane).show(draw, top)

    def action_go(self) -> None:
        """Begin a training; after one, use its model; after a failed one, plan a new one."""
        found = self._watch.outcome()
        if self._watch.live is None:
            self._start(None)
        elif found is not None and found.offered:
            self.show_message(Feedback(f"taking {found.model}"))
            self._service.use(found.model)
        elif not self._watch.runs:
            self.action_plan()

    def action_resume(self) -> None:
        """Go on where a training was stopped."""
        live, found = self._watch.live, self._material
        if live is not None and (live.state == "stopped" or live.unwatched) and self._watch.run:
            self._start(self._watch.run)
        elif live is None and found is not None and found.earlier.stopped is not None:
            self._start(found.earlier.stopped)

    def action_stop(self) -> None:
        """Ask, then stop; of a job on another machine, the job or only the watching."""
        live = self._watch.live
        if live is not None and live.there and (live.runs or live.unwatched):
            self._ask_what_to_stop(live)
        elif not self._watch.runs:
            self.show_message(Feedback("no training works now", problem=True))
        else:
            explained = "The progress so far is kept, and g resumes from there. Closing this panel does not stop it."
            dialog = QuestionDialog("Stop the training?", explained, "stops it")
            ask(self.app, dialog, lambda _: self._stop())

    def action_plan(self) -> None:
        """Back to what would be trained on."""
        if not self._watch.runs:
            self._watch.forget()
            self._count()
            self.look()

    def action_last(self) -> None:
        """Show the result of the last training that was finished."""
        last = self._material.earlier.last if self._material else None
        if self._watch.live is None and last is not None:
            self._watch.show(last)
            self.look()

    def action_options(self) -> None:
        """Type options of the next training, or choose a machine that is known."""
        if self._watch.live is None:
            hosts = [f"--remote {host}" for host in known_hosts()]
            offered = [("", USUAL), *zip(hosts, hosts, strict=True)] if hosts else []
            typed, explained = self._service.options, f"{_OPTIONS}{USUAL}."
            title = "Options of the training"
            dialog = LineDialog(title, typed, explained, check_options, offered)
            ask(self.app, dialog, self._set_options)

    def _set_options(self, options: str) -> None:
        self._service.options = options
        self.look()

    def _start(self, resumed: Run | None) -> None:
        problem = self._obstacle(resumed)
        if problem:
            self.show_message(Feedback(problem, problem=True))
            return
        try:
            self._service.start(resumed)
        except SciextractError as error:
            self.app.push_screen(ErrorDialog("Training cannot begin", error))
            return
        self.look()
        self.show_message(Feedback("it continues when you leave this panel or the desk"))

    def _stop(self) -> None:
        if self._watch.stop():
            self.show_message(Feedback("it stops at the next point from which it can resume"))

    def _ask_what_to_stop(self, live: RunProgress) -> None:
        """Stop following a job on another machine, or cancel it."""
        cancel = ("c", f"cancel the job on {live.host}: its progress stays there, g resumes it")
        watch = ("w", f"stop following: the job keeps running on {live.host}, g watches it again")
        title, explained = "Stop what?", "Closing this panel does not stop it."
        if live.unwatched:
            title, explained = "Stop the job?", "It is not followed now; g follows it again."

        def stop_or_cancel(answer: str) -> None:
            run = self._watch.run
            if answer == "w":
                self._watch.stop()
            elif run is not None:
                self.show_message(Feedback("asking the other machine to stop the job"))
                self._cancel(run)

        ask(
            self.app,
            KeyedDialog(title, explained, [cancel] if live.unwatched else [watch, cancel]),
            stop_or_cancel,
        )

    def _cancel(self, run: Run) -> None:
        """Stop the job of a run; in the background, for its machine may take long to answer."""

        def work(job: Job) -> None:
            place = location_of(run)
            if place is not None:
                cancel_job(run, place)
            job.call(tell_stopping, place.host if place else "")

        def tell_stopping(host: str) -> None:
            if self._watch.run is not None and not self._watch.runs:
                self._watch.show(self._watch.run)
            else:
                words = f"{host} stops the job at the next point from which it can resume"
                self.show_message(Feedback(words))
            self.look()

        def show_error(error: SciextractError) -> None:
            self.show_message(refusal(error))
            self.look()

        start_job(self, "cancelling the job", work, show_error)

    def _obstacle(self, resumed: Run | None = None) -> str:
        """Why no training can begin, or go on; empty where one can."""
        found = self._material
        if found is None:
            return "still counting"
        missing = obstacle()
        elsewhere = "--remote" in self._service.options
        if resumed is not None:
            elsewhere = location_of(resumed) is not None
        if missing is not None and not elsewhere:
            return error_line(missing)
        if not self._service.writable:
            return "this project is read-only here: copy it to a folder of yours, then retrain on the copy"
        return nothing_to_learn(found.material)

    def _plan(self, width: int, _: int) -> list[Text]:
        found = self._material
        if found is None:
            return word_lines(["counting…"], width)
        lines = word_lines(["Retrain: train the model on your decisions"], width, "bold")
        rows = plan_lines(found.material, found.model, self._service.options, found.earlier)
        lines += [Text(), *named_lines(rows, width, plots.NAME)]
        past = found.earlier.words
        problem = self._obstacle()
        lines += [Text(), *word_lines([" ".join(past)], width)] if past else []
        return [*lines, Text(), *word_lines([f"! {problem}"], width, "mark")] if problem else lines

    def _hints(self) -> tuple[Hint, ...]:
        live, found = self._watch.live, self._watch.outcome()
        if live is not None and live.runs:
            what = "stop watching, or the job" if live.there else "stop"
            return Hint("x", what), Hint("Esc", "back; it keeps running")
        if found is not None:
            use = (Hint("Enter", "use the new model"),) if found.offered else ()
            return *use, Hint("n", "a new training"), Hint("↑ ↓", "scroll"), _BACK
        if live is not None and live.unwatched:
            anew = Hint("Enter", "begin anew")
            return Hint("g", "watch it again"), Hint("x", "cancel the job there"), anew, _BACK
        if live is not None:
            resume = (Hint("g", "continue it"),) if live.state == "stopped" else ()
            return *resume, Hint("Enter", "begin anew"), _BACK
        earlier = self._material.earlier if self._material else EarlierRuns()
        return (
            Hint("Enter", "start", not self._obstacle()),
            *((Hint("g", "go on"),) if earlier.stopped is not None else ()),
            Hint("o", "options"),
            *((Hint("l", "last one"),) if earlier.last is not None else ()),
            _BACK,
        )

    def _count(self) -> None:
        path, model = self._service.path, self._service.model

        def keep_plan(plan: TrainingPlan) -> None:
            self._material = plan
            self.look()

        def show_error(error: SciextractError) -> None:
            self.show_message(refusal(error))

        def work(job: Job) -> None:
            job.call(keep_plan, read_plan(path, model))

        start_job(self, "counting", work, show_error, exclusive=True)
