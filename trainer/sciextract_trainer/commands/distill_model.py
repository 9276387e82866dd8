"""``sciextract-trainer distill model``: teachers label texts, a small student learns from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import (
    NO_LIMIT,
    DeviceOption,
    EpochsOption,
    GoldTimesOption,
    LabelMostOption,
    MinutesOption,
    ModelOutputOption,
    ModelRunOption,
    RecipeOption,
    SeedOption,
    SkipOption,
    TextsArgument,
)
from sciextract_trainer.commands.sliced import done_model, sliced


def distill_model(
    texts: TextsArgument,
    teacher: Annotated[
        list[str],
        typer.Option(metavar="NAME|DIR", help="A model that teaches; give it again for more."),
    ],
    encoder: Annotated[str, typer.Option(metavar="ID|DIR", help="Encoder of the student.")],
    dev: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold to choose the epoch and thresholds on.")
    ],
    run: ModelRunOption,
    output: ModelOutputOption,
    recipe: RecipeOption = "sci-student",
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
    gold_times: GoldTimesOption = 1,
    schema: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Label schema (default: that of the teachers)."),
    ] = None,
    most: LabelMostOption = 8_000,
    skip: SkipOption = 0,
    seed: SeedOption = None,
    epochs: EpochsOption = None,
    device: DeviceOption = "auto",
    minutes: MinutesOption = NO_LIMIT,
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
        lambda report, until: done_model(
            output, distillation.distil_model(panel, wanted, lesson, report, until)
        ),
    )
