"""``sciextract-trainer make``: models from a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sciextract.errors import UsageError
from sciextract_trainer.commands.extra import needs_extra


def make(
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
    minutes: Annotated[
        float, typer.Option(min=0.0, help="Stop after this time; the same command goes on.")
    ] = float("inf"),
) -> None:
    """Make the models of a plan, from encoders and data to the folders that are shipped.

    Each stage keeps its result in a folder of its own and is not made again. Settings, seeds, hashes, times and dev
    scores of all stages are in build.json of the run folder.

    Example:

        sciextract-trainer make sci-1 --data data --encoder minilm=.cache/minilm --runs runs/sci --output models
        --minutes 10
    """
    module = needs_extra("sciextract_trainer.making.make")
    from sciextract_trainer.making.plan import load_plan
    from sciextract_trainer.making.workshop import Workshop
    from sciextract_trainer.progress import json_report
    from sciextract_trainer.slices import TimeIsUp, deadline

    shop = Workshop(
        load_plan(plan),
        data,
        runs,
        _folders("--encoder", encoder or ()),
        json_report,
        deadline(minutes),
    )
    adopted = _folders("--adopt", adopt or ())
    try:
        made = module.make(shop, output, adopted)
    except TimeIsUp:
        told = "the time is over; the same command goes on from here"
        json_report({"event": "stopped", "message": told})
        return
    json_report({"event": "done", "models": {name: str(path) for name, path in made.items()}})


def _folders(option: str, words: Sequence[str]) -> dict[str, Path]:
    pairs = [word.partition("=") for word in words]
    for word, (name, sign, folder) in zip(words, pairs, strict=True):
        if not (name and sign and folder):
            raise UsageError(
                f"{option} {word!r} is no NAME=DIR", "for example minilm=.cache/minilm"
            )
    return {name: Path(folder) for name, _, folder in pairs}
