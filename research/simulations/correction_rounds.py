"""What correction rounds bring, simulated on SciERC: a model of the first documents of train, the rest corrected in rounds.

Usage: ``python -m research.simulations.correction_rounds --data DIR --encoder DIR --folder DIR [--start 250] [--round 20]
[--rounds 5] [--json PATH]``.

The gold labels play the person who corrects. The start model learns from the first ``--start`` documents (every
tenth of them chooses epoch and thresholds). The project holds all other documents of train and some unlabelled
abstracts as text; each round imports the gold of the next documents as done and runs ``sciextract retrain`` on all
that is decided by then, from the model in use. Of what is decided, the project holds out a tenth for dev and a fifth
for the gate, as it does for everybody. Both models are judged on that fifth and on SciERC dev, which nothing has
seen. What is finished in the folder is not repeated.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.rows import Row, machine, markdown, svg_figure, told, write_report
from research.simulations.learning_curves import STYLES
from sciextract import Extractor, formats
from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.formats.base import BadRecord
from sciextract.retraining.events import DevScored, GateScored, RunDone, TrainingEvent
from sciextract.retraining.promotion import RetrainResult
from sciextract.retraining.run import retrain
from sciextract.retraining.run_folder import MODEL, RetrainRequest
from sciextract.store import create_project, open_project
from sciextract.workflows.import_files import import_files
from sciextract_trainer.evaluate import dev_scores
from sciextract_trainer.hardware.device import CPU
from sciextract_trainer.retraining import LocalTrainer
from sciextract_trainer.run import make_job, run_training

SHOWN = {
    "mean": "mean",
    "entity": "entities",
    "unordered": "relations",
    "coreference": "coreference",
}
"""Scores of the curve; relations count as in the gate."""


@dataclass(frozen=True)
class Point:
    """A model and its F1.

    Attributes:
        corrected: Abstracts that were corrected before.
        scores: F1 by task, and the mean of the three.
    """

    corrected: int
    scores: dict[str, float]


def point(model: Path, corrected: int, gold: Sequence[AnnotatedDocument]) -> Point:
    """A model's F1 on gold documents; what was found is kept beside its folder."""
    kept = model.parent / f"{model.name}-curve.json"
    if not kept.exists():
        extractor = Extractor.load(model)
        found = dev_scores(extractor.annotate, gold, load_schema("scierc").symmetric_labels)
        values = {key: value for key, value in asdict(found).items() if value is not None}
        mean = sum(values[key] for key in SHOWN if key != "mean") / 3
        kept.write_text(json.dumps({**values, "mean": mean}), "utf-8")
    scores: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return Point(corrected, scores)


def table(points: Sequence[Point]) -> str:
    """The curve in Markdown."""
    lines = [f"| corrected | {' | '.join(SHOWN.values())} |", "|---" * (1 + len(SHOWN)) + "|"]
    for each in points:
        values = " | ".join(f"{each.scores[key]:.1f}" for key in SHOWN)
        lines.append(f"| {each.corrected} | {values} |")
    return "\n".join(lines)


def draw(points: Sequence[Point], path: Path) -> None:
    """The curve as SVG: abstracts corrected to the right, F1 upwards."""
    with svg_figure(path, figsize=(7, 4)) as (_, panel):
        corrected = [each.corrected for each in points]
        for (key, words), (colour, marker) in zip(SHOWN.items(), STYLES, strict=False):
            values = [each.scores[key] for each in points]
            panel.plot(corrected, values, color=colour, marker=marker, label=words)
        panel.set(xlabel="abstracts corrected", ylabel="F1 on dev")
        panel.legend(ncols=4, loc="lower center")


LONGEST_MINUTES = 10.0
UNLABELLED, UNDECIDED = "cs-003.jsonl.gz", 200


def main() -> None:
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    os.environ["SCIEXTRACT_HOME"] = str(options.folder / "home")
    lines = (options.data / "scierc" / "train.jsonl").read_text("utf-8").splitlines(keepends=True)
    start, rest = lines[: options.start], lines[options.start :]
    model = _start_model(options, start)
    measured: list[dict[str, Any]] = []
    rows = told(_rows(options, model, rest, measured))
    print(markdown(f"F1 on the gate, mean of the three tasks; {machine()}", rows))
    points = _curve(options, model, measured)
    print(f"\nF1 on SciERC dev by abstracts corrected\n\n{table(points)}")
    if options.svg:
        draw(points, options.svg)
    write_report(options.json, options, rows, {"rounds": measured})


def _rows(
    options: argparse.Namespace, model: Path, rest: list[str], measured: list[dict[str, Any]]
) -> Iterator[Row]:
    project = _project(options)
    if not project.exists():
        _create(options, project, rest)
    for number in range(1, options.rounds + 1):
        part = rest[(number - 1) * options.round : number * options.round]
        found = _round(options, project, model, number, part)
        measured.append(found)
        yield _row(found)


