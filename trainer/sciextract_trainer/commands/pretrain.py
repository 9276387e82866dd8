"""``sciextract-trainer pretrain``: an encoder goes on reading."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra


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
    run_pretraining = needs_extra("sciextract_trainer.pretrain.command").run_pretraining
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
