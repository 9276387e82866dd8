"""``python -m research.models PLAN``: models from a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from research.commands.options import NO_LIMIT, MinutesOption, run, sliced
from research.models.context import BuildContext
from research.models.make import make as make_models
from research.models.plan import load_plan
from research.reporting import Report
from sciextract.errors import UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def command(
    plan: Annotated[str, typer.Argument(metavar="NAME|FILE", help="Plan (TOML).")],
    data: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the plan's data files.")],
    runs: Annotated[
        Path, typer.Option(metavar="DIR", help="Results of the stages; goes on from there.")
    ],
    output: Annotated[Path, typer.Option(metavar="DIR", help="Gets one folder a model.")],
    encoder: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DIR", help="Folder of a starting encoder of the plan."),
    ] = None,
    adopt: Annotated[
        list[str] | None,
        typer.Option(metavar="STAGE=DIR", help="Take a stage over that was made by hand."),
    ] = None,
    minutes: MinutesOption = NO_LIMIT,
) -> None:
    """Make the models of a plan, from encoders and data to the folders that are shipped.

    Each stage keeps its result in a folder of its own and is not made again. Settings, seeds, hashes, times and dev
    scores of all stages are in build.json of the run folder.

    Example:

        python -m research.models sci-1 --data data --encoder minilm=.cache/minilm --runs runs/sci --output models
        --minutes 10
    """
    parsed = load_plan(plan)
    encoders, adopted = _folders("--encoder", encoder or ()), _folders("--adopt", adopt or ())

    def work(report: Report, until: float) -> dict[str, Any]:
        context = BuildContext(parsed, data, runs, encoders, report, until)
        made = make_models(context, output, adopted)
        return {"models": {name: str(path) for name, path in made.items()}}

    sliced(minutes, work)


def _folders(option: str, words: Sequence[str]) -> dict[str, Path]:
    pairs = [word.partition("=") for word in words]
    for word, (name, sign, folder) in zip(words, pairs, strict=True):
        if not (name and sign and folder):
            raise UsageError(
                f"{option} {word!r} is not NAME=DIR", "for example minilm=.cache/minilm"
            )
    return {name: Path(folder) for name, _, folder in pairs}


def main(words: Sequence[str] | None = None) -> None:
    """Runs the command; an expected error is one message on stderr and its exit code."""
    run(app, words)


if __name__ == "__main__":
    main()