def _curve(options: argparse.Namespace, model: Path, measured: list[dict[str, Any]]) -> list[Point]:
    """The start model and the model of every round, promoted or not, on SciERC dev."""
    dev = list(_documents(options.data / "scierc" / "dev.jsonl"))
    project = _project(options)
    rounds = [
        (project.with_name(f"{project.stem}-run-{each['round']}") / MODEL, each["corrected"])
        for each in measured
    ]
    return [point(folder, corrected, dev) for folder, corrected in [(model, 0), *rounds]]


def _project(options: argparse.Namespace) -> Path:
    folder: Path = options.folder
    return folder / "replayed.sciextract"


def _start_model(options: argparse.Namespace, lines: list[str]) -> Path:
    output: Path = options.folder / "start"
    dev = lines[::10]
    _write(options.folder / "start-dev.jsonl", dev)
    _write(options.folder / "start-train.jsonl", [line for line in lines if line not in dev])
    _write(options.folder / "base.jsonl", lines)
    if not output.exists():
        job = make_job(
            "sci-teacher-1", {"encoder": str(options.encoder)}, schema="scierc",
            data=options.folder / "start-train.jsonl", dev=options.folder / "start-dev.jsonl",
            output=output,
        )  # fmt: skip
        run_training(job, _quiet)
    return output


def _round(
    options: argparse.Namespace, project: Path, model: Path, number: int, part: list[str]
) -> dict[str, Any]:
    kept = project.with_name(f"{project.stem}-{number}.json")
    if kept.exists():
        found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
        return found
    new = _write(project.with_name(f"part-{number}.jsonl"), part)
    with open_project(project, "gold") as opened:
        import_files(opened, [str(new)], done=tuple(Layer))
        used = number > 1 and _in_use(options, project)
    base, gate = str(options.folder / "base.jsonl"), str(options.data / "scierc" / "dev.jsonl")
    request = RetrainRequest(
        project=str(project), base=base, gate=gate, model=None if used else str(model)
    )
    since = time.monotonic()
    folder = project.with_name(f"{project.stem}-run-{number}")
    result = retrain(request, folder, LocalTrainer(CPU), _quiet)
    assert isinstance(result, RetrainResult)
    found = {"round": number, "corrected": number * options.round, "promoted": result.promoted,
             "minutes": (time.monotonic() - since) / 60, **result.report.to_json()}  # fmt: skip
    kept.write_text(json.dumps(found, indent=1), "utf-8")
    return found


def _in_use(options: argparse.Namespace, project: Path) -> bool:
    """Whether an earlier round's model was promoted; else the start model stays where training begins."""
    kept = options.folder.glob(f"{project.stem}-*.json")
    return any(json.loads(each.read_text("utf-8"))["promoted"] for each in kept)


def _create(options: argparse.Namespace, project: Path, rest: list[str]) -> None:
    """A project with all abstracts that are going to be corrected, and some that nobody looks at."""
    create_project(project, load_schema("scierc"), "gold").close()
    texts = [
        json.dumps({"doc_key": item.document.doc_key, "text": item.document.text}) + "\n"
        for item in _documents(_write(options.folder / "rest.jsonl", rest))
    ]
    with gzip.open(options.data / "unlabelled" / UNLABELLED, "rt", encoding="utf-8") as lines:
        few = list(islice(lines, UNDECIDED))
    files = [
        _write(options.folder / "texts.jsonl", texts),
        _write(options.folder / "few.jsonl", few),
    ]
    with open_project(project, "gold") as opened:
        import_files(opened, [str(file) for file in files])


def _documents(path: Path) -> Iterator[AnnotatedDocument]:
    for item in formats.read([path]):
        if isinstance(item, BadRecord):
            raise item.error
        yield item


def _row(found: dict[str, Any]) -> Row:
    target, tasks = found["target"], found["tasks"]
    each = ", ".join(
        f"{name} {one['before']:.1f} to {one['after']:.1f}" for name, one in tasks.items()
    )
    value = (
        f"{target['before']:.1f} to {target['after']:.1f} (90 % interval of the difference "
        f"{target['low']:+.1f} to {target['high']:+.1f}; {each}); {found['verdict']}, {found['minutes']:.1f} min"
    )
    what = f"round {found['round']}, {found['corrected']} abstracts corrected so far"
    return Row(what, value, f"{LONGEST_MINUTES:g} min", found["minutes"] <= LONGEST_MINUTES)


def _write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines), "utf-8")
    return path


def _quiet(event: TrainingEvent) -> None:
    if isinstance(event, DevScored | GateScored | RunDone):
        print(json.dumps(event.to_json())[:300], file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with scierc/, unlabelled/")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of the encoder")
    parser.add_argument("--folder", type=Path, required=True, help="resumable results")
    parser.add_argument("--start", type=int, default=250, help="documents of the start model")
    parser.add_argument("--round", type=int, default=20, help="documents a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--svg", type=Path, help="draw the learning curve there")
    parser.add_argument("--json", help="write everything measured there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
