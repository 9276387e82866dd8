"""``sciextract-trainer safetensors``: an encoder that was published as a pickle, written anew as safetensors."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from sciextract.errors import ModelDamagedError, ModelNotFoundError, OutputError

PICKLE, WEIGHTS = "pytorch_model.bin", "model.safetensors"
_SMALL = ("*.json", "*.txt", "*.model", "*.codes")
"""Files that come along: configuration and tokenizer."""


def write_safetensors(source: str, target: Path) -> int:
    """Reads pickled tensors, and nothing else that a pickle can hold, and writes them as safetensors.

    Args:
        source: Encoder folder, or hub id.
        target: New encoder folder; must not hold anything yet.

    Returns:
        How many tensors were written.

    Raises:
        ModelNotFoundError: No such folder or id, or it has no pickled weights.
        ModelDamagedError: The pickle holds more than tensors, or is cut.
        OutputError: The target holds something.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target} is there already", "name a folder that is not there yet")
    folder = _local(source)
    if not (folder / PICKLE).is_file():
        raise ModelNotFoundError(
            f"{source} has no {PICKLE}", "weights in several parts or other formats are not read"
        )
    tensors = _tensors(folder / PICKLE)
    target.mkdir(parents=True, exist_ok=True)
    for pattern in _SMALL:
        for file in sorted(folder.glob(pattern)):
            shutil.copyfile(file, target / file.name)
    save_file(tensors, target / WEIGHTS, {"format": "pt"})
    return len(tensors)


def _local(source: str) -> Path:
    if Path(source).is_dir():
        return Path(source)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        return Path(snapshot_download(source, allow_patterns=[*_SMALL, PICKLE]))
    except (OSError, ValueError, HfHubHTTPError, HFValidationError) as error:
        raise ModelNotFoundError(
            f"no encoder at {source!r}: {error}", "give a folder, or a hub id (needs the network)"
        ) from error


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        found: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, OSError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelDamagedError(
            f"{path} cannot be read as plain tensors: {first}", "get the encoder again"
        ) from error
    if not isinstance(found, dict) or not found:
        raise ModelDamagedError(f"{path} holds no tensors by name", "get the encoder again")
    wrong = [name for name, value in found.items() if not isinstance(value, torch.Tensor)]
    if wrong:
        raise ModelDamagedError(f"{path}: {wrong[0]!r} is no tensor", "get the encoder again")
    return {str(name): value.detach().clone().contiguous() for name, value in found.items()}
