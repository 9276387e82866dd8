"""Commands that need torch say so where it is missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from sciextract.errors import MissingExtraError

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
