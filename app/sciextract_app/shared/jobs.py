"""Work in the background: a job runs in a thread of Textual's, and what it finds is shown by the event loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, Protocol

from textual.dom import DOMNode
from textual.worker import Worker, get_current_worker

from sciextract.errors import SciextractError, write_crash_report
from sciextract.store import Project
from sciextract_app.shared.view_models import Feedback

# SQLite does not queue who waits for its lock, it lets them try again: without a moment in which nobody
# writes, a key of the person could wait for as long as a job runs.
BREATH_SECONDS = 0.002
PROGRESS_SECONDS = 0.2
"""Between two messages of progress; the desk may read its lists anew at each."""
_Arguments = ParamSpec("_Arguments")
Failed = Callable[[SciextractError], object]
"""Called in the event loop with an error that can be explained."""


Work = Callable[["Job"], object]
"""Called in the thread."""


class DeskPort(Protocol):
    """What work in the background may ask of the desk; it knows nothing else of it."""

    @property
    def project(self) -> Project:
        """The open project."""

    @property
    def writable(self) -> bool:
        """Whether the project can be changed."""

    @property
    def finished(self) -> int:
        """Abstracts that are done."""

    @property
    def share(self) -> float:
        """How often what is accepted as sure shall be right."""

    def run_job(self, name: str, work: Work, failed: Failed, exclusive: bool = False) -> None:
        """Run a function in a thread: see :func:`start_job`."""

    def cancel_jobs(self, name: str) -> None:
        """End all jobs of a name."""

    def show_reply(self, feedback: Feedback) -> None:
        """Answer the person."""

    def show_notice(self, feedback: Feedback, *, passing: bool = False) -> None:
        """Say what nobody asked for; only progress where it is passing."""

    def show_error(self, title: str, error: SciextractError) -> None:
        """Say why something failed that the person wanted."""

    def poll_changes(self) -> None:
        """Show what was written meanwhile."""

    def draw_header(self) -> None:
        """Show how far the work is."""


class JobCancelledError(Exception):
    """Nobody wants the job any more; what it has written so far stays."""


class Job:
    """What the function of a job may use in its thread.

    Args:
        node: The screen or dialog that started it.
        worker: The thread.
    """

    def __init__(self, node: DOMNode, worker: Worker[Any]) -> None:
        self._node = node
        self._worker = worker
        self._shown_at = float("-inf")

    @property
    def is_cancelled(self) -> bool:
        """Whether it shall end."""
        return self._worker.is_cancelled

    def call(
        self,
        receive: Callable[_Arguments, object],
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> None:
        """Have the event loop call something, after everything that was called for before."""
        # A dialog may be closed while its job still runs.
        if self._node.is_attached:
            self._node.call_later(receive, *args, **kwargs)

    def progress(self, receive: Callable[..., object], *args: object) -> None:
        """The same for news of which some may be left out: a slow terminal is not flooded with them."""
        now = time.monotonic()
        if now - self._shown_at >= PROGRESS_SECONDS:
            self._shown_at = now
            self.call(receive, *args)

    def breathe(self) -> None:
        """Let a key write between two transactions.

        Raises:
            JobCancelledError: The job shall end.
        """
        if self.is_cancelled:
            raise JobCancelledError
        time.sleep(BREATH_SECONDS)


def start_job(
    node: DOMNode,
    name: str,
    work: Work,
    failed: Failed,
    *,
    exclusive: bool = False,
) -> None:
    """Run a function in a thread of its own; a project that it opens is a connection of that thread.

    Args:
        node: The screen or dialog that shows what it finds; it is cancelled with it.
        name: What it does, as messages call it: ``the import``. Jobs of one name are a group.
        work: Called in the thread.
        failed: Called in the event loop with an error that can be explained; of any other one it names the report.
        exclusive: Whether it cancels the others of its name.
    """

    def run() -> None:
        job = Job(node, get_current_worker())
        try:
            work(job)
        except JobCancelledError:
            return
        except SciextractError as error:
            job.call(failed, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the desk goes on and names the report
            job.call(failed, crash_error(name, error))

    node.run_worker(
        run, name=name, group=name, thread=True, exclusive=exclusive, exit_on_error=False
    )


def error_line(error: SciextractError) -> str:
    """An error and its hint in one line."""
    return f"{error.message}; {error.hint}" if error.hint else error.message


def crash_error(work: str, error: BaseException) -> SciextractError:
    """A job failed unexpectedly: writes a report, and names it.

    Args:
        work: What it did, such as ``the import``.
        error: Why it failed.
    """
    # Only the kind of the error: its words may hold a text of the person.
    found = SciextractError(f"{work} failed unexpectedly ({type(error).__name__})")
    # No report can be written on a full disk, for example.
    with suppress(OSError):
        found.hint = f"please report it with {write_crash_report(error)}"
    return found
