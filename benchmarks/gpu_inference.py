"""Speed of fp32 and fp16 graphs by how their windows share calls, on a GPU or the processor; prints a Markdown table.

Usage: ``python benchmarks/gpu_inference.py [--shape bundled|deberta-base|deberta-tiny] [--device cpu|cuda]
[--precision fp16|fp32] [--batch-tokens 4096 --batch-tokens 16384] [--data FILE.jsonl[.gz]] [--documents 500]
[--rounds 3] [--peak-tflops 989] [--models FOLDER] [--threads 2] [--json PATH]``.

``deberta-base`` has random weights: its encoder is measured, its predictions mean nothing. Contenders take turns on
the same chunks of windows, so that other work on the machine meets all of them alike. ``--peak-tflops`` is what the
device does at its best in that precision (an H200 in fp16 without sparsity: 989); the share of it counts the useful
operations of ``gpu_models.Shape.flops`` only, so that padding lowers it. Try it small on any machine:
``python benchmarks/gpu_inference.py --shape deberta-tiny --documents 52 --batch-tokens 1024 --rounds 2``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "trainer")]
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from benchmarks.annotate_int8 import windows_of
from benchmarks.annotate_rounds import median_ratio, spread, take_turns
from benchmarks.gpu_models import SHAPES, Shape, model_of, shape_of
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats import read
from sciextract.inference.batching import DEVICES, POOLED_CALLS, Batching
from sciextract.inference.extractor import Extractor
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.tokenization import EncoderInput
from sciextract.resources import data_root

Calls = list[list[EncoderInput]]


def main() -> None:
    options = _options()
    bench = Bench(options)
    rows = list(bench.rows())
    print(bench.heading())
    print(
        "\n| what | abstracts/s | TFLOP/s | share of peak | padding | spread |\n|---|---|---|---|---|---|"
    )
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    print("\n" + "\n".join(bench.ratios))
    if options.json:
        report = {
            "settings": {k: str(v) for k, v in vars(options).items()},
            "seconds": bench.seconds,
        }
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


class Bench:
    """All measurements of one run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder = model_of(options.shape, options.models)
        self.shape: Shape = shape_of(self.folder)
        self.documents = _documents(options.data, options.documents)
        self.seconds: dict[str, list[float]] = {}
        self.ratios: list[str] = []
        self.windows = [
            w for document in self.documents for w in windows_of(self._extractor(), document)
        ]

    def heading(self) -> str:
        lengths = [len(window.input_ids) for window in self.windows]
        options = self.options
        return (
            f"{options.shape} on {options.device}, {options.precision}, {len(self.documents)} abstracts of "
            f"{statistics.median(lengths):.0f} word pieces (median; {min(lengths)} to {max(lengths)}), "
            f"{options.rounds} rounds; {platform.processor() or platform.machine()}, {options.threads} threads"
        )

    def rows(self) -> Iterator[list[str]]:
        yield from self._encoder_rows()
        if self.options.shape == "bundled":
            yield from self._pipeline_rows()

    def _encoder_rows(self) -> Iterator[list[str]]:
        graph = self.folder.graph(self.options.precision)
        network = OnnxNetwork(graph, None, self.options.threads, self.options.device)
        ways: dict[str, Calls] = {"encoder, one a call": [[window] for window in self.windows]}
        for tokens in self.options.batch_tokens:
            ways[f"encoder, in order, {tokens} pieces"] = _in_order(self.windows, tokens)
            ways[f"encoder, by length, {tokens} pieces"] = _by_length(self.windows, tokens)
        contenders = {name: _encoding(network, calls) for name, calls in ways.items()}
        seconds = take_turns(contenders, 1, self.options.rounds)
        self.seconds |= seconds
        for name, calls in ways.items():
            yield self._row(name, seconds[name], calls)
        alone = seconds["encoder, one a call"]
        for tokens in self.options.batch_tokens:
            mixed, alike = (
                seconds[f"encoder, {way}, {tokens} pieces"] for way in ("in order", "by length")
            )
            self.ratios.append(
                f"- {tokens} pieces a call: by length {median_ratio(mixed, alike):.2f} times as fast as in order, "
                f"{median_ratio(alone, alike):.2f} times as fast as one a call"
            )

    def _pipeline_rows(self) -> Iterator[list[str]]:
        for tokens in (None, *self.options.batch_tokens):
            extractor = self._extractor(tokens)
            spent = [_time(extractor, self.documents) for _ in range(self.options.rounds)]
            name = f"pipeline, {tokens} pieces" if tokens else "pipeline, as it is"
            self.seconds[name] = spent
            yield self._row(name, spent, None)

    def _row(self, name: str, seconds: Sequence[float], calls: Calls | None) -> list[str]:
        least = statistics.median(seconds)
        flops = sum(self.shape.flops(len(window.input_ids)) for window in self.windows) / least
        peak = self.options.peak_tflops
        return [
            name,
            f"{len(self.documents) / least:.1f}",
            f"{flops / 1e12:.3f}",
            f"{flops / 1e10 / peak:.1f} %" if peak else "",
            f"{100 * _padding(calls):.0f} %" if calls else "",
            spread(seconds),
        ]

    def _extractor(self, batch_tokens: int | None = None) -> Extractor:
        options = self.options
        return Extractor.load(
            self.folder.path, threads=options.threads, precision=options.precision,
            batch_tokens=batch_tokens, device=options.device,
        )  # fmt: skip


