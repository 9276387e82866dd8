"""From a configuration to the parts of a training: tokenizer, labels, network."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import nn

from sciextract.documents.schema import LabelSchema
from sciextract.inference.label_layout import RelationLayout
from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import SubwordTokenizer
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.encoders.layers import reinitialise
from sciextract_trainer.encoders.loading import load_encoder, read_settings, text_limit
from sciextract_trainer.encoders.tokenizers import load_tokenizer
from sciextract_trainer.network.dygie import DygieNetwork
from sciextract_trainer.network.joint import JointNetwork


@dataclass(frozen=True, slots=True)
class SubwordRules:
    """The tokenizer of an encoder and its special ids.

    Attributes:
        tokenizer: The trained tokenizer.
        prefix: Special ids before a window.
        suffix: Special ids after it.
        unknown: Id of the unknown subword.
        mask: Id of the mask subword.
        pad: Id of the padding subword.
        limit: Most subwords of a window, special ones not counted.
    """

    tokenizer: Tokenizer
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    unknown: int
    mask: int
    pad: int
    limit: int

    def encoder(self) -> SubwordTokenizer:
        """The subword encoder that the core uses."""
        return SubwordTokenizer(self.tokenizer, self.prefix, self.suffix, self.unknown, self.limit)


def labels_of(schema: LabelSchema, max_span_width: int) -> Labels:
    """What the classes of a network for a schema mean."""
    layout = RelationLayout(tuple(schema.relation_labels), frozenset(schema.symmetric_labels))
    return Labels(tuple(schema.entity_labels), layout, schema.coreference, max_span_width)


def load_subword_rules(source: str) -> SubwordRules:
    """The fast tokenizer of an encoder folder or hub id.

    Raises:
        ModelNotFoundError: It has none.
        ModelMismatchError: It does not fit the encoder, or the encoder places too few subwords.
    """
    settings = read_settings(source)
    found = load_tokenizer(source, settings)
    special = len(found.prefix) + len(found.suffix)
    return SubwordRules(
        tokenizer=found.tokenizer,
        prefix=found.prefix,
        suffix=found.suffix,
        unknown=found.unknown,
        mask=found.mask,
        pad=found.pad,
        limit=text_limit(settings, special, source),
    )


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
    reinitialise(encoder, config)
    if config.freeze_embeddings:
        encoder.get_input_embeddings().requires_grad_(False)  # type: ignore[operator]
    return encoder, int(encoder.config.hidden_size)  # type: ignore[union-attr, arg-type]
