"""From a configuration to the parts of a training: tokenizer, labels, network, and what the loop needs to know of its kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from tokenizers import Tokenizer, normalizers
from torch import nn

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ModelMismatchError, ModelNotFoundError, UsageError
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.tokenization import SubwordTokenizer, read_tokenizer
from sciextract_trainer.config import NETWORKS, TrainConfig
from sciextract_trainer.data.examples import (
    Sized,
    collate,
    examples_from,
)
from sciextract_trainer.encoders.loading import (
    encoder_file,
    load_encoder,
    load_pretrained,
    read_settings,
    reinitialise,
    text_limit,
)
from sciextract_trainer.evaluate import DEV_SETTINGS, GivenPredictor, Predictor, serve_pipeline
from sciextract_trainer.network.joint import JointNetwork, TorchNetwork
from sciextract_trainer.network.training_step import Losses, batch_losses

_FILE = "tokenizer.json"
_SETTINGS = "tokenizer_config.json"
_SENTENCEPIECE = ("spm.model", "spiece.model", "sentencepiece.bpe.model")
_KINDS = "tokenizer.json, vocab.txt, vocab.json with merges.txt, or spm.model"

_CAPITALS = 0.01
"""Share of subwords with a capital from which on a vocabulary is cased; uncased ones have none."""


@dataclass(frozen=True, slots=True)
class SubwordRules:
    """The tokenizer of an encoder and its special ids.

    Attributes:
        tokenizer: The trained tokenizer.
        prefix: Special ids before a window.
        suffix: Special ids after it.
        unknown: Id of the unknown subword; where there is none, that of the mask or padding subword.
        mask: Id of the mask subword; where there is none, ``unknown``.
        pad: Id of the padding subword; where there is none, 0.
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
        return SubwordTokenizer(self.tokenizer, self.prefix, self.suffix, self.unknown, self.limit)


def load_subword_rules(source: str) -> SubwordRules:
    """The fast tokenizer of an encoder folder or hub id; every word is split as if a space came before it.

    What ``tokenizer.json`` says holds, for transformers builds some families anew from the vocabulary
    alone. Where there is no such file, transformers makes the tokenizer from the older ones.

    Raises:
        ModelNotFoundError: There is none, or none that the ``tokenizers`` library can run.
        ModelDamagedError: ``tokenizer.json`` cannot be read, or has components that encoders do not use.
        ModelMismatchError: It has subwords that the encoder has no embedding for, or the encoder places too few.
    """
    settings = read_settings(source)
    file = encoder_file(source, _FILE)
    checked = read_tokenizer(file) if file else None  # before transformers loads it unchecked
    loaded = _load(source, settings)
    backend = checked or _with_casing(loaded.backend_tokenizer, source)
    tokenizer = _prepare(backend, settings.vocab_size, source)
    prefix, suffix = _frame(tokenizer)
    # Some tokenizer.json leave the frame of a text to transformers.
    if not prefix and not suffix:
        prefix, suffix = _frame(loaded.backend_tokenizer)
    if max((*prefix, *suffix), default=0) >= settings.vocab_size:
        raise ModelMismatchError(
            f"the tokenizer of {source!r} adds subword number {max((*prefix, *suffix))} to texts, but the "
            f"encoder has {settings.vocab_size} embeddings",
            "take both from the same place: a tokenizer only fits the encoder it was trained with",
        )
    names = (loaded.unk_token, loaded.mask_token, loaded.pad_token)
    unknown, mask, pad = (tokenizer.token_to_id(name) if name else None for name in names)
    return SubwordRules(
        tokenizer,
        prefix,
        suffix,
        unknown=_first(unknown, mask, pad, *prefix),
        mask=_first(mask, unknown, pad, *prefix),
        pad=_first(pad, settings.pad_token_id),
        limit=text_limit(settings, len(prefix) + len(suffix), source),
    )


def _first(*candidates: int | None) -> int:
    return next((candidate for candidate in candidates if candidate is not None), 0)


