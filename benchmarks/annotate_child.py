"""Runs a command and prints its wall time, its peak memory and its exit code as JSON.

A process of its own, because the peak memory of a child starts at that of the process that forks it: this one
is small, the benchmark is not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

MEBIBYTE = 2**20


def run_child(command: list[str]) -> dict[str, Any]:
    """Runs a command in a fresh process below a small one; its output is thrown away.

    Returns:
        ``seconds`` (wall), ``peak_mb`` and ``code``, which is 0.

    Raises:
        SystemExit: The command failed; with the end of what it said.
    """
    result = subprocess.run(
        [sys.executable, "-I", __file__, *command],
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, Any] = json.loads(result.stdout)
    if measured["code"]:
        raise SystemExit(f"{' '.join(command)} failed:\n{result.stderr[-2000:]}")
    return measured


def _measure(command: list[str]) -> dict[str, Any]:
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "seconds": seconds,
        "peak_mb": usage.ru_maxrss * unit / MEBIBYTE,
        "code": os.waitstatus_to_exitcode(status),
    }


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1:])))
