"""When workers that die are no accident of single records any more."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from sciextract.workflows.scale.errors import WorkersFailedError
from sciextract.workflows.scale.predicting import Outcome

MOST_STARTS = 3
"""Workers in a row, of all together, that may end before their model is loaded."""

MOST_FAILURES = 20
"""Attempts in a row, of all workers together, that may fail: more poison than that is no poison of single records."""


class Health:
    """Counts failures of all workers."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._starts = 0
        self._failures = 0

    def started(self) -> None:
        """A worker has loaded its model."""
        with self._lock:
            self._starts = 0

    def answered(self, outcomes: Sequence[Outcome]) -> None:
        """A worker has answered; that every record raised an error is a failure, too.

        Raises:
            WorkersFailedError: There were too many in a row.
        """
        lost = [each.problem for each in outcomes if each.counts.quarantined and each.problem]
        if lost and len(lost) == len(outcomes):
            self.failed(lost[-1].message)
        else:
            with self._lock:
                self._failures = 0

    def failed_to_start(self, how: str) -> None:
        """A worker has ended before its model was loaded.

        Raises:
            WorkersFailedError: So have too many.
        """
        with self._lock:
            self._starts += 1
            if self._starts >= MOST_STARTS:
                raise WorkersFailedError(
                    f"{self._starts} workers in a row ended before their model was loaded: {how}",
                    "fewer --workers need less memory; without --workers the error shows itself",
                )

    def failed(self, how: str) -> None:
        """An attempt to predict a record has failed.

        Raises:
            WorkersFailedError: There were too many in a row.
        """
        with self._lock:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise WorkersFailedError(
                    f"{self._failures} attempts in a row to predict a record failed; the last one: {how}",
                    "fewer --workers need less memory; the same command goes on where this run ends",
                )
