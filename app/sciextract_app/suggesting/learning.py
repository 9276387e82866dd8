"""LearningWork while the person corrects: after each finished abstract, for abstracts that nobody has touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from threading import Event
from time import sleep
from typing import TYPE_CHECKING

from sciextract.inference.settings import SURE
from sciextract.store import open_project
from sciextract_app.settings import load_learning, save_learning
from sciextract_app.shared.jobs import BREATH_SECONDS, DeskPort, Job, error_line
from sciextract_app.shared.view_models import Feedback
from sciextract_app.suggesting.learning_process import EndedError, LearningEngine
from sciextract_app.suggesting.predicting import PredictionOrder

if TYPE_CHECKING:
    from sciextract.workflows.learn import Learned

AHEAD = 50
"""Abstracts on the person's way that get new suggestions after each finished one."""
AT_A_TIME = 4
"""Abstracts that are predicted at once; each is written by itself, so that keys hardly wait."""
_PAUSE_SECONDS = 0.05
"""Between two looks whether a pause is over."""

StartEngine = Callable[[Path, str | None], LearningEngine]


def learn_and_suggest(
    path: Path,
    author: str | None,
    engine: LearningEngine,
    order: PredictionOrder,
    running: Event,
    is_cancelled: Callable[[], bool],
    learned_from: Callable[[Learned], object],
    arrived: Callable[[], object] = lambda: None,
    share: float = SURE["entity"],
) -> Learned:
    """Learn once, and suggest for the open abstract, if nothing is decided in it, and for those that come next.

    Args:
        path: The project.
        author: Who works on it.
        engine: Learns and predicts.
        order: In which order abstracts are wanted, and which one is on the screen.
        running: Set while it is not paused.
        is_cancelled: Whether to stop; asked before every abstract.
        learned_from: Called once it has learned, before it suggests.
        arrived: Called when the open abstract has new suggestions.
        share: The precision to promise of what is sure.

    Raises:
        SciextractError: The project cannot be read or written.
        EndedError: What learns has ended.
    """
    from sciextract.workflows.learn import adapter_run

    learned = engine.learn(share)
    if is_cancelled():
        return learned
    learned_from(learned)
    layers = [layer for layer, use in learned.use.items() if use.on]
    with open_project(path, author) as project:
        run = adapter_run(project, learned.model, learned.finished, layers)
        wanted = islice(order.over(sorted(learned.numbers)), AHEAD)
        at_once = 1  # the open one, which the person looks at
        while not is_cancelled():
            if not running.wait(_PAUSE_SECONDS):
                continue
            numbers = list(islice(wanted, at_once))
            if not numbers:
                break
            at_once = AT_A_TIME
            for made in engine.predict(numbers):
                # What was decided in it while it was predicted makes the run pass it over.
                with order.lock:
                    if not is_cancelled():
                        run.add([(made.number, made.predicted)], {made.number: made.shown})
                if made.number == order.number:
                    arrived()
                # Each abstract is a transaction of its own; between two of them a key may write.
                sleep(BREATH_SECONDS)
        run.finish()
    return learned


