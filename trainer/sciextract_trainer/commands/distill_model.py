"""``sciextract-trainer distill model``: teachers label texts, a small student learns from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.sliced import sliced


def distill_model(
    texts: Annotated[
        list[Path],
        typer.Argument(metavar="TEXTS...", help="JSON Lines (.gz) with id, title, abstract."),
    ],
    teacher: Annotated[
        list[str],
        typer.Option(metavar="NAME|DIR", help="A model that teaches; give it again for more."),
    ],
    encoder: Annotated[str, typer.Option(metavar="ID|DIR", help="Encoder of the student.")],
    dev: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold to choose the epoch and thresholds on.")
    ],
    run: Annotated[
        Path, typer.Option(metavar="DIR", help="Labels and checkpoints; goes on from there.")
    ],
    output: Annotated[Path, typer.Option(metavar="DIR", help="The model folder to write.")],
    recipe: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Training recipe (TOML).")
    ] = "sci-student",
    weight: Annotated[
        list[float] | None,
        typer.Option(help="Weight of a teacher, one per --teacher (default: all the same)."),
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="Divisor of the teachers' logits; above 1 they sound less sure.")
    ] = 1.0,
    gold: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Gold to learn from beside the labels.")
    ] = None,
    gold_times: Annotated[
        int, typer.Option(min=1, help="How often an epoch has each gold document.")
    ] = 1,
    schema: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Label schema (default: that of the teachers)."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Abstracts to label.")] = 8_000,
    skip: Annotated[int, typer.Option(min=0, help="Abstracts to leave out before these.")] = 0,
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the recipe's.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs, instead of the recipe's.")] = None,
    device: Annotated[str, typer.Option(metavar="NAME", help="auto, cpu, cuda or mps.")] = "auto",
    minutes: Annotated[
        float, typer.Option(min=0.0, help="Stop after this time; the same command goes on.")
    ] = float("inf"),
) -> None:
    """Teach a compact model what one or several models say about unlabelled abstracts.

    The teachers' distributions over entities, relations and coreference are averaged over words, so that their
    tokenizers and sizes may differ. Labels are kept in shards, training in checkpoints: a command that was
    stopped, or that ran into a full disk, goes on when it is given again.

    Example:

        sciextract-trainer distill model cs-*.jsonl.gz --teacher teacher-1 --teacher teacher-2 --encoder minilm
        --dev dev.jsonl --run runs/student --output my-model --most 20000 --minutes 10
    """
    distillation = needs_extra("sciextract_trainer.teaching.distillation")
    from sciextract_trainer.teaching.opening import open_lesson
    from sciextract_trainer.teaching.teachers import open_panel

    panel = open_panel(teacher, weight or (), temperature)
    lesson = open_lesson(
        panel, recipe, {"encoder": encoder, "seed": seed, "epochs": epochs},
        schema=schema, dev=dev, gold=gold, gold_times=gold_times, run=run, output=output, device=device,
    )  # fmt: skip
    wanted = distillation.Texts(texts, most, skip)
    sliced(
        minutes,
        lambda report, until: distillation.distil_model(panel, wanted, lesson, report, until),
        output,
    )
