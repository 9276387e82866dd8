"""Work on the whole project in the background: bulk decisions, and the count of decisions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from sciextract.errors import SciextractError
from sciextract.store import Outcome, open_project
from sciextract.store.actions.bulk import Count, counting, spreading
from sciextract.store.review import acceptance
from sciextract_app.presenters import bulk
from sciextract_app.presenters.bulk import BulkDecision
from sciextract_app.presenters.session import MANY
from sciextract_app.presenters.view_models import Feedback, Mode
from sciextract_app.workers.jobs import BREATH_SECONDS, Job, error_line, start_job

if TYPE_CHECKING:
    from sciextract_app.screens.review import ReviewScreen

PROGRESS_SECONDS = 0.2
"""Between two messages of progress."""
_GONE = "the abstract is not in the project any more"


class BulkWork:
    """Counts one decision in the whole project and does it, while the person continues.

    Args:
        screen: The review screen.
    """

    NAME = "the decision for the whole project"

    def __init__(self, screen: ReviewScreen) -> None:
        self._screen = screen
        self._reply: Feedback | None = None
        """The reply to the key that began it: cleared as soon as there is news of it."""

    def request(self, request: str) -> None:
        """Do what the presenter asks for: count, do, or stop."""
        screen, decision = self._screen, self._screen.desk.bulk.pending
        self._reply = screen.messages.answer
        if request == bulk.STOP or decision is None:
            screen.workers.cancel_group(screen, self.NAME)
            return
        path, count = screen.project.path, decision.count
        author = screen.project.author.removeprefix("person:")

        def count_changes(job: Job) -> None:
            found = None
            with open_project(path, author) as project:
                for found in counting(project, decision.number, decision.entity_id):
                    if job.is_cancelled:
                        return
                    self._report(job, decision, found.looked, found.total)
            if found is not None:
                job.call(self._show_question, decision, found)

        def decide(job: Job, count: Count) -> None:
            outcome, total = Outcome(None, 0, 0), len(count.numbers)
            with open_project(path, author) as project:
                for outcome in spreading(project, decision.number, decision.entity_id, count):
                    if outcome.documents < total and job.is_cancelled:
                        # Whoever stops it has said so: what is done is one event, which u takes back.
                        job.call(self._show_end, decision, outcome, stopped=True)
                        return
                    self._report(job, decision, outcome.documents, total)
                    time.sleep(BREATH_SECONDS)
            job.call(self._show_end, decision, outcome)

        if request == bulk.COUNT:
            self._start(decision, count_changes)
        elif count is not None:
            self._start(decision, lambda job: decide(job, count))

    def _start(self, decision: BulkDecision, work: Callable[[Job], object]) -> None:
        presenter = self._screen.desk.bulk

        def run(job: Job) -> None:
            try:
                work(job)
            except KeyError:
                job.call(lambda: self._show_failure(decision, _GONE))

        def crashed(feedback: Feedback) -> None:
            presenter.drop()
            self._screen.show_notice(feedback)

        start_job(
            self._screen,
            self.NAME,
            run,
            lambda error: self._show_failure(decision, error_line(error)),
            crashed,
            exclusive=True,
        )

    def _report(self, job: Job, decision: BulkDecision, done: int, total: int) -> None:
        job.progress(self._show_progress, decision, done, total, every_seconds=PROGRESS_SECONDS)

    def _show_progress(self, decision: BulkDecision, done: int, total: int) -> None:
        progress = self._screen.desk.bulk.progress(decision, done, total)
        if progress.message:
            self._clear_reply()
            self._screen.show_notice(progress, passing=True)

    def _show_question(self, decision: BulkDecision, count: Count) -> None:
        """The question that a person waits for is the reply to their key; else it is news."""
        question = self._screen.desk.bulk.counted(decision, count)
        self._show(question, reply=self._screen.desk.mode is Mode.CONFIRM)

    def _show_end(self, decision: BulkDecision, outcome: Outcome, stopped: bool = False) -> None:
        self._screen.poll_changes()
        self._show(self._screen.desk.bulk.ended(decision, outcome, stopped))

    def _show_failure(self, decision: BulkDecision, why: str) -> None:
        self._screen.poll_changes()
        self._show(self._screen.desk.bulk.failed(decision, why))

    def _show(self, feedback: Feedback, reply: bool = False) -> None:
        if not feedback.message:
            return
        self._screen.messages.over()
        self._clear_reply()
        self._screen.draw(rows=feedback.changed)
        if reply:
            self._screen.show_reply(feedback)
            self._screen.dialogs.open(feedback.request)
        else:
            self._screen.show_notice(feedback)

    def _clear_reply(self) -> None:
        if self._screen.messages.answer is self._reply:
            self._screen.show_reply(Feedback())


REST_SECONDS = 5.0
"""Between two counts of the decisions; the share hardly changes in that time."""


class AcceptanceCounter:
    """Counts the decisions of a large project in a thread, for the header.

    Args:
        screen: The review screen.
    """

    def __init__(self, screen: ReviewScreen) -> None:
        self._screen = screen
        self._counted = 0
        self._counted_at = 0.0
        self._is_counting = False

    def poll(self) -> None:
        """Count when it is time."""
        desk, path = self._screen.desk, self._screen.project.path
        is_due = self._counted != desk.counts and not self._is_counting
        if not is_due or time.monotonic() - self._counted_at < REST_SECONDS:
            return
        # The count of now: what changes while it is counted makes it due again.
        self._counted = desk.counts
        self._is_counting = desk.totals.documents >= MANY

        def work(job: Job) -> None:
            with open_project(path, read=True) as project:
                job.call(self._show, acceptance(project.connection))

        def failed(_: SciextractError) -> None:
            self._show(desk.totals.acceptance)  # the next key reports the error

        if self._is_counting:
            start_job(self._screen, "acceptance", work, failed, self._screen.show_notice)

    def _show(self, share: float | None) -> None:
        self._is_counting, self._counted_at = False, time.monotonic()
        desk = self._screen.desk
        desk.totals = replace(desk.totals, acceptance=share)
        self._screen.draw_header()
