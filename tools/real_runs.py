"""Runs the commands that README.md shows and writes down what they print: ``python tools/real_runs.py``.

A console block below the mark ``<!-- real run -->`` holds one command behind ``$ `` and its output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "README.md"
COLUMNS = 92
_BLOCK = re.compile(r"(?<=<!-- real run -->\n)```console\n\$ (.+)\n(?:.*\n)*?```\n")


def output_of(command: str) -> str:
    """What a shell prints for the command, both streams in order, without colours."""
    done = subprocess.run(
        command,
        shell=True,
        cwd=PAGE.parent,
        env={**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command} fails:\n{done.stdout}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").split("\n"))


def renewed(page: str) -> str:
    """The page with the output of every marked command."""
    return _BLOCK.sub(lambda block: f"```console\n$ {block[1]}\n{output_of(block[1])}```\n", page)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
