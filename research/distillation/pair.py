"""Teacher and student of a distillation, checked to fit each other."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from research.distillation.objectives import (
    METHODS,
    Layers,
    LossInputs,
    Method,
    checked,
    last_of_blocks,
    weighted,
)
from research.pretraining.command import room_of, write_encoder
from research.pretraining.network import (
    EncoderOutputs,
    MaskedLanguageModel,
    read_head,
    require_head,
)
from research.pretraining.steps import (
    Batch,
    BlockSettings,
    Losses,
    Room,
    load_settings,
    require,
    start_state,
    train_on_blocks,
)
from research.reporting import Report
from sciextract.errors import ModelMismatchError, UsageError
from sciextract_trainer.build import SubwordRules, load_subword_rules
from sciextract_trainer.checkpoint import deadline
from sciextract_trainer.config import packaged_file
from sciextract_trainer.encoders.loading import load_encoder
from sciextract_trainer.hardware import has_fast_bf16

RECIPES = Path(__file__).resolve().parent.parent / "recipes"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilConfig(BlockSettings):
    """Everything that decides the outcome of an encoder distillation, apart from the texts.

    Attributes:
        teacher: Hugging Face id or folder of an encoder with a head that tells masked tokens.
        student: Folder of the encoder that learns.
        method: ``distilbio``, ``tinybio`` or ``compactbio``.
        layers: The teacher layer that each layer of the student follows, counted from 1; none named: the last
            layer of each of as many equal blocks as the student has layers.
        temperature: Of the output distributions.
        mlm_weight: Of the masked-language loss.
        output_weight: Of the soft outputs.
        hidden_weight: Of the hidden states.
        attention_weight: Of the attention maps.
        embedding_weight: Of the embeddings.
    """

    teacher: str
    student: str
    method: str
    layers: tuple[int, ...] = ()
    temperature: float = 1.0
    mlm_weight: float = 1.0
    output_weight: float = 1.0
    hidden_weight: float = 1.0
    attention_weight: float = 1.0
    embedding_weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuses values that cannot work.

        Raises:
            UsageError: Names the setting, the value and the values allowed.
        """
        BlockSettings.__post_init__(self)
        require(self, "method", self.method in METHODS, ", ".join(METHODS))
        require(self, "temperature", self.temperature > 0, "a number above 0")
        layerwise = METHODS[self.method].layerwise
        require(self, "layers", layerwise or not self.layers, "none, for the last one is compared")
        for part, weight in self.weights.items():
            require(self, f"{part}_weight", weight >= 0, "at least 0")

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each part of the method's loss."""
        return {part: getattr(self, f"{part}_weight") for part in METHODS[self.method].parts}


def load_distil_config(recipe: str, **changes: Any) -> DistilConfig:
    """The settings of a recipe, with changes.

    Args:
        recipe: ``distilbio``, ``tinybio``, ``compactbio`` or a TOML file.
        **changes: Settings that replace the recipe's.

    Raises:
        InputMissingError: Neither a file nor a packaged recipe; names the packaged ones.
        UsageError: A setting is unknown, of another type or cannot work.
    """
    file = packaged_file(recipe, RECIPES, "distillation recipe", prefix="distil-")
    return load_settings(DistilConfig, file, **changes)


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

    def outputs(self, input_ids: Tensor, positions: Tensor, attentions: bool) -> EncoderOutputs:
        """Outputs of the student for blocks, in the teacher's width; shapes as in :class:`EncoderOutputs`."""
        outputs = self.model.outputs(input_ids, positions, attentions)
        if not self.projections:
            return outputs
        first, *later = outputs.hidden
        hidden = (
            self.projections["embedding"](first),
            *(self.projections["hidden"](state) for state in later),
        )
        return EncoderOutputs(outputs.logits, hidden, outputs.attentions)


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
        """Puts both on a device; bfloat16 is left where it is slow."""
        for network in (self.teacher, self.student.model):
            network.bf16 = network.bf16 and has_fast_bf16(device)
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
    teacher, student = (load_subword_rules(source) for source in _sources(config))
    problem = _difference(student, teacher)
    if problem:
        raise ModelMismatchError(
            f"student {config.student!r} and teacher {config.teacher!r} split texts differently: {problem}",
            "distil encoder compares them piece by piece; make the student from the teacher "
            "(python -m research student), or distil a whole model over words (distil model)",
        )


