"""Many abstracts: workers against each other, what they weigh, how cost grows; prints a Markdown table.

Usage: ``python benchmarks/scale.py [--texts FILE.jsonl[.gz]] [--model NAME|DIR] [--workers 2] [--documents 300]
[--rounds 3] [--few N ...] [--weigh N] [--sizes N ...] [--ray] [--json PATH]``.

All contenders of a ratio take turns on the same abstracts within one run; a ratio is the median over the rounds, of
seconds an abstract once the models are loaded. ``--few`` runs the command on so many abstracts, from start to end, with
``--workers`` and without, in turns. ``--weigh`` watches the memory of the workers over so many abstracts;
``--sizes`` runs so many from start to end each. Without ``--texts`` the packaged sample abstracts are repeated.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from benchmarks.rows import Row, machine, markdown, told, write_report
from benchmarks.scale_runs import (
    Weight,
    command_seconds,
    contenders,
    engine_clock,
    seconds_per_abstract,
)
from sciextract.formats.opening import open_bytes
from sciextract.inference.model_folder import DEFAULT_MODEL
from sciextract.resources import data_root
from sciextract.scale.processes import ProcessEngine

FEW_ROUNDS = 5
"""Turns of ``--few``: a whole command is short, and varies more than a long run."""


def main() -> None:
    options = _options()
    measured: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder), measured)
        rows = told(bench.rows())
    print(markdown(f"Many abstracts: {machine()}", rows))
    write_report(options.json, options, rows, measured)


class Bench:
    """All measurements of one run."""

    def __init__(self, options: argparse.Namespace, folder: Path, measured: dict[str, Any]) -> None:
        self.options = options
        self.folder = folder
        self.measured = measured
        with open_bytes(options.texts) as stream:
            self.lines = [line for line in stream if line.strip()]

    def rows(self) -> Iterator[Row]:
        if self.options.rounds:
            yield from self._ratios()
        for count in self.options.few:
            yield self._few(count)
        if self.options.weigh:
            yield from self._weights()
        for size in self.options.sizes:
            yield self._whole(size)

    def _ratios(self) -> Iterator[Row]:
        many = self.options.workers
        seconds = self._turns()
        self.measured["seconds_per_abstract"] = seconds
        for name, values in seconds.items():
            yield Row(name, f"{1 / statistics.median(values):.1f} abstracts/s")
        goals = [("1 worker", f"{many} workers", 1.85 if many == 2 else None)]
        goals += [
            ("1 thread", f"{many} threads", None),
            (f"{many} threads", f"{many} workers", None),
        ]
        goals += [(f"{many} workers", "ray", 0.85)] if self.options.ray else []
        for base, name, goal in goals:
            ratios = [b / a for a, b in zip(seconds[name], seconds[base], strict=True)]
            ratio = statistics.median(ratios)
            value = f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            reached = None if goal is None else ratio >= goal
            yield Row(f"{name} against {base}", value, f">= {goal}" if goal else "", reached)

    def _turns(self) -> dict[str, list[float]]:
        """Seconds an abstract of every contender in every round, each round with other abstracts."""
        options = self.options
        found = contenders(options.model, options.workers, options.ray)
        seconds: dict[str, list[float]] = {name: [] for name in found}
        for turn in range(options.rounds):
            path = self._file(options.documents, turn * options.documents)
            names = list(found)[turn % len(found) :] + list(found)[: turn % len(found)]
            for name in names:
                seconds[name].append(seconds_per_abstract(found[name](path)))
        return seconds

    def _few(self, count: int) -> Row:
        """The command on a few abstracts: what ``--workers`` costs there, process start and model included."""
        path, model = self._file(count), self.options.model
        ratios = []
        for _ in range(FEW_ROUNDS):
            alone, alone_lines = command_seconds(path, model)
            several, several_lines = command_seconds(path, model, self.options.workers)
            if several_lines != alone_lines:
                raise SystemExit(
                    f"{self.options.workers} workers write other lines than one process"
                )
            ratios.append(several / alone)
        self.measured.setdefault("few", {})[count] = ratios
        ratio = statistics.median(ratios)
        value = f"{ratio:.2f} of the time ({min(ratios):.2f} to {max(ratios):.2f})"
        what = f"{count} abstracts, {self.options.workers} workers against one process"
        return Row(what, value, "<= 1.10", ratio <= 1.10)

    def _weights(self) -> Iterator[Row]:
        path = self._file(self.options.weigh)
        with Weight() as weight:
            engine_clock(ProcessEngine(self.options.workers), path, self.options.model)
        self.measured["weights"] = {"workers": weight.workers, "parent": weight.parent}
        count, most, growth = (
            f"{self.options.weigh:,} abstracts",
            max(weight.workers),
            weight.growth(),
        )
        yield Row(f"memory of a worker, {count}", f"{most:.0f} MB", "<= 450 MB", most <= 450)
        yield Row("of that gained after the first half", f"{growth:+.1f} MB", "flat", growth < 20)
        yield Row(f"memory of the parent, {count}", f"{max(weight.parent):.0f} MB")

    def _whole(self, size: int) -> Row:
        """From the first byte read to the last line, loading included."""
        with Weight() as weight:
            clock = engine_clock(
                ProcessEngine(self.options.workers), self._file(size), self.options.model
            )
        seconds = clock[-1][0] - clock[0][0]
        entry = {"abstracts": size, "seconds": seconds, "worker_mb": max(weight.workers)}
        self.measured.setdefault("growth", []).append(entry)
        value = f"{seconds:.1f} s, {1000 * seconds / size:.2f} ms an abstract, {entry['worker_mb']:.0f} MB a worker"
        return Row(f"{size:,} abstracts", value)

    def _file(self, count: int, start: int = 0) -> Path:
        path = self.folder / "texts.jsonl"
        path.write_bytes(b"".join(islice(cycle(self.lines), start, start + count)))
        return path


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    sample = data_root() / "sample_data" / "abstracts.jsonl"
    parser.add_argument(
        "--texts", default=str(sample), metavar="FILE", help="JSONL, plain or packed"
    )
    parser.add_argument("--model", default=DEFAULT_MODEL, metavar="NAME|DIR")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--documents", type=int, default=300, help="abstracts of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--few", type=int, nargs="*", default=[], metavar="N", help="abstracts of whole commands"
    )
    parser.add_argument(
        "--weigh", type=int, default=0, metavar="N", help="abstracts to watch memory over"
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=[], metavar="N")
    parser.add_argument("--ray", action="store_true", help="let Ray take turns, too (extra scale)")
    parser.add_argument("--json", metavar="PATH")
    return parser.parse_args()


if __name__ == "__main__":
    main()
