"""Models of several sizes: parameters, megabytes, speed, memory and F1, as a table, JSON and a figure.

Usage: ``python -m research.size_ladder --models runs/sci-ladder --texts dev.jsonl --output research/images/ladder
[--abstracts 200] [--rounds 3]``. ``--models`` is a folder of model folders, as ``python -m research.models ladder``
writes it, or several model folders. ``--texts`` is any input of ``sciextract annotate``.

Speed is that of the whole pipeline on one thread, int8, in this process: the models take turns, and each has its best
round. Memory is the peak of a process that annotates all abstracts. F1 is that of the model card: SciERC dev, int8,
thresholds fitted there. OUTPUT gets ``.json``, ``.md`` and ``.svg``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.annotate_process import peak_memory
from benchmarks.rows import machine, svg_figure
from sciextract import Extractor, formats
from sciextract.documents.document import Document
from sciextract.errors import InputMissingError, SciextractError
from sciextract.formats.base import BadRecord
from sciextract.inference.model_folder import MANIFEST, ModelFolder, listed_files, open_folder
from sciextract_trainer.config import config_from
from sciextract_trainer.warm_start import open_start_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SCORES = ("ner", "relation", "coreference")


@dataclass(frozen=True)
class Rung:
    """One model.

    Attributes:
        name: Its name.
        layers: Layers and width of its encoder, such as ``6x384``.
        parameters: Weights of encoder and heads.
        megabytes: The int8 model folder.
        per_second: Abstracts a second on one thread.
        peak_mb: Peak resident memory of annotating all of them.
        f1: Dev F1 of the int8 graph by task.
    """

    name: str
    layers: str
    parameters: int
    megabytes: float
    per_second: float
    peak_mb: float
    f1: dict[str, float]

    @property
    def milliseconds(self) -> float:
        """Processor time of an abstract."""
        return 1000 / self.per_second


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print the table, write it with JSON and figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, nargs="+", required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True, help="file name without its ending")
    parser.add_argument("--abstracts", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(words)
    try:
        print(_report(options))
    except SciextractError as error:
        print(f"error: {error.message}\n{error.hint}".rstrip(), file=sys.stderr)
        return int(error.exit_code)
    return 0


def _report(options: argparse.Namespace) -> str:
    folders = [open_folder(path) for path in _folders(options.models)]
    documents = _documents(options.texts, options.abstracts)
    rates = _rates(folders, documents, options.rounds)
    rungs = [_rung(folder, rate, options) for folder, rate in zip(folders, rates, strict=True)]
    rungs.sort(key=lambda rung: -rung.parameters)
    table = markdown(rungs, len(documents))
    _write(options.output, rungs, table, len(documents))
    return table


def _folders(paths: Sequence[Path]) -> list[Path]:
    """Model folders, also those that lie in a given folder."""
    found = [
        folder
        for path in paths
        for folder in ([path] if (path / MANIFEST).is_file() else sorted(path.glob("*")))
        if (folder / MANIFEST).is_file()
    ]
    if not found:
        raise InputMissingError(
            f"no model folder in {', '.join(map(str, paths))}", "make them first: make ladder"
        )
    return found


def _documents(texts: Path, most: int) -> list[Document]:
    items = islice(formats.read([texts]), most)
    return [item.document for item in items if not isinstance(item, BadRecord)]


def _rates(
    folders: Sequence[ModelFolder], documents: Sequence[Document], rounds: int
) -> list[float]:
    """Abstracts a second of each model, in its best of some rounds in turn."""
    extractors = [Extractor.load(folder.path, threads=1) for folder in folders]
    best = [0.0] * len(extractors)
    for turn in range(rounds):
        for row, extractor in enumerate(extractors):
            list(extractor.stream(documents[:5]))
            began = time.process_time()
            list(extractor.stream(documents))
            rate = len(documents) / (time.process_time() - began)
            best[row] = max(best[row], rate)
            progress = f"{extractor.config.name}, round {turn + 1}: {rate:.1f} abstracts/s"
            print(progress, file=sys.stderr, flush=True)
    return best


def _rung(folder: ModelFolder, rate: float, options: argparse.Namespace) -> Rung:
    start = open_start_model(folder)
    encoder: dict[str, Any] = json.loads((folder.path / "encoder.json").read_text("utf-8"))
    network = start.network(config_from({"encoder": "none"}, "benchmark"))
    size = sum((folder.path / name).stat().st_size for name in listed_files(folder.path))
    scores = folder.config.scores["int8"]
    return Rung(
        name=folder.config.name,
        layers=f"{encoder['num_hidden_layers']}x{encoder['hidden_size']}",
        parameters=sum(parameter.numel() for parameter in network.parameters()),
        megabytes=size / 1e6,
        per_second=rate,
        peak_mb=peak_memory(options.texts, str(folder.path), 1),
        f1={name: scores[name] for name in SCORES},
    )


def markdown(rungs: Sequence[Rung], abstracts: int) -> str:
    """The table, largest model first."""
    lines = [
        f"{abstracts} abstracts, one thread, int8; F1 on SciERC dev. {machine()}",
        "",
        "| model | layers | parameters | MB | abstracts/s | ms | peak memory | entities | relations | coreference |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{r.name}` | {r.layers} | {r.parameters / 1e6:.1f} M | {r.megabytes:.1f} | {r.per_second:.1f} "
        f"| {r.milliseconds:.1f} | {r.peak_mb:.0f} MB | {r.f1['ner']:.1f} | {r.f1['relation']:.1f} "
        f"| {r.f1['coreference']:.1f} |"
        for r in rungs
    ]
    return "\n".join(lines)


def _write(output: Path, rungs: Sequence[Rung], table: str, abstracts: int) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    rows = [{**asdict(rung), "milliseconds": rung.milliseconds} for rung in rungs]
    report = {"machine": machine(), "abstracts": abstracts, "models": rows}
    output.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    output.with_suffix(".md").write_text(table + "\n", encoding="utf-8")
    points = [(rung.name, rung.milliseconds, rung.f1) for rung in rungs]
    draw(points, output.with_suffix(".svg"))


TASKS = {"ner": "entities", "relation": "relations, boundaries", "coreference": "coreference"}

Point = tuple[str, float, Mapping[str, float]]
"""Name of a model, processor milliseconds an abstract, F1 by task."""


def draw(points: Sequence[Point], path: Path) -> None:
    """A panel a task as SVG: dev scores by processor time."""
    with svg_figure(path, 1, len(TASKS), figsize=(10, 3.6), font_size=9) as (_, panels):
        for panel, (task, title) in zip(panels, TASKS.items(), strict=True):
            _sizes(panel, points, task)
            panel.set_title(title)
        panels[0].set_ylabel("F1, SciERC dev")


def _sizes(panel: Axes, points: Sequence[Point], task: str) -> None:
    """Dev scores of our models by processor time."""
    times = [milliseconds for _, milliseconds, _ in points]
    panel.plot(times, [f1[task] for _, _, f1 in points], color="#0072B2", marker="o", linestyle="")
    for name, milliseconds, f1 in points:
        panel.annotate(
            name, (milliseconds, f1[task]), textcoords="offset points", xytext=(4, -11), fontsize=8
        )
    panel.set_xlabel("ms of one processor core an abstract")
    panel.set_xlim(0, 1.45 * max(times))
    panel.margins(y=0.15)
    panel.grid(alpha=0.3)


if __name__ == "__main__":
    sys.exit(main())
