"""What ``python -m sciextract`` is on the other machine in these tests: events, a model, an exit code.

Words: ``EVENTS PAUSE_SECONDS [fail|forever]``.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path


def main(events: str, pause: str, how: str = "") -> int:
    """Write a run folder as a training does, from where a stopped one was."""
    run = Path("run")
    run.mkdir(exist_ok=True)
    with (run / "metrics.jsonl").open("a", encoding="utf-8") as metrics:
        for number in range(int(events)):
            print(json.dumps({"event": "step", "number": number}), file=metrics, flush=True)
            print(f"step {number}", flush=True)
            time.sleep(float(pause))
    if how == "fail":
        print("out of memory", file=sys.stderr)
        return 1
    while how == "forever":
        time.sleep(0.05)
    shutil.copytree("sci", run / "model")
    (run / "folds").mkdir()
    (run / "folds" / "1.jsonl").write_text("{}\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
