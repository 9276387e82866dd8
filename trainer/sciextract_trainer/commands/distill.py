"""``sciextract-trainer distill``: what a large teacher knows goes into a small student."""

from __future__ import annotations

from typing import Annotated

import typer

from sciextract_trainer.commands.distill_model import distill_model
from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import (
    NO_LIMIT,
    EncoderRunOption,
    MinutesOption,
    ReadMostOption,
    StepsOption,
    TextsArgument,
)

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _distill() -> None:
    """Distillation of encoders and of whole models."""


@app.command()
def encoder(
    texts: TextsArgument,
    teacher: Annotated[
        str, typer.Option(metavar="ID|DIR", help="Encoder with the head of its pretraining.")
    ],
    student: Annotated[str, typer.Option(metavar="DIR", help="Encoder that learns.")],
    run: EncoderRunOption,
    recipe: Annotated[
        str,
        typer.Option(metavar="NAME|FILE", help="distilbio, tinybio, compactbio or a TOML file."),
    ] = "distilbio",
    most: ReadMostOption = 100_000,
    steps: StepsOption = None,
    minutes: MinutesOption = NO_LIMIT,
) -> None:
    """Let a small encoder learn what a large one with the same pieces makes of abstracts.

    Example:

        sciextract-trainer distill encoder cs.jsonl.gz --teacher mlm/encoder --student 3x384 --run compact
    """
    from sciextract.workflows.events import json_report

    run_distillation = needs_extra("sciextract_trainer.distillation.command").run_distillation
    load = needs_extra("sciextract_trainer.distillation.config").load_distil_config
    changes = {"teacher": teacher, "student": student} | ({} if steps is None else {"steps": steps})
    folder = run_distillation(load(recipe, **changes), texts, most, run, json_report, minutes)
    json_report({"event": "done", "encoder": str(folder)})


app.command("model")(distill_model)