def _load(source: str, settings: Any) -> Any:
    """What transformers makes of a source: special subwords by name, and a tokenizer."""
    from transformers import AutoTokenizer

    # Without the package sentencepiece transformers asks for another one that does not help.
    if find_spec("sentencepiece") is None and not encoder_file(source, _FILE):
        for name in _SENTENCEPIECE:
            if encoder_file(source, name):
                raise ModelNotFoundError(
                    f"the tokenizer of {source!r} is in {name} alone, which the package sentencepiece reads",
                    "pip install sentencepiece",
                )
    try:
        loaded = load_pretrained(AutoTokenizer, source, config=settings, add_prefix_space=True)
    except (OSError, ValueError, KeyError, TypeError, ImportError, AttributeError) as error:
        raise ModelNotFoundError(
            f"no tokenizer can be loaded from {source!r}: {error}", f"a folder needs {_KINDS}"
        ) from error
    if not getattr(loaded, "is_fast", False):
        raise ModelNotFoundError(
            f"the tokenizer of {source!r} ({type(loaded).__name__}) runs in Python only; models need one "
            "that the tokenizers library can run",
            f"use an encoder with {_FILE}, or one of another family",
        )
    if len(loaded.get_added_vocab()) >= len(
        loaded
    ):  # a class without files has its special subwords
        raise ModelNotFoundError(
            f"no tokenizer can be loaded from {source!r}: it has no vocabulary",
            f"a folder needs {_KINDS}",
        )
    return loaded


def _with_casing(backend: Tokenizer, source: str) -> Tokenizer:
    """The tokenizer that does not lower-case what a cased vocabulary (SciBERT, BioBERT) tells apart.

    A folder with ``vocab.txt`` alone does not say; transformers lower-cases then.
    """
    file = encoder_file(source, _SETTINGS)
    said = file is not None and "do_lower_case" in json.loads(file.read_text(encoding="utf-8"))
    if said or not isinstance(backend.normalizer, normalizers.BertNormalizer):
        return backend
    subwords = backend.get_vocab(with_added_tokens=False)
    capitals = sum(
        subword != subword.lower() for subword in subwords if not subword.startswith("[")
    )
    if capitals > _CAPITALS * len(subwords):
        backend.normalizer = normalizers.BertNormalizer(lowercase=False)
    return backend


def _prepare(backend: Tokenizer, rows: int, source: str) -> Tokenizer:
    """The tokenizer with word starts, and without special subwords that the encoder has no row for."""
    values = json.loads(backend.to_str())
    added = values["added_tokens"]
    values["added_tokens"] = [
        token for token in added if not token["special"] or token["id"] < rows
    ]
    values |= {"padding": None, "truncation": None}  # padding would pass for what follows a text
    # Byte-level and SentencePiece tokenizers have to see a space before each word they are given.
    outer = values["pre_tokenizer"] or {}
    for place, member in enumerate(outer.get("pretokenizers", [outer])):
        if member.get("type") == "Metaspace":
            member.update(prepend_scheme="always")
            member.pop("add_prefix_space", None)
        elif member.get("type") == "ByteLevel" and place == 0:
            member["add_prefix_space"] = True
        elif member.get("type") == "ByteLevel":  # after a split it would mark every part
            parts = [values["normalizer"], {"type": "Prepend", "prepend": " "}]
            values["normalizer"] = {
                "type": "Sequence",
                "normalizers": [part for part in parts if part],
            }
    tokenizer = Tokenizer.from_str(json.dumps(values))
    size = 1 + max(tokenizer.get_vocab(with_added_tokens=True).values())
    if size > rows:
        raise ModelMismatchError(
            f"the tokenizer of {source!r} has {size} pieces, the encoder has {rows} embeddings",
            "take both from the same place: a tokenizer only fits the encoder it was trained with",
        )
    return tokenizer


