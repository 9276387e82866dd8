"""``sciextract-trainer``: what makes encoders and bundled models; users of models need ``sciextract retrain``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from sciextract.errors import MissingExtraError, SciextractError

_EXTRA = frozenset({"torch", "transformers", "safetensors"})

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def _trainer() -> None:
    """Pretraining and distillation of compact encoders and models."""


@app.command()
def pretrain(
    texts: Annotated[
        list[Path],
        typer.Argument(metavar="SHARD...", help="JSON Lines (.gz) with id, title, abstract."),
    ],
    run: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Blocks, checkpoints and the encoder; goes on from there."
        ),
    ],
    encoder: Annotated[str, typer.Option(metavar="ID|DIR", help="Encoder to start from.")],
    recipe: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Pretraining recipe (TOML).")
    ] = "mlm-minilm",
    most: Annotated[int, typer.Option(min=1, help="Abstracts to read.")] = 100_000,
    steps: Annotated[int | None, typer.Option(help="Steps, instead of the recipe's.")] = None,
    minutes: Annotated[
        float, typer.Option(min=0.0, help="Stop after this time; the same command goes on.")
    ] = float("inf"),
) -> None:
    """Continue the masked-language training of an encoder on unlabelled abstracts.

    Example:

        sciextract-trainer pretrain cs-000.jsonl.gz --encoder minilm --run runs/mlm --minutes 10
    """
    run_pretraining = _needs_extra("sciextract_trainer.pretrain.command").run_pretraining
    from sciextract_trainer.pretrain.config import load_pretrain_config
    from sciextract_trainer.progress import json_report
    from sciextract_trainer.run import find_recipe

    changes = {"encoder": encoder} | ({} if steps is None else {"steps": steps})
    config = load_pretrain_config(find_recipe(recipe), **changes)
    json_report(
        {
            "event": "done",
            "encoder": str(run_pretraining(config, texts, most, run, json_report, minutes)),
        }
    )


def _needs_extra(module: str) -> ModuleType:
    """A module that needs torch; without it the message says what to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name in _EXTRA:
            raise MissingExtraError("pretraining", "train") from error
        raise


def main(words: Sequence[str] | None = None) -> None:
    """Run the command; an expected error is one message on stderr and its exit code."""
    try:
        app(args=words, standalone_mode=True)
    except SciextractError as error:
        print(f"error: {error.message}\n{error.hint}".rstrip(), file=sys.stderr)
        sys.exit(int(error.exit_code))


if __name__ == "__main__":
    main()
