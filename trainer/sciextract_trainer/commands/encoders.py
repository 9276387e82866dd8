"""``sciextract-trainer vectors`` and ``safetensors``: encoder folders from other files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import EncoderOutputArgument


def vectors(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="GloVe or word2vec text (.gz).")],
    output: EncoderOutputArgument,
    lstm_layers: Annotated[
        int, typer.Option(min=0, help="Layers of a bidirectional LSTM over them.")
    ] = 0,
    lstm_size: Annotated[int, typer.Option(min=1, help="States of each of its directions.")] = 200,
    most: Annotated[int, typer.Option(min=1, help="Words to read.")] = 200_000,
) -> None:
    """Make an encoder folder of word vectors, for baselines from before transformers.

    Example:

        sciextract-trainer vectors glove.6B.300d.txt encoders/glove-lstm --lstm-layers 1
    """
    from sciextract_trainer.encoders.word_vectors.files import read_vectors

    folder = needs_extra("sciextract_trainer.encoders.word_vectors.folder")
    found = read_vectors(file, most)
    folder.write_encoder(found, output, lstm_layers, lstm_size)
    print(f"{len(found.words)} words of {len(found.unknown)} numbers to {output}", file=sys.stderr)


def safetensors(
    source: Annotated[str, typer.Argument(metavar="ID|DIR", help="Encoder with a pickle.")],
    output: EncoderOutputArgument,
) -> None:
    """Write an encoder's pickled weights as safetensors, the only kind that is trained on.

    Example:

        sciextract-trainer safetensors allenai/scibert_scivocab_uncased encoders/scibert
    """
    module = needs_extra("sciextract_trainer.encoders.unpickling")
    count = module.write_safetensors(source, output)
    print(f"{count} tensors to {output}", file=sys.stderr)
