"""Tells what a correction round does: events to whoever listens, events and status into the run folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sciextract.errors import JobStoppedError, SciextractError, as_command
from sciextract.workflows.correction.curves import draw_curves
from sciextract.workflows.events import Report
from sciextract.workflows.runs import Run, Status

SHARES: Mapping[str, tuple[float, float]] = {
    "preparing": (0.0, 0.1),
    "training": (0.1, 0.8),
    "exporting": (0.8, 0.9),
    "gating": (0.9, 1.0),
}
"""Where in the whole job each state begins and ends, roughly as its time goes."""

_STEP_SECONDS = 0.5
_LEAST_SHARE = 0.12
"""Below, nothing can be said of the remaining time."""


class Narrator:
    """Keeps ``status.json`` and ``metrics.jsonl`` and passes events on.

    Args:
        run: The run folder.
        listener: Gets every event.
    """

    def __init__(self, run: Run, listener: Report) -> None:
        self._run = run
        self._listener = listener
        self._began = time.monotonic()
        self._stepped = 0.0
        self._values: dict[str, Any] = {}
        self._state = "preparing"

    @contextmanager
    def telling(
        self,
        interrupted: Callable[[], tuple[str, str]] | None = None,
        begins: str = "reading the project",
    ) -> Iterator[None]:
        """Writes how the block ended, whichever way it does.

        Args:
            interrupted: What an interrupt means, and the command that goes on after it; when ``None``, a training
                of this machine stops.
            begins: What is done first.
        """
        self.state("preparing", begins)
        try:
            yield
        except SciextractError as error:
            stopped = isinstance(error, JobStoppedError)
            self._end("stopped" if stopped else "failed", error.message, error.hint)
            self.event({"event": "error", "message": error.message, "hint": error.hint})
            raise
        except KeyboardInterrupt:
            message, hint = (interrupted or self._kept)()
            self._end("stopped", message, hint)
            self.event({"event": "stopped", "message": message, "hint": hint})
            draw_curves(self._run)  # last: whoever interrupts this, too, has lost nothing
            raise
        except BaseException as error:
            kind = type(error).__name__
            self._end("failed", f"failed unexpectedly ({kind})", "the whole log is in the file log")
            raise

    def state(self, state: str, message: str, **values: Any) -> None:
        """Enters a state."""
        self._state = state
        self._values |= {"message": message, "share": SHARES[state][0], **values}
        self._write()

    def lost(self, why: str) -> None:
        """The line to another machine is down; the next event says that it is up again."""
        self._values |= {"lost": why}
        self._write()
        self._listener({"event": "warning", "message": why})

    def done(self, message: str, hint: str, **values: Any) -> None:
        """The round is over."""
        self._values |= values
        self._end("done", message, hint)

    def event(self, event: dict[str, Any]) -> None:
        """Passes an event on; of steps the run folder gets some, and the last of each epoch."""
        if event["event"] == "step":
            last = event["documents"] == event["of"]
            if not last and time.monotonic() - self._stepped < _STEP_SECONDS:
                return
            self._stepped = time.monotonic()
            self.reached(event)
        if self._values.pop("lost", ""):
            self._write()
        self._listener(event)
        self._run.append(event)

    def reached(self, step: Mapping[str, Any]) -> None:
        """The training is at this step."""
        epochs = max(1, int(self._values.get("epochs", 1)))
        start, end = SHARES["training"]
        done = (step["epoch"] - 1 + step["documents"] / max(1, step["of"])) / epochs
        self._values |= {"epoch": step["epoch"], "share": start + (end - start) * done}
        self._write()

    def _kept(self) -> tuple[str, str]:
        """What an interrupt means on this machine."""
        hint = as_command("sciextract", "retrain", "--run", self._run.folder)
        return "stopped; what is finished is kept", hint

    def _end(self, state: str, message: str, hint: str) -> None:
        self._state = state
        self._values.pop("lost", "")
        share = 1.0 if state == "done" else self._values.get("share", 0.0)
        self._values |= {"message": message, "hint": hint, "share": share}
        self._write()

    def _write(self) -> None:
        seconds, share = time.monotonic() - self._began, float(self._values.get("share", 0.0))
        running = self._state in SHARES and share >= _LEAST_SHARE
        remaining = seconds * (1 - share) / share if running else None
        times = {"seconds": round(seconds, 1), "remaining_seconds": remaining}
        self._run.write_status(Status.of_this_process(self._state, **{**self._values, **times}))
