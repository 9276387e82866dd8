"""The desk of a large project, whose decisions are counted beside the keys."""

from __future__ import annotations

import time
from dataclasses import replace

from textual import on, work

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract.store.review import acceptance
from sciextract_app.messages import AcceptanceCounted
from sciextract_app.presenters.session import MANY
from sciextract_app.screens.mouse import MouseDesk

REST_SECONDS = 5.0
"""Between two counts; the share hardly changes in that time."""


class CountingDesk(MouseDesk):
    """A desk whose header learns the share of accepted items from a worker."""

    _counted = 0
    _counted_at = 0.0
    _counting = False

    def look_for_changes(self) -> None:
        """Show what others wrote; count when it is time."""
        super().look_for_changes()
        due = self._counted != self.desk.counts and not self._counting
        if due and time.monotonic() - self._counted_at >= REST_SECONDS:
            self._counted = self.desk.counts
            self._counting = self.desk.totals.documents >= MANY
            if self._counting:
                self._count_acceptance()

    @work(thread=True, group="acceptance", exit_on_error=False)
    def _count_acceptance(self) -> None:
        try:
            with open_project(self.project.path, read=True) as project:
                share = acceptance(project.connection)
        except SciextractError:
            share = self.desk.totals.acceptance  # the next key of the person says what is wrong
        self.post_message(AcceptanceCounted(share))

    @on(AcceptanceCounted)
    def _acceptance_counted(self, event: AcceptanceCounted) -> None:
        self._counting, self._counted_at = False, time.monotonic()
        self.desk.totals = replace(self.desk.totals, acceptance=event.share)
        self.draw_header()
