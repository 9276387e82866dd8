"""Crash reports that hold no text of the user: frames and types, neither messages nor values."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from sciextract import __version__


def write_report(error: BaseException) -> Path:
    """Write a report next to earlier ones and return its path.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    folder = _state_folder() / "crashes"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    path.write_text("\n".join(_report(error)) + "\n", encoding="utf-8", errors="replace")
    return path


def _state_folder() -> Path:
    """``$SCIEXTRACT_HOME``, else where the platform keeps the state of programs."""
    home = os.environ.get("SCIEXTRACT_HOME")
    if home:
        return Path(home)
    from platformdirs import user_state_path

    return user_state_path("sciextract", appauthor=False)


def _report(error: BaseException) -> Iterator[str]:
    options = [word.partition("=")[0] for word in sys.argv[1:] if word.startswith("--")]
    yield f"sciextract {__version__}, Python {platform.python_version()}, {platform.platform()}"
    yield f"options: {' '.join(options) or 'none'}"
    current: BaseException | None = error
    while current is not None:
        yield f"{type(current).__module__}.{type(current).__qualname__}"
        yield from traceback.StackSummary.from_list(
            traceback.extract_tb(current.__traceback__)
        ).format()
        current = current.__cause__ or current.__context__
