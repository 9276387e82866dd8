"""Attention heads taken out of an encoder of the BERT kind for good: its matrices become narrower.

Which heads are gone stands in the configuration as ``pruned_heads``, layer to heads, the way older versions of
transformers wrote it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from sciextract.errors import UsageError

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
        _narrow(block, kept)
        known[layer] = sorted({*gone, *(numbers[head] for head in heads)})
    setattr(config, KEY, {layer: heads for layer, heads in sorted(known.items()) if heads})


def apply_removed(encoder: Any, values: Mapping[str, Any]) -> None:
    """Makes a fresh encoder as narrow as the configuration says that its weights are."""
    stored = values.get(KEY) or {}
    if stored:
        setattr(encoder.config, KEY, {})
        remove_heads(encoder, {int(layer): heads for layer, heads in stored.items()})


def _narrow(block: Any, kept: list[int]) -> None:
    size = head_size(block)
    rows = torch.cat([torch.arange(head * size, (head + 1) * size) for head in kept])
    for name in ("query", "key", "value"):
        setattr(block.self, name, _cut(getattr(block.self, name), rows, 0))
    block.output.dense = _cut(block.output.dense, rows, 1)
    block.self.num_attention_heads = len(kept)
    block.self.all_head_size = len(rows)


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