class LearningWork:
    """Has an adapter learn in the background whenever an abstract is finished.

    Args:
        desk: The desk.
        author: Who works on the project.
        model: The model that the person named, ``None`` for the one in use.
        order: In which order abstracts are wanted.
        start_engine: Starts what learns; ``None`` where nothing shall learn.
        promise: Called with the least score by task of what is sure, and why nothing is.

    Attributes:
        words: What the header says of it.
        left: Layers that the model suggests by itself once something was learned.
    """

    NAME = "learning"

    def __init__(
        self,
        desk: DeskPort,
        author: str | None,
        model: str | None,
        order: PredictionOrder,
        start_engine: StartEngine | None,
        promise: Callable[[Mapping[str, float], str], object],
    ) -> None:
        self.words = ""
        self.left: tuple[str, ...] = ()
        self._desk = desk
        self._author = author
        self._model = model
        self._order = order
        self._start_engine = start_engine
        self._promise = promise
        self._engine: LearningEngine | None = None
        self._running = Event()
        self._is_running = self._is_suggesting = False
        self._learned = 0
        self._off: frozenset[str] | None = None
        if load_learning():
            self._running.set()

    @property
    def is_on(self) -> bool:
        """Whether it learns; the setting holds for the next time, too."""
        return self._running.is_set()

    def toggle(self) -> None:
        """Turn learning off, or on again; what runs pauses."""
        if self.is_on:
            self._running.clear()
        else:
            self._running.set()
        save_learning(self.is_on)
        words = "on: finished abstracts are learned from" if self.is_on else "off"
        self._desk.show_reply(Feedback(f"learning is {words}"))
        self._show("" if self.is_on else "learning off")
        self.poll()

    def promise_anew(self) -> None:
        """Learn again: another precision is to be promised."""
        self._learned = 0
        self.poll()

    def poll(self) -> None:
        """Learn when other abstracts are finished than at the last time."""
        done, project = self._desk.finished, self._desk.project
        if self._start_engine is None or not self._desk.writable or not self.is_on:
            return
        if done == self._learned or not project.schema.entities:
            return
        if self._is_suggesting:  # what is newly finished matters more than abstracts further on
            self._desk.cancel_jobs(self.NAME)
        if self._is_running:
            return
        self._learned, self._is_running = done, True
        engine = self._engine = self._engine or self._start_engine(project.path, self._model)
        path, author, order, running = project.path, self._author, self._order, self._running
        share = self._desk.share

        def work(job: Job) -> None:
            try:
                learned = learn_and_suggest(
                    path, author, engine, order, running,
                    lambda: job.is_cancelled,
                    lambda learned: job.call(self._show_learned, learned, suggests=True),
                    lambda: job.call(self._desk.poll_changes),
                    share,
                )  # fmt: skip
            except EndedError as error:
                job.call(fail, str(error))
            else:
                job.call(self._end, learned)

        def fail(why: str) -> None:
            """After a failure the next finished abstract starts what learns anew."""
            self._desk.poll_changes()
            self._is_running = self._is_suggesting = False
            self.close()
            self._engine = None
            self._show("")
            self._desk.show_notice(Feedback(f"not learned: {why}", problem=True))

        self._show("⟳ learning")
        self._desk.run_job(self.NAME, work, lambda error: fail(error_line(error)))

    def _end(self, learned: Learned) -> None:
        self._is_running = False
        self._desk.poll_changes()
        self._show_learned(learned, suggests=False)

    def _show_learned(self, learned: Learned, *, suggests: bool) -> None:
        self._is_suggesting = suggests
        from sciextract.workflows.learning_curve import sure_words

        labels = learned.sure.labels
        sure = {label.task: label.threshold for label in labels if label.threshold is not None}
        why = "; ".join(sure_words(learned.sure)) or "No abstract is finished yet"
        self._promise(sure, "" if sure else why)
        on = [layer.value for layer, use in learned.use.items() if use.on]
        sign = "⟳ suggesting, " if suggests else ""
        of = f": {', '.join(on)}" if len(on) < len(learned.use) else ""
        begun = learned.finished - learned.done
        started = f", {begun} begun" if begun else ""
        of = of if on else ", not better yet"
        self._show(f"{sign}learned from {learned.done}{started}{of}")
        off = frozenset(layer.value for layer, use in learned.use.items() if not use.on)
        if learned.change:
            self._desk.show_notice(Feedback(learned.change))
        if self._off is not None and off != self._off:
            words = [
                f"learned {layer} are {'on' if use.on else 'off'}: {use.reason}"
                for layer, use in learned.use.items()
                if layer.value in off ^ self._off
            ]
            self._desk.show_notice(Feedback("; ".join(words)))
        self._off = off
        self.left = tuple(sorted(off))
        self.poll()

    def close(self) -> None:
        """End what learns; nothing is lost, the next start learns again."""
        if self._engine is not None:
            self._engine.close()

    def _show(self, words: str) -> None:
        self.words = words
        self._desk.draw_header()
