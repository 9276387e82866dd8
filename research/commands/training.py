"""``python -m research pretrain``, ``student`` and ``distill``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from research.commands.options import (
    NO_LIMIT,
    DeviceOption,
    EncoderRunOption,
    EpochsOption,
    GoldTimesOption,
    LabelMostOption,
    MinutesOption,
    ModelOutputOption,
    ModelRunOption,
    ReadMostOption,
    RecipeOption,
    SeedOption,
    SkipOption,
    StepsOption,
    TextsArgument,
    done,
    done_model,
    needs_extra,
    sliced,
)
from research.reporting import json_report
from sciextract.errors import UsageError


def pretrain(
    texts: TextsArgument,
    run: EncoderRunOption,
    encoder: Annotated[str, typer.Option(metavar="ID|DIR", help="Encoder to start from.")],
    recipe: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Pretraining recipe (TOML).")
    ] = "mlm-minilm",
    most: ReadMostOption = 100_000,
    steps: StepsOption = None,
    minutes: MinutesOption = NO_LIMIT,
) -> None:
    """Continue the masked-language training of an encoder on unlabelled abstracts.

    Example:

        python -m research pretrain cs-000.jsonl.gz --encoder minilm --run runs/mlm --minutes 10
    """
    run_pretraining = needs_extra("research.pretraining.command").run_pretraining
    from research.pretraining.steps import load_pretrain_config
    from research.recipes import find_recipe

    changes = {"encoder": encoder} | ({} if steps is None else {"steps": steps})
    config = load_pretrain_config(find_recipe(recipe), **changes)
    done(encoder=str(run_pretraining(config, texts, most, run, json_report, minutes)))


def student(
    encoder: Annotated[str, typer.Option(metavar="ID|DIR", help="Encoder of the teacher.")],
    output: Annotated[Path, typer.Option(metavar="DIR", help="New encoder folder.")],
    layers: Annotated[
        str, typer.Option(metavar="N,N,...", help="Teacher layers to start from; 1 is the lowest.")
    ] = "",
    every: Annotated[
        int, typer.Option(min=0, help="Start from every Nth layer, instead of --layers.")
    ] = 0,
    first: Annotated[int, typer.Option(min=0, help="First layer of --every (default: N).")] = 0,
    fresh: Annotated[
        int, typer.Option(min=0, help="Number of layers with random weights, instead of --layers.")
    ] = 0,
    hidden: Annotated[int | None, typer.Option(help="Hidden size; the teacher's.")] = None,
    heads: Annotated[int | None, typer.Option(help="Attention heads; the teacher's.")] = None,
    intermediate: Annotated[
        int | None, typer.Option(help="Neurons of a feed-forward layer; the teacher's.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of random weights.")] = 1,
) -> None:
    """Write a smaller encoder with the teacher's tokenizer, before its distillation.

    It begins with layers of the teacher or, with --fresh, with random weights and other sizes.

    Examples:

        python -m research student --encoder mlm/encoder --layers 2,4,6 --output 3x384

        python -m research student --encoder mlm/encoder --fresh 4 --hidden 312 --output 4x312
    """
    if sum((bool(layers), bool(every), bool(fresh))) != 1:
        raise UsageError(
            "a student needs one of --layers, --every and --fresh",
            "for example --layers 2,4,6",
        )
    made = needs_extra("research.distillation.student")
    chosen = made.every_of(encoder, every, first or every) if every else _numbers(layers)
    plan = made.StudentPlan(
        chosen, fresh or None, hidden=hidden, heads=heads, intermediate=intermediate, seed=seed
    )
    done(encoder=str(output), **made.write_student(encoder, plan, output))


def _numbers(text: str) -> tuple[int, ...]:
    numbers = [number.strip() for number in text.split(",")]
    if text and not all(number.isdecimal() for number in numbers):
        raise UsageError(
            f"--layers {text!r} is not a list of numbers", "write it like --layers 2,4,6"
        )
    return tuple(int(number) for number in numbers if number)


def distill_model(
    texts: TextsArgument,
    teacher: Annotated[
        list[str],
        typer.Option(metavar="NAME|DIR", help="A teacher model; may be repeated."),
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
        typer.Option(help="Weight of a teacher, one per --teacher (default: equal)."),
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="Temperature: divisor of the teachers' logits.")
    ] = 1.0,
    gold: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Gold to learn from in addition to the labels."),
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
    """Train a compact model on the predictions of one or several models for unlabelled abstracts.

    The teachers' distributions over entities, relations and coreference are averaged over words, so that their
    tokenizers and sizes may differ. Labels are kept in shards, training in checkpoints: a command that was
    stopped, or that ran into a full disk, continues when it is given again.

    Example:

        python -m research distill model cs-*.jsonl.gz --teacher teacher-1 --teacher teacher-2 --encoder minilm
        --dev dev.jsonl --run runs/student --output my-model --most 20000 --minutes 10
    """
    distillation = needs_extra("research.distillation.task")
    from research.distillation.task import open_student
    from research.distillation.teachers import open_panel

    panel = open_panel(teacher, weight or (), temperature)
    setup = open_student(
        panel, recipe, {"encoder": encoder, "seed": seed, "epochs": epochs},
        schema=schema, dev=dev, gold=gold, gold_times=gold_times, run=run, output=output, device=device,
    )  # fmt: skip
    wanted = distillation.Texts(texts, most, skip)
    sliced(
        minutes,
        lambda report, until: done_model(
            output, distillation.distil_model(panel, wanted, setup, report, until)
        ),
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
    student: Annotated[str, typer.Option(metavar="DIR", help="Encoder of the student.")],
    run: EncoderRunOption,
    recipe: Annotated[
        str,
        typer.Option(metavar="NAME|FILE", help="distilbio, tinybio, compactbio or a TOML file."),
    ] = "distilbio",
    most: ReadMostOption = 100_000,
    steps: StepsOption = None,
    minutes: MinutesOption = NO_LIMIT,
) -> None:
    """Train a small encoder to reproduce the states of a large one with the same subwords.

    Example:

        python -m research distill encoder cs.jsonl.gz --teacher mlm/encoder --student 3x384 --run compact
    """
    pair = needs_extra("research.distillation.pair")
    changes = {"teacher": teacher, "student": student} | ({} if steps is None else {"steps": steps})
    config = pair.load_distil_config(recipe, **changes)
    folder = pair.run_distillation(config, texts, most, run, json_report, minutes)
    done(encoder=str(folder))


app.command("model")(distill_model)
