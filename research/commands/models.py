"""``python -m research calibrate``, ``thresholds``, ``coreference``, ``soup``, ``quantise``, ``prune``: from models to other models."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from research.commands.options import (
    CleanDevOption,
    DevOption,
    EncoderOutputArgument,
    ModelArgument,
    ModelOutputOption,
    OptionalDevOption,
    SchemaOption,
    done,
    needs_extra,
)
from sciextract.errors import UsageError
from sciextract.retraining.events import json_report


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


def coreference(
    model: ModelArgument,
    data: Annotated[Path, typer.Option(metavar="FILE", help="Gold to train the head on.")],
    dev: DevOption,
    output: ModelOutputOption,
    schema: SchemaOption = None,
) -> None:
    """Train a new coreference head for a model; entities and relations do not change.

    The head learns from the model's own states and mentions, in minutes without a GPU, with the lexical
    features that models of earlier versions lack. Its threshold is the best one on abstracts of --data
    that heads have not learned from, in five folds; --dev gives scores and their scale. All are printed as
    JSON lines and written into the model card.

    Example:

        python -m research coreference sci --data train.jsonl --dev dev.jsonl --output my-sci
    """
    module = needs_extra("research.coreference")
    from research.compression.opened import open_measured
    from sciextract.formats.inputs import Part
    from sciextract_trainer.data.gold import read_gold, sha256

    measured = open_measured(model, dev, schema)
    gold = read_gold(data, measured.schema, Part.TRAIN)
    origin = f"{data.name}, sha256 {sha256(data, Part.TRAIN)}"
    module.train_coreference(measured, gold, origin, output, json_report)
    done(model=str(output))


def soup(
    members: Annotated[
        list[Path],
        typer.Argument(metavar="RUN|MODEL...", help="Run folders, or model folders with weights."),
    ],
    dev: Annotated[
        Path, typer.Option(metavar="FILE", help="Gold to choose members and thresholds on.")
    ],
    output: ModelOutputOption,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="uniform: all members; greedy: those that raise the score."
        ),
    ] = "greedy",
    schema: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Label schema (default: the members').")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Recipe of runs that do not record it.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="ID|DIR", help="Encoder of runs, instead of the recipe's.")
    ] = None,
) -> None:
    """Average the weights of several trainings of one encoder into one model of the same size.

    The trainings must have started from the same heads: with one seed, or from one model.
    Each member and each soup is scored on dev in fp32, at thresholds of its own; scores are printed as JSON lines.

    Example:

        python -m research soup runs/order-1 runs/order-2 runs/order-3 --dev dev.jsonl --output my-soup
    """
    module = needs_extra("research.compression.soup")
    from research.compression.opened import read_dev
    from research.compression.soup import Hints, open_ingredients

    ingredients = open_ingredients(members, Hints(schema, recipe, encoder))
    documents, origin = read_dev(dev, ingredients[0].schema, ingredients[0].given)
    module.make_soup(ingredients, documents, origin, method, output, json_report)
    done(model=str(output))


def quantise(
    model: Annotated[
        str, typer.Argument(metavar="NAME|DIR", help="A model with fp32 graph or weights.")
    ],
    output: ModelOutputOption,
    dev: OptionalDevOption = None,
    scheme: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="dynamic, static (both int8), weights4, weights7 or fp16."
        ),
    ] = "dynamic",
    per_channel: Annotated[
        bool, typer.Option("--per-channel/--per-tensor", help="Scales of int8 weights.")
    ] = True,
    ranges: Annotated[
        str, typer.Option(metavar="NAME", help="Of static: minmax, entropy or percentile.")
    ] = "minmax",
    block_size: Annotated[
        int, typer.Option(help="Weights per block in weights4: 16, 32, 64, 128 or 256.")
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

    chosen = Scheme(scheme, per_channel, ranges, block_size, embeddings)  # type: ignore[arg-type]
    texts = read_texts(calibration, most) if calibration else ()
    wanted = module.Quantisation(chosen, texts, weights)
    module.quantise_model(open_measured(model, dev, schema), wanted, output, json_report)
    done(model=str(output))


def _half(model: str, output: Path) -> None:
    module = needs_extra("research.compression.quantise")
    from sciextract.inference.model_folder import locate_model, open_folder

    module.half_precision(open_folder(locate_model(model)), output, json_report)
    done(model=str(output))


app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Output = Annotated[Path, typer.Option(metavar="DIR", help="The new folder.")]
Weights = Annotated[
    bool, typer.Option("--weights/--no-weights", help="Keep weights for further training.")
]


@app.callback()
def _prune() -> None:
    """Remove subwords or attention heads from a trained model, and measure the loss."""


@app.command()
def vocabulary(
    source: Annotated[
        str, typer.Argument(metavar="NAME|DIR", help="A model, or an encoder folder.")
    ],
    texts: Annotated[
        list[Path], typer.Option(metavar="FILE", help="Texts whose subwords are kept.")
    ],
    output: Output,
    dev: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Gold for scores; models need it.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Texts to read.")] = 100_000,
    at_least: Annotated[
        int, typer.Option(min=1, help="Minimum number of occurrences of a subword that is kept.")
    ] = 1,
    schema: SchemaOption = None,
    weights: Weights = True,
) -> None:
    """Keep only the embeddings of subwords that occur in texts.

    Special tokens and single characters are kept, so that other words are split into smaller subwords. WordPiece only.

    Example:

        python -m research prune vocabulary my-model --texts cs-000.jsonl.gz --dev dev.jsonl --output my-small-model
    """
    module = needs_extra("research.compression.pruning")
    from research.compression.opened import open_measured
    from research.compression.schemes import read_texts
    from sciextract.inference.model_folder import MANIFEST

    is_encoder = Path(source).is_dir() and not (Path(source) / MANIFEST).is_file()
    documents = read_texts(texts, most)
    if is_encoder:
        module.prune_encoder(source, documents, at_least, output, json_report)
    elif dev is None:
        raise UsageError("a model's thresholds and scores need gold", "give it: --dev FILE")
    else:
        wanted = module.Pruning(output, weights, json_report)
        module.prune_vocabulary(open_measured(source, dev, schema), documents, at_least, wanted)
    done(folder=str(output))


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
    """Remove the attention heads with the smallest effect on the loss.

    The matrices become narrower and the exported graph smaller. For BERT and encoders with the same structure.

    Example:

        python -m research prune heads my-model --data train.jsonl --dev dev.jsonl --share 0.2 --output my-small-model
    """
    module = needs_extra("research.compression.pruning")
    from research.compression.opened import open_measured
    from sciextract.formats.inputs import Part
    from sciextract_trainer.data.gold import read_gold

    measured = open_measured(model, dev, schema)
    gold = read_gold(data, measured.schema, Part.TRAIN)
    module.prune_heads(measured, gold, share, module.Pruning(output, weights, json_report))
    done(folder=str(output))


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
