"""Runs the commands that README.md and the tutorials show and writes down what they print.

``python tools/real_runs.py`` renews README.md, where the mark ``<!-- real run -->`` stands above a block, and the pages that
begin with ``<!-- real runs -->``, where every console block is run, in order, in one folder with the sample data. With names
of pages it renews only these.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
COLUMNS = 80
_MARKED = re.compile(r"(?<=<!-- real run -->\n)```console\n\$ (.+)\n(?:.*\n)*?```\n")
_BLOCK = re.compile(r"```console\n((?:.*\n)*?)```\n")
_VARIES = re.compile(
    r"\d[\d.]*(?= s\b)|\b[0-9A-HJKMNP-TV-Z]{26}\b|\d{4}-\d\d-\d\d([T_ ][\d:.+-]+)?|(?<=/)\d{8}-\d{6}\S+"
    r"|(?:(?<=batteries[-@])|(?<=mortars[-@]))[0-9a-f]{8}"  # the hash of a model that the run itself has learned
)


def tutorials() -> list[Path]:
    """Tutorials and other pages whose console blocks are real runs."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [page for page in pages if page.read_text("utf-8").startswith("<!-- real runs -->")]


def output_of(command: str, folder: Path = ROOT, home: Path | None = None) -> str:
    """What a shell prints for the command, both streams in order, without colours."""
    done = subprocess.run(
        f'sciextract() {{ "{sys.executable}" -m sciextract "$@"; }}\n{command}',
        shell=True,
        cwd=folder,
        env={
            **os.environ,
            "COLUMNS": str(COLUMNS),
            "NO_COLOR": "1",
            "SCIEXTRACT_USER": "you",
            "PYTHONPATH": os.pathsep.join(sys.path),
            **({"SCIEXTRACT_HOME": str(home)} if home else {}),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command} fails:\n{done.stdout}")
    lines = done.stdout.strip("\n").split("\n") if done.stdout.strip() else []
    return "".join(f"{line.rstrip()}\n" for line in lines)


def renewed(page: str) -> str:
    """The page with the output of every marked command."""
    return _MARKED.sub(lambda block: f"```console\n$ {block[1]}\n{output_of(block[1])}```\n", page)


def renewed_tutorial(page: str) -> str:
    """The page with the output of its commands, run in order where only the sample data is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "sciextract"
        shutil.copytree(ROOT / "sample_data", folder / "sample_data")

        def run(block: re.Match[str]) -> str:
            commands = [line for line in block[1].split("\n") if line.startswith("$ ")]
            shown = "".join(
                f"{line}\n{output_of(line[2:], folder, Path(name) / 'home')}" for line in commands
            )
            return f"```console\n{shown}```\n"

        return _BLOCK.sub(run, page)


def without_what_varies(page: str) -> str:
    """The page without times, dates and the names of runs."""
    return _VARIES.sub("*", page)


def renew(path: Path, how: Callable[[str], str]) -> None:
    """Writes a page anew."""
    path.write_text(how(path.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    wanted = [Path(name).resolve() for name in sys.argv[1:]] or [README, *tutorials()]
    for page in wanted:
        renew(page, renewed if page == README else renewed_tutorial)
