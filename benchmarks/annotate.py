"""Speed and memory of ``sciextract annotate``; prints a Markdown table.

Usage: ``python benchmarks/annotate.py [--data FILE.jsonl[.gz]] [--model NAME|DIR] [--weights FILE.safetensors]
[--threads 2] [--documents 200] [--rounds 5] [--json PATH] [--skip torch|processes]``.

All contenders of a ratio take turns on the same chunks of texts within one run; a ratio is the median over the
rounds. Wall times of a busy machine mean little, ratios survive it better: look at the spread. Without
``--data`` the packaged sample abstracts are repeated.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "trainer")]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from benchmarks import annotate_int8 as int8
from benchmarks import annotate_process as processes
from benchmarks import annotate_torch as eager
from benchmarks.annotate_rounds import median_ratio, spread, take_turns
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import DEFAULT_MODEL, locate_model, open_folder
from sciextract.resources import data_root

CHUNK = 25
REPEATS = 5
SEARCH_CHUNKS = 2


@dataclass(frozen=True)
class Row:
    """One line of the table; ``reached`` is ``None`` where there is no goal."""

    what: str
    value: str
    goal: str = ""
    reached: bool | None = None


def main() -> None:
    options = _options()
    texts = _texts(options.data, options.documents)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, texts, Path(folder))
        rows = list(bench.rows())
    print(_markdown(options, texts, bench, rows))
    if options.json:
        report = {
            "settings": {name: str(value) for name, value in vars(options).items()},
            "notes": bench.notes,
            "rows": [asdict(row) for row in rows],
            "seconds": bench.seconds,
        }
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


class Bench:
    """All measurements of one run."""

    def __init__(self, options: argparse.Namespace, texts: int8.Texts, folder: Path) -> None:
        self.options = options
        self.texts = texts
        self.folder = folder
        self.seconds: dict[str, list[float]] = {}
        self.notes: list[str] = []
        self.files = int8.chunk_files(texts, CHUNK, folder)

    def rows(self) -> Iterator[Row]:
        if self.options.skip != "processes":
            yield from self._process_rows()
        extractor = Extractor.load(self.options.model, threads=self.options.threads)
        yield from self._encoder_rows(extractor)
        if self.options.skip != "torch":
            yield from self._torch_rows(extractor)

    def _encoder_rows(self, extractor: Extractor) -> Iterator[Row]:
        graph = open_folder(locate_model(self.options.model)).graph("int8")
        ready = int8.ready_input(extractor, int8.documents_of(self.files))
        encoder = int8.cut_encoder(graph, self.folder / "encoder.onnx")
        threads = self.options.threads
        contenders = {
            "pipeline": int8.PipelineContender(extractor, self.files),
            "encoder": int8.EncoderContender(encoder, threads, ready),
            "network": int8.EncoderContender(graph, threads, ready),
            "encoders": int8.ParallelEncoders(encoder, threads, ready),
        }
        seconds = self._turns(contenders, len(self.files), self.options.rounds)
        yield self._rate("whole pipeline, int8", seconds["pipeline"])
        yield self._rate("bare int8 encoder", seconds["encoder"])
        yield self._rate("int8 encoder with entity head", seconds["network"])
        yield self._rate(f"{threads} bare encoders of one thread each", seconds["encoders"])
        ratio = median_ratio(seconds["encoder"], seconds["pipeline"])
        yield Row("pipeline against the bare encoder", f"{ratio:.2f}", ">= 0.80", ratio >= 0.8)
        ratio = median_ratio(seconds["network"], seconds["pipeline"])
        yield Row("pipeline against encoder with entity head", f"{ratio:.2f}")
        ratio = median_ratio(seconds["encoders"], seconds["pipeline"])
        yield Row(f"pipeline against {threads} encoders of one thread each", f"{ratio:.2f}")

    def _torch_rows(self, extractor: Extractor) -> Iterator[Row]:
        documents = int8.documents_of(self.files)
        windows = [[w for d in chunk for w in int8.windows_of(extractor, d)] for chunk in documents]
        network, origin = eager.build(extractor, self.options.weights, self.options.threads)
        self.notes.append(f"torch network: {origin}; it scores the pairs that int8 finds")
        alone = eager.torch_network(network)
        known = eager.int8_span_scores(extractor, [w for chunk in windows for w in chunk])
        shared = eager.SharedScores(alone, known)
        candidates = {
            f"torch pipeline {size}": eager.TorchPipelineContender(
                extractor, shared, self.files, size
            )
            for size in eager.BATCH_SIZES
        } | {
            f"torch network {size}": eager.TorchNetworkContender(alone, windows, size)
            for size in eager.BATCH_SIZES
        }
        search = self._turns(candidates, min(SEARCH_CHUNKS, len(self.files)), 2)
        best = {kind: _fastest(search, kind) for kind in ("torch pipeline", "torch network")}
        contenders = {"int8 pipeline": int8.PipelineContender(extractor, self.files)}
        seconds = self._turns(
            contenders | {name: candidates[name] for name in best.values()},
            len(self.files),
            max(2, self.options.rounds // 2),
        )
        for kind, name in best.items():
            size = name.rsplit(" ", 1)[1]
            yield self._rate(f"{kind}, fp32, batch size {size}", seconds[name])
            ratio = median_ratio(seconds[name], seconds["int8 pipeline"])
            yield Row(f"int8 pipeline against {kind}", f"{ratio:.1f}", ">= 4", ratio >= 4)

    def _process_rows(self) -> Iterator[Row]:
        model, threads = self.options.model, self.options.threads
        whole = self.folder / "all.jsonl"
        whole.write_text("".join(f.read_text(encoding="utf-8") for f in self.files), "utf-8")
        long = processes.long_text([text for _, text in self.texts], self.folder)
        for what, path in ((f"{len(self.texts)} abstracts", whole), ("100,000 words", long)):
            peak = processes.peak_memory(path, model, threads)
            yield Row(f"peak memory, {what}", f"{peak:.0f} MB", "<= 600 MB", peak <= 600)
        cold = processes.cold_start(self.texts[0][1], self.folder, model, threads, REPEATS)
        yield Row("cold start to the first abstract", f"{cold:.2f} s", "< 1.5 s", cold < 1.5)
        own, bare = processes.help_times(REPEATS)
        value = f"{own * 1e3:.0f} ms, {own / bare:.1f} times bare Python"
        yield Row("sciextract --help", value, "<= 8 times", own <= 8 * bare)
        loaded = processes.forbidden_modules()
        yield Row("heavy modules loaded by --help", ", ".join(loaded) or "none", "none", not loaded)

    def _turns(self, contenders: Any, chunks: int, rounds: int) -> dict[str, list[float]]:
        seconds = take_turns(contenders, chunks, rounds)
        self.seconds |= seconds
        return seconds

    def _rate(self, what: str, seconds: list[float]) -> Row:
        rate = len(self.texts) / statistics.median(seconds)
        return Row(what, f"{rate:.1f} abstracts/s (spread {spread(seconds)})")


def _fastest(seconds: dict[str, list[float]], kind: str) -> str:
    names = [name for name in seconds if name.startswith(kind)]
    return min(names, key=lambda name: min(seconds[name]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", metavar="FILE", help="JSONL, plain or gzipped")
    parser.add_argument("--model", default=DEFAULT_MODEL, metavar="NAME|DIR")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="fp32 weights (safetensors)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="PATH", help="write every number there")
    parser.add_argument("--skip", choices=["torch", "processes"])
    return parser.parse_args()


def _texts(data: str | None, count: int) -> int8.Texts:
    """The first texts of a file; of the packaged samples, repeated, without one."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "data.jsonl"
        packaged = data_root() / "sample_data" / "abstracts.jsonl"
        raw = Path(data).read_bytes() if data else packaged.read_bytes()
        plain.write_bytes(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        items = (item for item in read([str(plain)]) if isinstance(item, AnnotatedDocument))
        found = [(item.document.doc_key, item.document.text) for item in islice(items, count)]
    return list(islice(found if data else cycle(found), count))


def _markdown(options: argparse.Namespace, texts: int8.Texts, bench: Bench, rows: list[Row]) -> str:
    words = statistics.mean(len(text.split()) for _, text in texts)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    head = (
        f"{len(texts)} texts of {words:.0f} words on average, {options.threads} threads, "
        f"{options.rounds} rounds; {platform.machine()}, {os.cpu_count()} cores{load}, "
        f"Python {platform.python_version()}."
    )
    signs = {True: "yes", False: "**no**", None: ""}
    lines = [head, *bench.notes, "", "| what | measured | goal | reached |", "|---|---|---|---|"]
    lines += [f"| {r.what} | {r.value} | {r.goal} | {signs[r.reached]} |" for r in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