def _encoding(network: OnnxNetwork, calls: Calls) -> Callable[[int], None]:
    def encode(chunk: int) -> None:
        for call in calls:
            network.encode(call)

    return encode


def _in_order(windows: Sequence[EncoderInput], max_subwords: int) -> Calls:
    """Windows in the order of the input, as many a call as fit."""
    calls: Calls = []
    for window in windows:
        longest = (
            max([len(window.input_ids), *(len(w.input_ids) for w in calls[-1])]) if calls else 0
        )
        if calls and longest * (1 + len(calls[-1])) <= max_subwords:
            calls[-1].append(window)
        else:
            calls.append([window])
    return calls


def _by_length(windows: Sequence[EncoderInput], max_subwords: int) -> Calls:
    """As the product does it: by length within pools of some calls."""
    calls: Calls = []
    batching, pool, subwords = Batching(None, max_subwords), [], 0
    for window in windows:
        pool.append(window)
        subwords += len(window.input_ids)
        if subwords >= POOLED_CALLS * max_subwords:
            calls += _calls_of(pool, batching)
            pool, subwords = [], 0
    return calls + _calls_of(pool, batching)


def _calls_of(pool: Sequence[EncoderInput], batching: Batching) -> Calls:
    groups = batching.calls([len(window.input_ids) for window in pool])
    return [[pool[index] for index in group] for group in groups]


def _padding(calls: Calls) -> float:
    """Share of the subwords of all calls that are padding."""
    real = sum(len(window.input_ids) for call in calls for window in call)
    return 1 - real / sum(
        len(call) * max(len(window.input_ids) for window in call) for call in calls
    )


def _time(extractor: Extractor, documents: Sequence[Document]) -> float:
    begin = time.perf_counter()
    for _ in extractor.stream(documents):
        pass
    return time.perf_counter() - begin


def _documents(data: Path | None, count: int) -> list[Document]:
    """The first texts of a file; the packaged samples, repeated, without one."""
    path = data or data_root() / "sample_data" / "abstracts.jsonl"
    items = (item.document for item in read([str(path)]) if isinstance(item, AnnotatedDocument))
    return list(islice(cycle(list(islice(items, count))), count))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shape", choices=SHAPES, default="bundled")
    parser.add_argument("--device", choices=DEVICES[:2], default="cpu")
    parser.add_argument("--precision", choices=["fp32", "fp16"], default="fp32")
    parser.add_argument("--batch-tokens", type=int, action="append", metavar="N")
    parser.add_argument("--data", type=Path, metavar="FILE", help="abstracts in any format")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peak-tflops", type=float, default=0.0)
    parser.add_argument("--models", type=Path, default=ROOT / ".cache" / "gpu-models")
    parser.add_argument("--json", metavar="PATH", help="write every number there")
    options = parser.parse_args()
    options.batch_tokens = options.batch_tokens or [4096, 16_384]
    return options


if __name__ == "__main__":
    main()