def _frame(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Ids before and after a text, read off an encoded word."""
    encoding = tokenizer.encode("a")
    inner = [place for place, special in enumerate(encoding.special_tokens_mask) if not special]
    start, end = (inner[0], inner[-1] + 1) if inner else (1, 1)
    return tuple(encoding.ids[:start]), tuple(encoding.ids[end:])


def labels_of(schema: LabelSchema, max_span_width: int, untyped: bool = False) -> Labels:
    """What the classes of a network for a schema mean.

    Args:
        schema: The labels.
        max_span_width: Most words of an entity.
        untyped: Whether clusters have mentions that are no entities, such as "we" and "which"; where the schema
            has coreference, these become a class of their own.
    """
    layout = RelationLayout(tuple(schema.relation_labels), frozenset(schema.symmetric_labels))
    entities = (*schema.entity_labels, *([""] if untyped and schema.coreference else []))
    return Labels(entities, layout, schema.coreference, max_span_width)


def build_network(config: TrainConfig, labels: Labels) -> JointNetwork:
    """A joint network with a pretrained encoder and fresh heads, seeded."""
    encoder, hidden = seeded_encoder(config)
    return JointNetwork(encoder, hidden, labels, config)


def seeded_encoder(config: TrainConfig) -> tuple[nn.Module, int]:
    """The encoder of a recipe and its hidden size, with torch seeded for the heads."""
    torch.manual_seed(config.seed)
    encoder = load_encoder(config.encoder, config.attention_dropout)
    reinitialise(encoder, config)
    if config.freeze_embeddings:
        encoder.get_input_embeddings().requires_grad_(False)  # type: ignore[operator]
    return encoder, int(encoder.config.hidden_size)  # type: ignore[union-attr, arg-type]


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of network; only its own functions know what its batches hold.

    Attributes:
        build: A network with a pretrained encoder and fresh heads.
        examples: Training examples of gold documents.
        collate: Examples and the id of the padding subword to a batch.
        losses: Losses of a batch.
        predictor: The network as something that annotates documents.
    """

    build: Callable[[TrainConfig, Labels], nn.Module]
    examples: Callable[[Iterable[AnnotatedDocument], Labels, SubwordRules], Iterator[Sized]]
    collate: Callable[[Sequence[Any], int], Any]
    losses: Callable[[Any, Any, TrainConfig, Labels], Losses]
    predictor: Callable[[Any, Labels, SubwordRules], Predictor]


def _pipeline(network: JointNetwork, labels: Labels, rules: SubwordRules) -> Pipeline:
    return Pipeline(TorchNetwork(network), rules.encoder(), labels, rules.limit)


JOINT = Family(
    build_network,
    lambda documents, labels, rules: examples_from(documents, labels, rules.encoder(), rules.limit),
    collate,
    lambda network, batch, config, labels: batch_losses(network, batch, config, labels.relations),
    lambda *network: serve_pipeline(_pipeline(*network), DEV_SETTINGS),
)
"""Whole abstract in one pass; what model folders hold."""

GIVEN = replace(JOINT, predictor=lambda *network: GivenPredictor(_pipeline(*network), DEV_SETTINGS))
"""The joint network between given entities: relations only."""


def family_of(config: TrainConfig) -> Family:
    """The family that a recipe names."""
    # A module is imported when a recipe first names its network.
    if config.network != "joint":
        found: Family = import_module(NETWORKS[config.network]).FAMILY
        return found
    return GIVEN if config.given_entities else JOINT


def labels_for(config: TrainConfig, schema: LabelSchema, untyped: bool = False) -> Labels:
    """What the classes of a recipe's network mean; between given entities no mentions are linked."""
    labels = labels_of(schema, config.max_span_width, untyped and not config.given_entities)
    return replace(labels, coreference=False) if config.given_entities else labels


def as_joint(network: nn.Module) -> JointNetwork:
    """The network as what a model folder can hold.

    Raises:
        UsageError: It is of another family.
    """
    if not isinstance(network, JointNetwork):
        raise UsageError(
            f"a {type(network).__name__} cannot be exported: model folders hold joint networks",
            'train with network = "joint"; others are for comparison',
        )
    return network
