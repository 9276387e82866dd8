"""The training of a job whose project lies on another machine: ``python -m`` this, in the job's folder."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from sciextract.errors import ExitCode, SciextractError
from sciextract.retraining.events import print_json
from sciextract.retraining.run import open_prepared, same_model
from sciextract.retraining.run_folder import Run, stored_request
from sciextract.retraining.status import StatusWriter
from sciextract_trainer.hardware import choose_device
from sciextract_trainer.retraining import LocalTrainer


def main(words: Sequence[str] | None = None) -> int:
    """Train and export; comparing and using the model is for the machine that has the project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="run folder with run.json and snapshot/")
    parser.add_argument("start", type=Path, help="folder of the model to start from")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    asked = parser.parse_args(words)
    # A shell starts background jobs with SIGINT ignored, and SLURM ends with SIGTERM: both have to
    # stop at a checkpoint.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run = Run(asked.run)
    status = StatusWriter(run, print_json)
    try:
        with status.recording():
            trainer = LocalTrainer(choose_device(asked.device))
            prepared = open_prepared(run, stored_request(run), same_model(run, asked.start))
            trainer.train(prepared, status)
    except SciextractError as error:
        print(f"error: {error.message}\n{error.hint}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    return int(ExitCode.DONE)


if __name__ == "__main__":
    sys.exit(main())
