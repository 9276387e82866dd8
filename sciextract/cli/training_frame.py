"""What every command that trains shares: the extra that it needs, and how it is stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sciextract.errors import MissingExtraError

_EXTRA = frozenset({"torch", "transformers", "safetensors", "onnx", "onnxscript"})


@contextmanager
def needs_extra() -> Iterator[None]:
    """Names the extra where an import needs its packages."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name in _EXTRA:
            raise MissingExtraError("training", "train") from error
        raise


@contextmanager
def stoppable() -> Iterator[None]:
    """Lets an interrupt and a polite kill stop at a resumable point, also in the background of a shell."""
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.signal(kind, signal.default_int_handler) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def same_command(words: Mapping[str, Any]) -> list[str]:
    """The command again, for each of several processes."""
    command = [sys.executable, "-m", "sciextract", "retrain"]
    for key, value in words.items():
        name = "--json" if key == "as_json" else f"--{key.replace('_', '-')}"
        command += [name if value is True else f"{name}={value}"]
    return command
