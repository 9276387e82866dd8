"""A stand-in for ``sciextract retrain``: a real process that writes a run folder as a training does.

Run as ``python fake_child.py KIND FOLDER``. Kinds: ``promote``, ``keep``, ``too few`` come to their end at
once; ``wait`` trains until a file ``go`` appears or Ctrl-C comes, and goes on to its end the second time;
``fail`` says what went wrong; ``die`` prints a trace and leaves no status; ``silent`` does so after a status.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

EPOCHS = 8


def scores(before: float, after: float, low: float, high: float, gold: int) -> dict[str, Any]:
    return {
        "documents": 34,
        "gold": gold,
        "before": before,
        "after": after,
        "low": low,
        "high": high,
        "probability": 0.93,
        "difference": round(after - before, 2),
    }


def gate(verdict: str) -> dict[str, Any]:
    """A report as ``GateReport.to_json`` gives it."""
    reasons = {
        "promote": "the target improves with probability 0.93",
        "keep": "relations may lose more than 1.0 F1",
        "worse": "the mean of the tasks falls by 51.20 F1",
        "too few": "12 gate documents; 30 are needed to tell",
    }
    return {
        "verdict": verdict,
        "reasons": [reasons[verdict]],
        "documents": 34,
        "target": scores(53.2, 54.7, 0.2, 2.9, 700),
        "tasks": {
            "entity": scores(66.1, 68.4, 0.6, 4.1, 412),
            "relation": scores(40.2, 41.0, -1.6, 3.0, 288),
        },
        "labels": {
            "entity": {
                "Task": scores(60.0, 66.2, 1.2, 9.9, 97),
                "Method": scores(70, 68, -4, -1, 315),
            },
            "relation": {"USED-FOR": scores(45.0, 46.0, -1.0, 3.0, 200)},
        },
        "tolerances": {"entity": 1.5, "relation": 3.0, "coreference": 5.0},
        "samples": 1000,
    }


def ending(verdict: str) -> dict[str, Any]:
    """What the status says of a training that came to its end."""
    words = {
        "promote": "sci-p-2 is better and predicts in this project from now on",
        "keep": "sci-p-2 is not clearly better; the previous model stays in use",
        "worse": "sci-p-2 is far worse than what predicts now; the previous model stays in use",
        "too few": "too few abstracts to decide whether sci-p-2 is better",
    }
    hint = "sciextract models use sci-p-2 uses it anyway"
    promoted = verdict == "promote"
    return {
        "model": "sci-p-2", "verdict": verdict, "promoted": promoted,
        "message": words[verdict], "hint": hint,
    }  # fmt: skip


def main(kind: str, folder: Path) -> None:
    from sciextract.retraining.run_folder import Run, RunStatus

    run = Run(folder)
    again = run.status() is not None

    def tell(state: str, **values: Any) -> None:
        run.write_status(RunStatus.of_this_process(state, epochs=EPOCHS, **values))

    def stop(*_: object) -> NoReturn:
        tell("stopped", epoch=3, share=0.3, message="stopped; repeat the command to resume")
        sys.exit(130)

    signal.signal(signal.SIGINT, stop)
    if kind == "die":
        print("Traceback\nImportError: no such library: libtorch", file=sys.stderr)
        sys.exit(1)
    if kind == "fail":
        run.append({"event": "error", "message": "no decisions", "hint": "decide some items first"})
        tell("failed", message="no decisions", hint="decide some items first")
        sys.exit(1)
    tell("training", epoch=1)
    if kind == "silent":
        print("Killed", file=sys.stderr)
        sys.exit(9)
    run.append({"event": "start", "start_model": "sci", "device": "cpu", "epochs": EPOCHS})
    for epoch in range(1, 4):
        loss = {"entity": 2 / epoch, "relation": 3 / epoch, "coreference": 1 / epoch}
        step = {"epoch": epoch, "documents": epoch * 20, "of": 160, "loss": loss}
        run.append({"event": "step", "documents_per_second": 12.3, **step})
        dev = {"entity": 60 + epoch, "unordered": 35 + epoch, "coreference": None, "mean": 48.0}
        run.append({"event": "dev", "epoch": epoch, "strict": 30.0, **dev})
    tell("training", epoch=3, share=0.34, remaining_seconds=272.0, seconds=140.0)
    while kind == "wait" and not again and not (folder / "go").exists():
        time.sleep(0.01)
    verdict = "too few" if kind == "wait" else kind
    run.note(gate=gate(verdict))
    tell("done", epoch=EPOCHS, share=1.0, seconds=412.0, **ending(verdict))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    main(sys.argv[1], Path(sys.argv[2]))
