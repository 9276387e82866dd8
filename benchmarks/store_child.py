"""A fresh process that opens a project, or exports documents of it, and prints what it measured as JSON.

Usage: ``python -m benchmarks.store_child open PATH`` or ``... export PATH DOCUMENTS OUTPUT``.
"""

from __future__ import annotations

import time

BEGIN = time.perf_counter()

import json
import resource
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path

from sciextract.store import open_project
from sciextract.store.search import Query, find

ROWS = 50


def opened(path: str) -> dict[str, float]:
    """Seconds to import the store, to open the project, and to the first rows with their counts."""
    imported = time.perf_counter()
    project = open_project(path, "bench")
    ready = time.perf_counter()
    rows = find(project.connection, Query(), ROWS)
    shown = time.perf_counter()
    measured = {
        "import": imported - BEGIN,
        "open": ready - imported,
        "page": shown - ready,
        "rows": len(rows),
    }
    project.close()
    return measured | {"close": time.perf_counter() - shown}


def exported(path: str, documents: str, output: str) -> dict[str, float]:
    """Seconds and peak memory (MB) of exporting so many documents as JSONL."""
    from sciextract.formats import open_writer

    begin = time.perf_counter()
    with (
        open_project(path, "bench", read=True) as project,
        closing(open_writer("jsonl", output)) as writer,
    ):
        for document in islice(project.stream(), int(documents)):
            writer.write(document)
    return {"seconds": time.perf_counter() - begin, "peak_mb": _peak_mebibytes()}


def _peak_mebibytes() -> float:
    """Peak resident memory; where Linux tells it, without that of the process that started this one."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


if __name__ == "__main__":
    work: dict[str, Callable[..., dict[str, float]]] = {"open": opened, "export": exported}
    print(json.dumps(work[sys.argv[1]](*sys.argv[2:])))
