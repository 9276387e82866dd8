"""Crash reports that hold no text of the user: frames and types, neither messages nor values."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from pathlib import Path

from sciextract import __version__


def write_report(error: BaseException) -> Path:
    """Write a report next to earlier ones, in ``$SCIEXTRACT_HOME`` or where the platform keeps the state of programs.

    Returns:
        Its path.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    if home := os.environ.get("SCIEXTRACT_HOME"):
        state = Path(home)
    else:
        from platformdirs import user_state_path

        state = user_state_path("sciextract", appauthor=False)
    # Names of options only: what stands behind them may be a file that is named after its content.
    options = [word.partition("=")[0] for word in sys.argv[1:] if word.startswith("--")]
    lines = [
        f"sciextract {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"options: {' '.join(options) or 'none'}",
    ]
    current: BaseException | None = error
    while current is not None:
        # No message: it may quote an abstract.
        lines.append(f"{type(current).__module__}.{type(current).__qualname__}")
        frames = traceback.extract_tb(current.__traceback__)
        lines += traceback.StackSummary.from_list(frames).format()
        current = current.__cause__ or current.__context__
    folder = state / "crashes"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
    return path
