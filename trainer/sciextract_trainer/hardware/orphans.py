"""Processes of a training do not outlive the one that started them, however that one ends."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from threading import Thread

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
