"""``sciextract-trainer soup``: the mean of the weights of several trainings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import ModelOutputOption


def soup(
    members: Annotated[
        list[Path],
        typer.Argument(metavar="RUN|MODEL...", help="Run folders, or model folders with weights."),
    ],
    dev: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold to choose members and thresholds on.")
    ],
    output: ModelOutputOption,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="uniform: all members; greedy: those that help.")
    ] = "greedy",
    schema: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Label schema (default: the members').")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Recipe of runs that do not say it.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="ID|DIR", help="Encoder of runs, instead of the recipe's.")
    ] = None,
) -> None:
    """Average the weights of several trainings of one encoder into one model of the same size.

    They must have begun with the same heads, too: one seed, or one model that all went on from.
    Each member and each soup is scored on dev in fp32, at thresholds of its own; scores are printed as JSON lines.

    Example:

        sciextract-trainer soup runs/order-1 runs/order-2 runs/order-3 --dev dev.jsonl --output my-soup
    """
    module = needs_extra("sciextract_trainer.compression.soup")
    from sciextract.workflows.events import json_report
    from sciextract_trainer.compression.ingredients import Hints, open_ingredients
    from sciextract_trainer.compression.opened import read_dev

    found = open_ingredients(members, Hints(schema, recipe, encoder))
    documents, origin = read_dev(dev, found[0].schema, found[0].given)
    module.make_soup(found, documents, origin, method, output, json_report)
    json_report({"event": "done", "model": str(output)})
