"""Starts one command as several processes on this machine that train together: ``torchrun`` with our words for what fails.

``torchrun`` itself does the same over several machines; the processes cannot tell the difference.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import torch

from sciextract.errors import ExitCode, SciextractError, UsageError
from sciextract.inference.batching import usable_cores
from sciextract_trainer.hardware import LAUNCHER

_HOME = "127.0.0.1"
_POLITE = frozenset((-signal.SIGINT, -signal.SIGTERM, ExitCode.INTERRUPTED))
"""How processes end that torchrun ends because of another one."""


class ProcessLostError(SciextractError):
    """A process of a training was killed or failed."""


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
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    if count < 1:
        raise UsageError(f"--processes {count} is not possible", "use 1 or more")
    cards = torch.cuda.device_count() if device.type == "cuda" else count
    if count > cards or (device.type == "mps" and count > 1):
        available = f"{cards} GPUs" if device.type == "cuda" else device.type
        raise UsageError(
            f"--processes {count} is not possible with {available}", "use fewer, or --device cpu"
        )
    # What torchrun logs of an error repeats in many lines what the process itself has said.
    elastic = logging.getLogger("torch.distributed.elastic")
    elastic.addHandler(logging.NullHandler())
    elastic.propagate = False
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, usable_cores() // count)))
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    os.environ[LAUNCHER] = str(os.getpid())
    with tempfile.TemporaryDirectory() as folder:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=count,
            run_id=uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint=f"{_HOME}:0",
            local_addr=_HOME,
            max_restarts=0,
            logs_specs=DefaultLogsSpecs(folder, dict.fromkeys(range(1, count), Std.ALL)),
        )
        try:
            elastic_launch(config, command[0])(*command[1:])
        except SignalException:
            raise KeyboardInterrupt from None
        except ChildFailedError as error:
            ended = {rank: failure.exitcode for rank, failure in sorted(error.failures.items())}
            codes = {rank: code for rank, code in ended.items() if code not in _POLITE}
            killed = [rank for rank, code in codes.items() if code < 0]
            if not codes or (not killed and set(codes.values()) == {codes.get(0)}):
                return int(codes.get(0, ExitCode.FAILED))  # the first process has said why
            # Those that are left fail because of the first loss, and are no news.
            rank = killed[0] if killed else max(codes)
            hint = "repeat the command to resume after the last finished epoch"
            if killed:
                name = error.failures[rank].signal_name()
                problem = f"process {rank} of {count} was killed ({name}); the others were ended"
                raise ProcessLostError(problem, hint) from error
            [log] = Path(folder).rglob(f"{rank}/stderr.log")
            said = log.read_text("utf-8", "replace").strip().splitlines() or [""]
            problem = f"process {rank} of {count} failed: {said[-1]}"
            raise ProcessLostError(problem, hint) from error
    return 0
