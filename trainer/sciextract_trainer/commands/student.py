"""``sciextract-trainer student``: a smaller encoder to distil into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract.errors import UsageError
from sciextract_trainer.commands.extra import needs_extra


def student(
    encoder: Annotated[str, typer.Option(metavar="ID|DIR", help="Encoder of the teacher.")],
    output: Annotated[Path, typer.Option(metavar="DIR", help="New encoder folder.")],
    layers: Annotated[
        str, typer.Option(metavar="N,N,...", help="Teacher layers to begin with; 1 is the lowest.")
    ] = "",
    every: Annotated[
        int, typer.Option(min=0, help="Begin with each so manieth layer, instead of --layers.")
    ] = 0,
    first: Annotated[
        int, typer.Option(min=0, help="First layer of --every; that number itself unless given.")
    ] = 0,
    fresh: Annotated[
        int, typer.Option(min=0, help="So many layers with random weights, instead of --layers.")
    ] = 0,
    hidden: Annotated[int | None, typer.Option(help="Hidden size; the teacher's.")] = None,
    heads: Annotated[int | None, typer.Option(help="Attention heads; the teacher's.")] = None,
    intermediate: Annotated[
        int | None, typer.Option(help="Neurons of a feed-forward layer; the teacher's.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of random weights.")] = 1,
) -> None:
    """Write a smaller encoder with the teacher's tokenizer, before its distillation.

    It begins with layers of the teacher, narrowed to those numbers that matter most where sizes are given, or,
    with --fresh, with random weights.

    Examples:

        sciextract-trainer student --encoder mlm/encoder --layers 2,4,6 --output 3x384

        sciextract-trainer student --encoder mlm/encoder --fresh 4 --hidden 312 --output 4x312
    """
    from sciextract.workflows.events import json_report

    if sum((bool(layers), bool(every), bool(fresh))) != 1:
        raise UsageError(
            "a student begins with --layers, with --every or with --fresh layers; give one of them",
            "for example --layers 2,4,6",
        )
    made = needs_extra("sciextract_trainer.distillation.student")
    chosen = made.every_of(encoder, every, first or every) if every else _numbers(layers)
    plan = made.StudentPlan(
        chosen, fresh or None, hidden=hidden, heads=heads, intermediate=intermediate, seed=seed
    )
    json_report(
        {"event": "done", "encoder": str(output), **made.write_student(encoder, plan, output)}
    )


def _numbers(told: str) -> tuple[int, ...]:
    numbers = [each.strip() for each in told.split(",")]
    if told and not all(each.isdecimal() for each in numbers):
        raise UsageError(f"--layers {told!r} is no list of numbers", "write it like --layers 2,4,6")
    return tuple(int(each) for each in numbers if each)
