"""``python -m research.gpu_edition pack|run|finish``: the fifth edition of ``sci`` on a GPU that is there for minutes."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from safetensors.torch import load_file, save_file

from research.commands.options import done, run
from research.gpu_edition.parts import read_coarse, write_coarse, write_parts
from research.gpu_edition.stages import (
    SHIPPED,
    STUDENTS,
    TEACHERS,
    Edition,
    label,
    learn,
    read_field,
    student_config,
    teach,
)
from research.models.network_stages import mean_weights
from research.reporting import json_report
from research.unlabelled import usable_abstracts
from sciextract.documents.schema_file import load_schema
from sciextract.errors import InputMissingError, TrainingDataError
from sciextract.formats.inputs import Part
from sciextract.inference.model_folder import locate_model, open_folder
from sciextract_trainer.checkpoint import replacing
from sciextract_trainer.data.gold import read_gold
from sciextract_trainer.loop import BEST
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start import open_start_model

ROOT = Path(__file__).resolve().parents[2]
CODE = (
    "benchmarks", "conftest.py", "pyproject.toml", "research", "sample_data", "schemas", "sciextract", "tests", "trainer",
)  # fmt: skip
SHARDS = 16
SHARES = {"read": 0.25, "teach": 0.35, "label": 0.35, "learn": 1.0}
"""The stages, and of the time that is left when one begins how much it may take."""
ORIGIN = {
    "encoder": "that of the fourth edition, from all-MiniLM-L6-v2 (Apache-2.0)",
    "training data": "SciERC train (Luan et al. 2018; no licence is stated for the data) for the teachers; the students saw no gold",
    "distillation": "soft labels of unlabelled computer science abstracts (without ACL Anthology before 2016)",
    "licence": "Apache-2.0 for the weights",
}
"""What a model card says besides scores."""
GRACE = 15.0
"""Seconds after its time at which a process of a stage is ended."""
CHECKS = (
    ("tests", "-m", "pytest", "-q", "-rs", "-m", "gpu", "-p", "no:cacheprovider", "tests/trainer"),
    ("training", "benchmarks/training_speed.py", "--batches", "8", "32", "--steps", "10"),
    ("inference", "benchmarks/gpu_inference.py", "--device", "cuda", "--rounds", "2"),
)
"""Commands that run beside the first stages: every path of the product on CUDA, and its speed."""

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)
DataOption = Annotated[Path, typer.Option(metavar="DIR", help="Folder of the data sets.")]
MebibytesOption = Annotated[float, typer.Option(help="Largest part, in MiB.")]


@app.command()
def pack(
    output: Annotated[Path, typer.Argument(metavar="PARTS", help="Gets the parts.")],
    data: DataOption,
    encoder: Annotated[Path, typer.Option(metavar="DIR", help="all-mpnet-base-v2.")],
    texts: Annotated[int, typer.Option(min=1, help="Abstracts that travel.")] = 50_000,
    skip: Annotated[int, typer.Option(min=0, help="Abstracts before these.")] = 58_000,
    part: MebibytesOption = 16.0,
) -> None:
    """Write code, texts, gold, the shipped model and the encoder, in six bits a weight, in parts for a machine with a GPU."""
    sources = sorted((data / "unlabelled").glob("cs-*.jsonl.gz"))
    if not sources:
        raise InputMissingError(f"no unlabelled/cs-*.jsonl.gz in {data}", "give the folder --data")
    with TemporaryDirectory() as temporary:
        work = Path(temporary)
        for name in ("texts", "mpnet"):
            (work / name).mkdir()
        rows = list(islice(usable_abstracts(sources, skip + texts), skip, None))
        for number in range(SHARDS):
            with gzip.open(
                work / "texts" / f"{number:02}.jsonl.gz", "wt", encoding="utf-8"
            ) as file:
                for key, title, abstract in rows[number::SHARDS]:
                    print(json.dumps({"id": key, "title": title, "abstract": abstract}), file=file)
        for path in encoder.glob("*.json"):
            shutil.copyfile(path, work / "mpnet" / path.name)
        write_coarse(encoder / "model.safetensors", work / "mpnet" / "coarse.z")
        files = {f"scierc/{name}": data / "scierc" / name for name in ("train.jsonl", "dev.jsonl")}
        files |= {name: work / name for name in ("texts", "mpnet")}
        files |= {f"code/{name}": ROOT / name for name in CODE} | {SHIPPED: locate_model("sci")}
        without = (
            "__pycache__",
            "sciextract/bundled/bio",
            "sciextract/bundled/science",
            "tests/app",
        )
        paths = write_parts(files, output, int(part * 2**20), without)
    done(texts=len(rows), parts=len(paths), bytes=sum(path.stat().st_size for path in paths))


@app.command()
def make(
    packed: Annotated[Path, typer.Argument(metavar="PACKED", help="The unpacked parts.")],
    runs: Annotated[
        Path, typer.Option(metavar="DIR", help="Results of the stages; goes on there.")
    ],
    output: Annotated[Path, typer.Option(metavar="DIR", help="Gets what comes back, in parts.")],
    minutes: Annotated[float, typer.Option(min=1, help="Time for everything.")] = 9.0,
    share: Annotated[float, typer.Option(help="Share of every count, for a rehearsal.")] = 1.0,
    part: MebibytesOption = 15.5,
    checks: Annotated[bool, typer.Option(help="Check the product on CUDA, too.")] = True,
) -> None:
    """Make the students: read, teach, label, learn.

    Each stage does what its share of the time allows: a slow machine drops steps of reading, then epochs of
    teachers, labelled texts and texts of students. The same command goes on after a stop.
    """
    until = time.monotonic() + 60 * minutes - 2 * GRACE
    edition, weights = Edition(packed, runs, share), packed / "mpnet" / "model.safetensors"
    output.mkdir(parents=True, exist_ok=True)
    if not weights.is_file():
        with replacing(weights) as temporary:
            read_coarse(packed / "mpnet" / "coarse.z", temporary)
    count = min(SHARDS, max(2, (os.cpu_count() or 2) - 2))
    stages: dict[str, dict[str, Stage]] = {
        "read": {"read": partial(read_field, edition)},
        "teach": {f"teacher-{seed}": partial(teach, edition, seed) for seed in TEACHERS},
        "label": {
            f"label-{number}": partial(label, edition, number, count) for number in range(count)
        },
        "learn": {f"student-{seed}": partial(learn, edition, seed) for seed in STUDENTS},
    }
    # Checks take turns with each other, not with the stages.
    beside = get_context("fork").Process(target=_check, args=(packed / "code", output))
    if checks:
        beside.start()
    for name, jobs in stages.items():
        now = time.monotonic()
        _together(runs, jobs, now + SHARES[name] * (until - now))
        _report(runs, output)
        made = [stage for stage in jobs if (runs / f"{stage}.json").is_file()]
        json_report({"event": name, "made": len(made), "of": len(jobs)})
        if name == "teach" and not made:
            raise TrainingDataError(
                "no teacher has learned anything", f"read {runs}/teacher-1.error"
            )
    files = {f"student-{seed}.safetensors": runs / f"student-{seed}" / BEST for seed in STUDENTS}
    files = {name: path for name, path in files.items() if path.is_file()}
    for name, path in files.items():
        halves = {key: value.half() for key, value in load_file(path).items()}
        save_file(halves, runs / name)
    write_parts({name: runs / name for name in files}, output, int(part * 2**20))
    if checks:
        beside.join(max(0.0, until + GRACE - time.monotonic()))
        beside.kill()
    if len(files) < len(STUDENTS):
        raise TrainingDataError(
            f"{len(files)} of {len(STUDENTS)} students have learned anything",
            "the same command goes on; give it more --minutes",
        )
    done(output=str(output))


Stage = Callable[[float], None]
"""Gets the ``time.monotonic()`` at which to stop."""


def _together(runs: Path, jobs: Mapping[str, Stage], until: float) -> None:
    """Runs the processes of a stage that have not finished before, and ends those that outlast its time."""
    # Forked before anything touches the GPU: imports take a process some ten seconds otherwise.
    context = get_context("fork")
    waiting = {name: job for name, job in jobs.items() if not (runs / f"{name}.json").is_file()}
    processes = [
        context.Process(target=_guard, args=(runs / f"{name}.error", job, until))
        for name, job in waiting.items()
    ]
    for process in processes:
        process.start()
    for process, name in zip(processes, waiting, strict=True):
        process.join(max(0.0, until + GRACE - time.monotonic()))
        if process.is_alive():
            process.kill()
            (runs / f"{name}.error").write_text("ended: it outlasted its time", "utf-8")


def _guard(errors: Path, job: Stage, until: float) -> None:
    """One process of a stage; what it fails of is kept, and the others go on."""
    errors.parent.mkdir(parents=True, exist_ok=True)
    errors.unlink(missing_ok=True)
    try:
        job(until)
    except Exception:  # noqa: BLE001 - another member of an ensemble or of a mean does without it
        errors.write_text(traceback.format_exc(), "utf-8")


def _check(code: Path, output: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": f"{code}:{code / 'trainer'}:{os.environ.get('PYTHONPATH', '')}",
    }
    for name, *words in CHECKS:
        with (output / f"check-{name}.txt").open("w") as file:
            subprocess.run(
                [sys.executable, *words], cwd=code, env=environment, stdout=file, stderr=subprocess.STDOUT,
                check=False,
            )  # fmt: skip


def _report(runs: Path, output: Path) -> None:
    """What each stage did and how fast, and what went wrong, for whoever reads it where the parts arrive."""
    facts = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(runs.glob("*.json"))}
    errors = {path.stem: path.read_text("utf-8") for path in sorted(runs.glob("*.error"))}
    text = json.dumps({"stages": facts, "errors": errors}, indent=1)
    (output / "report.json").write_text(text, "utf-8")


@app.command()
def finish(
    returned: Annotated[Path, typer.Argument(metavar="FOLDER", help="The unpacked parts.")],
    data: DataOption,
    output: Annotated[Path, typer.Option(metavar="DIR", help="Gets the model folders.")],
) -> None:
    """Make model folders of the students that came back and of the mean of their weights, thresholds fitted on dev."""
    start, schema = open_start_model(open_folder(locate_model("sci"))), load_schema("scierc")
    dev = read_gold(data / "scierc" / "dev.jsonl", schema, Part.DEV)
    members = {
        path.stem: load_file(path) for path in sorted(returned.glob("student-*.safetensors"))
    }
    if not members:
        raise InputMissingError(f"no student-*.safetensors in {returned}", "unpack the parts there")
    members = {
        name: {key: value.float() for key, value in member.items()}
        for name, member in members.items()
    }
    members["sci"] = mean_weights(list(members.values()))
    for name, weights in members.items():
        network = start.network(student_config(start, 1))
        network.load_state_dict(weights, strict=False)
        packaging = Packaging(
            name,
            schema,
            start.labels,
            start.rules,
            dev,
            ORIGIN,
            precisions=("int8",),
            weights=False,
        )
        json_report({"event": name, **write_model_folder(network, packaging, output / name).scores})
    done(models=str(output))


def main(words: Sequence[str] | None = None) -> None:
    """Runs the command; an expected error is one message on stderr and its exit code."""
    run(app, words)


if __name__ == "__main__":
    main()
