"""``python -m research recipe``: what can be trained, and the tables of the SciDeBERTa paper for the encoders at hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from research.commands.options import DeviceOption, needs_extra
from sciextract.cli.console import argument, command_group, option, say
from sciextract.errors import ExitCode, InputMissingError, UsageError
from sciextract.text.characters import visible
from sciextract.text.english import duration

if TYPE_CHECKING:
    from research.paper.events import CellEvent
    from research.paper.run import GridOrder, GridRun
    from sciextract.retraining.events import Listener, TrainingEvent


recipe = command_group(
    "recipe",
    "List, show and run training recipes and the grids of the SciDeBERTa paper.\n\n"
    "Recipes are for `--recipe` of the commands that train; `recipe run` is for grids, which train"
    " many times.",
)

# Not imported from the modules that load them: these need torch, and listing does not.
_ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = {
    "": (_ROOT / "trainer" / "sciextract_trainer" / "recipes", _ROOT / "research" / "recipes"),
    "paper-": (_ROOT / "research" / "recipes" / "paper",),
}
_PREFIX = "paper-"


@recipe.command("list")
def list_() -> None:
    """List the recipes of the package and of research, and the grids, each with its description.

    Examples:

        python -m research recipe list
    """
    files = _files()
    width = max(map(len, files))
    for name, path in files.items():
        first, _, _ = path.read_text(encoding="utf-8").partition("\n")
        typer.echo(f"{name:<{width}}  {first.lstrip('# ')}")


@recipe.command()
def show(
    name: str = argument("NAME", "A name from `recipe list`."),
) -> None:
    """Print a recipe or grid as TOML; edit a copy and pass its path to use it.

    Examples:

        python -m research recipe show paper-table5 > mine.toml
    """
    typer.echo(_file(name).read_text(encoding="utf-8"), nl=False)


@recipe.command()
def run(
    name: str = argument("NAME|FILE", "A grid, such as paper-table5."),
    data: str = option(
        "DIR", "Folder with train.jsonl and dev.jsonl of the data set.", default=...
    ),
    encoder: list[str] | None = option(
        "ID|DIR",
        "A local encoder, optionally as NAME=DIR; repeatable (default: the paper's, from the local cache).",
    ),
    runs: int | None = option("N", "Seeds per cell (default: the grid's).", min=1),
    epochs: int | None = option("N", "Epochs (default: the grid's).", min=1),
    evaluate_every: int | None = option("N", "Epochs between evaluations on dev.", min=1),
    only: list[str] | None = option(
        "CELL",
        "Only these cells: an encoder, a variant, a column, or several joined with /; repeatable.",
    ),
    documents: int | None = option("N", "Only the first N training documents.", min=1),
    network: Literal["joint", "dygie"] = typer.Option(
        "joint", help="The network of sciextract, or that of the paper (DyGIE++), which is slower."
    ),
    folder: str | None = option("DIR", "Folder for cells and tables; an existing one is resumed."),
    json_path: str | None = option("PATH", "Where to write the JSON instead.", "--json"),
    device: DeviceOption = "auto",
) -> None:
    """Train every cell of a grid, and print its dev scores next to the published test scores.

    Finished cells are not trained again, cells that grids share are trained once, and an unfinished cell resumes
    from its last epoch. Press Ctrl-C at any time; the same command resumes.

    Examples:

        python -m research recipe run paper-table5 --data scierc --encoder KISTI-AI/scideberta-cs

        python -m research recipe run paper-figure3 --data scierc --encoder MiniLM=models/minilm --runs 1 --epochs 15
    """
    from sciextract.cli.training_screen import stop_on_signals

    _refuse_recipes(name)
    grids = needs_extra("research.paper.run")
    order = grids.GridOrder(
        name=name, data=Path(data), encoders=tuple(encoder or ()), runs=runs, epochs=epochs,
        only=tuple(only or ()), documents=documents, folder=Path(folder) if folder else None,
        network=network, evaluate_every=evaluate_every, device=device,
    )  # fmt: skip
    with stop_on_signals():
        grid_run = grids.prepare(order)
        stopped = _train(grid_run)
    _end(grid_run, order, Path(json_path) if json_path else None, stopped)


def _train(grid_run: GridRun) -> bool:
    """Trains what is left; whether it was interrupted."""

    try:
        with grid_report() as report:
            grid_run.train(report)
    except KeyboardInterrupt:
        return True
    return False


def _end(grid_run: GridRun, order: GridOrder, json_path: Path | None, stopped: bool) -> None:
    from research.paper.table import as_markdown

    table, path = grid_run.write_table(json_path)
    typer.echo(visible(as_markdown(table), keep="\n"), nl=False)
    spent = sum(result.seconds for result in table.results.values() if result is not None)
    done = len(table.results) - table.unfinished
    say("", f"{done} of {len(table.results)} trainings finished, {duration(spent)} in all; {path}")
    if stopped or table.unfinished:
        why = "interrupted" if stopped else "some cells are not finished; see above"
        say("", why, f"to resume, repeat the command; its state is in {order.place}")
        raise typer.Exit(ExitCode.INTERRUPTED if stopped else ExitCode.PARTIAL)


def _refuse_recipes(name: str) -> None:
    """A recipe of one training is not a grid."""
    if not name.startswith(_PREFIX) and name in _files():
        raise UsageError(
            f"{name} is a recipe of one training, not a grid",
            f"give it as --recipe to a command that trains; grids begin with {_PREFIX}",
        )


def _file(name: str) -> Path:
    files = _files()
    if name not in files:
        raise InputMissingError(f"no recipe is called {name!r}", f"known: {', '.join(files)}")
    return files[name]


def _files() -> dict[str, Path]:
    """The recipes and grids by name."""
    return {
        prefix + file.stem: file
        for prefix, folders in _FOLDERS.items()
        for folder in folders
        for file in sorted(folder.glob("*.toml"))
    }


@contextmanager
def grid_report() -> Iterator[Listener]:
    """Draws progress on stderr where that is a terminal, and prints what happened to every cell."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from research.paper.events import CellStarted
    from sciextract.retraining.events import Step

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.fields[cell]}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=None, visible=False, cell="", state="", epochs=1)

        def report(event: TrainingEvent) -> None:
            if isinstance(event, CellStarted):
                progress.reset(task, total=None, cell=_place(event), state="", epochs=event.epochs)
                progress.update(task, visible=True)
            elif isinstance(event, Step):
                epochs = progress.tasks[0].fields["epochs"]
                done = (event.epoch - 1) * event.of + event.documents
                rate = f"{event.documents_per_second:.1f} documents/s"
                state = f"epoch {event.epoch}/{epochs}, {rate}"
                progress.update(task, completed=done, total=epochs * event.of, state=state)
            if line := line_of(event):
                console.print(visible(line), highlight=False, markup=False, soft_wrap=True)

        yield report


def line_of(event: TrainingEvent) -> str:
    """An event in words; empty for what is drawn."""
    from research.paper import events
    from sciextract.cli import training_screen
    from sciextract.retraining.events import MemoryShort, Resumed

    match event:
        case events.CellStarted():
            return f"{_place(event)}: up to {event.epochs} epochs"
        case events.CellTaken():
            return f"{_place(event)}: another process works on it"
        case events.CellFailed():
            return f"{_place(event)}: {event.message}"
        case events.CellScored():
            scores = ", ".join(f"{name} {value:.1f}" for name, value in event.scores.items())
            return f"{_place(event)}: {scores}; {duration(event.seconds)}"
        case Resumed() | MemoryShort():
            return f"  {training_screen.line_of(event)}"
    return ""


def _place(event: CellEvent) -> str:
    return f"{event.number} of {event.of} {event.cell}"
