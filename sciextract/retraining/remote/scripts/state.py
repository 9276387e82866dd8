"""How a job stands, as one JSON line: exit code, whether it runs, the end of its log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

LOG_BYTES = 4000


def main() -> None:
    """Read only small files."""
    folder = os.path.join(os.path.expanduser("~"), sys.argv[1])
    started = read_json(os.path.join(folder, "started.json"))
    exit_code = read(os.path.join(folder, "exit")).strip()
    print(json.dumps({
        "exists": os.path.isdir(folder),
        "exit": int(exit_code) if exit_code else None,
        "runs": not exit_code and runs(started),
        "log": read(os.path.join(folder, "log"))[-LOG_BYTES:],
    }))  # fmt: skip


def runs(started: dict[str, Any]) -> bool:
    """Whether the process, or the job in the queue, is still there."""
    if "slurm" in started:
        done = subprocess.run(["squeue", "--noheader", "--jobs", started["slurm"]],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)  # fmt: skip
        return bool(done.stdout.strip())
    try:
        os.killpg(started["pid"], 0)
    except (KeyError, OSError):
        return False
    return True


def read(path: str) -> str:
    """A text file, empty when there is none."""
    try:
        with open(path, "rb") as stream:
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def read_json(path: str) -> dict[str, Any]:
    """A JSON object, empty when there is none."""
    try:
        values: dict[str, Any] = json.loads(read(path))
    except ValueError:
        values = {}
    return values


if __name__ == "__main__":
    main()
