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


@app.command()
def vectors(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="GloVe or word2vec text (.gz).")],
    output: Annotated[Path, typer.Argument(metavar="DIR", help="New encoder folder.")],
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

    folder = _needs_extra("sciextract_trainer.encoders.word_vectors.folder")
    found = read_vectors(file, most)
    folder.write_encoder(found, output, lstm_layers, lstm_size)
    print(f"{len(found.words)} words of {len(found.unknown)} numbers to {output}", file=sys.stderr)


@app.command()
def safetensors(
    source: Annotated[str, typer.Argument(metavar="ID|DIR", help="Encoder with a pickle.")],
    output: Annotated[Path, typer.Argument(metavar="DIR", help="New encoder folder.")],
) -> None:
    """Write an encoder's pickled weights as safetensors, the only kind that is trained on.

    Example:

        sciextract-trainer safetensors allenai/scibert_scivocab_uncased encoders/scibert
    """
    module = _needs_extra("sciextract_trainer.encoders.unpickling")
    count = module.write_safetensors(source, output)
    print(f"{count} tensors to {output}", file=sys.stderr)


def _needs_extra(module: str) -> ModuleType:
    """A module that needs torch; without it the message says what to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name in _EXTRA:
            raise MissingExtraError("this command", "train") from error
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
