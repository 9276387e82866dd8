"""The training of a project as the desk sees it: found, started, looked at again and again."""

from __future__ import annotations

from pathlib import Path

from sciextract.workflows.runs import Run
from sciextract_app.presenter.retraining.live import Live, Reader
from sciextract_app.presenter.retraining.verdict import Outcome, outcome_of
from sciextract_app.workers.training import Order, Training


class TrainingWatch:
    """At most one training at a time; looking at it costs little.

    Args:
        project: The project file.

    Attributes:
        live: The training when it was looked at last, ``None`` where there is none.
        used: Whether the person has taken the model that came of it.
    """

    def __init__(self, project: Path) -> None:
        self._project = project
        self._training: Training | None = None
        self._reader: Reader | None = None
        self.live: Live | None = None
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

    def start(self, order: Order, resumed: Run | None = None) -> None:
        """Begin one, or take up one that was stopped.

        Raises:
            OutputError: It cannot begin.
        """
        self._take(Training.start(order, resumed))

    def show(self, run: Run) -> None:
        """Look at one that came to its end some time ago."""
        self._take(Training(run))

    def forget(self) -> None:
        """Look at none any more; one that works goes on."""
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

    def outcome(self) -> Outcome | None:
        """What came of it, once it is done."""
        if self._reader is None or self.live is None or self.live.state != "done":
            return None
        status = self._reader.run.status()
        model = str(self._reader.done.get("model") or (status.model if status else ""))
        promoted = bool(self._reader.done.get("promoted", status.promoted if status else False))
        told = self._reader.done
        better = (self._reader.gate or {}).get("verdict") == "promote"
        words = [told.get("message") if better else "", told.get("hint")]
        lines = tuple(str(each) for each in words if each)
        return outcome_of(self._reader.gate, model, promoted, self.used, lines)

    def _take(self, training: Training) -> None:
        self._training, self._reader = training, Reader(training.run)
        self.live, self.used = None, False
        self.look()
