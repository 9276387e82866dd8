"""The weights of an encoder: whole, from safetensors only, without noise on the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from sciextract.errors import ModelMismatchError, ModelNotFoundError, as_command
from sciextract_trainer.encoders.files import load_pretrained
from sciextract_trainer.encoders.settings import no_encoder

_POOLER = "pooler."


def read_weights(source: str, settings: Any) -> Any:
    """An encoder with its weights in float32, without pooler.

    Raises:
        ModelNotFoundError: There are no weights, or only pickled ones.
        ModelMismatchError: The weights do not fit the configuration.
    """
    _refuse_pickles(source)
    try:
        encoder, told = _loaded(source, settings)
    except RuntimeError as error:  # sizes differ; transformers has shown no more than that
        raise _misfit(source, "some have other sizes") from error
    except (OSError, ValueError, ImportError, SafetensorError) as error:
        raise no_encoder(source, error) from error
    fresh = (_POOLER, *getattr(encoder, "begins_fresh", ()))
    missing = sorted(name for name in told["missing_keys"] if not name.startswith(fresh))
    if missing:
        raise _misfit(source, f"{len(missing)} are missing, the first is {missing[0]}")
    return without_pooler(encoder)


def without_pooler(encoder: Any) -> Any:
    """The encoder without the layer that makes one vector of a text, where it has one."""
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    return encoder


def _loaded(source: str, settings: Any) -> tuple[Any, dict[str, Any]]:
    from transformers import AutoModel

    with _quiet():
        loaded: tuple[Any, dict[str, Any]] = load_pretrained(
            AutoModel,
            source,
            config=settings,
            dtype=torch.float32,
            use_safetensors=True,
            output_loading_info=True,
        )
    return loaded


def _refuse_pickles(source: str) -> None:
    folder = Path(source)
    if not folder.is_dir() or any(folder.glob("*.safetensors")):
        return
    pickled = sorted(file.name for file in folder.glob("*.bin"))
    if pickled:
        raise ModelNotFoundError(
            f"{source} has its weights in {pickled[0]} only, and loading a pickle can run any code; "
            "only safetensors are read",
            f"{as_command('sciextract-trainer', 'safetensors', source, 'NEW_DIR')}  writes them as model.safetensors",
        )


def _misfit(source: str, problem: str) -> ModelMismatchError:
    return ModelMismatchError(
        f"the weights of the encoder {source!r} do not fit its config.json: {problem}",
        "take configuration and weights from the same place",
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the loader's progress bar and table off the terminal; what is wrong is raised here."""
    from transformers.utils import logging as told

    logging: Any = told
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
