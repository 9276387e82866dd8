"""``sciextract retrain``: train on a project, or from files. The trainer is imported only when the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciextract.cli.console import ProjectOption, say
from sciextract.cli.training_screen import (
    needs_extra,
    reporting,
    same_command,
    show_ending,
    show_seeds,
    stoppable,
)
from sciextract.errors import InputMissingError, OutputError, UsageError, as_command

if TYPE_CHECKING:
    from sciextract.retraining.request import Ending, Order
    from sciextract.retraining.run_folder import Run
    from sciextract.workflows.events import Report
    from sciextract_trainer.run import TrainingJob

Words = dict[str, Any]

_OF_FILES = ("data", "dev", "output", "encoder", "schema", "processes", "seeds")
_OF_PROJECTS = ("project", "base", "gate", "model", "name", "blind_gate")
_SETTINGS = ("seed", "epochs", "augment")
_OF_RECIPES = ("recipe", *_SETTINGS)
_OF_REMOTE = ("remote_python", "slurm", "detach")
_FILES_RECIPE = "scierc-joint"


def retrain(
    project: ProjectOption = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Your copy of a published set: seen again in training."),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="More gold to compare the old and the new model on."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="Model to train on (default: the one in use)."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the new model (default: the project's).")
    ] = None,
    blind_gate: Annotated[
        bool,
        typer.Option(
            "--blind-gate",
            help="Show held-out abstracts not corrected from a model's suggestions apart, too.",
        ),
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Training documents with gold, or a folder of splits; no project.",
        ),
    ] = None,
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Documents for selection and scores (default: the validation split of --data).",
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option(metavar="DIR", help="With --data: the model folder to write.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="ID|DIR", help="With --data: Hugging Face encoder to start from."),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="With --data: label schema (default: scierc)."),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Training recipe, TOML (default: correction-round; with --data: scierc-joint).",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the recipe's.")] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="With --data: train with seeds 1 to N; prints mean and deviation."
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs, instead of the recipe's.")] = None,
    augment: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Documents with swapped entities per training document and epoch (1: as many again).",
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="auto, cpu, cuda or mps (default: auto).")
    ] = None,
    gpu: Annotated[bool, typer.Option("--gpu", help="The same as --device cuda.")] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With --data: processes that train together, each on a GPU of its own.",
        ),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option(metavar="[USER@]HOST", help="Train there, over ssh; ~/.ssh/config holds."),
    ] = None,
    remote_python: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Python on that machine (default: python3)."),
    ] = None,
    slurm: Annotated[bool, typer.Option("--slurm", help="Through SLURM on that machine.")] = False,
    detach: Annotated[
        bool,
        typer.Option("--detach", help="Come back once the job runs there; see sciextract jobs."),
    ] = False,
    run: Annotated[
        str | None, typer.Option(metavar="DIR", help="Run folder; a stopped run goes on from it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print progress as JSON lines.")] = False,
) -> None:
    """Train on what was corrected in a project, and use the new model where it is better.

    A snapshot of the project is taken, the model in use is trained on, and old and new are compared on
    held-out abstracts. The new one is registered; it is put in use only when it is very likely better.
    Ctrl-C stops at a point from which --run DIR goes on.

    With --data a model is trained from files, from any Hugging Face encoder.

    Examples:

        sciextract retrain --project parsing.sciextract

        sciextract retrain --gpu --base scierc-train.jsonl

        sciextract retrain --remote gpubox --gpu

        sciextract retrain --encoder KISTI-AI/scideberta-cs --data train.jsonl --dev dev.jsonl --output my-model
    """
    given = locals()
    words = {key: value for key, value in given.items() if value is not None and value is not False}
    where = _device(words)
    alone = [key for key in _OF_REMOTE if key in words and "remote" not in words]
    if alone:
        raise UsageError(f"--{alone[0].replace('_', '-')} is for --remote HOST", "name a host")
    if _wants_files(words):
        _train_files(words, where)
    elif "remote" in words or _is_remote(words):
        _train_elsewhere(words, where)
    else:
        _train_project(words, where)


def _device(words: Words) -> str:
    device = str(words.get("device", "cuda" if "gpu" in words else "auto"))
    if "gpu" in words and device != "cuda":
        raise UsageError(f"--gpu and --device {device} exclude each other", "leave one of them out")
    return device


def _wants_files(words: Words) -> bool:
    """Whether training is from files; words of both ways are refused.

    Raises:
        UsageError: The words do not fit together, or one is missing.
    """
    of_files = [key for key in _OF_FILES if key in words]
    of_projects = [key for key in (*_OF_PROJECTS, "remote") if key in words]
    if of_files and of_projects:
        raise UsageError(
            f"--{of_files[0]} is for training from files, {_option(of_projects[0])} for a project",
            "give --data, --dev and --output, or --project",
        )
    missing = [key for key in ("data", "dev", "output") if key not in words]
    if "dev" in missing and _has_dev(words.get("data")):
        missing.remove("dev")
    if of_files and missing:
        raise UsageError(f"--{missing[0]} is missing", "from files: --data, --dev and --output")
    return bool(of_files)


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _train_project(words: Words, device: str) -> None:
    with needs_extra():
        from sciextract_trainer.hardware.distributed import require_alone
        from sciextract_trainer.retraining import retrain_project
    require_alone()
    order, folder = _order(words)
    with stoppable(), reporting("as_json" in words) as report:
        ending = retrain_project(order, folder, device, report)
    if "as_json" not in words:
        show_ending(ending)


def _train_elsewhere(words: Words, device: str) -> None:
    from sciextract.retraining.remote_run import Where, attach, retrain_elsewhere
    from sciextract.retraining.run_folder import Run

    order, folder = _order(words)
    with stoppable(), reporting("as_json" in words) as report:
        if folder is not None and _is_remote(words):
            ended: Ending | Run = attach(Run(folder), report, again=True)
        else:
            python, slurm = words.get("remote_python", "python3"), "slurm" in words
            where = Where(words["remote"], python, device, slurm)
            ended = retrain_elsewhere(order, folder, where, report, detach="detach" in words)
    if isinstance(ended, Run):
        watch = as_command("sciextract", "jobs", "attach", ended.name)
        say("", f"{ended.name} runs on {words['remote']}", watch)
    elif "as_json" not in words:
        show_ending(ended)


def _order(words: Words) -> tuple[Order, Path | None]:
    """What is wanted, and the run folder; a project is looked for unless the run was begun with one."""
    from sciextract.retraining.request import Order, is_begun

    wanted = {key: words[key] for key in (*_OF_PROJECTS, *_OF_RECIPES) if key in words}
    folder = Path(words["run"]) if "run" in words else None
    if folder is None or not is_begun(folder):
        from sciextract.workflows.project_choice import find_project

        wanted["project"] = str(find_project(words.get("project")))
    return Order(**wanted), folder


def _is_remote(words: Words) -> bool:
    """Whether the run that is taken up has a job on another machine."""
    if "run" not in words:
        return False
    from sciextract.retraining.remote.jobs import place_of
    from sciextract.retraining.run_folder import Run

    place = place_of(Run(Path(words["run"])))
    return place is not None and place.state != "sending"


def _has_dev(data: str | None) -> bool:
    """Whether the data are a folder with a validation split."""
    from sciextract.formats.inputs import Part, splits_of

    return data is not None and Part.DEV in splits_of(Path(data))


def _train_files(words: Words, device: str) -> None:
    with needs_extra():
        from sciextract_trainer.hardware.distributed import is_first, is_member
        from sciextract_trainer.hardware.launch import run_together
        from sciextract_trainer.run import make_job

    from sciextract.retraining.curves import figure_of
    from sciextract.retraining.run_folder import Run

    if "seed" in words and "seeds" in words:
        raise UsageError("--seed and --seeds exclude each other", "--seeds N takes seeds 1 to N")
    if "processes" in words and "seeds" in words:
        raise UsageError("--processes and --seeds exclude each other", "give each --seed a command")
    data, output = Path(words["data"]), Path(words["output"])
    dev = Path(words["dev"]) if "dev" in words else data
    for path in (data, dev):
        if not path.exists():
            raise InputMissingError(f"{path}: no such file")
    if output.exists() and "seeds" not in words:
        raise OutputError(
            f"{output} exists already", "give another --output; nothing is overwritten"
        )
    job = make_job(
        words.get("recipe", _FILES_RECIPE),
        {key: words[key] for key in ("encoder", *_SETTINGS) if key in words},
        schema=words.get("schema", "scierc"), data=data, dev=dev, output=output,
        run_folder=Path(words["run"]) if "run" in words else None, device=device,
    )  # fmt: skip
    if "processes" in words and not is_member():
        with stoppable():
            raise typer.Exit(run_together(same_command(words), words["processes"], job.device))
    with stoppable(), reporting("as_json" in words, is_first()) as report:
        report({"event": "start", "epochs": job.config.epochs, "device": str(job.device)})
        try:
            scores = _trained(job, words.get("seeds"), report)
        except KeyboardInterrupt:
            report({"event": "stopped", "message": "stopped", "hint": "the same command"})
            raise
        curves = figure_of(Run(job.run_folder))
        report({"event": "done", "output": str(output), "scores": scores, **curves})
    if "seeds" in words and "as_json" not in words and is_first():
        show_seeds(scores)


def _trained(job: TrainingJob, seeds: int | None, report: Report) -> Words:
    """Scores of one training, or of as many seeds."""
    if seeds is None:
        from sciextract_trainer.run import run_training

        return run_training(job, report)
    from sciextract_trainer.seeds import run_seeds

    return run_seeds(job, range(1, seeds + 1), report).to_json()
