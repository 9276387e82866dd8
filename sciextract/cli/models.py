"""``sciextract models``: the registry of models, and which of them predicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import (
    AuthorOption,
    JsonOption,
    argument,
    command_group,
    flag,
    option,
    print_row,
    report,
    say,
)
from sciextract.errors import (
    ExitCode,
    ModelDamagedError,
    ModelNotFoundError,
    as_command,
)
from sciextract.text.characters import visible

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig
    from sciextract.store import Project
    from sciextract.workflows.models.registry import KnownModel


models = command_group(
    "models",
    "List, show, choose, compare, export and import models.\n\n"
    "A model is named by NAME, by NAME-hash8 where several share the name, or by its folder, as for --model. Without"
    " --model, the project's model is used, else your choice, else the bundled one.",
    alone=True,
)

_Model = Annotated[str, argument("NAME|DIR", "The model.", show_default=False)]
_Project = Annotated[
    str | None,
    option("DB", "Apply to this project (default: to all projects).", "--project", default=...),
]


@models.command("list")
def list_(project: _Project = None, as_json: JsonOption = False) -> None:
    """List the models, and mark the one in use."""
    from sciextract.workflows.models.choice import current
    from sciextract.workflows.models.registry import known_models

    used, problem = None, ""
    with _open(project, read=True) as opened:
        try:
            used = current(opened).folder
        except (ModelNotFoundError, ModelDamagedError) as error:
            problem = (
                f"{error.message}\n  {error.hint}"  # the list shows what can be chosen instead
            )
    for model in known_models():
        words = "in the package" if model.bundled else f"since {model.since[:16]}".replace("T", " ")
        if model.distribution:
            words = f"from {model.distribution}"
        if model.problem:
            words = f"cannot be used: {model.problem}"
        in_use = model.folder == used
        line = f"{'*' if in_use else ' '} {model.id:<32}  {words}"
        print_row({**model.to_json(), "in_use": in_use}, line, as_json)
    if problem:
        typer.echo(visible(f"Warning: {problem}", keep="\n"), err=True)


@models.command()
def show(
    name: str | None = argument(
        "[NAME|DIR]", "The model (default: the one in use).", show_default=False, default=None
    ),
    project: _Project = None,
    as_json: JsonOption = False,
) -> None:
    """Show a model: its card, scores and origin. Every file is checked against its hash."""
    from sciextract.inference.model_folder import CONFIG
    from sciextract.workflows.models.choice import current
    from sciextract.workflows.models.registry import find_model

    # A name needs no project, which may be damaged.
    with _open(project if name is None else None, read=True) as opened:
        model = current(opened) if name is None else find_model(name)
    folder = model.open()
    config = folder.config
    if not as_json:
        typer.echo("\n".join(_card_lines(model, config)))
        return
    stored = json.loads((folder.path / CONFIG).read_bytes())
    parts = {"config": stored, "scores": config.scores, "origin": config.origin}
    typer.echo(json.dumps({**model.to_json(), **parts, "card": model.card()}))


@models.command()
def use(
    name: _Model, project: _Project = None, author: AuthorOption = None, as_json: JsonOption = False
) -> None:
    """Choose the model to use: for yourself, or with --project for a project.

    Predictions and decisions that exist do not change.

    Example:

        sciextract models use parsing --project parsing.sciextract
    """
    from sciextract.workflows.models.choice import use as choose

    with _open(project, author) as opened:
        model = choose(name, opened)
    where = f"in {project}" if project else "unless a project has its own model"
    words = f"{model.id} predicts {where}; sciextract models rollback takes that back"
    report({"model": model.id, "project": project}, words, as_json)


@models.command()
def rollback(
    project: _Project = None, author: AuthorOption = None, as_json: JsonOption = False
) -> None:
    """Revert the latest choice of a model; the previous one is used again."""
    from sciextract.workflows.models.choice import rollback as take_back

    with _open(project, author) as opened:
        current = take_back(opened)
    whose = {"project": "as previously chosen for the project", "user": "as you chose"}
    words = f"{current.model.id} predicts again, {whose.get(current.by, 'the bundled model')}"
    report({"model": current.model.id, "by": current.by, "project": project}, words, as_json)


@models.command()
def compare(
    first: str = argument("A", "The model before."),
    second: str = argument("B", "The model after."),
    data: str = option("FILE", "Gold to predict with both.", default=...),
    as_json: JsonOption = False,
) -> None:
    """Compare two models on gold: scores, and differences with 90 % bootstrap intervals.

    Neither should have been trained on it. The scores that a model states itself are in models show.

    Example:

        sciextract models compare sci parsing --data held-out.jsonl
    """
    from sciextract.cli.evaluate import comparison_table
    from sciextract.workflows.models.compare import compare as compare_models

    comparison = compare_models(first, second, data)
    if as_json:
        typer.echo(json.dumps(comparison.to_json()))
    else:
        comparison_table(comparison)
    for error in comparison.bad_records:
        say("Bad record", error.message, error.hint)
    if comparison.bad_records:
        raise typer.Exit(ExitCode.PARTIAL)


@models.command()
def export(
    name: _Model,
    file: str = argument("FILE", "The file to write, a .zip."),
    force: bool = flag("Replace an existing file.", "--force"),
    with_base: bool = flag("Include the model that it was learned on.", "--with-base"),
    as_json: JsonOption = False,
) -> None:
    """Write a model into one file, to share or archive.

    Example:

        sciextract models export parsing parsing.zip
    """
    from sciextract.workflows.models.registry import export as write

    model = write(name, Path(file), force=force, with_base=with_base)
    bring = as_command("sciextract", "models", "import", file)
    words = f"{model.id} is in {file}; {bring} brings it in elsewhere"
    report({"model": model.id, "file": file}, words, as_json)


@models.command("import")
def import_(
    file: str = argument("FILE|DIR", "A .zip of a model, or its folder."),
    name: str | None = option("NAME", "Name to register it under (default: its own)."),
    as_json: JsonOption = False,
) -> None:
    """Register a model from a file or folder, after a check of all hashes.

    Choose it with models use, or with --model for one command.

    Example:

        sciextract models import parsing.zip
    """
    from sciextract.workflows.models.registry import import_ as bring_in

    model = bring_in(Path(file), name)
    use = as_command("sciextract", "models", "use", model.id)
    words = f"{model.id} is registered; {use} lets it predict"
    report({**model.to_json()}, words, as_json)


def _card_lines(model: KnownModel, config: ModelConfig) -> Iterator[str]:
    from sciextract.workflows.models.compare import STATED, graph_scores

    yield visible(f"{model.id}  ({model.folder})")
    yield visible(f"hash {model.hash}")
    if model.distribution:
        yield visible(f"from {model.distribution}")
    if model.since:
        yield f"registered {model.since}"
    scores = graph_scores(config)
    words = [f"{title} {scores[name]:.1f}" for name, title in STATED.items() if name in scores]
    if words:
        yield f"stated F1: {', '.join(words)}"
    yield ""
    card = model.card() or "\n".join(f"- {key}: {value}" for key, value in config.origin.items())
    yield visible(card.rstrip(), keep="\n")


def _open(
    path: str | None, author: str | None = None, *, read: bool = False
) -> AbstractContextManager[Project | None]:
    if path is None:
        return nullcontext()
    from sciextract.store import open_project

    return open_project(path, author, read=read)
