"""A student encoder before its distillation: some of the teacher's layers, or fresh ones of other sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from research.distillation.objectives import Layers, ascending, every_layer
from research.pretraining.command import write_encoder
from research.pretraining.network import MaskedLanguageModel, read_head
from sciextract.errors import ModelMismatchError, OutputError, UsageError
from sciextract_trainer.build import load_subword_rules
from sciextract_trainer.encoders.loading import (
    empty_encoder,
    layers_of,
    load_encoder,
    read_settings,
)

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
        _largest(head, widths.of_head_kept) + number * widths.of_head
        for number, head in enumerate(by_head)
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


_SIZES = ("hidden_size", "num_attention_heads", "intermediate_size", "num_hidden_layers")


@dataclass(frozen=True, slots=True)
class StudentPlan:
    """What a student is made of.

    Attributes:
        layers: The teacher's layers that it begins with, counted from 1; none: all weights begin fresh.
        depth: How many layers it has where none are named.
        hidden: Its hidden size; the teacher's when ``None``.
        heads: Its attention heads; the teacher's when ``None``.
        intermediate: Neurons of its feed-forward layers; the teacher's when ``None``.
        seed: Of fresh weights.
    """

    layers: Layers = ()
    depth: int | None = None
    hidden: int | None = None
    heads: int | None = None
    intermediate: int | None = None
    seed: int = 1


def every_of(source: str, step: int, first: int) -> Layers:
    """Each ``step``-th layer of an encoder, from ``first`` on.

    Raises:
        ModelNotFoundError: There is no such encoder.
        ModelMismatchError: It has no layers.
        UsageError: No layer is left.
    """
    return every_layer(step, first, _size(read_settings(source), "num_hidden_layers"))


def write_student(source: str, plan: StudentPlan, folder: Path) -> dict[str, Any]:
    """Writes a student of an encoder as a Hugging Face folder with the same tokenizer.

    The head that tells masked tokens comes along where the teacher has one and its weights are taken over.

    Args:
        source: Folder or hub id of the teacher.
        plan: What the student is made of.
        folder: A new or empty folder.

    Returns:
        Sizes of the student and its number of parameters.

    Raises:
        ModelNotFoundError: The teacher cannot be loaded.
        ModelMismatchError: Its kind has no such sizes to change.
        UsageError: The plan does not fit the teacher.
        OutputError: The folder holds something, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is not empty", "name a new folder for the student")
    load_subword_rules(source)
    teacher = MaskedLanguageModel(load_encoder(source))
    has_head = read_head(teacher, source)
    student = make_student(teacher, plan, has_head)
    write_encoder(student, source, folder, head=has_head and bool(plan.layers))
    return {name: getattr(student.encoder.config, name) for name in _SIZES} | {
        "parameters": sum(parameter.numel() for parameter in student.encoder.parameters())
    }


def make_student(
    teacher: MaskedLanguageModel, plan: StudentPlan, head: bool
) -> MaskedLanguageModel:
    """A student of a teacher, in float32.

    Args:
        teacher: Encoder and head.
        plan: What the student is made of.
        head: Whether the teacher's head is worth taking over.

    Raises:
        ModelMismatchError: The teacher's kind has no such sizes to change.
        UsageError: The plan does not fit the teacher.
    """
    torch.manual_seed(plan.seed)
    encoder = teacher.encoder
    if not plan.layers:
        return MaskedLanguageModel(empty_encoder(_values(encoder, plan)))
    kept = _with_layers(encoder, ascending(plan.layers, _size(encoder.config, "num_hidden_layers")))
    if not _narrower(encoder, plan):
        return _like(teacher, MaskedLanguageModel(kept), head)
    widths = Widths.between(encoder.config, _values(encoder, plan))
    student = MaskedLanguageModel(empty_encoder(_values(encoder, plan)))
    dimensions = narrowed(kept, student.encoder, widths)
    if head:
        narrowed_head(teacher, student, dimensions)
    return student


def _like(
    teacher: MaskedLanguageModel, student: MaskedLanguageModel, head: bool
) -> MaskedLanguageModel:
    if head:
        for name in ("dense", "norm"):
            getattr(student, name).load_state_dict(getattr(teacher, name).state_dict())
        student.bias.data.copy_(teacher.bias.data)
    return student


def _with_layers(encoder: Any, layers: Layers) -> Any:
    """A shallower copy of an encoder: its embeddings and some of its layers."""
    place, _ = layers_of(encoder, "layers")
    values = {**encoder.config.to_dict(), "num_hidden_layers": len(layers)}
    student: nn.Module = empty_encoder(values)
    numbers = {own: other - 1 for own, other in enumerate(layers)}
    found = encoder.state_dict()
    wanted = {name: found[_origin(name, place, numbers)] for name in student.state_dict()}
    student.load_state_dict(wanted)
    return student


def _origin(name: str, place: str, numbers: dict[int, int]) -> str:
    """The name of a student's weight in its teacher."""
    if not name.startswith(place + "."):
        return name
    number, rest = name.removeprefix(place + ".").split(".", 1)
    return f"{place}.{numbers[int(number)]}.{rest}"


def _narrower(encoder: Any, plan: StudentPlan) -> bool:
    return any(
        wanted is not None and wanted != _size(encoder.config, name)
        for name, wanted in zip(_SIZES, (plan.hidden, plan.heads, plan.intermediate), strict=False)
    )


def _values(encoder: Any, plan: StudentPlan) -> dict[str, Any]:
    """The student's configuration."""
    wanted = (plan.hidden, plan.heads, plan.intermediate, len(plan.layers) or plan.depth)
    sizes = {
        name: _size(encoder.config, name) if size is None else size
        for name, size in zip(_SIZES, wanted, strict=True)
    }
    for name, size in sizes.items():
        if size < 1:
            raise UsageError(f"{name} = {size} cannot work", "expected a number above 0")
    if sizes["hidden_size"] % sizes["num_attention_heads"]:
        raise UsageError(
            f"{sizes['num_attention_heads']} heads do not divide a hidden size of "
            f"{sizes['hidden_size']}",
            "choose a hidden size that is a multiple of the number of heads",
        )
    return {**encoder.config.to_dict(), **sizes}


def _size(settings: Any, name: str) -> int:
    found = getattr(settings, name, None)
    if not isinstance(found, int):
        raise ModelMismatchError(
            f"an encoder of the kind {settings.model_type!r} has no size called {name}",
            "students are made of encoders of BERT's kind",
        )
    return found