def _difference(student: SubwordRules, teacher: SubwordRules) -> str:
    """The first thing that two tokenizers do not have in common; empty when they have all."""
    small, large = student.tokenizer.get_vocab(), teacher.tokenizer.get_vocab()
    if len(small) != len(large):
        return f"{len(small)} subwords in the student's vocabulary, {len(large)} in the teacher's"
    for subword, number in sorted(large.items(), key=lambda entry: entry[1]):
        if small.get(subword) != number:
            return f"{subword!r} is subword {number} of the teacher and {small.get(subword)} of the student"
    frames = [(part.prefix, part.suffix, part.mask, part.pad) for part in (student, teacher)]
    return "" if frames[0] == frames[1] else "their special tokens differ"


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


def distil(
    config: DistilConfig,
    pair: Pair,
    room: Room,
    folder: Path,
    report: Report,
    until: float = float("inf"),
) -> MaskedLanguageModel:
    """Train to the last step of the recipe, or until the clock says so; gives the student as it is then.

    Args:
        config: The recipe.
        pair: Teacher and student.
        room: Tokenizer and blocks.
        folder: Checkpoints.
        report: Called with a dictionary every few steps: the loss and each part of it, unweighted.
        until: ``time.monotonic()`` at which to stop after a checkpoint.

    Raises:
        UsageError: There is too little text, or a checkpoint of other settings or other networks is there.
        OutputError: A checkpoint cannot be written; the one before it stays.
    """
    settings = {**config.to_json(), **pair.fingerprints()}
    pair.move(room.device)
    report({"event": "pair", "method": config.method, "layers": list(pair.layers)})
    state = start_state(pair.student, room, settings)
    train_on_blocks(state, room, losses_of(pair, config), folder, report, until)
    return pair.student.model


def losses_of(pair: Pair, config: DistilConfig) -> Losses:
    """The losses of a batch: the weighted sum and each part of it."""
    asked = pair.method.layerwise

    def losses(batch: Batch) -> dict[str, Tensor]:
        with torch.no_grad():
            teacher = pair.teacher.outputs(batch.input_ids, batch.positions, asked)
        student = pair.student.outputs(batch.input_ids, batch.positions, asked)
        inputs = LossInputs(student, teacher, batch.targets, pair.layers, config.temperature)
        parts = pair.method.objective(inputs)
        return {"loss": weighted(parts, config.weights), **parts}

    return losses


def run_distillation(
    config: DistilConfig,
    shards: Sequence[Path],
    most: int,
    folder: Path,
    report: Report,
    minutes: float = float("inf"),
) -> Path:
    """Distil on unlabelled abstracts and write the student's encoder and head as a Hugging Face folder.

    Args:
        config: The recipe.
        shards: JSON Lines with ``id``, ``title`` and ``abstract``, packed with gzip.
        most: Abstracts to take, in the order of the shards.
        folder: Blocks, checkpoints and, in ``encoder/``, the result.
        report: Called with a dictionary every few steps.
        minutes: Stop after this time; the same call continues.

    Returns:
        The student's folder; before the last step it holds the weights so far.

    Raises:
        InputMissingError: A shard does not exist.
        ModelNotFoundError: An encoder cannot be loaded, or the teacher has no head.
        ModelMismatchError: Teacher and student do not fit each other.
        UsageError: Too little text, or the folder belongs to a distillation with other settings.
        OutputError: Something cannot be written; the last whole checkpoint stays.
    """
    until = deadline(minutes)
    pair = load_pair(config)
    room = room_of(config, config.student, shards, most, folder, report)
    student = distil(config, pair, room, folder, report, until)
    return write_encoder(student, config.student, folder / "encoder")
