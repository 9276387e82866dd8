"""Starts one command as several processes on this machine that train together, and watches over them.

``torchrun`` does the same over several machines; the processes cannot tell the difference.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import torch
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from sciextract.errors import SciextractError, UsageError
from sciextract.inference.batching import usable_cores

_LAUNCHER = "SCIEXTRACT_LAUNCHER"
_LOOK_SECONDS = 0.5


def named_launcher() -> Mapping[str, str]:
    """What tells a process that this one starts who started it."""
    return {_LAUNCHER: str(os.getpid())}


def end_with_launcher() -> None:
    """Ends this process politely once the one that started it is gone; does nothing for other launchers.

    A launcher that is killed (SIGKILL, no memory) can end nobody, and the processes reach each other without it: they
    would train on unseen, with the GPU in their hands. A thread looks for the parent, because the death signal of
    Linux follows the parent's thread, and other systems have none.
    """
    launcher = os.environ.get(_LAUNCHER)
    if launcher is not None:
        Thread(target=_watch, args=(int(launcher),), daemon=True).start()


def _watch(launcher: int) -> None:
    while os.getppid() == launcher:
        time.sleep(_LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


_HOME = "127.0.0.1"
_LAUNCH_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 10.0


class ProcessLostError(SciextractError):
    """A process of a training was killed or failed."""


@dataclass(frozen=True, slots=True)
class _Worker:
    rank: int
    process: subprocess.Popen[bytes]
    errors: Path

    def last_words(self) -> str:
        """The last line it printed on standard error, where that was kept."""
        lines = self.errors.read_text("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


def run_together(command: Sequence[str], count: int, device: torch.device) -> int:
    """Runs a command in several processes; the first one has this one's output. Returns its exit code.

    When one of them ends before its time, the others are ended, too.

    Args:
        command: The words of the command.
        count: How many processes.
        device: Where they train.

    Raises:
        UsageError: Fewer than one process is wanted, or more than there are GPUs.
        ProcessLostError: A process was killed, or failed alone; says which one and why.
        KeyboardInterrupt: The person stops; all processes are stopped.
    """
    _require_room(count, device)
    store = TCPStore(_HOME, 0, is_master=True, wait_for_workers=False)
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / str(rank) for rank in range(count)]
        workers = [_start(command, row, count, store.port, log) for row, log in enumerate(logs)]
        try:
            _wait(workers)
        except KeyboardInterrupt:
            _end(workers, signal.SIGINT)
            raise
        finally:
            _end(workers, signal.SIGTERM)
        return _outcome(workers)


def _require_room(count: int, device: torch.device) -> None:
    if count < 1:
        raise UsageError(f"--processes {count} is not possible", "use 1 or more")
    cards = torch.cuda.device_count() if device.type == "cuda" else count
    if count > cards or (device.type == "mps" and count > 1):
        available = f"{cards} GPUs" if device.type == "cuda" else device.type
        raise UsageError(
            f"--processes {count} is not possible with {available}", "use fewer, or --device cpu"
        )


def _start(command: Sequence[str], rank: int, count: int, port: int, log: Path) -> _Worker:
    environment = {**os.environ, **_environment(rank, count, port)}
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if rank else None,
            stderr=errors if rank else None,
        )
    return _Worker(rank, process, log)


def _environment(rank: int, count: int, port: int) -> Mapping[str, str]:
    """What ``torchrun`` tells its processes, too; the meeting point is in this process already."""
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, usable_cores() // count))
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "MASTER_ADDR": _HOME,
        "MASTER_PORT": str(port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "OMP_NUM_THREADS": threads,
        **named_launcher(),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }


def _wait(workers: Sequence[_Worker]) -> None:
    """Until all have ended, or one has failed; the others then have a moment to say why themselves."""
    while not any(each.process.poll() for each in workers):
        if all(each.process.poll() is not None for each in workers):
            return
        time.sleep(_LAUNCH_LOOK_SECONDS)
    _wait_at_most(workers)


def _wait_at_most(workers: Sequence[_Worker]) -> None:
    until = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < until and any(each.process.poll() is None for each in workers):
        time.sleep(_LAUNCH_LOOK_SECONDS)


def _end(workers: Sequence[_Worker], kind: signal.Signals) -> None:
    running = [each for each in workers if each.process.poll() is None]
    for each in running:
        each.process.send_signal(kind)
    if running:
        _wait_at_most(running)
    for each in running:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def _outcome(workers: Sequence[_Worker]) -> int:
    """The first process's exit code, where it tells the truth about all.

    Raises:
        ProcessLostError: Another one was killed, or failed alone.
    """
    codes = [each.process.returncode for each in workers]
    hint = "repeat the command to resume after the last finished epoch"
    killed = [row for row, code in enumerate(codes) if code < 0 and -code not in _POLITE]
    if killed:
        name = signal.Signals(-codes[killed[0]]).name
        raise ProcessLostError(
            f"process {killed[0]} of {len(codes)} was killed ({name}); the others were ended", hint
        )
    alone = [each for each in workers if each.process.returncode > 0 and each.rank]
    if alone and codes[0] != alone[0].process.returncode:
        reason = alone[0].last_words()
        raise ProcessLostError(f"process {alone[0].rank} of {len(codes)} failed: {reason}", hint)
    return max(codes[0], 0) or (1 if any(codes) else 0)


_POLITE = frozenset({signal.SIGINT, signal.SIGTERM})
