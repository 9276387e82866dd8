"""``python -m research calibrate``, ``thresholds``, ``quantise``: from models to other models."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from research.commands.options import (
    CleanDevOption,
    EncoderOutputArgument,
    ModelArgument,
    ModelOutputOption,
    OptionalDevOption,
    SchemaOption,
    done,
    needs_extra,
)
from research.reporting import json_report


def calibrate(
    model: ModelArgument,
    dev: CleanDevOption,
    output: ModelOutputOption,
    schema: SchemaOption = None,
) -> None:
    """Calibrate a model's scores on gold; its predictions do not change.

    A score of 0.8 then says that eight of ten such predictions are right: entities, relations and coreference
    get a temperature and a shift each, and thresholds move along. Errors before and after, and on halves that
    the scale was not fitted on, are printed as JSON lines and written into the model card.

    Example:

        python -m research calibrate sci --dev dev.jsonl --output sci-calibrated
    """
    module = needs_extra("research.calibration")
    from research.compression.opened import open_measured

    module.calibrate(open_measured(model, dev, schema), output, json_report)
    done(model=str(output))


def thresholds(
    model: ModelArgument,
    dev: CleanDevOption,
    output: ModelOutputOption,
    schema: SchemaOption = None,
) -> None:
    """Fit a model's thresholds on gold; its weights stay the same.

    For texts of another kind, or gold of your own: thresholds of the three tasks, whether entities may lie
    inside others, and which entities below the threshold a sure relation rescues. The scale of the scores is
    fitted with them. F1 before and after is printed as JSON lines.

    Example:

        python -m research thresholds sci --dev dev.jsonl --output my-sci
    """
    module = needs_extra("research.calibration")
    from research.compression.opened import open_measured

    module.refit(open_measured(model, dev, schema), output, json_report)
    done(model=str(output))


def quantise(
    model: Annotated[
        str, typer.Argument(metavar="NAME|DIR", help="A model with fp32 graph or weights.")
    ],
    output: ModelOutputOption,
    dev: OptionalDevOption = None,
    scheme: Annotated[
        str,
        typer.Option(metavar="NAME", help="dynamic (int8), weights4, weights7 or fp16."),
    ] = "dynamic",
    block_size: Annotated[
        int, typer.Option(help="Weights per block in weights4: 16, 32, 64, 128 or 256.")
    ] = 64,
    embeddings: Annotated[
        int, typer.Option(help="Bits of embeddings in weights4: 4, 8 or 32.")
    ] = 4,
    calibration: Annotated[
        list[Path] | None,
        typer.Option(metavar="TEXTS", help="Texts for weights7 (default: the sample abstracts)."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Texts to read of --calibration.")] = 200,
    weights: Annotated[
        bool, typer.Option("--weights", help="Keep weights for further training, if there are any.")
    ] = False,
    schema: SchemaOption = None,
) -> None:
    """Write a model with its encoder in 8 or 4 bits, and measure the loss; or add a graph for GPUs.

    Thresholds and the scale of scores are fitted for the new graph. Printed as JSON: megabytes, F1 at the old and
    at the new thresholds, milliseconds per abstract on one core.

    fp16 needs no --dev: the model keeps its graphs and thresholds and gets one in half precision. Printed: how many
    of the spans of the sample abstracts have another best label than in fp32, and how far logits are apart.

    Examples:

        python -m research quantise my-model --scheme weights4 --block-size 32 --dev dev.jsonl --output my-model-4

        python -m research quantise sci --scheme fp16 --output sci-gpu
    """
    from research.compression.schemes import HALF, check_scheme

    check_scheme(scheme, dev)
    if scheme == HALF or dev is None:
        _half(model, output)
        return
    module = needs_extra("research.compression.quantise")
    from research.compression.opened import open_measured
    from research.compression.schemes import Scheme, read_texts

    chosen = Scheme(scheme, block_size, embeddings)  # type: ignore[arg-type]
    texts = read_texts(calibration, most) if calibration else ()
    wanted = module.Quantisation(chosen, texts, weights)
    module.quantise_model(open_measured(model, dev, schema), wanted, output, json_report)
    done(model=str(output))


def _half(model: str, output: Path) -> None:
    module = needs_extra("research.compression.quantise")
    from sciextract.inference.model_folder import locate_model, open_folder

    module.half_precision(open_folder(locate_model(model)), output, json_report)
    done(model=str(output))


def vectors(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="GloVe or word2vec text (.gz).")],
    output: EncoderOutputArgument,
    lstm_layers: Annotated[
        int, typer.Option(min=0, help="Layers of a bidirectional LSTM over them.")
    ] = 0,
    lstm_size: Annotated[int, typer.Option(min=1, help="States of each of its directions.")] = 200,
    most: Annotated[int, typer.Option(min=1, help="Words to read.")] = 200_000,
) -> None:
    """Write an encoder folder from word vectors, for baselines without a transformer.

    Example:

        python -m research vectors glove.6B.300d.txt encoders/glove-lstm --lstm-layers 1
    """
    from research.encoder_files import read_vectors

    folder = needs_extra("research.encoder_files")
    read = read_vectors(file, most)
    folder.write_encoder(read, output, lstm_layers, lstm_size)
    print(f"{len(read.words)} words of {len(read.unknown)} numbers to {output}", file=sys.stderr)


def characters(
    output: EncoderOutputArgument,
    lstm_layers: Annotated[
        int, typer.Option(min=0, help="Layers of a bidirectional LSTM over the words.")
    ] = 1,
    lstm_size: Annotated[int, typer.Option(min=1, help="States of each of its directions.")] = 200,
) -> None:
    """Write an encoder folder that reads words by their characters, as ELMo does, without any training.

    Example:

        python -m research characters encoders/characters
    """
    module = needs_extra("research.methods.characters")
    module.write_character_encoder(output, lstm_layers, lstm_size)


def safetensors(
    source: Annotated[str, typer.Argument(metavar="ID|DIR", help="Encoder with a pickle.")],
    output: EncoderOutputArgument,
) -> None:
    """Convert an encoder's pickled weights to safetensors, the only format that trainings read.

    Example:

        python -m research safetensors allenai/scibert_scivocab_uncased encoders/scibert
    """
    module = needs_extra("research.encoder_files")
    count = module.write_safetensors(source, output)
    print(f"{count} tensors to {output}", file=sys.stderr)
