"""``sciextract-trainer quantise``: an encoder in fewer bits, with what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import ModelOutputOption, OptionalDevOption, SchemaOption


def quantise(
    model: Annotated[
        str, typer.Argument(metavar="NAME|DIR", help="A model with fp32 graph or weights.")
    ],
    output: ModelOutputOption,
    dev: OptionalDevOption = None,
    scheme: Annotated[
        str, typer.Option(metavar="NAME", help="dynamic, static (both int8), weights4 or fp16.")
    ] = "dynamic",
    per_channel: Annotated[
        bool, typer.Option("--per-channel/--per-tensor", help="Scales of int8 weights.")
    ] = True,
    ranges: Annotated[
        str, typer.Option(metavar="NAME", help="Of static: minmax, entropy or percentile.")
    ] = "minmax",
    block_size: Annotated[
        int, typer.Option(help="Weights of a block in weights4: 16, 32, 64, 128 or 256.")
    ] = 64,
    embeddings: Annotated[
        int, typer.Option(help="Bits of embeddings in weights4: 4, 8 or 32.")
    ] = 4,
    calibration: Annotated[
        list[Path] | None,
        typer.Option(metavar="TEXTS", help="Texts for the ranges of static (default: dev's)."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Texts to read of --calibration.")] = 200,
    weights: Annotated[
        bool, typer.Option("--weights", help="Keep weights for training on, if there are some.")
    ] = False,
    schema: SchemaOption = None,
) -> None:
    """Write a model with its encoder in 8 or 4 bits, and measure what that costs; or add a graph for GPUs.

    Thresholds and the scale of scores are fitted for the new graph. Printed as JSON: megabytes, F1 at the old and
    at the new thresholds, milliseconds per abstract on one core.

    fp16 needs no --dev: the model keeps its graphs and thresholds and gets one in half precision. Printed: how many
    of the spans of the sample abstracts have another best label than in fp32, and how far logits are apart.

    Examples:

        sciextract-trainer quantise my-model --scheme weights4 --block-size 32 --dev dev.jsonl --output my-model-4

        sciextract-trainer quantise sci --scheme fp16 --output sci-gpu
    """
    from sciextract_trainer.compression.schemes import HALF, check_scheme

    check_scheme(scheme, dev)
    if scheme == HALF or dev is None:
        _half(model, output)
        return
    module = needs_extra("sciextract_trainer.compression.quantised")
    from sciextract.workflows.events import json_report
    from sciextract_trainer.compression.calibration_texts import read_texts
    from sciextract_trainer.compression.opened import open_measured
    from sciextract_trainer.compression.schemes import Scheme

    chosen = Scheme(scheme, per_channel, ranges, block_size, embeddings)  # type: ignore[arg-type]
    texts = read_texts(calibration, most) if calibration else ()
    wanted = module.Quantisation(chosen, texts, weights)
    module.quantise_model(open_measured(model, dev, schema), wanted, output, json_report)
    json_report({"event": "done", "model": str(output)})


def _half(model: str, output: Path) -> None:
    module = needs_extra("sciextract_trainer.compression.half")
    from sciextract.inference.folder import open_folder
    from sciextract.inference.locate import locate_model
    from sciextract.workflows.events import json_report

    module.half_precision(open_folder(locate_model(model)), output, json_report)
    json_report({"event": "done", "model": str(output)})
