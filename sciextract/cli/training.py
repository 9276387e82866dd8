"""``sciextract retrain``: train a model from files. The trainer is imported only when the command runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from sciextract.errors import InputMissingError, MissingExtraError, OutputError


def retrain(
    data: Annotated[Path, typer.Option(metavar="FILE", help="Training documents with gold.")],
    dev: Annotated[Path, typer.Option(metavar="FILE", help="Documents for selection and scores.")],
    output: Annotated[Path, typer.Option(metavar="DIR", help="The model folder to write.")],
    encoder: Annotated[
        str | None,
        typer.Option(metavar="ID|DIR", help="Hugging Face encoder to start from."),
    ] = None,
    recipe: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Training recipe (TOML).")
    ] = "scierc-joint",
    schema: Annotated[str, typer.Option(metavar="NAME|FILE", help="Label schema.")] = "scierc",
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the recipe's.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs, instead of the recipe's.")] = None,
    run_folder: Annotated[
        Path | None, typer.Option("--run", metavar="DIR", help="Where an interrupted run goes on.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print progress as JSON lines.")] = False,
) -> None:
    """Train entities, relations and coreference jointly, and write a model folder.

    The encoder is any Hugging Face encoder, by hub id or folder. A run that was stopped goes on when the
    same command is given again.

    Examples:

        sciextract retrain --encoder KISTI-AI/scideberta-cs --data train.jsonl --dev dev.jsonl --output my-model

        sciextract annotate abstracts.jsonl --model my-model
    """
    trainer = _trainer()
    for path in (data, dev):
        if not path.is_file():
            raise InputMissingError(f"{path}: no such file")
    if output.exists():
        raise OutputError(
            f"{output} exists already", "give another --output; nothing is overwritten"
        )
    changes = {"encoder": encoder, "seed": seed, "epochs": epochs}
    job = trainer.make_job(
        recipe, {key: value for key, value in changes.items() if value is not None},
        schema=schema, data=data, dev=dev, output=output, run_folder=run_folder,
    )  # fmt: skip
    with _reporting(as_json, job.config.epochs) as report:
        scores = trainer.run_training(job, report)
        report({"event": "done", "output": str(output), "scores": scores})


def _trainer() -> ModuleType:
    try:
        from sciextract_trainer import run
    except ModuleNotFoundError as error:
        if error.name in ("torch", "transformers", "safetensors", "onnx"):
            raise MissingExtraError("training", "train") from error
        raise
    return run


def _reporting(
    as_json: bool, epochs: int
) -> AbstractContextManager[Callable[[dict[str, Any]], None]]:
    from sciextract_trainer.progress import json_report, live_report

    return nullcontext(json_report) if as_json else live_report(epochs)
