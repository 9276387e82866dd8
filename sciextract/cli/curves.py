"""``sciextract models curves``: the learning curves of a training, drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract.cli.console import say


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
    from sciextract.workflows.correction.curves import draw_curves
    from sciextract.workflows.correction.trained import run_named
    from sciextract.workflows.output import reported_as

    found = run_named(name, run)
    folder = Path(output) if output else None
    if folder is not None:
        with reported_as(str(folder)):
            folder.mkdir(parents=True, exist_ok=True)
    drawn = draw_curves(found, folder)
    if drawn.figure is None:
        raise OutputError(drawn.told, f"the run: {found.folder}")
    say("", f"{drawn.figure} and {drawn.figure.with_suffix('.svg').name}")
