"""Learning while the person corrects: after each finished abstract, for abstracts that nobody has touched."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract_app.messages import LearningEnded, LearningProgress, error_line
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.settings import load_learning, save_learning
from sciextract_app.workers.host import IsCancelled, ReviewHost
from sciextract_app.workers.importing import BREATH_SECONDS
from sciextract_app.workers.learning_process import EndedError, LearningEngine
from sciextract_app.workers.predicting import PredictionOrder

if TYPE_CHECKING:
    from sciextract.workflows.learn import Learned

AHEAD = 50
"""Abstracts on the person's way that get new suggestions after each finished one."""

AT_A_TIME = 4
"""Abstracts that are predicted at once; each is written by itself, so that keys hardly wait."""

_PAUSE_SECONDS = 0.05
"""Between two looks whether a pause is over."""

StartEngine = Callable[[Path, str | None], LearningEngine]


@dataclass
class OpenAbstract:
    """Which abstract is on the screen. Whoever goes to another one, or writes into one, holds the lock.

    Attributes:
        number: The abstract, 0 for none.
        lock: Held while it changes, and while suggestions for another one are written.
    """

    number: int = 0
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True, slots=True)
class LearningJob:
    """Learns once, and suggests for the abstracts that come next.

    Attributes:
        path: The project.
        author: Who works on it.
        engine: Learns and predicts.
        order: In which order abstracts are wanted.
        opened: The abstract on the screen, which never changes.
        running: Set while it is not paused.
        is_cancelled: Whether to stop; checked before every abstract.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    engine: LearningEngine
    order: PredictionOrder
    opened: OpenAbstract
    running: Event
    is_cancelled: IsCancelled
    post: Callable[[Message], object]

    def run(self) -> None:
        """Learn, suggest, and post the result."""
        try:
            learned = self.engine.learn()
            if self._may_go_on():
                self.post(LearningProgress(learned))
                self._suggest(learned)
        except (SciextractError, EndedError) as error:
            self.post(LearningEnded(error=error))
        else:
            self.post(LearningEnded(learned))

    def _suggest(self, learned: Learned) -> None:
        from sciextract.workflows.learn import adapter_run

        layers = [layer for layer, use in learned.use.items() if use.on]
        with open_project(self.path, self.author) as project:
            run = adapter_run(project, learned.model, learned.finished, layers)
            wanted = islice(self.order.over(sorted(learned.numbers)), AHEAD)
            while numbers := self._next(wanted):
                for each in self.engine.predict(numbers):
                    with self.opened.lock:
                        if each.number == self.opened.number or not self._may_go_on():
                            continue
                        item = [(each.number, each.predicted)]
                        run.add(item, {each.number: each.shown})
                    time.sleep(BREATH_SECONDS)
            run.finish()

    def _next(self, wanted: Iterator[int]) -> list[int]:
        while not self.running.wait(_PAUSE_SECONDS):
            if self.is_cancelled():
                return []
        if self.is_cancelled():
            return []
        return [each for each in islice(wanted, AT_A_TIME) if each != self.opened.number]

    def _may_go_on(self) -> bool:
        return not self.is_cancelled()


class LearningService:
    """Has an adapter learn in the background whenever an abstract is finished.

    Args:
        host: The screen.
        author: Who works on the project.
        model: The model that the person named, ``None`` for the one in use.
        order: In which order abstracts are wanted.
        start_engine: Starts what learns; ``None`` where nothing shall learn.

    Attributes:
        opened: The abstract on the screen.
        words: What the header says of it.
    """

    GROUP = "learn"

    def __init__(
        self,
        host: ReviewHost,
        author: str | None,
        model: str | None,
        order: PredictionOrder,
        start_engine: StartEngine | None,
    ) -> None:
        self.opened = OpenAbstract()
        self.words = ""
        self._host = host
        self._author = author
        self._model = model
        self._order = order
        self._start_engine = start_engine
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
        self._host.show_reply(Feedback(f"learning is {words}"))
        self._show("" if self.is_on else "learning off")
        self.poll()

    def poll(self) -> None:
        """Learn when other abstracts are finished than at the last time."""
        done = self._host.desk.totals.done
        if self._start_engine is None or not self._host.writable or not self.is_on:
            return
        if done == self._learned:
            return
        if self._is_suggesting:  # what is newly finished matters more than abstracts further on
            self._host.cancel_threads(self.GROUP)
        if self._is_running:
            return
        self._learned, self._is_running = done, True
        engine = self._engine = self._engine or self._start_engine(
            self._host.project.path, self._model
        )
        path, author, post = self._host.project.path, self._author, self._host.post_message

        def work(is_cancelled: IsCancelled) -> None:
            LearningJob(
                path, author, engine, self._order, self.opened, self._running, is_cancelled, post
            ).run()

        self._show("⟳ learning")
        self._host.start_thread(self.GROUP, work)

    def receive(self, message: LearningProgress | LearningEnded) -> None:
        """Show what the thread reports."""
        learned = message.learned
        self._is_suggesting = isinstance(message, LearningProgress)
        if isinstance(message, LearningEnded):
            self._is_running = False
            self._host.poll_changes()
        if learned is None:
            self.fail()
            error = message.error if isinstance(message, LearningEnded) else None
            if error is not None:
                why = error_line(error) if isinstance(error, SciextractError) else str(error)
                self._host.show_notice(Feedback(f"not learned: {why}", problem=True))
            return
        on = [layer.value for layer, use in learned.use.items() if use.on]
        sign = "⟳ suggesting, " if self._is_suggesting else ""
        unused = (
            f", used for: {', '.join(on) or 'nothing yet'}" if len(on) < len(learned.use) else ""
        )
        begun = learned.finished - learned.done
        started = f", {begun} begun" if begun else ""
        self._show(f"{sign}learned from {learned.done}{started}{unused}")
        self._report_switches(learned)
        self.poll()

    def fail(self) -> None:
        """The thread failed unexpectedly: the next finished abstract starts it anew."""
        self._is_running = self._is_suggesting = False
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self._show("")

    def close(self) -> None:
        """End what learns; nothing is lost, the next start learns again."""
        if self._engine is not None:
            self._engine.close()

    def _report_switches(self, learned: Learned) -> None:
        off = frozenset(layer.value for layer, use in learned.use.items() if not use.on)
        if self._off is not None and off != self._off:
            changed = {
                layer: use for layer, use in learned.use.items() if layer.value in off ^ self._off
            }
            words = [
                f"learned {layer} are {'on' if use.on else 'off'}: {use.reason}"
                for layer, use in changed.items()
            ]
            self._host.show_notice(Feedback("; ".join(words)))
        self._off = off

    def _show(self, words: str) -> None:
        self.words = words
        self._host.draw_header()
