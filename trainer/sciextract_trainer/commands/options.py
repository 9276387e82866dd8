"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

TextsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="TEXTS...", help="JSON Lines (.gz) with id, title, abstract."),
]
ModelArgument = Annotated[str, typer.Argument(metavar="NAME|DIR", help="The model.")]

ReadMostOption = Annotated[int, typer.Option(min=1, help="Abstracts to read.")]
LabelMostOption = Annotated[int, typer.Option(min=1, help="Abstracts to label.")]
SkipOption = Annotated[int, typer.Option(min=0, help="Abstracts to leave out before these.")]

SchemaOption = Annotated[
    str | None, typer.Option(metavar="NAME|FILE", help="Label schema (default: the model's).")
]
GoldTimesOption = Annotated[
    int, typer.Option(min=1, help="How often an epoch has each gold document.")
]
DevOption = Annotated[Path, typer.Option(metavar="FILE", help="Gold for thresholds and scores.")]
OptionalDevOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Gold for thresholds and scores.")
]

RecipeOption = Annotated[str, typer.Option(metavar="NAME|FILE", help="Training recipe (TOML).")]
SeedOption = Annotated[int | None, typer.Option(help="Seed, instead of the recipe's.")]
EpochsOption = Annotated[int | None, typer.Option(help="Epochs, instead of the recipe's.")]
StepsOption = Annotated[int | None, typer.Option(help="Steps, instead of the recipe's.")]
DeviceOption = Annotated[str, typer.Option(metavar="NAME", help="auto, cpu, cuda or mps.")]
MinutesOption = Annotated[
    float, typer.Option(min=0.0, help="Stop after this time; the same command goes on.")
]

ModelRunOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Labels and checkpoints; goes on from there.")
]
EncoderRunOption = Annotated[
    Path,
    typer.Option(metavar="DIR", help="Blocks, checkpoints and the encoder; goes on from there."),
]
ModelOutputOption = Annotated[Path, typer.Option(metavar="DIR", help="The new model folder.")]
EncoderOutputArgument = Annotated[Path, typer.Argument(metavar="DIR", help="New encoder folder.")]

NO_LIMIT = float("inf")
"""Minutes of a command that works until it has finished."""
