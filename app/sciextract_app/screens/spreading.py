"""The desk with decisions that go through the whole project while the person works on."""

from __future__ import annotations

from textual import on, work
from textual.worker import get_current_worker

from sciextract.store.actions.bulk import Count
from sciextract_app.messages import SpreadCounted, SpreadEnded, SpreadProgress
from sciextract_app.presenters import bulk
from sciextract_app.presenters.bulk import BulkDecision
from sciextract_app.presenters.view_models import Feedback, Mode
from sciextract_app.screens.queueing import QueueingDesk
from sciextract_app.workers.project import SpreadJob

SPREADING = "everywhere"
"""The group of its workers."""


class SpreadingDesk(QueueingDesk):
    """A desk that has one decision counted and done elsewhere."""

    _asked: Feedback | None = None

    def spread(self, what: str) -> None:
        """Do what the desk asks for of a decision that goes through the project."""
        self._asked = self.messages.answer
        spread = self.desk.bulk.pending
        if what == bulk.STOP or spread is None:
            self.workers.cancel_group(self, SPREADING)
        elif what == bulk.COUNT:
            self._count_everywhere(spread)
        elif spread.count is not None:
            self._do_everywhere(spread, spread.count)

    @work(thread=True, exclusive=True, group=SPREADING, exit_on_error=False)
    def _count_everywhere(self, spread: BulkDecision) -> None:
        self._job(spread).count()

    @work(thread=True, exclusive=True, group=SPREADING, exit_on_error=False)
    def _do_everywhere(self, spread: BulkDecision, count: Count) -> None:
        self._job(spread).do(count)

    def _job(self, spread: BulkDecision) -> SpreadJob:
        worker = get_current_worker()
        return SpreadJob(
            *(self.project.path, self.project.author.removeprefix("person:"), spread),
            stopped=lambda: worker.is_cancelled,
            post=self.post_message,
        )

    @on(SpreadProgress)
    def _spread_on(self, event: SpreadProgress) -> None:
        told = self.desk.bulk.progress(event.spread, event.done, event.total)
        if told.message:
            self._go_on()
            self.inform(told, passing=True)

    @on(SpreadCounted)
    def _spread_counted(self, event: SpreadCounted) -> None:
        told = self.desk.bulk.counted(event.spread, event.count)
        self._spread_told(told, answers=self.desk.mode is Mode.CONFIRM)

    @on(SpreadEnded)
    def _spread_ended(self, event: SpreadEnded) -> None:
        self.look_for_changes()
        ends = self.desk.bulk
        if event.why or event.outcome is None:
            self._spread_told(ends.failed(event.spread, event.why))
        else:
            self._spread_told(ends.ended(event.spread, event.outcome, event.stopped))

    def _spread_told(self, feedback: Feedback, answers: bool = False) -> None:
        """Show what is told; the question that a person waits for is the answer to their key."""
        if not feedback.message:
            return
        self.messages.over()
        self._go_on()
        self.draw(rows=feedback.changed)
        if answers:
            self.tell(feedback)
        else:
            self.inform(feedback)

    def _go_on(self) -> None:
        """What was answered to the key that began it does not hold any longer."""
        if self.messages.answer is self._asked:
            self.tell(Feedback())
