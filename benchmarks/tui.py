"""Speed and memory of the review desk, in a real terminal; prints a Markdown table.

Usage: ``python benchmarks/tui.py [--rounds 10] [--large 100000] [--entities 1000] [--starts 5] [--seeds 30]
[--cache DIR] [--folder DIR] [--json PATH] [--skip keys|learning|start|large|crowded|memory|counts ...]``.

Keys are sent to a real process in a pseudo-terminal and timed until the last frame that they cause has arrived; a
bare app of the same toolkit, which only paints its screen anew, takes turns with it. The large project is made once
and kept in ``.cache``, the same one as that of ``make bench-store``; ``--large 1000`` tries the script.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "app")]

from benchmarks import tui_corpus as corpus
from benchmarks import tui_counts, tui_keys, tui_learning, tui_memory, tui_start
from benchmarks.rows import (
    Bench,
    Row,
    machine,
    markdown,
    milliseconds,
    percentile,
    told,
    write_report,
)
from benchmarks.tui_keys import BARE_APP, DECISIONS, Repaints
from benchmarks.tui_terminal import Repaint, Size

PARTS = ("keys", "learning", "start", "large", "crowded", "memory", "counts")
WIDE: Size = (120, 40)
NARROW: Size = (80, 24)
REPAINT, NEXT, CROWDED, FIRST, MEMORY, KEYS = 0.016, 0.050, 0.050, 0.7, 400.0, 60
MOST_TIMES = 1.2
"""As long as the bare app, p95 of the first frame."""


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["SCIEXTRACT_HOME"] = f"{folder}/home"
        bench = DeskBench(options, Path(folder))
        rows = told(bench.rows())
    print(markdown(f"Real pseudo-terminals; {machine()}", rows))
    write_report(options.json, options, rows, bench.measured)


class DeskBench(Bench):
    """Keys, keys while an adapter learns, starts, large and crowded projects, memory, and keys an abstract."""

    def parts(self) -> Mapping[str, Callable[[], Iterator[Row]]]:
        return {
            "keys": self._keys,
            "learning": self._learning,
            "start": self._starts,
            "large": self._large,
            "crowded": self._crowd,
            "memory": self._memory,
            "counts": self._counts,
        }

    def _keys(self) -> Iterator[Row]:
        path = self._place("dense") / "dense.sciextract"
        corpus.dense_project(path).close()
        for size in (WIDE, NARROW):
            yield from self._repaints(path, 1, size, _at(size))

    def _repaints(self, path: Path, number: int, size: Size, where: str) -> Iterator[Row]:
        found = tui_keys.measure(path, number, size, self.options.rounds)
        self._keep(f"keys, {where}", found)
        for kind in ("move", *DECISIONS.values(), "undo"):
            yield from _against_bare(kind, found, where)
        yield _repaint_row(f"next predicted abstract, {where}", found["next abstract"], NEXT)

    def _learning(self) -> Iterator[Row]:
        path = self._place("learning") / "learning.sciextract"
        corpus.learning_project(path, tui_learning.FINISHED, tui_learning.UNTOUCHED).close()
        found = tui_learning.measure(path, WIDE, self.options.rounds)
        self._keep("learning", found)
        for phase in tui_learning.PHASES:
            yield _repaint_row(phase, found[phase])
            yield _repaint_row(BARE_APP + phase, found[BARE_APP + phase])
        ratios = []
        for start in ("", BARE_APP):
            learning, stopped = (found[start + phase] for phase in tui_learning.PHASES)
            p50, p95 = (_ratio(learning, stopped, "first", share) for share in (50, 95))
            ratios.append(f"p50 {p50:.2f}, p95 {p95:.2f} times")
        value = "; bare app ".join(ratios)
        yield Row("first frame, learning against stopped", value)

    def _starts(self) -> Iterator[Row]:
        path, number = self._large_project()
        for cold in (False, True):
            name = "page cache emptied" if cold else "page cache warm"
            found = tui_start.measure(self.folder, path, number, self.options.starts, cold=cold)
            self.measured[f"start, {name}"] = {
                what: [asdict(timing) for timing in several] for what, several in found.items()
            }
            for what, several in found.items():
                yield _start_row(f"{what}, {name}", several, "" if what == "bare app" else "0.7 s")
            if not found:
                yield Row(f"start, {name}", "not measured: needs root")

    def _large(self) -> Iterator[Row]:
        path, number = self._large_project()
        where = f"among {self.options.large:,} abstracts"
        for size in (WIDE, NARROW):
            yield from self._repaints(path, number, size, f"{where}, {_at(size)}")
        found = tui_keys.paging(path, number, WIDE, self.options.rounds * 20)
        self._keep(f"list, {where}", found)
        for what, several in found.items():
            yield _repaint_row(f"list: {what}, {where}", several, REPAINT)

    def _crowd(self) -> Iterator[Row]:
        entities = self.options.entities
        path = self._place("crowded") / "crowded.sciextract"
        corpus.crowded_project(path, entities).close()
        found = tui_keys.measure(path, 1, WIDE, 2)
        self._keep("crowded", found)
        decisions = [decision for kind in DECISIONS.values() for decision in found.get(kind, [])]
        where = f"{entities:,} entities in one abstract"
        yield _repaint_row(f"move, {where}", found["move"])
        yield _repaint_row(f"decision, {where}", decisions, CROWDED)
        yield _repaint_row(f"to and from {entities:,} entities", found["next abstract"])

    def _memory(self) -> Iterator[Row]:
        found = tui_memory.measure(self.folder)
        self.measured["memory"] = found
        what = f"memory with the model, after {tui_memory.ABSTRACTS} abstracts"
        value = f"{found['now']:.0f} MB, at its highest {found['peak']:.0f} MB"
        yield Row(what, value, f"{MEMORY:.0f} MB", found["peak"] <= MEMORY)

    def _counts(self) -> Iterator[Row]:
        found = tui_counts.measure(self.folder, self.options.seeds)
        self.measured["keys of an abstract"] = found
        keys, right = [pair[0] for pair in found], statistics.mean(pair[1] for pair in found)
        value = f"mean {statistics.mean(keys):.1f}, most {max(keys)} keys ({right:.0%} right)"
        what = f"a whole abstract by script, {len(found)} seeds"
        yield Row(what, value, f"{KEYS} keys", max(keys) <= KEYS)

    def _large_project(self) -> tuple[Path, int]:
        """The large project, copied once, and its first dense abstract."""
        path = self.folder / "large" / "large.sciextract"
        if not path.exists():
            self._place("large")
            cache = Path(self.options.cache)
            corpus.large_project(cache, self.options.large, path).close()
        return path, self.options.large + 1

    def _place(self, name: str) -> Path:
        """A folder of its own for a project, with settings of its own in it."""
        place = self.folder / name
        place.mkdir()
        return place

    def _keep(self, name: str, found: Repaints) -> None:
        self.measured[name] = {
            what: [asdict(timing) for timing in several] for what, several in found.items()
        }


def _at(size: Size) -> str:
    return f"{size[0]}x{size[1]}"


def _against_bare(kind: str, found: Repaints, where: str) -> Iterator[Row]:
    """Keys of a kind, and how much longer they took than those of the bare app between them."""
    desk, bare = found.get(kind, []), found.get(BARE_APP + kind, [])
    if not desk:
        return
    yield _repaint_row(f"{kind}, {where}", desk)
    yield _repaint_row(f"{BARE_APP}{kind}, {where}", bare)
    first, cpu = (
        [_ratio(desk, bare, what, share) for share in (50, 95)] for what in ("first", "cpu")
    )
    value = (
        f"first frame p50 {first[0]:.2f}, p95 {first[1]:.2f} times; "
        f"computing p50 {cpu[0]:.2f}, p95 {cpu[1]:.2f} times"
    )
    goal = f"first frame p95 {MOST_TIMES} times"
    yield Row(f"{kind} against bare app, {where}", value, goal, first[1] <= MOST_TIMES)


def _ratio(desk: list[Repaint], bare: list[Repaint], what: str, share: int) -> float:
    ours, theirs = (
        percentile([getattr(timing, what) for timing in many], share) for many in (desk, bare)
    )
    return ours / theirs


def _repaint_row(what: str, several: list[Repaint], goal: float | None = None) -> Row:
    last = [timing.last for timing in several]
    computed = [1000 * percentile([timing.cpu for timing in several], share) for share in (50, 95)]
    first = 1000 * percentile([timing.first for timing in several], 95)
    value = (
        f"{milliseconds(last)} (first frame p95 {first:.1f}; computing {computed[0]:.1f}, "
        f"{computed[1]:.1f}; {len(several)} keys)"
    )
    if goal is None:
        return Row(what, value)
    return Row(what, value, f"p95 {1000 * goal:.0f} ms", percentile(last, 95) <= goal)


def _start_row(what: str, several: list[tui_start.Opening], goal: str) -> Row:
    first, text = ([getattr(timing, name) for timing in several] for name in ("first", "text"))
    value = (
        f"first character {statistics.median(first):.2f} s, text {statistics.median(text):.2f} s "
        f"(slowest {max(text):.2f})"
    )
    return Row(what, value, goal, statistics.median(text) <= FIRST if goal else None)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="how often all keys are pressed")
    parser.add_argument("--large", type=int, default=100_000, help="abstracts of the large project")
    parser.add_argument("--entities", type=int, default=1_000, help="of the crowded abstract")
    parser.add_argument("--starts", type=int, default=5, help="how often each thing is started")
    parser.add_argument("--seeds", type=int, default=30, help="abstracts of the key count")
    parser.add_argument("--cache", default=str(ROOT / ".cache" / "store-bench"), metavar="DIR")
    parser.add_argument("--folder", metavar="DIR", help="where to work, on the disk to be measured")
    parser.add_argument("--json", metavar="PATH", help="write every number there")
    parser.add_argument("--skip", nargs="*", default=[], choices=PARTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
