"""Which model a run will use, told without loading it: the parent needs no model of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract.documents.document import Document, ModelId
from sciextract.errors import UsageError
from sciextract.inference.devices import AUTO as AUTO_DEVICE
from sciextract.inference.devices import CPU
from sciextract.inference.locate import AUTO
from sciextract.workflows.model_choice import ModelChoice

if TYPE_CHECKING:
    from sciextract.inference.folder import ModelFolder
    from sciextract.inference.model_config import ModelConfig


@dataclass(frozen=True, slots=True)
class Identified:
    """A model that is there, whole, and not loaded.

    Attributes:
        choice: The choice with the model's folder, so that every worker loads the same one; one thread.
        model: Name and hash.
        model_of: The model that predicts a document.
        config: What it predicts.
        notes: What the user may want to know about it.
    """

    choice: ModelChoice
    model: ModelId
    model_of: Callable[[Document], ModelId]
    config: ModelConfig
    notes: tuple[str, ...] = ()


def identify(choice: ModelChoice) -> Identified:
    """Find and verify the model.

    Raises:
        ModelNotFoundError: No such model, or it lacks the precision.
        ModelDamagedError: A file of it is missing or changed.
        ModelVersionError: It needs a newer version.
        ModelMismatchError: It was trained on other features.
        UsageError: It is an encoder without trained heads, several models have the name, or the device is left open.
    """
    if choice.device == AUTO_DEVICE:
        problem = "--device auto is for one process: every worker would choose for itself"
        raise UsageError(problem, "--device cuda, with a worker for each GPU, or --device cpu")
    notes = [told] if (told := choice.told()) else []
    if choice.model == AUTO:
        return _auto(replace(choice, threads=1), tuple(notes))
    from sciextract.inference.folder import open_folder

    folder = open_folder(_place(choice))
    if choice.device == CPU and choice.records_a_call > 1 and _is_int8(folder, choice):
        notes.append(
            "int8 models run one abstract a call; batches are for --precision fp32 or fp16"
        )
        choice = replace(choice, batch_size=None, batch_tokens=None)
    model = ModelId(folder.config.name, folder.hash)
    fixed = replace(choice, model=str(folder.path.resolve()), threads=1)
    return Identified(fixed, model, lambda _: model, folder.config, tuple(notes))


def _is_int8(folder: ModelFolder, choice: ModelChoice) -> bool:
    return "int8" in folder.graph(choice.precision).name


def _place(choice: ModelChoice) -> Path:
    if choice.model is None:
        from sciextract.workflows.models.choice import chosen

        return chosen().model.folder
    from sciextract.inference.locate import locate_model

    return locate_model(choice.model)


def _auto(choice: ModelChoice, notes: tuple[str, ...]) -> Identified:
    """It loads a model with its first document only."""
    from sciextract.inference.domain.auto import AutoExtractor
    from sciextract.inference.extractor import Extractor

    both = AutoExtractor(lambda name: Extractor.load(name, threads=1), 1)
    return Identified(choice, both.model, both.model_of, both.config, notes)
