"""What ``python -m sciextract_trainer.remote_job`` is on the other machine: it trains nothing.

It waits for a file ``go`` in the job's folder and gives the start model back; an interrupt ends it, as it ends a training.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any


def main(run: Path, start: Path) -> int:
    """Write a run folder as a training does, to its end or until it is stopped."""

    def tell(event: dict[str, Any]) -> None:
        with (run / "metrics.jsonl").open("a", encoding="utf-8") as metrics:
            metrics.write(json.dumps(event) + "\n")

    loss = {"entity": 1.0, "relation": 2.0, "coreference": 0.5}
    dev = {"entity": 61.0, "relation": 35.0, "strict": 30.0, "coreference": None, "mean": 48.0}
    tell({"event": "start", "start_model": "sci", "device": "cpu", "epochs": 8, "folder": "run"})
    for epoch in range(1, 4):
        step = {"epoch": epoch, "documents": 4, "of": 4, "documents_per_second": 9.0, "loss": loss}
        tell({"event": "step", **step})
        tell({"event": "dev", "epoch": epoch, **dev})
    while not Path("go").exists():
        time.sleep(0.02)
    tell({"event": "export"})
    shutil.copytree(start, run / "model", dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
    except KeyboardInterrupt:
        sys.exit(130)
