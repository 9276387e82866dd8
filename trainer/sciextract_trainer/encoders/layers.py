"""Attention heads taken out of an encoder of the BERT kind for good: its matrices become narrower.

Which heads are gone stands in the configuration as ``pruned_heads``, layer to heads, the way older versions of
transformers wrote it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sciextract.errors import UsageError
from sciextract_trainer.config import TrainConfig

KEY = "pruned_heads"


def attentions(encoder: nn.Module) -> list[Any]:
    """The attention blocks of an encoder from the lowest layer up.

    Raises:
        UsageError: It is of a family whose attention has other parts than BERT's.
    """
    layers = getattr(getattr(encoder, "encoder", None), "layer", ())
    found: list[Any] = [getattr(layer, "attention", None) for layer in layers]
    if not found or not all(_like_bert(each) for each in found):
        kind = getattr(getattr(encoder, "config", None), "model_type", type(encoder).__name__)
        raise UsageError(
            f"heads of a {kind} encoder cannot be pruned",
            "families whose attention is built like BERT's can: bert, electra, roberta",
        )
    return found


def head_size(attention: Any) -> int:
    """Numbers per head."""
    return int(attention.self.attention_head_size)


def head_count(attention: Any) -> int:
    """Heads that a block has."""
    return int(attention.self.query.out_features) // head_size(attention)


def remove_heads(encoder: Any, removed: Mapping[int, Collection[int]]) -> None:
    """Takes heads out of the matrices of an encoder, and notes them in its configuration.

    Args:
        encoder: The encoder; its weights are replaced.
        removed: Layer (0-based) to heads, numbered as they are now.

    Raises:
        UsageError: Its family cannot be pruned, or no head of a layer would be left.
    """
    blocks, config = attentions(encoder), encoder.config
    known: dict[int, list[int]] = {
        int(k): list(v) for k, v in (getattr(config, KEY, None) or {}).items()
    }
    for layer, heads in removed.items():
        block = blocks[layer]
        gone = set(known.get(layer, ()))
        numbers = [head for head in range(config.num_attention_heads) if head not in gone]
        kept = [head for head in range(head_count(block)) if head not in heads]
        if not kept:
            raise UsageError(f"no head of layer {layer} would be left", "remove fewer heads")
        size = head_size(block)
        rows = torch.cat([torch.arange(head * size, (head + 1) * size) for head in kept])
        for name in ("query", "key", "value"):
            setattr(block.self, name, _cut(getattr(block.self, name), rows, 0))
        block.output.dense = _cut(block.output.dense, rows, 1)
        block.self.num_attention_heads = len(kept)
        block.self.all_head_size = len(rows)
        known[layer] = sorted({*gone, *(numbers[head] for head in heads)})
    setattr(config, KEY, {layer: heads for layer, heads in sorted(known.items()) if heads})


def apply_removed(encoder: Any, values: Mapping[str, Any]) -> None:
    """Makes a fresh encoder as narrow as the configuration says that its weights are."""
    stored = values.get(KEY) or {}
    if stored:
        setattr(encoder.config, KEY, {})
        remove_heads(encoder, {int(layer): heads for layer, heads in stored.items()})


@torch.no_grad()
def _cut(layer: nn.Linear, rows: Tensor, side: int) -> nn.Linear:
    """A layer with some of its outputs (side 0) or inputs (side 1)."""
    weight = layer.weight.index_select(side, rows)
    new = nn.Linear(weight.shape[1], weight.shape[0], bias=layer.bias is not None)
    new.weight.copy_(weight)
    if layer.bias is not None:
        new.bias.copy_(layer.bias[rows] if side == 0 else layer.bias)
    return new


def _like_bert(block: Any) -> bool:
    inner, output = getattr(block, "self", None), getattr(block, "output", None)
    named = all(
        isinstance(getattr(inner, name, None), nn.Linear) for name in ("query", "key", "value")
    )
    plain = not hasattr(inner, "pos_att_type")  # DeBERTa v2 has positions in its heads
    return named and plain and isinstance(getattr(output, "dense", None), nn.Linear)


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
