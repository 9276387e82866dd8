"""``sciextract-trainer distill``: what a large teacher knows goes into a small student."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.distill_model import distill_model
from sciextract_trainer.commands.extra import needs_extra

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _distill() -> None:
    """Distillation of encoders and of whole models."""


@app.command()
def encoder(
    texts: Annotated[
        list[Path],
        typer.Argument(metavar="SHARD...", help="JSON Lines (.gz) with id, title, abstract."),
    ],
    teacher: Annotated[
        str, typer.Option(metavar="ID|DIR", help="Encoder with the head of its pretraining.")
    ],
    student: Annotated[str, typer.Option(metavar="DIR", help="Encoder that learns.")],
    run: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Blocks, checkpoints and the encoder; goes on from there."
        ),
    ],
    recipe: Annotated[
        str,
        typer.Option(metavar="NAME|FILE", help="distilbio, tinybio, compactbio or a TOML file."),
    ] = "distilbio",
    most: Annotated[int, typer.Option(min=1, help="Abstracts to read.")] = 100_000,
    steps: Annotated[int | None, typer.Option(help="Steps, instead of the recipe's.")] = None,
    minutes: Annotated[
        float, typer.Option(min=0.0, help="Stop after this time; the same command goes on.")
    ] = float("inf"),
) -> None:
    """Let a small encoder learn what a large one with the same pieces makes of abstracts.

    Example:

        sciextract-trainer distill encoder cs.jsonl.gz --teacher mlm/encoder --student 3x384 --run compact
    """
    from sciextract_trainer.progress import json_report

    run_distillation = needs_extra("sciextract_trainer.distillation.command").run_distillation
    load = needs_extra("sciextract_trainer.distillation.config").load_distil_config
    changes = {"teacher": teacher, "student": student} | ({} if steps is None else {"steps": steps})
    folder = run_distillation(load(recipe, **changes), texts, most, run, json_report, minutes)
    json_report({"event": "done", "encoder": str(folder)})


app.command("model")(distill_model)
