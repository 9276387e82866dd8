"""``sciextract-trainer prune``: fewer pieces, fewer attention heads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract.errors import UsageError
from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import DevOption, ModelArgument, SchemaOption

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Output = Annotated[Path, typer.Option(metavar="DIR", help="The new folder.")]
Weights = Annotated[
    bool, typer.Option("--weights/--no-weights", help="Keep weights for training on.")
]


@app.callback()
def _prune() -> None:
    """Take pieces or attention heads out of a trained model, and measure what that costs."""


@app.command()
def vocabulary(
    source: Annotated[
        str, typer.Argument(metavar="NAME|DIR", help="A model, or an encoder folder.")
    ],
    texts: Annotated[
        list[Path], typer.Option(metavar="FILE", help="Texts that name the pieces to keep.")
    ],
    output: Output,
    dev: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Gold for scores; models need it.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Texts to read.")] = 100_000,
    at_least: Annotated[int, typer.Option(min=1, help="Occurrences that make a piece used.")] = 1,
    schema: SchemaOption = None,
    weights: Weights = True,
) -> None:
    """Cut piece embeddings to the pieces that texts use.

    Special pieces and single characters stay, so that every other word falls to smaller pieces. WordPiece only.

    Example:

        sciextract-trainer prune vocabulary my-model --texts cs-000.jsonl.gz --dev dev.jsonl --output my-small-model
    """
    module = needs_extra("sciextract_trainer.compression.pruned")
    from sciextract.inference.folder import MANIFEST
    from sciextract.workflows.events import json_report
    from sciextract_trainer.compression.calibration_texts import read_texts
    from sciextract_trainer.compression.opened import open_measured

    is_encoder = Path(source).is_dir() and not (Path(source) / MANIFEST).is_file()
    documents = read_texts(texts, most)
    if is_encoder:
        module.prune_encoder(source, documents, at_least, output, json_report)
    elif dev is None:
        raise UsageError("a model's thresholds and scores need gold", "give it: --dev FILE")
    else:
        wanted = module.Pruning(output, weights, json_report)
        module.prune_vocabulary(open_measured(source, dev, schema), documents, at_least, wanted)
    json_report({"event": "done", "folder": str(output)})


@app.command()
def heads(
    model: ModelArgument,
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold that importance is measured on.")
    ],
    dev: DevOption,
    output: Output,
    share: Annotated[float, typer.Option(help="Share of all heads to remove, 0 to 1.")] = 0.25,
    schema: SchemaOption = None,
    weights: Weights = True,
) -> None:
    """Take out the attention heads that the loss depends on least.

    Matrices really become narrower, and the exported graph smaller. BERT and families that are built like it.

    Example:

        sciextract-trainer prune heads my-model --data train.jsonl --dev dev.jsonl --share 0.2 --output my-small-model
    """
    module = needs_extra("sciextract_trainer.compression.pruned")
    from sciextract.formats.splits import Part
    from sciextract.workflows.events import json_report
    from sciextract_trainer.compression.opened import open_measured
    from sciextract_trainer.data.gold import read_gold

    measured = open_measured(model, dev, schema)
    gold = read_gold(data, measured.schema, Part.TRAIN)
    module.prune_heads(measured, gold, share, module.Pruning(output, weights, json_report))
    json_report({"event": "done", "folder": str(output)})
