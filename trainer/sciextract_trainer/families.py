"""Network families: what the loop needs to know of each kind of network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Generic, TypeVar

from torch import nn

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import UsageError
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract_trainer.build import SubwordRules, build_network, labels_of
from sciextract_trainer.config import NETWORKS, TrainConfig
from sciextract_trainer.data.examples import (
    Batch,
    Example,
    Sized,
    SubwordBatch,
    collate,
    examples_from,
)
from sciextract_trainer.evaluate import DEV_SETTINGS, GivenPredictor, Predictor, served
from sciextract_trainer.network.joint import JointNetwork, TorchNetwork
from sciextract_trainer.network.training_step import Losses, batch_losses

NetworkT = TypeVar("NetworkT", bound=nn.Module)
ExampleT = TypeVar("ExampleT", bound=Sized)
BatchT = TypeVar("BatchT", bound=SubwordBatch)


@dataclass(frozen=True, slots=True)
class Family(Generic[NetworkT, ExampleT, BatchT]):
    """One kind of network.

    Attributes:
        build: A network with a pretrained encoder and fresh heads.
        examples: Training examples of gold documents.
        collate: Examples and the id of the padding subword to a batch.
        losses: Losses of a batch.
        predictor: The network as something that annotates documents.
    """

    build: Callable[[TrainConfig, Labels], NetworkT]
    examples: Callable[[Iterable[AnnotatedDocument], Labels, SubwordRules], Iterator[ExampleT]]
    collate: Callable[[Sequence[ExampleT], int], BatchT]
    losses: Callable[[NetworkT, BatchT, TrainConfig, Labels], Losses]
    predictor: Callable[[NetworkT, Labels, SubwordRules], Predictor]


def _pipeline(network: JointNetwork, labels: Labels, rules: SubwordRules) -> Pipeline:
    return Pipeline(TorchNetwork(network), rules.encoder(), labels, rules.limit)


JOINT: Family[JointNetwork, Example, Batch] = Family(
    build_network,
    lambda documents, labels, rules: examples_from(documents, labels, rules.encoder(), rules.limit),
    collate,
    lambda network, batch, config, labels: batch_losses(network, batch, config, labels.relations),
    lambda *network: served(_pipeline(*network), DEV_SETTINGS),
)  # fmt: skip
"""Whole abstract in one pass; what model folders hold."""

GIVEN = replace(JOINT, predictor=lambda *network: GivenPredictor(_pipeline(*network), DEV_SETTINGS))
"""The joint network between given entities: relations only."""


def family_of(config: TrainConfig) -> Family[Any, Any, Any]:
    """The family that a recipe names."""
    # A module is imported when a recipe first names its network.
    if config.network != "joint":
        found: Family[Any, Any, Any] = import_module(NETWORKS[config.network]).FAMILY
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
