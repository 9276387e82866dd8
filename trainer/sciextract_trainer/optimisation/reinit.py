"""Encoder layers that begin anew: what pretraining has put into them does not serve every task.

After Zhang et al. 2021, "Revisiting Few-sample BERT Fine-tuning" (arXiv 2006.05987, section 5), who begin the top
layers anew, and the SciDeBERTa paper (Jeong and Kim 2022), who begin single ones anew with Xavier's rule.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from sciextract.errors import UsageError
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.optimisation.encoder_layers import layers_of


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
            if config.reinit_with == "xavier":
                _xavier(layers[number - 1])
            else:
                _as_encoder(layers[number - 1], encoder)


@torch.no_grad()
def _xavier(layer: nn.Module) -> None:
    """Matrices by Xavier's normal rule (Glorot and Bengio 2010), biases 0, norms 1."""
    for name, parameter in layer.named_parameters():
        if parameter.ndim > 1:
            nn.init.xavier_normal_(parameter)
        else:
            nn.init.constant_(parameter, float(name.endswith("weight")))


def _as_encoder(layer: nn.Module, encoder: nn.Module) -> None:
    """As the encoder itself was initialised before its pretraining.

    transformers leaves alone what it has loaded; the marks that say so are taken off first.
    """
    for parameter in layer.parameters():
        parameter._is_hf_initialized = False  # type: ignore[attr-defined]
    for module in layer.modules():
        encoder._init_weights(module)  # type: ignore[operator]
