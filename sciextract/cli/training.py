"""``sciextract retrain``: train on a project, or from files. The trainer is imported only when the command runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sciextract.cli.console import (
    JsonEventsOption,
    JsonOption,
    ProgressLine,
    ProjectOption,
    command_with,
    find_chosen_project,
    flag,
    given_options,
    is_terminal,
    option,
    say,
)
from sciextract.cli.training_screen import (
    needs_extra,
    report_events,
    show_result,
    stop_on_signals,
)
from sciextract.errors import (
    InputMissingError,
    OutputError,
    ProjectMissingError,
    UsageError,
    as_command,
)

if TYPE_CHECKING:
    from sciextract.retraining.run import RetrainResult
    from sciextract.retraining.run_folder import RetrainRequest, Run
    from sciextract_trainer.run import TrainingJob


@dataclass(frozen=True, slots=True)
class RetrainOptions:
    """One field for each word of the command line; its help text says what it means."""

    project: ProjectOption = None
    base: str | None = option("FILE", "Your copy of a published data set, replayed in training.")
    gate: str | None = option("FILE", "Additional gold for the comparison of old and new model.")
    model: str | None = option("NAME|DIR", "Model to start from (default: the one in use).")
    name: str | None = typer.Option(
        None, metavar="NAME", help="Name of the new model (default: the project's)."
    )
    no_cross_validation: bool = flag(
        "Compare on the held-out abstracts only, however few.", "--no-cross-validation"
    )
    data: str | None = option(
        "FILE|DIR", "Training documents with gold, or a folder of splits; no project."
    )
    dev: str | None = option(
        "FILE|DIR",
        "With --data: documents for model selection and scores (default: its validation split).",
    )
    output: str | None = option("DIR", "With --data: the model folder to write.")
    encoder: str | None = option("ID|DIR", "With --data: Hugging Face encoder to start from.")
    schema: str | None = option("NAME|FILE", "With --data: label schema (default: scierc).")
    recipe: str | None = option(
        "NAME|FILE", "Training recipe, TOML (default: correction-round; with --data: scierc-joint)."
    )
    seed: int | None = typer.Option(None, metavar="N", help="Seed (default: the recipe's).")
    epochs: int | None = typer.Option(None, metavar="N", help="Epochs (default: the recipe's).")
    device: str | None = option("NAME", "auto, cpu, cuda or mps (default: auto).")
    gpu: bool = flag("Same as --device cuda.", "--gpu")
    remote: str | None = option(
        "[USER@]HOST", "Train on this machine over ssh; ~/.ssh/config applies."
    )
    remote_python: str | None = option("PATH", "Python on that machine (default: python3).")
    slurm: bool = flag("Through SLURM on that machine.", "--slurm")
    detach: bool = flag("Return once the remote job runs; see sciextract jobs.", "--detach")
    run: str | None = option("DIR", "Run folder; a stopped run resumes from it.")
    as_json: JsonEventsOption = False

    def choose_device_name(self) -> str:
        """The device to train on.

        Raises:
            UsageError: Two are named.
        """
        if self.gpu and self.device not in (None, "cuda"):
            raise UsageError(
                f"--gpu and --device {self.device} cannot be combined", "omit one of them"
            )
        return "cuda" if self.gpu else "auto" if self.device is None else self.device

    def request(self) -> RetrainRequest:
        from sciextract.retraining.run_folder import RetrainRequest

        return RetrainRequest(
            project=self.project, base=self.base, gate=self.gate, model=self.model, recipe=self.recipe,
            epochs=self.epochs, seed=self.seed, name=self.name,
            no_cross_validation=self.no_cross_validation or None,
        )  # fmt: skip

    def job(self) -> TrainingJob:
        """What they ask for.

        Raises:
            UsageError: A setting is unknown or cannot work. InputMissingError: There is no such file, or no such
            recipe. OutputError: The output exists. DeviceError: There is no such device here. SchemaError: The
            schema has a mistake.
        """
        from sciextract.documents.schema_file import load_schema
        from sciextract_trainer.config import find_recipe, load_config
        from sciextract_trainer.hardware import choose_device, has_fast_bf16, own_device
        from sciextract_trainer.run import TrainingJob

        data, output = Path(str(self.data)), Path(str(self.output))
        dev = data if self.dev is None else Path(self.dev)
        for path in (data, dev):
            if not path.exists():
                raise InputMissingError(f"{path}: no such file")
        if output.exists():
            raise OutputError(
                f"{output} exists already",
                "choose another --output; existing files are not overwritten",
            )
        names = ("encoder", "seed", "epochs")
        changes = {name: value for name in names if (value := getattr(self, name)) is not None}
        device = own_device(choose_device(self.choose_device_name()))
        config = load_config(find_recipe(self.recipe or "scierc-joint"), **changes)
        config = replace(config, bf16=config.bf16 and has_fast_bf16(device))
        run = _path(self.run) or output.with_name(f"{output.name}.run")
        schema = load_schema(self.schema or "scierc")
        return TrainingJob(config, schema, data, dev, run, output, output.name, device)

    def require_paths(self) -> None:
        """Refuse options without data, dev data or output.

        Raises:
            UsageError: One is missing.
        """
        from sciextract.formats.inputs import Part, splits_of

        has_dev = self.dev is not None or (
            self.data is not None and Part.DEV in splits_of(Path(self.data))
        )
        needed = {"--data": self.data, "--dev": has_dev or None, "--output": self.output}
        missing = [name for name, value in needed.items() if value is None]
        if missing:
            raise UsageError(f"{missing[0]} is missing", "from files: --data, --dev and --output")


@command_with(RetrainOptions)
def retrain(options: RetrainOptions) -> None:
    """Train on the corrections of a project, and use the new model if it is better.

    Training starts from the model in use, on a snapshot of the project. Both models are compared on held-out abstracts.
    Ctrl-C stops the run; --run DIR resumes it. With --data, a model is trained from files.

    Examples:

        sciextract retrain --base scierc-train.jsonl --gpu

        sciextract retrain --encoder KISTI-AI/scideberta-cs --data train.jsonl --dev dev.jsonl --output my-model
    """
    device = options.choose_device_name()
    of_remote = given_options(options, "remote_python", "slurm", "detach")
    if of_remote and options.remote is None:
        raise UsageError(f"{of_remote[0]} is for --remote HOST", "name a host")
    of_files = given_options(options, "data", "dev", "output", "encoder", "schema")
    of_projects = given_options(
        options, "project", "base", "gate", "model", "name", "no_cross_validation",
        "remote",
    )  # fmt: skip
    if of_files and of_projects:
        raise UsageError(
            f"{of_files[0]} is for training from files, {of_projects[0]} for a project",
            "give --data, --dev and --output, or --project",
        )
    if of_files:
        _train_files(options)
        return
    _train_on_project(options, device)


def learn(
    project: ProjectOption = None,
    name: str | None = option("NAME", "Name of the new model (default: the project's)."),
    output: str | None = option("DIR", "Write this folder instead of registering the model."),
    model: str | None = option(
        "NAME|DIR",
        "Model to learn on (default: the one in use if it knows the labels, else the best).",
    ),
    as_json: JsonOption = False,
) -> None:
    """Make a model of the corrections of a project, in seconds, without PyTorch.

    Only the heads of a model are learned. Cross-validated scores say what to expect on other abstracts of the kind;
    annotate --promise chooses thresholds by them.

    Example:

        sciextract learn --name alloys
    """
    from sciextract.cli.training_screen import show_learned
    from sciextract.retraining.run import model_name
    from sciextract.store import open_project
    from sciextract.workflows.models.learned import learn_model

    path = find_chosen_project(project)
    progress = ProgressLine(is_terminal(sys.stderr))
    with open_project(path, read=True) as opened, progress as line:
        called, folder = model_name(name, path), _path(output)
        learned = learn_model(opened, called, model=model, output=folder, on_progress=line.update)
    show_learned(learned, path, as_json)


def _path(name: str | None) -> Path | None:
    return None if name is None else Path(name)


def _train_on_project(options: RetrainOptions, device: str) -> None:
    """Retrain here or on another machine; a run that has a job there is followed to its end."""
    from sciextract.retraining.run import retrain as run_retraining
    from sciextract.retraining.run_folder import Run, is_begun

    request, folder = options.request(), _path(options.run)
    if folder is not None:
        from sciextract.retraining.remote.jobs import location_of

        location = location_of(Run(folder))
        if location is not None and location.state != "sending":
            from sciextract.retraining.remote.trainer import attach

            with stop_on_signals(), report_events(options.as_json) as listener:
                result: RetrainResult | Run = attach(Run(folder), listener, again=True)
            if not options.as_json:
                show_result(result)
            return
    if options.remote is None:
        with needs_extra():
            from sciextract_trainer.hardware import choose_device, require_alone
            from sciextract_trainer.retraining import LocalTrainer
        require_alone()
        # Before the project is looked for: a device that is not there stops the command at once.
        here = choose_device(device)
    if folder is None or not is_begun(folder):  # a run that was begun knows its project
        project = find_chosen_project(request.project)
        if not project.exists():
            raise ProjectMissingError(
                f"{project}: there is no such project",
                "retrain learns from the corrected abstracts of a project: name one with --project",
            )
        request = replace(request, project=str(project))
    with stop_on_signals(), report_events(options.as_json) as listener:
        if options.remote is None:
            result = run_retraining(request, folder, LocalTrainer(here), listener)
        else:
            from sciextract.retraining.remote.start import RemoteTarget
            from sciextract.retraining.remote.trainer import RemoteTrainer

            python = options.remote_python or "python3"
            target = RemoteTarget(options.remote, python, device, options.slurm)
            remote = RemoteTrainer.on(target, folder, listener, detach=options.detach)
            result = run_retraining(request, folder, remote, listener)
    if isinstance(result, Run):
        watch = as_command("sciextract", "jobs", "attach", result.name)
        say("", f"{result.name} runs on {options.remote}", watch)
    elif not options.as_json:
        show_result(result)


def _train_files(options: RetrainOptions) -> None:
    options.require_paths()
    with needs_extra():
        from sciextract_trainer.hardware import is_first
        from sciextract_trainer.run import run_training

    from sciextract.retraining.events import FilesDone, FilesStarted, Stopped

    job = options.job()
    with stop_on_signals(), report_events(options.as_json, is_first()) as listener:
        config = job.config
        listener(FilesStarted(epochs=config.epochs, device=str(job.device), bf16=config.bf16))
        try:
            scores = run_training(job, listener)
        # A program that reads events learns that it can go on before the process ends.
        except KeyboardInterrupt:
            listener(Stopped(message="stopped", hint="the same command"))
            raise
        listener(FilesDone(output=str(job.output), scores=scores))
