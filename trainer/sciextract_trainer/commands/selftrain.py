"""``sciextract-trainer selftrain``: a model learns from its own labels of unlabelled abstracts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.sliced import sliced


def selftrain(
    texts: Annotated[
        list[Path],
        typer.Argument(metavar="TEXTS...", help="JSON Lines (.gz) with id, title, abstract."),
    ],
    model: Annotated[
        str, typer.Option(metavar="NAME|DIR", help="The model that labels in the first round.")
    ],
    gold: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold to learn from beside the labels.")
    ],
    dev: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold to choose epochs, thresholds and round on.")
    ],
    run: Annotated[
        Path, typer.Option(metavar="DIR", help="Labels and checkpoints; goes on from there.")
    ],
    output: Annotated[Path, typer.Option(metavar="DIR", help="The model folder to write.")],
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="ID|DIR", help="Encoder of the students (default: train on from the model)."
        ),
    ] = None,
    recipe: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Training recipe (TOML).")
    ] = "self-training",
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
    gold_times: Annotated[
        int, typer.Option(min=1, help="How often an epoch has each gold document.")
    ] = 1,
    schema: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Label schema (default: that of the model)."),
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
    sliced(
        minutes,
        lambda report, until: module.self_train(
            job,
            lambda panel, folder, target: open_lesson(
                panel, recipe, changes, schema=schema, dev=dev, gold=gold, gold_times=gold_times,
                run=folder, output=target, device=device,
            ),
            report,
            until,
        ),
        output,
    )  # fmt: skip
