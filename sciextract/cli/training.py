"""``sciextract retrain``: train on a project, or from files. The trainer is imported only when the command runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard

import typer

from sciextract.cli.console import ProjectOption, say
from sciextract.cli.training_screen import (
    needs_extra,
    reporting,
    show_result,
    show_seeds,
    stoppable,
)
from sciextract.errors import InputMissingError, OutputError, UsageError, as_command

if TYPE_CHECKING:
    from sciextract.retraining.events import Listener
    from sciextract.retraining.remote.trainer import RemoteTarget
    from sciextract.retraining.request import RetrainRequest
    from sciextract_trainer.run import TrainingJob


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
    chosen = device if device is not None else "cuda" if gpu else "auto"
    if gpu and chosen != "cuda":
        raise UsageError(f"--gpu and --device {chosen} exclude each other", "leave one of them out")
    of_remote = _given(remote_python=remote_python, slurm=slurm, detach=detach)
    if of_remote and remote is None:
        raise UsageError(f"{of_remote[0]} is for --remote HOST", "name a host")
    of_files = _given(
        data=data, dev=dev, output=output, encoder=encoder, schema=schema,
        processes=processes, seeds=seeds,
    )  # fmt: skip
    of_projects = _given(
        project=project, base=base, gate=gate, model=model, name=name, blind_gate=blind_gate,
        remote=remote,
    )  # fmt: skip
    if of_files and of_projects:
        raise UsageError(
            f"{of_files[0]} is for training from files, {of_projects[0]} for a project",
            "give --data, --dev and --output, or --project",
        )
    folder = None if run is None else Path(run)
    if of_files:
        _train_files(
            _FilesOptions(
                data=data, dev=dev, output=output, encoder=encoder, schema=schema, recipe=recipe,
                seed=seed, seeds=seeds, epochs=epochs, augment=augment, device=chosen,
                processes=processes, run=folder, as_json=as_json,
            )
        )  # fmt: skip
        return
    from sciextract.retraining.request import RetrainRequest

    request = RetrainRequest(
        project=project, base=base, gate=gate, model=model, recipe=recipe, epochs=epochs,
        seed=seed, augment=augment, name=name, blind_gate=blind_gate or None,
    )  # fmt: skip
    if _is_remote(folder):
        _follow(folder, as_json)
    elif remote is not None:
        from sciextract.retraining.remote.trainer import RemoteTarget

        target = RemoteTarget(remote, remote_python or "python3", chosen, slurm)
        _train_remotely(request, folder, target, detach, as_json)
    else:
        _train_project(request, folder, chosen, as_json)


def _given(**options: object) -> list[str]:
    """Those of some options that the command line holds."""
    return [
        f"--{key.replace('_', '-')}"
        for key, value in options.items()
        if value is not None and value is not False
    ]


def _train_project(
    request: RetrainRequest, folder: Path | None, device: str, as_json: bool
) -> None:
    with needs_extra():
        from sciextract_trainer.hardware.device import choose_device
        from sciextract_trainer.hardware.distributed import require_alone
        from sciextract_trainer.retraining import LocalTrainer

    from sciextract.retraining.run import retrain as run_retraining

    require_alone()
    request = _with_project(request, folder)
    with stoppable(), reporting(as_json) as listener:
        trainer = LocalTrainer(choose_device(device))
        result = run_retraining(request, folder, trainer, listener)
    if not as_json:
        show_result(result)


def _train_remotely(
    request: RetrainRequest, folder: Path | None, target: RemoteTarget, detach: bool, as_json: bool
) -> None:
    from sciextract.retraining.remote.trainer import RemoteTrainer
    from sciextract.retraining.run import retrain as run_retraining
    from sciextract.retraining.run_folder import Run

    request = _with_project(request, folder)
    with stoppable(), reporting(as_json) as listener:
        trainer = RemoteTrainer.on(target, folder, listener, detach=detach)
        result = run_retraining(request, folder, trainer, listener)
    if isinstance(result, Run):
        watch = as_command("sciextract", "jobs", "attach", result.name)
        say("", f"{result.name} runs on {target.host}", watch)
    elif not as_json:
        show_result(result)


def _follow(folder: Path, as_json: bool) -> None:
    """Take up a run that has a job on another machine."""
    from sciextract.retraining.remote.trainer import attach
    from sciextract.retraining.run_folder import Run

    with stoppable(), reporting(as_json) as listener:
        result = attach(Run(folder), listener, again=True)
    if not as_json:
        show_result(result)


def _with_project(request: RetrainRequest, folder: Path | None) -> RetrainRequest:
    """The request with a project, which is looked for unless the run was begun with one."""
    from sciextract.retraining.request import is_begun

    if folder is not None and is_begun(folder):
        return request
    from sciextract.workflows.project_choice import find_project

    return replace(request, project=str(find_project(request.project)))


def _is_remote(folder: Path | None) -> TypeGuard[Path]:
    """Whether the run that is taken up has a job on another machine."""
    if folder is None:
        return False
    from sciextract.retraining.remote.jobs import place_of
    from sciextract.retraining.run_folder import Run

    place = place_of(Run(folder))
    return place is not None and place.state != "sending"


@dataclass(frozen=True, slots=True, kw_only=True)
class _FilesOptions:
    """The options of a training from files, as on the command line."""

    data: str | None
    dev: str | None
    output: str | None
    encoder: str | None
    schema: str | None
    recipe: str | None
    seed: int | None
    seeds: int | None
    epochs: int | None
    augment: float | None
    device: str
    processes: int | None
    run: Path | None
    as_json: bool

    def job(self) -> TrainingJob:
        """What they ask for.

        Raises:
            UsageError: One is missing or cannot be.
            InputMissingError: There are no such data.
            OutputError: The output exists.
        """
        from sciextract_trainer.run import make_job

        if self.seed is not None and self.seeds is not None:
            raise UsageError(
                "--seed and --seeds exclude each other", "--seeds N takes seeds 1 to N"
            )
        if self.processes is not None and self.seeds is not None:
            raise UsageError(
                "--processes and --seeds exclude each other", "give each --seed a command"
            )
        data, output = Path(str(self.data)), Path(str(self.output))
        dev = data if self.dev is None else Path(self.dev)
        for path in (data, dev):
            if not path.exists():
                raise InputMissingError(f"{path}: no such file")
        if output.exists() and self.seeds is None:
            raise OutputError(
                f"{output} exists already", "give another --output; nothing is overwritten"
            )
        settings = {
            "encoder": self.encoder,
            "seed": self.seed,
            "epochs": self.epochs,
            "augment": self.augment,
        }
        return make_job(
            self.recipe or "scierc-joint",
            {key: value for key, value in settings.items() if value is not None},
            schema=self.schema or "scierc", data=data, dev=dev, output=output,
            run_folder=self.run, device=self.device,
        )  # fmt: skip

    def require_paths(self) -> None:
        """Refuse options without data, dev data or output.

        Raises:
            UsageError: One is missing.
        """
        has_dev = self.dev is not None or _has_dev(self.data)
        needed = {"--data": self.data, "--dev": has_dev or None, "--output": self.output}
        missing = [name for name, value in needed.items() if value is None]
        if missing:
            raise UsageError(f"{missing[0]} is missing", "from files: --data, --dev and --output")


def _has_dev(data: str | None) -> bool:
    """Whether the data are a folder with a validation split."""
    from sciextract.formats.inputs import Part, splits_of

    return data is not None and Part.DEV in splits_of(Path(data))


def _train_files(options: _FilesOptions) -> None:
    options.require_paths()
    with needs_extra():
        from sciextract_trainer.hardware.distributed import is_first, is_member
        from sciextract_trainer.hardware.launch import run_together

    from sciextract.retraining.curves import figure_of
    from sciextract.retraining.events import FilesDone, FilesStarted, Stopped
    from sciextract.retraining.run_folder import Run

    job = options.job()
    if options.processes is not None and not is_member():
        command = [sys.executable, "-m", "sciextract", *sys.argv[1:]]
        with stoppable():
            raise typer.Exit(run_together(command, options.processes, job.device))
    with stoppable(), reporting(options.as_json, is_first()) as listener:
        config = job.config
        listener(FilesStarted(epochs=config.epochs, device=str(job.device), bf16=config.bf16))
        try:
            scores = _trained(job, options.seeds, listener)
        except KeyboardInterrupt:
            listener(Stopped(message="stopped", hint="the same command"))
            raise
        curves = figure_of(Run(job.run_folder))
        listener(FilesDone(output=str(job.output), scores=scores, curves=curves))
    if options.seeds is not None and not options.as_json and is_first():
        show_seeds(scores)


def _trained(job: TrainingJob, seeds: int | None, listener: Listener) -> dict[str, Any]:
    """Scores of one training, or of as many seeds."""
    if seeds is None:
        from sciextract_trainer.run import run_training

        return run_training(job, listener)
    from sciextract_trainer.seeds import run_seeds

    return run_seeds(job, range(1, seeds + 1), listener).to_json()
