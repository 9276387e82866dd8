"""The layers of an encoder: where they are, and new weights for some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from sciextract.errors import UsageError
from sciextract_trainer.config import TrainConfig


def layers_of(encoder: nn.Module, wanted_by: str) -> tuple[str, nn.ModuleList]:
    """The layers of an encoder, lowest first, and the name of their list in it.

    It is the outermost list of as many alike modules as the configuration counts layers: ``encoder.layer`` in
    BERT, RoBERTa, ELECTRA and DeBERTa, ``transformer.layer`` in DistilBERT.

    Args:
        encoder: A Hugging Face encoder.
        wanted_by: The setting that needs layers, for the message.

    Raises:
        UsageError: Its layers share their weights, as in ALBERT, or it has none.
    """
    settings: Any = getattr(encoder, "config", None)
    kind = getattr(settings, "model_type", type(encoder).__name__)
    if hasattr(settings, "num_hidden_groups"):
        raise UsageError(
            f"training setting {wanted_by} is not possible with this encoder: the layers of "
            f"{kind!r} share one set of weights, so that none can be changed alone",
            f"leave {wanted_by} out, or take another encoder",
        )
    depth = getattr(settings, "num_hidden_layers", 0)
    for name, module in encoder.named_modules():
        # A list may hold one module several times, or modules of several classes: those are no layers.
        if (
            isinstance(module, nn.ModuleList)
            and len(module) == len(set(module)) == depth > 0
            and len({type(each) for each in module}) == 1
        ):
            return name, module
    raise UsageError(
        f"training setting {wanted_by} is not possible with this encoder: {kind!r} has no list of "
        "layers",
        f"leave {wanted_by} out, or take a transformer as encoder",
    )


def reinitialise(encoder: nn.Module, config: TrainConfig) -> None:
    """Gives the layers that a recipe names new weights, in place.

    What a layer gets depends on the seed and on its number only; the state of torch's random numbers stays as it
    is, so that heads begin the same with and without.

    Args:
        encoder: A Hugging Face encoder.
        config: The recipe; without ``reinit_layers`` nothing is done.

    Raises:
        UsageError: The encoder has fewer layers, or none that can be changed alone.
    """
    if not config.reinit_layers:
        return
    _, layers = layers_of(encoder, "reinit_layers")
    missing = [number for number in config.reinit_layers if number > len(layers)]
    if missing:
        raise UsageError(
            f"training setting reinit_layers = {list(config.reinit_layers)} is not possible: the encoder "
            f"{config.encoder!r} has {len(layers)} layers, there is no layer {missing[0]}",
            f"use numbers from 1 (lowest) to {len(layers)}",
        )
    for number in config.reinit_layers:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(
                int(np.random.SeedSequence([config.seed, number]).generate_state(1)[0])
            )
            layer = layers[number - 1]
            if config.reinit_with == "xavier":
                # Matrices by Xavier's normal rule (Glorot and Bengio 2010), biases 0, norms 1.
                for name, parameter in layer.named_parameters():
                    if parameter.ndim > 1:
                        nn.init.xavier_normal_(parameter)
                    else:
                        nn.init.constant_(parameter, float(name.endswith("weight")))
                continue
            # As the encoder itself was initialised before its pretraining. transformers leaves alone what it has
            # loaded; the marks that say so are taken off first.
            for parameter in layer.parameters():
                parameter._is_hf_initialized = False  # type: ignore[attr-defined]
            for module in layer.modules():
                encoder._init_weights(module)  # type: ignore[operator]
