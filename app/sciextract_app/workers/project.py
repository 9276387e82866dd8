"""Work on the whole project in the background: bulk decisions, the count of decisions, and the integrity check."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.store import Outcome, open_project
from sciextract.store.actions.bulk import Count, counting, spreading
from sciextract.store.review import acceptance
from sciextract_app.messages import (
    AcceptanceCounted,
    BulkCounted,
    BulkEnded,
    BulkProgress,
    error_line,
)
from sciextract_app.presenters import bulk
from sciextract_app.presenters.bulk import BulkDecision
from sciextract_app.presenters.session import MANY
from sciextract_app.presenters.view_models import Feedback, Mode
from sciextract_app.workers.host import IsCancelled, ReviewHost

PROGRESS_SECONDS = 0.2
"""Between two messages of progress."""
BREATH_SECONDS = 0.002
"""Between transactions, so that a key that waits to write finds its turn: SQLite's waiting is not a queue."""


@dataclass(slots=True)
class BulkJob:
    """One decision, counted and then done in all abstracts.

    Attributes:
        path: The project.
        author: Who works on it.
        decision: The decision.
        is_cancelled: Whether to stop; checked after every few abstracts.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    decision: BulkDecision
    is_cancelled: IsCancelled
    post: Callable[[Message], object]
    _posted: float = 0.0

    def count(self) -> None:
        """Count what it would change, and post that; nothing when cancelled."""
        try:
            count = self._count()
        except (SciextractError, KeyError) as error:
            self.post(BulkEnded(self.decision, why=_why(error)))
        else:
            if count is not None:
                self.post(BulkCounted(self.decision, count))

    def do(self, count: Count) -> None:
        """Do it, and post the result."""
        outcome, stopped = Outcome(None, 0, 0), False
        try:
            with open_project(self.path, self.author) as project:
                for outcome in spreading(project, *self._mention, count):
                    stopped = outcome.documents < len(count.numbers) and self.is_cancelled()
                    if stopped:
                        break
                    self._progress(outcome.documents, len(count.numbers))
                    time.sleep(BREATH_SECONDS)
        except (SciextractError, KeyError) as error:
            self.post(BulkEnded(self.decision, outcome, why=_why(error)))
        else:
            self.post(BulkEnded(self.decision, outcome, stopped))

    @property
    def _mention(self) -> tuple[int, str]:
        return self.decision.number, self.decision.entity_id

    def _count(self) -> Count | None:
        found = None
        with open_project(self.path, self.author) as project:
            for found in counting(project, *self._mention):
                if self.is_cancelled():
                    return None
                self._progress(found.looked, found.total)
        return found

    def _progress(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._posted >= PROGRESS_SECONDS:
            self._posted = now
            self.post(BulkProgress(self.decision, done, total))


def _why(error: SciextractError | KeyError) -> str:
    if isinstance(error, SciextractError):
        return error_line(error)
    return "the abstract is not in the project any more"


class BulkService:
    """Counts one decision in the whole project and does it, while the person continues.

    Args:
        host: The screen.
    """

    GROUP = "bulk"

    def __init__(self, host: ReviewHost) -> None:
        self._host = host
        self._reply: Feedback | None = None
        """The reply to the key that began it: cleared as soon as there is news of it."""

    def request(self, request: str) -> None:
        """Do what the presenter asks for: count, do, or stop."""
        host, decision = self._host, self._host.desk.bulk.pending
        self._reply = host.messages.answer
        if request == bulk.STOP or decision is None:
            host.cancel_threads(self.GROUP)
            return
        count = decision.count
        if request == bulk.COUNT:
            self._start(lambda cancelled: self._job(decision, cancelled).count())
        elif count is not None:
            self._start(lambda cancelled: self._job(decision, cancelled).do(count))

    def receive(self, message: BulkProgress | BulkCounted | BulkEnded) -> None:
        """Show what the thread reports."""
        presenter = self._host.desk.bulk
        match message:
            case BulkProgress():
                progress = presenter.progress(message.decision, message.done, message.total)
                if progress.message:
                    self._clear_reply()
                    self._host.show_notice(progress, passing=True)
            case BulkCounted():
                question = presenter.counted(message.decision, message.count)
                self._show(question, reply=self._host.desk.mode is Mode.CONFIRM)
            case BulkEnded():
                self._host.poll_changes()
                if message.why or message.outcome is None:
                    self._show(presenter.failed(message.decision, message.why))
                else:
                    outcome, stopped = message.outcome, message.stopped
                    self._show(presenter.ended(message.decision, outcome, stopped))

    def fail(self) -> None:
        """The thread failed unexpectedly: the decision is dropped."""
        self._host.desk.bulk.drop()

    def _start(self, work: Callable[[IsCancelled], object]) -> None:
        self._host.start_thread(self.GROUP, work, exclusive=True)

    def _job(self, decision: BulkDecision, is_cancelled: IsCancelled) -> BulkJob:
        project = self._host.project
        author = project.author.removeprefix("person:")
        return BulkJob(project.path, author, decision, is_cancelled, self._host.post_message)

    def _show(self, feedback: Feedback, reply: bool = False) -> None:
        """Show a result; the question that a person waits for is the reply to their key."""
        if not feedback.message:
            return
        self._host.messages.over()
        self._clear_reply()
        self._host.draw(rows=feedback.changed)
        if reply:
            self._host.show_reply(feedback)
            self._host.open_dialog(feedback.request)
        else:
            self._host.show_notice(feedback)

    def _clear_reply(self) -> None:
        if self._host.messages.answer is self._reply:
            self._host.show_reply(Feedback())


REST_SECONDS = 5.0
"""Between two counts of the decisions; the share hardly changes in that time."""


class AcceptanceCounter:
    """Counts the decisions of a large project in a thread, for the header.

    Args:
        host: The screen.
    """

    def __init__(self, host: ReviewHost) -> None:
        self._host = host
        self._counted = 0
        self._counted_at = 0.0
        self._is_counting = False

    def poll(self) -> None:
        """Count when it is time."""
        desk = self._host.desk
        is_due = self._counted != desk.counts and not self._is_counting
        if is_due and time.monotonic() - self._counted_at >= REST_SECONDS:
            self._counted = desk.counts
            self._is_counting = desk.totals.documents >= MANY
            if self._is_counting:
                self._host.start_thread("acceptance", lambda _: self._count())

    def receive(self, message: AcceptanceCounted) -> None:
        """Show the share of accepted items."""
        self._is_counting, self._counted_at = False, time.monotonic()
        desk = self._host.desk
        desk.totals = replace(desk.totals, acceptance=message.share)
        self._host.draw_header()

    def _count(self) -> None:
        try:
            with open_project(self._host.project.path, read=True) as project:
                share = acceptance(project.connection)
        except SciextractError:
            share = self._host.desk.totals.acceptance  # the next key reports the error
        self._host.post_message(AcceptanceCounted(share))
