"""``sciextract-trainer pretrain``: an encoder goes on reading."""

from __future__ import annotations

from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import (
    NO_LIMIT,
    EncoderRunOption,
    MinutesOption,
    ReadMostOption,
    StepsOption,
    TextsArgument,
)


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

        sciextract-trainer pretrain cs-000.jsonl.gz --encoder minilm --run runs/mlm --minutes 10
    """
    run_pretraining = needs_extra("sciextract_trainer.pretrain.command").run_pretraining
    from sciextract.workflows.events import json_report
    from sciextract_trainer.pretrain.config import load_pretrain_config
    from sciextract_trainer.run import find_recipe

    changes = {"encoder": encoder} | ({} if steps is None else {"steps": steps})
    config = load_pretrain_config(find_recipe(recipe), **changes)
    json_report(
        {
            "event": "done",
            "encoder": str(run_pretraining(config, texts, most, run, json_report, minutes)),
        }
    )
