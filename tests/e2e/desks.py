"""What the tests of the real desk share: a folder with a library, terminals, and what the file then says."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sciextract.store import open_project
from sciextract.store.maintenance.checks import Severity
from sciextract.store.maintenance.doctor import examine
from tests.e2e.terminal import Terminal
from tests.shared_data import ROOT

COMMAND = [sys.executable, "-m", "sciextract", "tui"]
FIRST, SECOND = "endangered", "smileys"
"""Words of the first two abstracts of the library."""
Start = Callable[..., Terminal]


def library(folder: Path) -> Path:
    """The sample library as ``refs.bib``."""
    shutil.copy(ROOT / "sample_data" / "library.bib", folder / "refs.bib")
    return folder


def environment(home: Path) -> dict[str, str]:
    """The variables of a desk that knows nothing of whoever runs the tests."""
    paths = os.pathsep.join(str(ROOT / name) for name in ("", "app", "trainer"))
    hidden = {"NO_COLOR", "COLUMNS", "LINES", "TEXTUAL"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | {"PYTHONPATH": paths, "SCIEXTRACT_HOME": str(home)}


@contextmanager
def starting(folder: Path) -> Iterator[Start]:
    """Starts desks in terminals; whatever still runs in the end is ended."""
    started: list[Terminal] = []

    def begin(
        *words: str,
        columns: int = 80,
        rows: int = 24,
        command: list[str] = COMMAND,
        kind: str = "xterm-256color",
        **variables: str,
    ) -> Terminal:
        known = environment(folder / "home") | variables
        started.append(Terminal([*command, *words], folder, known, columns, rows, kind))
        return started[-1]

    try:
        yield begin
    finally:
        for terminal in started:
            terminal.close()


def decided(folder: Path) -> int:
    """How many items a person decided."""
    return _number(folder, "SELECT sum(decided) FROM summary")


def flagged(folder: Path) -> int:
    """How many abstracts a person flagged."""
    return _number(folder, "SELECT sum(flagged) FROM progress")


def closed_cleanly(folder: Path) -> bool:
    """Whether everything is in the one file: the last process that closes it leaves no other."""
    return not (folder / "refs.sciextract-wal").exists()


def working(folder: Path) -> list[int]:
    """Processes that work in a folder; empty where the system does not tell."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.readlink() == folder:
                found.append(int(link.parent.name))
        except OSError:
            continue  # ended meanwhile, or of another user
    return found


def errors(folder: Path) -> list[str]:
    """What the doctor finds wrong."""
    found = examine(folder / "refs.sciextract").findings
    return [finding.message for finding in found if finding.severity is Severity.ERROR]


def _number(folder: Path, query: str) -> int:
    with open_project(folder / "refs.sciextract", read=True) as project:
        return int(project.connection.execute(query).fetchone()[0] or 0)
