from __future__ import annotations

import pytest

from sciextract.scale.interface import WorkersFailedError
from sciextract.scale.predicting import RecordOutcome
from sciextract.scale.processes import MOST_FAILURES, MOST_STARTS, FailureLimits
from sciextract.workflows.annotate import RecordProblem, RunCounts

GOOD = RecordOutcome(b"{}\n", RunCounts(documents=1))
LOST = RecordOutcome(b"", RunCounts(quarantined=1), RecordProblem("quarantined", "x:1: no shape"))


def test_failures_in_a_row_end_a_run_and_single_ones_do_not() -> None:
    health = FailureLimits()
    for answer in ([GOOD], [GOOD, LOST]):
        for _ in range(MOST_FAILURES - 1):
            health.failed("SIGKILL")
        health.received(answer)
    for _ in range(MOST_FAILURES - 1):
        health.failed("SIGKILL")
    with pytest.raises(WorkersFailedError, match=f"{MOST_FAILURES} attempts .* x:1: no shape"):
        health.received([LOST])


def test_starts_in_a_row() -> None:
    health = FailureLimits()
    for _ in range(3):
        for _ in range(MOST_STARTS - 1):
            health.failed_to_start("exit code 1")
        health.started()
    with pytest.raises(WorkersFailedError, match="model was loaded: exit code 1"):
        for _ in range(MOST_STARTS):
            health.failed_to_start("exit code 1")
