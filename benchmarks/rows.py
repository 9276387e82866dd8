"""What a benchmark says: rows of a Markdown table, and everything as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Row:
    """One line of the table; ``reached`` is ``None`` where there is no goal."""

    what: str
    value: str
    goal: str = ""
    reached: bool | None = None


class Bench(ABC):
    """All measurements of one run: some parts, each of which may be skipped (``--skip``)."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.measured: dict[str, Any] = {}

    def rows(self) -> Iterator[Row]:
        """The rows of all parts that are wanted, as they are measured."""
        for name, part in self.parts().items():
            if name not in self.options.skip:
                yield from part()

    @abstractmethod
    def parts(self) -> Mapping[str, Callable[[], Iterator[Row]]]:
        """What there is to measure, by the names of ``--skip``."""


def told(rows: Iterable[Row]) -> list[Row]:
    """The rows, each told on standard error as soon as it is measured."""
    found = []
    for row in rows:
        print(row.what, row.value, sep=": ", file=sys.stderr, flush=True)
        found.append(row)
    return found


def machine() -> str:
    """Where the numbers come from: they hold for no other machine."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores{load}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}."
    )


def markdown(head: str, rows: Sequence[Row]) -> str:
    """A heading line and a table."""
    signs = {True: "yes", False: "**no**", None: ""}
    lines = [head, "", "| what | measured | goal | reached |", "|---|---|---|---|"]
    lines += [f"| {r.what} | {r.value} | {r.goal} | {signs[r.reached]} |" for r in rows]
    return "\n".join(lines)


def percentile(values: Sequence[float], share: float) -> float:
    """So many of a hundred are not larger."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share / 100))]


def milliseconds(seconds: Sequence[float]) -> str:
    """Median and 95th percentile."""
    p50, p95 = (1000 * percentile(seconds, share) for share in (50, 95))
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"


@contextmanager
def svg_figure(
    path: Path, rows: int = 1, columns: int = 1, *, font_size: float = 10, **settings: Any
) -> Iterator[tuple[Figure, Any]]:
    """A figure and its panels, to be drawn into; written as SVG, the same bytes for the same drawing."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update(
        {"svg.hashsalt": "sciextract", "svg.fonttype": "none", "font.size": font_size}
    )
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(rows, columns, layout="constrained", **settings)
    yield figure, panels
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write_report(
    path: str | None, options: argparse.Namespace, rows: Sequence[Row], measured: dict[str, Any]
) -> None:
    """Every number as JSON, where a path is given."""
    if path:
        report = {
            "settings": {name: str(value) for name, value in vars(options).items()},
            "machine": machine(),
            "rows": [asdict(row) for row in rows],
            "measured": measured,
        }
        Path(path).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
