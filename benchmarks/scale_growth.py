"""How cost grows with the number of abstracts, of a run that was really made: annotating it, and its graph.

Usage: ``python benchmarks/scale_growth.py --parts FOLDER --output research/images/scale-growth [--sizes 1000 10000 30000]
[--workers 2]``. FOLDER is a folder of parts that one uninterrupted run of ``sciextract annotate --parts`` has
written, finished or not. The time of annotating so many abstracts is that between its first and its last part, with the
share of the first part added; a graph is built of the same parts by ``sciextract graph build``, from nothing. OUTPUT gets
``.json``, ``.md`` and ``.svg``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.rows import machine, svg_figure

COLOURS = ("#0072B2", "#D55E00")


@dataclass(frozen=True)
class Growth:
    """What so many abstracts cost.

    Attributes:
        abstracts: Whole parts up to the size that was asked for.
        annotate_s: Seconds of the run up to there.
        graph_s: Seconds of the graph build of these parts.
    """

    abstracts: int
    annotate_s: float
    graph_s: float


@dataclass(frozen=True)
class Part:
    """A part in the order in which it was written, with the abstracts and the time since the run's first part."""

    path: Path
    abstracts: int
    seconds: float


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True, help="file name without its ending")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 30_000])
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    parts = written(options.parts)
    found = [measure(parts, size, options.workers) for size in options.sizes]
    table = markdown(found)
    options.output.with_suffix(".json").write_text(
        json.dumps({"machine": machine(), "growth": [asdict(point) for point in found]}, indent=2)
        + "\n"
    )
    options.output.with_suffix(".md").write_text(table)
    draw(found, options.output.with_suffix(".svg"))
    print(table)


def written(folder: Path) -> list[Part]:
    """The parts by the time of writing; abstracts and seconds add up."""
    entries = [json.loads(line) for line in (folder / "journal.log").read_text().splitlines()]
    named = [
        (folder / entry["part"], entry["counts"]["documents"]) for entry in entries if entry["part"]
    ]
    begun = named[0][0].stat().st_mtime
    parts, abstracts = [], 0
    for path, count in named:
        abstracts += count
        parts.append(Part(path, abstracts, path.stat().st_mtime - begun))
    return parts


def measure(parts: Sequence[Part], size: int, workers: int) -> Growth:
    """Time of the parts that hold so many abstracts.

    Raises:
        SystemExit: The run has fewer.
    """
    few = [part for part in parts if part.abstracts <= size]
    if not few or parts[-1].abstracts < size:
        sys.exit(f"the run has {parts[-1].abstracts} abstracts, not {size}")
    after_first = few[-1].abstracts - few[0].abstracts
    share = few[-1].abstracts / after_first if after_first else 1.0
    seconds = build_seconds([part.path for part in few], workers)
    return Growth(few[-1].abstracts, few[-1].seconds * share, seconds)


def build_seconds(paths: Sequence[Path], workers: int) -> float:
    """Seconds of a graph build as a command, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        subprocess.run(
            [
                *(sys.executable, "-m", "sciextract", "graph", "build", *map(str, paths)),
                *("--graph", f"{folder}/g.graph", "--workers", str(workers)),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
        )
        return time.perf_counter() - begun


def markdown(found: Sequence[Growth]) -> str:
    """The table."""
    lines = [
        "| abstracts | annotating, s | ms an abstract | graph, s | ms an abstract |",
        "|---|---|---|---|---|",
    ]
    for point in found:
        annotate, graph = (
            1000 * value / point.abstracts for value in (point.annotate_s, point.graph_s)
        )
        lines.append(
            f"| {point.abstracts:,} | {point.annotate_s:,.0f} | {annotate:.1f} | {point.graph_s:,.1f} | {graph:.2f} |"
        )
    return "\n".join(lines) + "\n"


def draw(found: Sequence[Growth], path: Path) -> None:
    """Seconds against abstracts, both logarithmic; the thin lines grow in proportion."""
    with svg_figure(path, figsize=(6, 4), font_size=9) as (_, panel):
        sizes = [point.abstracts for point in found]
        series = {
            "annotate --workers 2": [point.annotate_s for point in found],
            "graph build --workers 2": [point.graph_s for point in found],
        }
        for (name, seconds), colour in zip(series.items(), COLOURS, strict=True):
            panel.loglog(sizes, seconds, "o-", color=colour, label=name)
            in_proportion = [seconds[-1] * size / sizes[-1] for size in sizes]
            panel.loglog(sizes, in_proportion, color=colour, linewidth=0.6, linestyle="dotted")
        panel.set_xlabel("abstracts")
        panel.set_ylabel("seconds")
        panel.grid(True, which="both", linewidth=0.3)
        panel.legend()


if __name__ == "__main__":
    main()
