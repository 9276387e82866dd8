"""What a document does not teach gets no gradient; what it teaches is an ordinary cross-entropy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from research.partial_labels.datasets import TaughtSet, documents_of, partial_examples
from sciextract.documents.schema_file import load_schema
from sciextract.inference.decoding import type_probabilities
from sciextract_trainer.build import SubwordRules, build_network, labels_of
from sciextract_trainer.data.examples import collate
from sciextract_trainer.network.training_step import batch_losses, likely_types, taught_entity_loss
from tests.research.partial_labels.records import record

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels
    from sciextract_trainer.config import TrainConfig
    from sciextract_trainer.data.examples import Batch

GROUPS = (
    *(("Chemical",), ("Gene",), ("Disease",), ("Species",)),
    ("protein", "DNA", "RNA", "cell_type", "cell_line"),
)
DRUGS = TaughtSet(name="drugs", teaches=["Chemical", "Gene"], licence="invented", relations=True)
PLAGUES = TaughtSet(name="plagues", teaches=["Disease"], licence="invented")
TERMS = TaughtSet(name="terms", teaches=["protein", "DNA"], licence="invented")
TEXT = record(
    "one",
    ["teapot drug blocks river gene"],
    [[[0, 1, "Chemical"], [3, 4, "Gene"], [2, 2, "Disease"], [4, 4, "DNA"]]],
    [[[0, 1, 3, 4, "CPR:4"]]],
)


@pytest.fixture(scope="module")
def bio_labels() -> Labels:
    return replace(labels_of(load_schema("bio"), 4), groups=GROUPS)


def batch_of(labels: Labels, rules: SubwordRules, *sets: TaughtSet) -> Batch:
    documents = [
        document for taught in sets for document in documents_of([TEXT], taught, Path("x"))
    ]
    return collate(
        list(partial_examples(documents, labels, rules.encoder(), rules.limit)), rules.pad
    )


def gradient(labels: Labels, batch: Batch) -> torch.Tensor:
    """The entity loss's gradient at equal logits (words, width, types)."""
    shape = (batch.offsets[-1], labels.max_span_width, 1 + len(labels.entities))
    logits = torch.zeros(shape, requires_grad=True)
    targets = np.zeros(shape, dtype=np.float32)
    targets[:, :, 0] = 1
    for example, offset in zip(batch.examples, batch.offsets, strict=False):
        for (first, last), types in zip(
            example.targets.spans.tolist(), example.targets.types, strict=True
        ):
            targets[offset + first, last - first] = types
    known = np.concatenate([example.allowed for example in batch.examples])
    taught_entity_loss(logits, targets, known, batch, labels.group_columns).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    return logits.grad


def test_untaught_types_get_no_gradient(bio_labels: Labels, rules: SubwordRules) -> None:
    grad = gradient(bio_labels, batch_of(bio_labels, rules, PLAGUES))
    classes = grad.abs().sum(dim=(0, 1)).nonzero()[:, 0].tolist()
    assert classes == [0, 1 + bio_labels.entities.index("Disease")]


def test_a_part_of_a_group_is_taught_alone(bio_labels: Labels, rules: SubwordRules) -> None:
    grad = gradient(bio_labels, batch_of(bio_labels, rules, TERMS))
    found = {
        bio_labels.entities[row - 1] for row in grad.abs().sum(dim=(0, 1)).nonzero()[:, 0] if row
    }
    assert found == {"protein", "DNA"}


def test_each_document_of_a_batch_teaches_its_own(bio_labels: Labels, rules: SubwordRules) -> None:
    batch = batch_of(bio_labels, rules, PLAGUES, DRUGS)
    grad = gradient(bio_labels, batch)
    disease, gene = (1 + bio_labels.entities.index(name) for name in ("Disease", "Gene"))
    half = batch.offsets[1]
    assert grad[:half, :, disease].any() and not grad[:half, :, gene].any()
    assert grad[half:, :, gene].any() and not grad[half:, :, disease].any()


def test_the_loss_is_the_hand_computed_one(bio_labels: Labels, rules: SubwordRules) -> None:
    batch = batch_of(bio_labels, rules, DRUGS)
    logits = torch.zeros((5, 4, 10))
    targets = np.zeros((5, 4, 10), dtype=np.float32)
    targets[:, :, 0] = 1
    known = batch.examples[0].allowed
    loss = taught_entity_loss(logits, targets, known, batch, bio_labels.group_columns)
    assert loss.item() == pytest.approx(int(known.sum()) * 2 * math.log(2), rel=1e-5)


def test_likely_types_are_those_of_inference(bio_labels: Labels) -> None:
    logits = torch.randn((7, 4, 10), generator=torch.Generator().manual_seed(0))
    for groups in ((), bio_labels.group_columns):
        mine = likely_types(logits, groups).numpy()
        np.testing.assert_allclose(mine, type_probabilities(logits.numpy(), groups), atol=1e-6)


def test_only_taught_relations_are_scored(
    bio_labels: Labels, rules: SubwordRules, make_config: Callable[..., TrainConfig]
) -> None:
    config = make_config(coreference_weight=0.0, negatives_per_word=0.0)
    network = build_network(config, bio_labels)
    for taught in (PLAGUES, DRUGS):
        losses = batch_losses(
            network, batch_of(bio_labels, rules, taught), config, bio_labels.relations
        )
        assert (losses.relation.item() > 0) == taught.relations
        assert losses.entity.item() > 0
        losses.total(config).backward()  # type: ignore[no-untyped-call]


def test_none_is_fixed_where_labels_have_groups(
    bio_labels: Labels, make_config: Callable[..., TrainConfig]
) -> None:
    grouped = build_network(make_config(), bio_labels).spans
    plain = build_network(make_config(), replace(bio_labels, groups=())).spans
    states = torch.randn((3, 32), generator=torch.Generator().manual_seed(0))
    assert not grouped(states, states)[..., 0].any()
    assert plain(states, states)[..., 0].all()
