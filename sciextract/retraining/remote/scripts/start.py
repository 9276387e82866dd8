"""Starts job.sh of a folder, apart from the connection; prints the process or the SLURM job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def main() -> None:
    """Start once: a second call only tells what runs, unless it says ``again``."""
    folder, how = os.path.join(os.path.expanduser("~"), sys.argv[1]), sys.argv[2]
    os.chdir(folder)
    os.umask(0o077)
    for name in ("exit", "started.json") if "again" in sys.argv[3:] else ():
        if os.path.exists(name):
            os.remove(name)
    if not os.path.exists("started.json"):
        with open("started.part", "w") as stream:
            json.dump(slurm() if how == "slurm" else process(), stream)
        os.rename("started.part", "started.json")
    with open("started.json") as stream:
        print(stream.read())


def process() -> dict[str, Any]:
    """In a session of its own, so that the end of the connection does not reach it."""
    with open(os.devnull) as nothing, open("log", "ab") as log:
        started = subprocess.Popen(["sh", "job.sh"], stdin=nothing, stdout=log, stderr=log,
                                   start_new_session=True)  # fmt: skip
    return {"pid": started.pid}


def slurm() -> dict[str, Any]:
    """In the queue of the cluster."""
    done = subprocess.run(["sbatch", "--parsable", "job.sh"], capture_output=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr.decode(errors="replace"))
        sys.exit(done.returncode)
    return {"slurm": done.stdout.decode().strip().split(";")[0]}


if __name__ == "__main__":
    main()
