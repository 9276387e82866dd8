"""``python -m tests.unit.scale.run_parts INPUT FOLDER``: a run of real workers that tests may kill."""

from __future__ import annotations

import sys

from sciextract.scale.processes import ProcessEngine
from sciextract.scale.run import annotate_into_parts
from sciextract.workflows.annotate import Listener
from tests.unit.scale.support import request_for

if __name__ == "__main__":
    annotate_into_parts(
        request_for(sys.argv[1], predictor="poisoned"),
        ProcessEngine(2),
        sys.argv[2],
        "jsonl",
        Listener(),
        chunk_size=5,
    )
