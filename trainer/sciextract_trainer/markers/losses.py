"""The loss of a batch: relations only."""

from __future__ import annotations

from sciextract.inference.pipeline import Labels
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.markers.batches import MarkedBatch
from sciextract_trainer.markers.network import MarkerNetwork
from sciextract_trainer.network.training_step import Losses, soft_cross_entropy


def marker_losses(
    network: MarkerNetwork, batch: MarkedBatch, config: TrainConfig, labels: Labels
) -> Losses:
    """Cross-entropy summed over pairs; a pair counts in both of its orders."""
    relation = soft_cross_entropy(network(*batch.inputs), batch.targets)
    nothing = relation.new_zeros(())
    return Losses(nothing, relation, nothing)
