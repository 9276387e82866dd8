"""From a configuration to the parts of a training: tokenizer, labels, network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn

from sciextract.documents.schema import LabelSchema
from sciextract.errors import ModelNotFoundError
from sciextract.inference.layout import RelationLayout
from sciextract.inference.pieces import PieceEncoder
from sciextract.inference.pipeline import Labels
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.network.dygie import DygieNetwork
from sciextract_trainer.network.encoder import load_encoder
from sciextract_trainer.network.joint import JointNetwork


@dataclass(frozen=True, slots=True)
class PieceRules:
    """The tokenizer of an encoder and its special ids.

    Attributes:
        tokenizer: The trained tokenizer.
        prefix: Special ids before a window.
        suffix: Special ids after it.
        unknown: Id of the unknown piece.
        mask: Id of the mask piece.
        pad: Id of the padding piece.
        limit: Most pieces of a window, special ones not counted.
    """

    tokenizer: Tokenizer
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    unknown: int
    mask: int
    pad: int
    limit: int

    def encoder(self) -> PieceEncoder:
        """The piece encoder that the core uses."""
        return PieceEncoder(self.tokenizer, self.prefix, self.suffix, self.unknown)


def labels_of(schema: LabelSchema, max_span_width: int) -> Labels:
    """What the classes of a network for a schema mean."""
    layout = RelationLayout(tuple(schema.relation_labels), frozenset(schema.symmetric_labels))
    return Labels(tuple(schema.entity_labels), layout, schema.coreference, max_span_width)


def load_piece_rules(source: str) -> PieceRules:
    """The fast tokenizer of an encoder folder or hub id.

    Raises:
        ModelNotFoundError: It has none.
    """
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(source, use_fast=True, add_prefix_space=True)
    except (OSError, ValueError) as error:
        raise ModelNotFoundError(f"no tokenizer can be loaded from {source!r}: {error}") from error
    backend: Tokenizer = loaded.backend_tokenizer
    prefix, suffix = _frame_ids(loaded)
    return PieceRules(
        tokenizer=backend,
        prefix=prefix,
        suffix=suffix,
        unknown=_first_id(loaded.unk_token_id, loaded.mask_token_id, prefix[0]),
        mask=_first_id(loaded.mask_token_id, loaded.unk_token_id, prefix[0]),
        pad=_first_id(loaded.pad_token_id, 0),
        limit=_position_limit(source) - len(prefix) - len(suffix),
    )


def _first_id(*candidates: int | None) -> int:
    return next(candidate for candidate in candidates if candidate is not None)


def _frame_ids(loaded: object) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Ids before and after a text, read off an encoded word."""
    plain = loaded("a", add_special_tokens=False)["input_ids"]  # type: ignore[operator]
    framed = loaded("a")["input_ids"]  # type: ignore[operator]
    start = next(i for i in range(len(framed)) if framed[i : i + len(plain)] == plain)
    return tuple(framed[:start]), tuple(framed[start + len(plain) :])


def _position_limit(source: str) -> int:
    """Pieces an encoder can place, special ones included; 512 where positions are relative."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(source)
    limit = int(getattr(config, "max_position_embeddings", 512) or 512)
    offset = 2 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
    return min(max(limit - offset, 16), 512)


def build_network(config: TrainConfig, labels: Labels) -> JointNetwork:
    """A joint network with a pretrained encoder and fresh heads, seeded."""
    encoder, hidden = _seeded_encoder(config)
    return JointNetwork(encoder, hidden, labels, config)


def build_dygie_network(config: TrainConfig, labels: Labels) -> DygieNetwork:
    """A DyGIE++ network with a pretrained encoder and fresh heads, seeded."""
    encoder, hidden = _seeded_encoder(config)
    return DygieNetwork(encoder, hidden, labels, config)


def _seeded_encoder(config: TrainConfig) -> tuple[nn.Module, int]:
    """The encoder of a recipe and its hidden size, with torch seeded for the heads."""
    torch.manual_seed(config.seed)
    encoder = load_encoder(config.encoder, config.attention_dropout)
    if config.freeze_embeddings:
        encoder.get_input_embeddings().requires_grad_(False)  # type: ignore[operator]
    return encoder, int(encoder.config.hidden_size)  # type: ignore[union-attr, arg-type]


def require_folder(path: Path) -> Path:
    """The folder of a checkpoint.

    Raises:
        ModelNotFoundError: It does not exist.
    """
    if not path.is_dir():
        raise ModelNotFoundError(f"no model folder at {path}")
    return path
