"""``sciextract-trainer selftrain``: a model learns from its own labels of unlabelled abstracts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    SchemaOption,
    SeedOption,
    SkipOption,
    TextsArgument,
)
from sciextract_trainer.commands.sliced import done_model, sliced

if TYPE_CHECKING:
    from sciextract_trainer.teaching.student import Lesson
    from sciextract_trainer.teaching.teachers import Panel


def selftrain(
    texts: TextsArgument,
    model: Annotated[
        str, typer.Option(metavar="NAME|DIR", help="The model that labels in the first round.")
    ],
    gold: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold to learn from beside the labels.")
    ],
    dev: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold to choose epochs, thresholds and round on.")
    ],
    run: ModelRunOption,
    output: ModelOutputOption,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="ID|DIR", help="Encoder of the students (default: train on from the model)."
        ),
    ] = None,
    recipe: RecipeOption = "self-training",
    rounds: Annotated[int, typer.Option(min=1, help="Students, each taught by the last one.")] = 1,
    hard: Annotated[
        bool, typer.Option("--hard", help="Learn the labels that the model is sure of.")
    ] = False,
    threshold: Annotated[
        list[str] | None,
        typer.Option(metavar="[LABEL=]P", help="With --hard: least probability of a label."),
    ] = None,
    thresholds: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --hard: a TOML table of them.")
    ] = None,
    floor: Annotated[
        float, typer.Option(help="With --hard: what is less likely is none; between is unknown.")
    ] = 0.2,
    gold_times: GoldTimesOption = 1,
    schema: SchemaOption = None,
    most: LabelMostOption = 8_000,
    skip: SkipOption = 0,
    seed: SeedOption = None,
    epochs: EpochsOption = None,
    device: DeviceOption = "auto",
    minutes: MinutesOption = NO_LIMIT,
) -> None:
    """Let a model learn from its own labels of unlabelled abstracts, beside gold.

    Soft labels are the model's distributions. With --hard a label counts where its probability reaches its
    threshold; between floor and threshold nothing is taught, neither the label nor its absence. The student with
    the best dev F1 is kept.

    Example:

        sciextract-trainer selftrain cs-000.jsonl.gz --model sci --gold train.jsonl --dev dev.jsonl --run runs/self
        --output my-model --rounds 2 --hard --threshold 0.7 --threshold USED-FOR=0.82
    """
    module = needs_extra("sciextract_trainer.teaching.rounds")
    from sciextract.errors import UsageError
    from sciextract_trainer.teaching.confidence import certainty
    from sciextract_trainer.teaching.distillation import Texts
    from sciextract_trainer.teaching.opening import open_lesson

    if (threshold or thresholds) and not hard:
        raise UsageError("--threshold and --thresholds are for hard labels", "add --hard")
    changes = {"encoder": encoder, "seed": seed, "epochs": epochs}
    job = module.SelfTraining(
        model, Texts(texts, most, skip), rounds,
        (lambda panel: certainty(panel.labels, threshold or (), thresholds, floor)) if hard else None,
        run, output,
    )  # fmt: skip

    def lesson(panel: Panel, folder: Path, target: Path) -> Lesson:
        return open_lesson(
            panel, recipe, changes, schema=schema, dev=dev, gold=gold, gold_times=gold_times,
            run=folder, output=target, device=device,
        )  # fmt: skip

    sliced(
        minutes,
        lambda report, until: done_model(output, module.self_train(job, lesson, report, until)),
    )
