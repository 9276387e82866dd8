"""A narrower encoder from a wider one of BERT's kind: the weights that matter most stay."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sciextract.errors import ModelMismatchError, UsageError
from sciextract_trainer.pretrain.network import MaskedLanguageModel

_LAYER = re.compile(r"encoder\.layer\.(\d+)\.")
_ATTENTION = "attention.self."
_READS_HEADS = "attention.output.dense.weight"
_NEURONS = "intermediate.dense."
_READS_NEURONS = "output.dense.weight"


@dataclass(frozen=True, slots=True)
class Widths:
    """Sizes of both encoders.

    Attributes:
        hidden: Numbers of a hidden state that stay.
        heads: Attention heads; as many in both.
        of_head: Numbers of a head in the wider encoder.
        of_head_kept: Those that stay.
        neurons: Neurons of a feed-forward layer that stay.
    """

    hidden: int
    heads: int
    of_head: int
    of_head_kept: int
    neurons: int

    @classmethod
    def between(cls, wide: Any, narrow: dict[str, Any]) -> Widths:
        """The sizes of a configuration and of a narrower one.

        Raises:
            ModelMismatchError: The encoder is not of BERT's kind.
            UsageError: The other one is wider somewhere, or has other heads.
        """
        if wide.model_type not in ("bert", "roberta", "camembert", "xlm-roberta"):
            raise ModelMismatchError(
                f"no way is known to narrow an encoder of the kind {wide.model_type!r}",
                "leave its widths as they are, or begin fresh with a number of layers",
            )
        for name in ("hidden_size", "intermediate_size"):
            if narrow[name] > getattr(wide, name):
                raise UsageError(
                    f"{name} = {narrow[name]} is wider than the teacher's {getattr(wide, name)}",
                    "a student that begins with the teacher's weights is at most as wide",
                )
        heads = narrow["num_attention_heads"]
        if heads != wide.num_attention_heads:
            raise UsageError(
                f"a student with {heads} heads cannot begin with the weights of a teacher with "
                f"{wide.num_attention_heads}",
                "leave the number of heads as it is, or begin fresh with a number of layers",
            )
        return cls(
            hidden=narrow["hidden_size"],
            heads=heads,
            of_head=wide.hidden_size // heads,
            of_head_kept=narrow["hidden_size"] // heads,
            neurons=narrow["intermediate_size"],
        )


def narrowed(wide: Any, narrow: Any, widths: Widths) -> Tensor:
    """Fills a narrower encoder with the weights of a wider one that has as many layers.

    Hidden numbers, the numbers within each head and neurons are ranked by the squares of all weights that touch
    them, and the largest stay: magnitude pruning of whole units (Han et al. 2015, arXiv 1506.02626, ranks single
    weights so). Queries are scaled, for attention divides by the root of a head's width.

    Returns:
        int64 (hidden,), the hidden numbers that stay, ascending.
    """
    found = wide.state_dict()
    hidden = _largest(_touching(found, wide.config.hidden_size), widths.hidden)
    units = {
        number: _layer_units(found, number, widths)
        for number in range(wide.config.num_hidden_layers)
    }
    narrow.load_state_dict(
        {
            name: _cut(name, found[name], hidden, units, widths).clone()
            for name in narrow.state_dict()
        }
    )
    return hidden


def narrowed_head(teacher: MaskedLanguageModel, student: MaskedLanguageModel, kept: Tensor) -> None:
    """Fills the head of a narrower encoder from the teacher's."""
    with torch.no_grad():
        student.dense.weight.copy_(teacher.dense.weight[kept][:, kept])
        student.dense.bias.copy_(teacher.dense.bias[kept])
        student.norm.weight.copy_(teacher.norm.weight[kept])
        student.norm.bias.copy_(teacher.norm.bias[kept])
        student.bias.copy_(teacher.bias)


@dataclass(frozen=True, slots=True)
class _Units:
    """What stays of one layer: rows of queries and keys, rows of values, neurons."""

    queries: Tensor
    values: Tensor
    neurons: Tensor


def _layer_units(found: dict[str, Tensor], number: int, widths: Widths) -> _Units:
    place = f"encoder.layer.{number}."

    def weight(name: str) -> Tensor:
        return found[place + name]

    queries = _rows(weight(_ATTENTION + "query.weight")) * _rows(weight(_ATTENTION + "key.weight"))
    values = _rows(weight(_ATTENTION + "value.weight")) * _rows(weight(_READS_HEADS).T)
    neurons = _rows(weight(_NEURONS + "weight")) * _rows(weight(_READS_NEURONS).T)
    return _Units(
        _within_heads(queries, widths),
        _within_heads(values, widths),
        _largest(neurons, widths.neurons),
    )


def _rows(weight: Tensor) -> Tensor:
    return weight.square().sum(dim=1)


def _within_heads(importance: Tensor, widths: Widths) -> Tensor:
    """The numbers of each head that stay, as rows of the whole matrix."""
    by_head = importance.view(widths.heads, widths.of_head)
    kept = [
        _largest(each, widths.of_head_kept) + number * widths.of_head
        for number, each in enumerate(by_head)
    ]
    return torch.cat(kept)


def _largest(importance: Tensor, count: int) -> Tensor:
    return importance.topk(count).indices.sort().values


def _touching(found: dict[str, Tensor], hidden: int) -> Tensor:
    """The squares of all weights that read or write each hidden number, each matrix counted alike."""
    total = torch.zeros(hidden)
    for value in found.values():
        if value.ndim == 2:
            for axis in (0, 1):
                if value.shape[axis] == hidden and value.shape[0] != value.shape[1]:
                    squares = value.square().sum(dim=1 - axis)
                    total += squares / squares.sum()
    return total


def _cut(
    name: str, value: Tensor, hidden: Tensor, units: dict[int, _Units], widths: Widths
) -> Tensor:
    layer = _LAYER.search(name)
    if layer is None:
        return value if value.dtype == torch.int64 else value[..., hidden]
    unit, inner = units[int(layer[1])], name[layer.end() :]
    if inner.startswith(_ATTENTION):
        rows = unit.values if ".value." in inner else unit.queries
        kept = value[rows] if value.ndim == 1 else value[rows][:, hidden]
        return kept * _query_scale(widths) if ".query." in inner else kept
    if inner == _READS_HEADS:
        return value[hidden][:, unit.values]
    if inner.startswith(_NEURONS):
        return value[unit.neurons] if value.ndim == 1 else value[unit.neurons][:, hidden]
    if inner == _READS_NEURONS:
        return value[hidden][:, unit.neurons]
    return value[hidden]


def _query_scale(widths: Widths) -> float:
    return float((widths.of_head_kept / widths.of_head) ** 0.5)
