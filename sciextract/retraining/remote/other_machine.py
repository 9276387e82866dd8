"""The script that runs on the other machine with its own Python, which may have nothing but its standard library.

Its first argument says what to do: a function below :func:`probe`; the second one is the job's folder, from home.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

NEEDED = ("torch", "transformers", "safetensors", "onnx", "onnxscript", "onnxruntime", "tokenizers",
          "numpy", "typer", "rich", "platformdirs", "msgspec")  # fmt: skip
HOME = os.path.expanduser("~")
LOG_BYTES = 4000
LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 20


def probe() -> None:
    """Print what the machine has, as one JSON line."""
    room = os.statvfs(HOME)
    machine = {
        "python": list(sys.version_info[:3]),
        "executable": sys.executable,
        "missing": [name for name in NEEDED if importlib.util.find_spec(name) is None],
        "gpus": gpus(),
        "free_bytes": room.f_bavail * room.f_frsize,
        "home": HOME,
        "writable": os.access(HOME, os.W_OK),
        "rsync": shutil.which("rsync") is not None,
        "sbatch": shutil.which("sbatch") is not None,
        "system": platform.system() + " " + platform.machine(),
    }
    print(json.dumps(machine))


def gpus() -> list[str]:
    """Names of NVIDIA cards, as listed by the driver's tool."""
    tool = shutil.which("nvidia-smi")
    output = output_of(tool, "--query-gpu=name", "--format=csv,noheader") if tool else ""
    return [line.strip() for line in output.splitlines() if line.strip()]


def output_of(*command: str) -> str:
    """What a command prints, whether it succeeds or not."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors="replace")


def start(folder: str, how: str, *more: str) -> None:
    """Start ``job.sh`` apart from the connection, and print the process or the SLURM job.

    It starts once: a second call only tells what runs, unless it says ``again``.
    """
    os.chdir(folder)
    os.umask(0o077)
    for name in ("exit", "started.json") if "again" in more else ():
        if os.path.exists(name):
            os.remove(name)
    if not os.path.exists("started.json"):
        with open("started.part", "w") as stream:
            json.dump(in_slurm() if how == "slurm" else in_process(), stream)
        os.rename("started.part", "started.json")
    print(read("started.json"))


def in_process() -> dict[str, Any]:
    """In a session of its own, so that the end of the connection does not reach it."""
    with open(os.devnull) as nothing, open("log", "ab") as log:
        started = subprocess.Popen(["sh", "job.sh"], stdin=nothing, stdout=log, stderr=log,
                                   start_new_session=True)  # fmt: skip
    return {"pid": started.pid}


def in_slurm() -> dict[str, Any]:
    """In the queue of the cluster."""
    done = subprocess.run(["sbatch", "--parsable", "job.sh"], capture_output=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr.decode(errors="replace"))
        sys.exit(done.returncode)
    return {"slurm": done.stdout.decode().strip().split(";")[0]}


def state(folder: str) -> None:
    """Print how a job stands, as one JSON line: exit code, whether it runs, the end of its log."""
    exit_code = read(os.path.join(folder, "exit")).strip()
    print(json.dumps({
        "exists": os.path.isdir(folder),
        "exit": int(exit_code) if exit_code else None,
        "runs": not exit_code and runs(read(os.path.join(folder, "started.json"))),
        "log": read(os.path.join(folder, "log"))[-LOG_BYTES:],
    }))  # fmt: skip


def runs(text: str) -> bool:
    """Whether the process, or the job in the queue, of a ``started.json`` is still there."""
    try:
        started = json.loads(text)
    except ValueError:
        return False
    if "slurm" in started:
        return bool(output_of("squeue", "--noheader", "--jobs", started["slurm"]).strip())
    return lives(started["pid"])


def lives(pid: int) -> bool:
    """Whether any process of a session is still there."""
    try:
        os.killpg(pid, 0)
    except OSError:
        return False
    return True


def follow(folder: str, since_byte: str, quiet_seconds: str) -> None:
    """Copy what comes into ``metrics.jsonl`` to standard output: whole lines or parts, the other side joins them.

    Until the job ends, nothing comes any more, or nobody listens.
    """
    offset, parent, since = int(since_byte), os.getppid(), time.time()
    while os.getppid() == parent and time.time() - since < float(quiet_seconds):
        ended = os.path.exists(os.path.join(folder, "exit"))
        before, offset = offset, copy(os.path.join(folder, "run", "metrics.jsonl"), offset)
        if ended:
            return
        since = time.time() if offset > before else since
        time.sleep(LOOK_SECONDS)


def copy(path: str, offset: int) -> int:
    """Write what is new; gives the new offset."""
    if not os.path.exists(path):
        return offset
    with open(path, "rb") as stream:
        stream.seek(offset)
        data = stream.read()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return offset + len(data)


def cancel(folder: str) -> None:
    """Interrupt a job, which then stops at a point from which it can go on; kill it if it does not."""
    with open(os.path.join(folder, "started.json")) as stream:
        started = json.load(stream)
    if "slurm" in started:
        sys.exit(subprocess.call(["scancel", "--signal=INT", started["slurm"]]))
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(started["pid"], number)
        except OSError:
            break
        if ends(os.path.join(folder, "exit"), started["pid"]):
            break


def ends(exit_file: str, pid: int) -> bool:
    """Whether the job leaves its exit code in time, or its processes are gone."""
    for _ in range(PATIENCE_SECONDS * 5):
        if os.path.exists(exit_file) or not lives(pid):
            return True
        time.sleep(0.2)
    return False


def clean(folder: str, jobs: str) -> None:
    """Remove the folder of a job; only what lies below the folder of jobs is ever removed."""
    folder = os.path.realpath(folder)
    if os.path.dirname(folder) == os.path.realpath(os.path.join(HOME, jobs)):
        shutil.rmtree(folder, ignore_errors=True)


def read(path: str) -> str:
    """A text file, empty when there is none."""
    try:
        with open(path, "rb") as stream:
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


if __name__ == "__main__":
    wanted, *words = sys.argv[1:]
    tasks: dict[str, Any] = {
        function.__name__: function for function in (probe, start, state, follow, cancel, clean)
    }
    tasks[wanted](*(os.path.join(HOME, name) for name in words[:1]), *words[1:])
