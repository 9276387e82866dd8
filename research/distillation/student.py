"""A student encoder before its distillation: some of the teacher's layers, or fresh ones of other sizes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

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
    own = encoder.config.to_dict()
    for name, size in _values(encoder, plan).items():
        if name in _SIZES[:-1] and size != own[name]:
            raise UsageError(
                f"{name} = {size} is not the teacher's {own[name]}, whose layers the student begins with",
                "leave its widths as they are, or begin fresh with a number of layers",
            )
    return _like(teacher, MaskedLanguageModel(kept), head)


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
