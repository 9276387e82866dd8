"""``python -m research``: what makes encoders and bundled models; users of models need ``sciextract retrain``."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from research.commands import models, recipes, training
from research.commands.options import run
from sciextract.cli.training import retrain

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.command()(training.pretrain)
app.add_typer(training.app, name="distill")
app.command()(training.student)
app.command()(models.calibrate)
app.command()(models.thresholds)
app.command()(models.quantise)
app.command()(models.vectors)
app.command()(models.characters)
app.command()(models.safetensors)
app.add_typer(recipes.recipe)
app.command()(retrain)  # as in the product, with the networks and encoders of research


@app.callback()
def _trainer() -> None:
    """Pretraining and distillation of compact encoders and models."""


def main(words: Sequence[str] | None = None) -> None:
    """Run the command of this process, or ``words``."""
    run(app, words)


if __name__ == "__main__":
    main()
