"""Signals of the system: the terminal closed, the machine goes down, Ctrl-C from elsewhere."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress

_LEAVING = ("SIGTERM", "SIGHUP")


def install(leave: Callable[[int], object], interrupted: Callable[[], object]) -> None:
    """Answer signals inside of the running event loop, where the platform has that.

    Args:
        leave: Called with the exit code when the app must end.
        interrupted: Called for an interrupt, which ends nothing here.
    """
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError):
        for name in _LEAVING:
            number = getattr(signal, name)
            loop.add_signal_handler(number, leave, 128 + number)
        loop.add_signal_handler(signal.SIGINT, interrupted)
