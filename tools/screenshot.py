"""Draws what ``sciextract annotate`` shows on a terminal: ``python tools/screenshot.py SVG [WORDS...]``.

The words are those after ``annotate``; without any, a sample abstract is shown.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME as LIGHT
from rich.text import Text

COLUMNS = 92
SAMPLE = ("sample_data/text/cs-03.txt",)
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def coloured_output(words: tuple[str, ...]) -> str:
    """What the command prints, with colours, as on a terminal of fixed width."""
    terminal = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color"}
    hidden = ("NO_COLOR",)
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "sciextract", "annotate", "--quiet", *words],
        env={**environment, **terminal, "COLUMNS": str(COLUMNS)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def draw(output: str, words: tuple[str, ...]) -> str:
    """The command line and its output as SVG, which fetches no fonts: the reader's own serve."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor")
    console.print(Text(f"$ sciextract annotate {shlex.join(words)}\n"))
    console.print(Text.from_ansi(output.rstrip()))
    drawing = console.export_svg(title="sciextract", unique_id="sciextract", theme=LIGHT)
    return _WEB_FONT.sub("", drawing)


def main() -> None:
    """Runs the command and writes the drawing."""
    if len(sys.argv) < 2:
        sys.exit("usage: python tools/screenshot.py SVG [WORDS...]")
    words = tuple(sys.argv[2:]) or SAMPLE
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw(coloured_output(words), words) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
