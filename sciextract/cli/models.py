"""``sciextract models``: the registry of models, and which of them predicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import AuthorOption, JsonOption, report, say
from sciextract.errors import ExitCode, UsageError, as_command

if TYPE_CHECKING:
    from sciextract.store import Project


models = typer.Typer(
    name="models",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)

_Model = Annotated[str, typer.Argument(metavar="NAME|DIR", help="The model.", show_default=False)]
_Project = Annotated[
    str | None,
    typer.Option("--project", metavar="DB", help="In this project (default: for you, everywhere)."),
]


@models.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """List, show, choose, compare and hand on models.

    A model is named by NAME, by NAME-hash8 where several have the name, or by its folder; so it is after
    --model, too. Without --model the choice of the project predicts, else yours, else the model that comes
    in the package.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(ExitCode.USAGE)


@models.command("list")
def list_(
    project: _Project = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the models, and mark the one that predicts.

    Examples:

        sciextract models list

        sciextract models list --project parsing.sciextract --json
    """
    from sciextract.cli.models_view import model_lines
    from sciextract.workflows.models import known_models

    with _opened(project, read=True) as opened:
        used, problem = _in_use(opened)
    known = known_models()
    if as_json:
        for each in known:
            typer.echo(json.dumps({**each.to_json(), "in_use": each.folder == used}))
    else:
        for line in model_lines(known, used):
            typer.echo(line)
    if problem:
        from sciextract.text.characters import visible

        typer.echo(visible(f"Warning: {problem}", keep="\n"), err=True)


@models.command()
def show(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|DIR]",
            help="The model (default: the one that predicts).",
            show_default=False,
        ),
    ] = None,
    project: _Project = None,
    as_json: JsonOption = False,
) -> None:
    """Show a model: its card, its scores and where it comes from. Every file is held against its hash.

    Examples:

        sciextract models show

        sciextract models show parsing-1a2b3c4d --json
    """
    from sciextract.cli.models_view import shown
    from sciextract.workflows.models import current, find_model

    with _opened(project if name is None else None, read=True) as opened:
        model = current(opened) if name is None else find_model(name)
    folder = model.open()
    if as_json:
        config = folder.config
        typer.echo(
            json.dumps(
                {
                    **model.to_json(),
                    "config": config.to_json(),
                    "scores": config.scores,
                    "origin": config.origin,
                    "card": model.card(),
                }
            )
        )
        return
    for line in shown(model, folder.config):
        typer.echo(line)


@models.command()
def use(
    name: _Model,
    project: _Project = None,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a model predict from now on: for you, or with --project for all who work on that project.

    The choice of a project is kept in its file and travels with it. A folder that is not registered yet is
    registered first. Nothing that was predicted or decided changes.

    Examples:

        sciextract models use parsing --project parsing.sciextract

        sciextract models use sci
    """
    from sciextract.workflows.models import use as choose

    with _opened(project, author) as opened:
        model = choose(name, opened)
    where = f"in {project}" if project else "wherever no project says otherwise"
    report(
        {"model": model.id, "project": project},
        f"{model.id} predicts {where}; sciextract models rollback takes that back",
        **_plain(as_json),
    )


@models.command()
def rollback(
    project: _Project = None, author: AuthorOption = None, as_json: JsonOption = False
) -> None:
    """Take the latest choice of a model back; what was chosen before it predicts again.

    Examples:

        sciextract models rollback --project parsing.sciextract

        sciextract models rollback
    """
    from sciextract.workflows.models import rollback as take_back

    with _opened(project, author) as opened:
        found = take_back(opened)
    whose = {"project": "as chosen for the project before", "user": "as you chose"}
    report(
        {"model": found.model.id, "by": found.by, "project": project},
        f"{found.model.id} predicts again, {whose.get(found.by, 'the model in the package')}",
        **_plain(as_json),
    )


@models.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="The model before.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The model after.")],
    data: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Gold that both predict (default: stated scores)."),
    ] = None,
    blind_gate: Annotated[
        bool,
        typer.Option(
            "--blind-gate",
            help="With --data: show abstracts not corrected from a model's suggestions apart, too.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two models: scores, differences, and with --data 90 % intervals from resampled abstracts.

    With --data both predict the same gold, which neither should have been trained on; the verdict is that of
    the gate after a training. Without it the scores that the models state are compared.

    Examples:

        sciextract models compare sci parsing --data held-out.jsonl

        sciextract models compare sci ./my-model --json
    """
    from sciextract.cli.console import say
    from sciextract.cli.models_view import comparison_table
    from sciextract.workflows.models.compare import compare as held_together

    if blind_gate and data is None:
        raise UsageError("--blind-gate is for --data FILE", "name the file to compare on")
    found = held_together(first, second, data, blind=blind_gate)
    if as_json:
        typer.echo(json.dumps(found.to_json()))
    else:
        comparison_table(found)
    for error in found.bad_records:
        say("Bad record", error.message, error.hint)
    if found.bad_records:
        raise typer.Exit(ExitCode.PARTIAL)


@models.command()
def export(
    name: _Model,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What to write: a name in .tar or .zip.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a model into one file, to hand on or to keep. The same model gives the same bytes.

    Examples:

        sciextract models export parsing parsing.tar

        sciextract models export parsing-1a2b3c4d parsing.zip --force
    """
    from pathlib import Path

    from sciextract.workflows.models import export as write

    model = write(name, Path(file), force=force)
    bring = as_command("sciextract", "models", "import", file)
    words = f"{model.id} is in {file}; {bring} brings it in elsewhere"
    report({"model": model.id, "file": file}, words, **_plain(as_json))


@models.command("import")
def import_(
    file: Annotated[
        str, typer.Argument(metavar="FILE|DIR", help="A .tar or .zip of a model, or its folder.")
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to call it (default: its own name).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Register a model from a file or folder, once every part of it has the hash of its manifest.

    It predicts only when it is chosen: with models use, or with --model for once.

    Examples:

        sciextract models import parsing.tar

        sciextract models import my-model --name parsing
    """
    from pathlib import Path

    from sciextract.workflows.models import import_ as bring_in

    model = bring_in(Path(file), name)
    use = as_command("sciextract", "models", "use", model.id)
    words = f"{model.id} is registered; {use} lets it predict"
    report({**model.to_json()}, words, **_plain(as_json))


@contextmanager
def _opened(
    path: str | None, author: str | None = None, *, read: bool = False
) -> Iterator[Project | None]:
    """The named project, or nothing."""
    if path is None:
        yield None
        return
    from sciextract.store import open_project

    with open_project(path, author, read=read) as project:
        yield project


def _in_use(project: Project | None) -> tuple[object, str]:
    """The folder of the model that predicts, and what is wrong when the chosen one cannot."""
    from sciextract.errors import ModelDamagedError, ModelNotFoundError
    from sciextract.workflows.models import current

    try:
        return current(project).folder, ""
    except (ModelNotFoundError, ModelDamagedError) as error:
        return None, f"{error.message}\n  {error.hint}"


def _plain(as_json: bool) -> dict[str, bool]:
    return {"as_json": as_json, "aside": False, "quiet": False}


def curves(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The model that came of the training.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="DIR", help="Its run folder, instead of a model.")
    ] = None,
    output: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where to write (default: the run folder).")
    ] = None,
) -> None:
    """Draw how losses and dev scores went in a training, as curves.png and curves.svg.

    Examples:

        sciextract models curves parsing

        sciextract models curves --run my-model.run --output figures
    """
    from sciextract.errors import OutputError
    from sciextract.retraining.curves import draw_curves, run_named
    from sciextract.workflows.output import reported_as

    found = run_named(name, run)
    folder = Path(output) if output else None
    if folder is not None:
        with reported_as(str(folder)):
            folder.mkdir(parents=True, exist_ok=True)
    drawn = draw_curves(found, folder)
    if drawn.figure is None:
        raise OutputError(drawn.problem, f"the run: {found.folder}")
    say("", f"{drawn.figure} and {drawn.figure.with_suffix('.svg').name}")
