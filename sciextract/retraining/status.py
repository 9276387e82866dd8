"""The status writer of a run: keeps ``status.json`` and ``metrics.jsonl`` while events are passed on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from sciextract.errors import JobStoppedError, SciextractError, as_command
from sciextract.retraining.events import (
    Failed,
    FoldStarted,
    Listener,
    Step,
    Stopped,
    TrainingEvent,
    Warned,
)
from sciextract.retraining.run_folder import Run, RunStatus

if TYPE_CHECKING:
    from sciextract.retraining.run import RetrainResult

SHARES: Mapping[str, tuple[float, float]] = {
    "preparing": (0.0, 0.1),
    "training": (0.1, 0.8),
    "exporting": (0.8, 0.9),
    "gating": (0.9, 1.0),
}
"""Where in the whole job each state begins and ends, roughly as its time goes."""

SHARES_WITH_FOLDS: Mapping[str, tuple[float, float]] = {
    "preparing": (0.0, 0.05),
    "training": (0.05, 0.2),
    "exporting": (0.2, 0.25),
    "validating": (0.25, 0.95),
    "gating": (0.95, 1.0),
}
"""The same of a run that is cross-validated: each fold is a training of its own."""

_STEP_SECONDS = 0.5
_LEAST_SHARE = 0.12
"""Below, the remaining time is not estimated."""


class StatusWriter:
    """Keeps ``status.json`` and ``metrics.jsonl`` of a run and passes its events on.

    Args:
        run: The run folder.
        listener: Gets every event.
    """

    def __init__(self, run: Run, listener: Listener) -> None:
        self._run = run
        self._listener = listener
        self._began = time.monotonic()
        self._stepped = 0.0
        self._status = RunStatus.of_this_process("preparing")

    @contextmanager
    def recording(
        self,
        interruption: Callable[[], tuple[str, str]] | None = None,
        first: str = "reading the project",
    ) -> Iterator[None]:
        """Write how the block ended, whichever way it does.

        Args:
            interruption: What an interrupt means, and the command that continues after it; when ``None``, a training
                on this machine stops.
            first: What is done first.
        """
        self.enter("preparing", first)
        try:
            yield
        except SciextractError as error:
            stopped = isinstance(error, JobStoppedError)
            self._end("stopped" if stopped else "failed", error.message, error.hint)
            self.event(Failed(message=error.message, hint=error.hint))
            raise
        except KeyboardInterrupt:
            message, hint = interruption() if interruption else stopped_here(self._run)
            self._end("stopped", message, hint)
            self.event(Stopped(message=message, hint=hint))
            raise
        # Faults of the program, too: who watches must not wait for a process that is gone.
        except BaseException as error:
            kind = type(error).__name__
            self._end(
                "failed", f"failed unexpectedly ({kind})", "see the file log for the complete log"
            )
            raise

    @property
    def _shares(self) -> Mapping[str, tuple[float, float]]:
        return SHARES_WITH_FOLDS if self._run.record().folds else SHARES

    def enter(self, state: str, message: str, epochs: int | None = None, part: float = 0.0) -> None:
        """Enter a state, perhaps with a number of epochs that is known now, or with a part of it done."""
        known = self._status.epochs if epochs is None else epochs
        start, end = self._shares[state]
        share = start + (end - start) * part
        self._write(replace(self._status, state=state, message=message, share=share, epochs=known))

    def enter_fold(self, fold: FoldStarted) -> None:
        """Enter the training without the abstracts of a fold."""
        message = f"cross-validation: training {fold.number} of {fold.of}"
        self.enter("validating", message, part=(fold.number - 1) / fold.of)

    def event(self, event: TrainingEvent) -> None:
        """Pass an event on and keep it; of steps only some, and the last of each epoch."""
        if isinstance(event, Step):
            last = event.documents == event.of
            if not last and time.monotonic() - self._stepped < _STEP_SECONDS:
                return
            self._stepped = time.monotonic()
            self.enter_step(event)
        if self._status.lost:
            self._write(replace(self._status, lost=""))
        self._listener(event)
        self._run.append(event.to_json())

    def enter_step(self, step: Step) -> None:
        """The training is at this step."""
        start, end = self._shares["training"]
        done = (step.epoch - 1 + step.documents / max(1, step.of)) / max(1, self._status.epochs)
        self._write(replace(self._status, epoch=step.epoch, share=start + (end - start) * done))

    def connection_lost(self, why: str) -> None:
        """The connection to another machine is down; the next event means that it is up again."""
        self._write(replace(self._status, lost=why))
        self._listener(Warned(message=why))

    def finish(self, result: RetrainResult) -> None:
        verdict = result.report.verdict
        self._status = replace(
            self._status,
            model=result.model.id,
            verdict=verdict,
            promoted=result.promoted,
            share=1.0,
        )
        self._end("done", result.message, result.hint)

    def _end(self, state: str, message: str, hint: str) -> None:
        self._write(replace(self._status, state=state, message=message, hint=hint, lost=""))

    def _write(self, status: RunStatus) -> None:
        seconds, share = time.monotonic() - self._began, status.share
        estimated = status.state in self._shares and share >= _LEAST_SHARE
        remaining = seconds * (1 - share) / share if estimated else None
        self._status = replace(status, seconds=round(seconds, 1), remaining_seconds=remaining)
        self._run.write_status(self._status)


def stopped_here(run: Run) -> tuple[str, str]:
    """What an interrupt means for a training on this machine, and the command that continues."""
    return "stopped; finished stages are kept", go_on_command(run)


def go_on_command(run: Run) -> str:
    """The command that takes a stopped run up again."""
    return as_command("sciextract", "retrain", "--run", run.folder)
