"""Models of several sizes: parameters, megabytes, speed, memory and F1, as a table, JSON and a figure.

Usage: ``python -m research.size_ladder --models runs/sci-ladder --texts dev.jsonl --output docs/images/ladder
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
from dataclasses import asdict, dataclass, field
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
        parameters=sum(each.numel() for each in network.parameters()),
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


@dataclass(frozen=True)
class TestScores:
    """F1 on the official SciERC test split.

    Attributes:
        name: System and encoder.
        f1: By task.
        colour: Of its points.
        interval: 95 % interval by task, where it is known.
    """

    __test__ = False  # of the data set, not of this code

    name: str
    f1: Mapping[str, float]
    colour: str
    interval: Mapping[str, tuple[float, float]] = field(default_factory=dict)


HELD_OUT = (
    TestScores("SciIE (ELMo)", {"ner": 64.2, "relation": 39.3, "coreference": 48.2}, "#999999"),
    TestScores(
        "BERT base,\nthree models", {"ner": 67.9, "relation": 44.7, "coreference": 55.0}, "#E69F00"
    ),
    TestScores(
        "SciDeBERTa (CS),\nthree models",
        {"ner": 71.1, "relation": 46.0, "coreference": 57.4},
        "#D55E00",
    ),
    TestScores(
        "sci, second edition,\none model, int8",
        {"ner": 66.1, "relation": 44.2, "coreference": 47.9},
        "#0072B2",
        {"ner": (63.3, 68.6), "relation": (40.2, 48.1), "coreference": (42.9, 53.4)},
    ),
)
"""Jeong and Kim 2022 (SciDeBERTa, IEEE Access 10, table 5), which quotes SciIE (Luan et al. 2018); ours: docs/models.md."""


def draw(points: Sequence[Point], path: Path) -> None:
    """Two rows of a panel a task as SVG: ours on dev by processor time, and test scores, ours and published."""
    with svg_figure(path, 2, len(TASKS), figsize=(10, 7), font_size=9) as (_, panels):
        for above, below, (task, title) in zip(*panels, TASKS.items(), strict=True):
            _sizes(above, points, task)
            _held_out(below, task)
            above.set_title(title)
        panels[0][0].set_ylabel("F1, SciERC dev")
        for panel in panels[1][1:]:
            panel.set_yticklabels([])


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


def _held_out(panel: Axes, task: str) -> None:
    """Test scores of our model, with its interval, and of published ones, whose papers print neither intervals nor times."""
    for row, each in enumerate(HELD_OUT):
        panel.plot(each.f1[task], row, color=each.colour, marker="D", linestyle="")
        if task in each.interval:
            panel.hlines(row, *each.interval[task], color=each.colour)
    panel.set_yticks(range(len(HELD_OUT)), [each.name for each in HELD_OUT])
    panel.set_xlabel("F1, SciERC test")
    panel.margins(y=0.2)
    panel.grid(alpha=0.3)


if __name__ == "__main__":
    sys.exit(main())
