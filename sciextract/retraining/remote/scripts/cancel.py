"""Interrupts a job, which then stops at a point from which it can go on; kills it if it does not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

PATIENCE_SECONDS = 20


def main() -> None:
    """Interrupt, wait, kill."""
    folder = os.path.join(os.path.expanduser("~"), sys.argv[1])
    with open(os.path.join(folder, "started.json")) as stream:
        started = json.load(stream)
    if "slurm" in started:
        sys.exit(subprocess.call(["scancel", "--signal=INT", started["slurm"]]))
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(started["pid"], number)
        except OSError:
            break
        if wait(os.path.join(folder, "exit"), started["pid"]):
            break


def wait(exit_file: str, pid: int) -> bool:
    """Until the job has left its exit code, or its processes are gone."""
    for _ in range(PATIENCE_SECONDS * 5):
        if os.path.exists(exit_file):
            return True
        try:
            os.killpg(pid, 0)
        except OSError:
            return True
        time.sleep(0.2)
    return False


if __name__ == "__main__":
    main()
