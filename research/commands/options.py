"""What several commands of ``python -m research`` share: options, the extra that they need, runs in slices of time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from research.reporting import Report, json_report
from sciextract.errors import MissingExtraError, SciextractError

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig


TextsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="TEXTS...", help="JSON Lines (.gz) with id, title, abstract."),
]
ModelArgument = Annotated[str, typer.Argument(metavar="NAME|DIR", help="The model.")]

ReadMostOption = Annotated[int, typer.Option(min=1, help="Abstracts to read.")]
LabelMostOption = Annotated[int, typer.Option(min=1, help="Abstracts to label.")]
SkipOption = Annotated[int, typer.Option(min=0, help="Abstracts to leave out before these.")]

SchemaOption = Annotated[
    str | None, typer.Option(metavar="NAME|FILE", help="Label schema (default: the model's).")
]
GoldTimesOption = Annotated[
    int, typer.Option(min=1, help="Number of times that each gold document occurs in an epoch.")
]
CleanDevOption = Annotated[
    Path, typer.Option(metavar="FILE", help="Gold documents that the model was not trained on.")
]
OptionalDevOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Gold for thresholds and scores.")
]

RecipeOption = Annotated[str, typer.Option(metavar="NAME|FILE", help="Training recipe (TOML).")]
SeedOption = Annotated[int | None, typer.Option(help="Seed, instead of the recipe's.")]
EpochsOption = Annotated[int | None, typer.Option(help="Epochs, instead of the recipe's.")]
StepsOption = Annotated[int | None, typer.Option(help="Steps, instead of the recipe's.")]
DeviceOption = Annotated[str, typer.Option(metavar="NAME", help="auto, cpu, cuda or mps.")]
MinutesOption = Annotated[
    float, typer.Option(min=0.0, help="Stop after this time; repeat the command to resume.")
]

ModelRunOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Labels and checkpoints; continues from there.")
]
EncoderRunOption = Annotated[
    Path,
    typer.Option(metavar="DIR", help="Blocks, checkpoints and the encoder; continues from there."),
]
ModelOutputOption = Annotated[Path, typer.Option(metavar="DIR", help="The new model folder.")]
EncoderOutputArgument = Annotated[Path, typer.Argument(metavar="DIR", help="New encoder folder.")]

NO_LIMIT = float("inf")
"""Minutes of a command that works until it has finished."""


_EXTRA = frozenset({"torch", "transformers", "safetensors"})


def needs_extra(module: str) -> ModuleType:
    """A module that needs torch.

    Raises:
        MissingExtraError: torch is not installed; the message says what to install.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name in _EXTRA:
            raise MissingExtraError("this command", "train") from error
        raise


def done(**made: Any) -> None:
    """Prints the last line of a command: what it has made."""
    json_report({"event": "done", **made})


def sliced(minutes: float, work: Callable[[Report, float], Mapping[str, Any]]) -> None:
    """Works for so many minutes; the last line says whether it is finished.

    Args:
        minutes: After them the work stops where it can go on.
        work: Gets a report and the ``time.monotonic()`` at which to stop; gives what the last line says.
    """
    from sciextract_trainer.checkpoint import TimeIsUp, deadline

    try:
        made = work(json_report, deadline(minutes))
    except TimeIsUp:
        message = "the time limit is reached; repeat the command to resume"
        json_report({"event": "stopped", "message": message})
        return
    done(**made)


def done_model(folder: Path, config: ModelConfig) -> dict[str, Any]:
    """What the last line says of a finished model."""
    return {"model": str(folder), "scores": config.scores}


def run(commands: typer.Typer, words: Sequence[str] | None = None) -> None:
    """Run a command; an expected error is one message on stderr and its exit code."""
    try:
        commands(args=words, standalone_mode=True)
    except SciextractError as error:
        print(f"error: {error.message}\n{error.hint}".rstrip(), file=sys.stderr)
        sys.exit(int(error.exit_code))
