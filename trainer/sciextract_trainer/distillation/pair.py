"""Teacher and student of a distillation, checked to fit each other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from sciextract.errors import ModelMismatchError, UsageError
from sciextract_trainer.build import PieceRules, load_piece_rules
from sciextract_trainer.distillation.config import DistilConfig
from sciextract_trainer.distillation.layers import Layers, checked, last_of_blocks
from sciextract_trainer.distillation.objectives import METHODS, Method
from sciextract_trainer.network.encoder import load_encoder
from sciextract_trainer.pretrain.head import read_head, require_head
from sciextract_trainer.pretrain.network import MaskedLanguageModel, Told


class LearningStudent(nn.Module):
    """A student with the projections to its teacher's width, which are dropped after the distillation.

    One projection serves the hidden states of all layers and one the embeddings, each with a bias, as in TinyBERT
    (Jiao et al. 2020, arXiv 1909.10351, section 3.1). Between equal widths they begin as the identity.

    Args:
        model: The student's encoder and head.
        width: The teacher's hidden size; ``None`` compares hidden states as they are.
    """

    def __init__(self, model: MaskedLanguageModel, width: int | None) -> None:
        super().__init__()
        self.model = model
        self.projections = nn.ModuleDict()
        if width is not None:
            for name in ("embedding", "hidden"):
                self.projections[name] = _projection(model.encoder.config.hidden_size, width)

    def tell(self, input_ids: Tensor, positions: Tensor, attentions: bool) -> Told:
        """What the student tells of blocks, in the teacher's width; shapes as in :class:`Told`."""
        told = self.model.tell(input_ids, positions, attentions)
        if not self.projections:
            return told
        first, *later = told.hidden
        hidden = (
            self.projections["embedding"](first),
            *(self.projections["hidden"](each) for each in later),
        )
        return Told(told.logits, hidden, told.attentions)


def _projection(student: int, teacher: int) -> nn.Linear:
    layer = nn.Linear(student, teacher)
    if student == teacher:
        nn.init.eye_(layer.weight)
        nn.init.zeros_(layer.bias)
    return layer


@dataclass(frozen=True, slots=True)
class Pair:
    """A teacher that is fixed and a student that learns.

    Attributes:
        teacher: Encoder and head, in evaluation mode, without gradients.
        student: Encoder, head and projections, in training mode.
        layers: The teacher layer that each layer of the student follows, counted from 1.
        method: What they are compared by.
    """

    teacher: MaskedLanguageModel
    student: LearningStudent
    layers: Layers
    method: Method

    def move(self, device: torch.device) -> None:
        """Puts both on a device."""
        self.teacher.to(device)
        self.student.to(device)

    def fingerprints(self) -> dict[str, str]:
        """Hashes of both networks' weights, so that a resumed run is known to have the same ones."""
        return {
            "teacher_weights": _sha256(self.teacher),
            "student_weights": _sha256(self.student.model),
        }


def load_pair(config: DistilConfig) -> Pair:
    """Both networks of a distillation; a student without a head begins with a fresh one.

    Raises:
        ModelNotFoundError: An encoder cannot be loaded, or the teacher has no head.
        ModelMismatchError: Their vocabularies, widths or heads do not fit the method.
        UsageError: The layers do not fit.
    """
    torch.manual_seed(config.seed)
    method = METHODS[config.method]
    _same_vocabulary(config)
    teacher, student = (_network(source, config, method) for source in _sources(config))
    require_head(teacher, config.teacher)
    read_head(student, config.student)
    layers = _layers(config, student, teacher)
    _fits(config, method, student, teacher)
    learning = LearningStudent(student, _width(teacher) if method.projects else None)
    teacher.requires_grad_(False)
    return Pair(teacher.eval(), learning.train(), layers, method)


def _sources(config: DistilConfig) -> tuple[str, str]:
    return config.teacher, config.student


def _network(source: str, config: DistilConfig, method: Method) -> MaskedLanguageModel:
    encoder: Any = load_encoder(source)
    if method.layerwise:  # the fused kernels never hold the maps
        encoder.set_attn_implementation("eager")
    return MaskedLanguageModel(encoder, config.bf16)


def _width(network: MaskedLanguageModel) -> int:
    return int(network.encoder.config.hidden_size)


def _depth(network: MaskedLanguageModel) -> int:
    depth = getattr(network.encoder.config, "num_hidden_layers", None)
    if not isinstance(depth, int):
        kind = network.encoder.config.model_type
        raise UsageError(
            f"an encoder of the kind {kind!r} has no layers to distil",
            "take a transformer as teacher and as student",
        )
    return depth


def _layers(
    config: DistilConfig, student: MaskedLanguageModel, teacher: MaskedLanguageModel
) -> Layers:
    small, large = _depth(student), _depth(teacher)
    if not METHODS[config.method].layerwise:
        return ()
    return checked(config.layers, small, large) if config.layers else last_of_blocks(small, large)


def _same_vocabulary(config: DistilConfig) -> None:
    teacher, student = (load_piece_rules(source) for source in _sources(config))
    problem = _difference(student, teacher)
    if problem:
        raise ModelMismatchError(
            f"student {config.student!r} and teacher {config.teacher!r} split texts differently: {problem}",
            "distil encoder compares them piece by piece; make the student from the teacher "
            "(sciextract-trainer student), or distil a whole model over words (distil model)",
        )


def _difference(student: PieceRules, teacher: PieceRules) -> str:
    """The first thing that two tokenizers do not have in common; empty when they have all."""
    small, large = student.tokenizer.get_vocab(), teacher.tokenizer.get_vocab()
    if len(small) != len(large):
        return f"{len(small)} pieces in the student's vocabulary, {len(large)} in the teacher's"
    for piece, number in sorted(large.items(), key=lambda each: each[1]):
        if small.get(piece) != number:
            return (
                f"{piece!r} is piece {number} of the teacher and {small.get(piece)} of the student"
            )
    frames = [(each.prefix, each.suffix, each.mask, each.pad) for each in (student, teacher)]
    return "" if frames[0] == frames[1] else "their special pieces differ"


def _fits(
    config: DistilConfig, method: Method, student: MaskedLanguageModel, teacher: MaskedLanguageModel
) -> None:
    small, large = student.encoder.config, teacher.encoder.config
    if not method.projects and small.hidden_size != large.hidden_size:
        raise ModelMismatchError(
            f"the student is {small.hidden_size} wide and the teacher {large.hidden_size}, but "
            f"{config.method} compares their hidden states as they are",
            "use a student of the same width, or the recipe tinybio, which projects",
        )
    if method.layerwise and small.num_attention_heads != large.num_attention_heads:
        raise ModelMismatchError(
            f"the student has {small.num_attention_heads} attention heads and the teacher "
            f"{large.num_attention_heads}, but {config.method} compares them one by one",
            "use a student with as many heads, or the recipe distilbio",
        )


def _sha256(network: nn.Module) -> str:
    """The hash of all weights in the order of their names."""
    digest = hashlib.sha256()
    for name, value in sorted(network.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
