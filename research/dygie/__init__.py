"""DyGIE++ (Wadden et al. 2019, arXiv 1909.03546) as a network family of the trainer, for comparison with published rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from research.dygie.examples import (
    SentenceBatch,
    SentenceExample,
    collate_sentences,
    sentence_examples,
)
from research.dygie.network import DygieNetwork
from research.dygie.scoring import DygiePredictor, sentence_losses
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Labels
from sciextract_trainer.build import Family, SubwordRules, seeded_encoder
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.network.training_step import Losses


def build_dygie_network(config: TrainConfig, labels: Labels) -> DygieNetwork:
    """A DyGIE++ network with a pretrained encoder and fresh heads, seeded."""
    encoder, hidden = seeded_encoder(config)
    return DygieNetwork(encoder, hidden, labels, config)


def _examples(
    documents: Iterable[AnnotatedDocument], labels: Labels, rules: SubwordRules
) -> Iterator[SentenceExample]:
    return sentence_examples(documents, labels, rules.encoder(), rules.limit)


def _losses(
    network: DygieNetwork, batch: SentenceBatch, config: TrainConfig, labels: Labels
) -> Losses:
    return sentence_losses(network, batch)


FAMILY = Family(build_dygie_network, _examples, collate_sentences, _losses, DygiePredictor)
