"""Speed and memory of a project file; prints a Markdown table.

Usage: ``python benchmarks/store.py [--data FILE.jsonl[.gz] ...] [--documents 5000] [--rounds 3] [--actions 100]
[--large 100000] [--cache DIR] [--folder DIR] [--json PATH] [--skip import|actions|large ...]``.

Imports take turns with bare ``sqlite3`` inserts of the same rows, actions with the disk's own fsync. The large
project is made once and kept in ``.cache``; ``--large 1000`` tries the script. Without ``--data`` abstracts are
generated. ``--folder`` names the disk to be measured.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks import store_actions as single
from benchmarks import store_corpus as corpus
from benchmarks import store_import as importing
from benchmarks import store_large as large
from benchmarks.annotate_rounds import Contender, median_ratio, spread, take_turns
from benchmarks.rows import Bench, Row, machine, markdown, told, write_report
from sciextract.formats import read
from sciextract.store import Project, open_project
from sciextract.store.ingest import BATCH

PARTS = ("import", "actions", "large")
SEARCHES, OPENINGS, HITS = 200, 5, 50
EXPORTED = (1_000, 10_000, 50_000)
ABOVE = 0.995


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        bench = StoreBench(options, Path(folder))
        rows = told(bench.rows())
    texts = "abstracts of --data" if options.data else "generated abstracts"
    print(markdown(f"{texts}; {machine()}", rows))
    write_report(options.json, options, rows, bench.measured)


class StoreBench(Bench):
    """Imports, single actions and a large project."""

    def parts(self) -> Mapping[str, Callable[[], Iterator[Row]]]:
        return {"import": self._imports, "actions": self._actions, "large": self._large}

    def _imports(self) -> Iterator[Row]:
        data, count = self.options.data, self.options.documents
        files = importing.write_chunks(data, count, self.folder)
        plain = importing.ready_chunks(data, count, 0)
        full = importing.ready_chunks(data, max(count // 10, BATCH), corpus.ITEMS)
        rows = importing.rows_of(importing.FileImport(self.folder, files, "rows"), len(files))
        rich = importing.ReadyImport(self.folder, [], "rich", ready=full)
        rich_rows = importing.rows_of(rich, len(full))
        contenders: dict[str, Contender] = {
            "read": lambda chunk: deque(read([files[chunk]]), maxlen=0).clear(),
            "ours": importing.FileImport(self.folder, files),
            "ready": importing.ReadyImport(self.folder, [], "ready", ready=plain),
            "bare": importing.BareImport(self.folder, rows),
        }
        seconds = take_turns(contenders, len(files), self.options.rounds)
        items: dict[str, Contender] = {
            "rich": rich,
            "bare rich": importing.BareImport(self.folder, rich_rows, "bare-rich"),
        }
        seconds |= take_turns(items, len(full), self.options.rounds)
        for contender in (*contenders.values(), *items.values()):
            if isinstance(contender, importing.FileImport | importing.BareImport):
                contender.close()
        self.measured["import"] = seconds
        yield from self._import_rows(seconds, count, sum(map(len, full)))

    def _import_rows(self, seconds: dict[str, list[float]], count: int, rich: int) -> Iterator[Row]:
        rate = count / statistics.median(seconds["ours"])
        value = f"{rate:,.0f} abstracts/s (spread {spread(seconds['ours'])})"
        yield Row("import from JSONL, with tokens", value, ">= 1,000", rate >= 1000)
        for name, what in (
            ("read", "of that: reading and tokenising alone"),
            ("ready", "of that: the store alone"),
            ("bare", "bare sqlite3, the same rows"),
        ):
            yield Row(what, f"{count / statistics.median(seconds[name]):,.0f} abstracts/s")
        ratio = median_ratio(seconds["bare"], seconds["ready"])
        yield Row("store against bare sqlite3", f"{ratio:.2f}")
        rates = [rich / statistics.median(seconds[name]) for name in ("rich", "bare rich")]
        value = f"{rates[0]:,.0f} abstracts/s, bare sqlite3 {rates[1]:,.0f}"
        yield Row(f"store alone, {corpus.ITEMS} items an abstract", value)
        ratio = median_ratio(seconds["bare rich"], seconds["rich"])
        yield Row("store against bare sqlite3 then", f"{ratio:.2f}")

    def _actions(self) -> Iterator[Row]:
        path = self.folder / "actions.sciextract"
        with single.small_project(path, 40) as project:
            seconds = single.measure(project, self.folder, self.options.actions)
        self.measured["actions"] = seconds
        yield from self._latencies(seconds, f"{single.ENTITIES} entities")

    def _latencies(self, seconds: single.Seconds, where: str) -> Iterator[Row]:
        disk = single.percentile(seconds["fsync"], 50)
        for name in ("fsync", "bare commit"):
            yield Row(f"{name}, 4 KB" if name == "fsync" else name, _milliseconds(seconds[name]))
        for name in (second for second in seconds if second not in ("fsync", "bare commit")):
            p95 = single.percentile(seconds[name], 95)
            goal = f"p95 <= 5 ms + {disk:.1f} ms fsync"
            yield Row(f"{name}, {where}", _milliseconds(seconds[name]), goal, p95 <= 5 + disk)

    def _large(self) -> Iterator[Row]:
        count, data = self.options.large, self.options.data
        cached = corpus.cached_path(Path(self.options.cache), data, count)
        seconds = corpus.build(cached, data, count)
        path = large.copied(cached, self.folder)
        with sqlite3.connect(path) as project:
            items = project.execute("SELECT sum(items) FROM summary").fetchone()[0]
        size = path.stat().st_size
        yield Row(
            f"project of {count:,} abstracts and {items:,} items",
            f"{size / 2**30:.2f} GiB, made in {seconds:.0f} s ({count / seconds:.0f} abstracts/s)",
        )
        yield from self._openings(path)
        with open_project(path, "bench") as project:
            asked = large.queries(project, SEARCHES)
            if large.forget_pages():
                seconds_cold = large.searched(project, asked, HITS)
                yield Row("search, cold page cache", _milliseconds(_all(seconds_cold)))
            large.remember_pages(path)
            yield from self._searches(project, asked)
            yield from self._decisions(project)
        yield from self._exports(path)
        with open_project(path, "bench") as project:
            for what, spent, told in large.bulk(project, ABOVE):
                yield Row(what, f"{spent:.1f} s" + (f" ({told})" if told else ""))

    def _openings(self, path: Path) -> Iterator[Row]:
        for cold in (False, True):
            found = large.openings(path, OPENINGS, cold=cold)
            name = "cold" if cold else "warm"
            if found is None:
                yield Row("open, cold page cache", "not measured: needs root")
                continue
            self.measured[f"open {name}"] = found
            shown = max(run["open"] + run["page"] for run in found)
            wall = statistics.median(run["wall"] for run in found)
            value = f"{shown * 1000:.0f} ms, the slowest of {OPENINGS} (whole process {wall:.2f} s)"
            yield Row(f"open to first page of {HITS}, {name} cache", value, "< 0.5 s", shown < 0.5)

    def _searches(self, project: Project, asked: large.Asked) -> Iterator[Row]:
        seconds = large.searched(project, asked, HITS)
        self.measured["search"] = seconds
        every = _all(seconds)
        p95 = single.percentile(every, 95)
        yield Row(
            f"search, {len(every)} queries, warm page cache",
            _milliseconds(every),
            "p95 <= 50 ms",
            p95 <= 50,
        )
        for kind, spent in seconds.items():
            yield Row(f"search: {kind}", _milliseconds(spent))

    def _decisions(self, project: Project) -> Iterator[Row]:
        count = min(self.options.actions, len(project.numbers()))
        disk = single.disk(self.folder, count)
        seconds = {"fsync": disk, "bare commit": disk, "decision": large.decisions(project, count)}
        self.measured["large actions"] = seconds
        yield from list(self._latencies(seconds, "large project"))[2:]

    def _exports(self, path: Path) -> Iterator[Row]:
        peaks = {}
        for count in [size for size in EXPORTED if size <= self.options.large]:
            found = large.child("export", path, count, self.folder / "export.jsonl")
            peaks[count] = found["peak_mb"]
            value = f"{found['peak_mb']:.0f} MB, {count / found['seconds']:,.0f} abstracts/s"
            yield Row(f"export of {count:,} abstracts as JSONL: peak memory", value)
        if len(peaks) < len(EXPORTED):
            return  # too small a project for the comparison
        few, many = (peaks[count] for count in EXPORTED[-2:])
        value = f"{many / few:.2f} times; 64 MB of it are SQLite's cache"
        yield Row("memory of five times the abstracts", value, "<= 1.10", many <= 1.1 * few)


def _all(seconds: large.Searches) -> list[float]:
    return [second for kind in seconds.values() for second in kind]


def _milliseconds(seconds: list[float]) -> str:
    p50, p95 = (single.percentile(seconds, share) for share in (50, 95))
    return f"p50 {p50:.2f} ms, p95 {p95:.2f} ms"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--data", nargs="*", default=[], metavar="FILE", help="JSONL, plain or gzipped"
    )
    parser.add_argument("--documents", type=int, default=5_000, help="abstracts to import")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--actions", type=int, default=100, help="abstracts to decide in")
    parser.add_argument("--large", type=int, default=100_000, help="abstracts of the large project")
    parser.add_argument("--cache", default=str(ROOT / ".cache" / "store-bench"), metavar="DIR")
    parser.add_argument("--folder", metavar="DIR", help="where to work, on the disk to be measured")
    parser.add_argument("--json", metavar="PATH", help="write every number there")
    parser.add_argument("--skip", nargs="*", default=[], choices=PARTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
