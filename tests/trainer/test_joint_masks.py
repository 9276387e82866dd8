"""Decisions as targets: what nobody decided gives no gradient at all, what was rejected does."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor

from sciextract.documents.annotations import ALL_LAYERS, Layer, State
from sciextract.inference.decoding import Columns
from sciextract.snapshot.documents import TrainingDocument
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.config import TrainConfig, config_from
from sciextract_trainer.data.examples import (
    Batch,
    collate,
    decided_examples,
    decided_targets,
    examples_from,
)
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.training_step import Losses, batch_losses
from tests.trainer.corpus import TEN_SENTENCES, gold

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

NOTHING: frozenset[Layer] = frozenset()
SMALL = gold(
    "small",
    "Our [parser|Method|a] beats the [grammar|Method|b] on [trees|Material|c].",
    [("a", "COMPARE", "b"), ("c", "USED-FOR", "a")],
    [("a", "b")],
)
PARSER, GRAMMAR, TREES = 1, 4, 6
"""Words of the three entities."""


def decided(
    complete: Collection[Layer] = NOTHING, default: State = State.UNDECIDED, **states: State
) -> TrainingDocument:
    """The small document with states by item; ``r0`` and ``r1`` are relations, ``c0`` is the cluster."""
    items = SMALL.annotations

    def state(key: str) -> State:
        return states.get(key, default)

    annotations = replace(
        items,
        entities=tuple(replace(e, state=state(e.id)) for e in items.entities),
        relations=tuple(replace(r, state=state(r.id)) for r in items.relations),
        clusters=tuple(replace(c, state=state(c.id)) for c in items.clusters),
    )
    return TrainingDocument(replace(SMALL, annotations=annotations), frozenset(complete))


class Recorder:
    """Stands for a network: its span logits and pair scores are leaves, and it notes what is scored."""

    groups: Columns = ()

    def __init__(self, words: int, labels: Labels) -> None:
        shape = (words, labels.max_span_width, 1 + len(labels.entities))
        self.logits = torch.zeros(shape, requires_grad=True)
        self.relation = torch.zeros((99, labels.relations.class_count), requires_grad=True)
        self.link = torch.zeros(99, requires_grad=True)
        self.pair_words: list[tuple[int, int]] = []
        self.link_words: list[tuple[int, int]] = []

    def __call__(self, *arrays: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        words = torch.arange(len(self.logits), dtype=torch.float32)[:, None]
        return words, words, self.logits

    def pairs(self, first: Tensor, *rest: Tensor) -> tuple[Tensor, Tensor]:
        def words(pairs: Tensor) -> list[tuple[int, int]]:
            return [(int(first[a]), int(first[b])) for a, b in pairs.tolist()]

        self.pair_words, self.link_words = words(rest[4]), words(rest[7])
        return self.relation[: len(rest[4])], self.link[: len(rest[7])]


@pytest.fixture
def config() -> TrainConfig:
    return config_from({"encoder": "none", "negatives_per_word": 0.0}, "test")


def run(
    item: TrainingDocument, labels: Labels, rules: SubwordRules, config: TrainConfig
) -> tuple[Recorder, Losses]:
    examples = list(decided_examples([item], labels, rules.encoder(), rules.limit))
    batch: Batch = collate(examples, rules.pad)
    recorder = Recorder(len(batch.word_first), labels)
    network = cast(JointNetwork, recorder)
    losses = batch_losses(network, batch, config, labels.relations)
    losses.total(config).backward()  # type: ignore[no-untyped-call]
    return recorder, losses


def cells(recorder: Recorder) -> set[tuple[int, int]]:
    """Cells (word, width - 1) with any gradient."""
    assert recorder.logits.grad is not None
    return {tuple(cell) for cell in recorder.logits.grad.abs().sum(dim=2).nonzero().tolist()}


def test_only_decisions_count_in_an_unfinished_layer(
    labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    recorder, losses = run(decided(a=State.ACCEPTED, b=State.REJECTED), labels, rules, config)
    assert cells(recorder) == {(PARSER, 0), (GRAMMAR, 0)}
    classes = 1 + len(labels.entities)
    assert losses.entity.item() == pytest.approx(2 * math.log(classes))
    assert recorder.logits.grad is not None
    method = 1 + labels.entities.index("Method")
    accepted, rejected = recorder.logits.grad[PARSER, 0], recorder.logits.grad[GRAMMAR, 0]
    assert accepted[method].item() == pytest.approx(1 / classes - 1)
    assert rejected[0].item() == pytest.approx(1 / classes - 1)
    assert rejected[method].item() == pytest.approx(1 / classes)
    assert losses.relation.item() == losses.coreference.item() == 0.0


def test_a_document_without_decisions_teaches_nothing(
    labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    recorder, losses = run(decided(), labels, rules, config)
    assert cells(recorder) == set()
    assert losses.total(config).item() == 0.0
    assert recorder.pair_words == recorder.link_words == []


def test_in_a_done_layer_all_but_the_undecided_counts(
    labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    item = decided([Layer.ENTITIES], a=State.ACCEPTED, b=State.REJECTED)
    recorder, _ = run(item, labels, rules, config)
    [example] = decided_examples([item], labels, rules.encoder(), rules.limit)
    every_cell = {tuple(cell) for cell in np.argwhere(example.allowed).tolist()}
    assert cells(recorder) == every_cell - {(TREES, 0)}


def test_relations_that_nobody_decided_are_not_scored(
    labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    recorder, losses = run(
        decided(default=State.ACCEPTED, r0=State.REJECTED, r1=State.UNDECIDED),
        labels,
        rules,
        config,
    )
    assert set(recorder.pair_words) == {(PARSER, GRAMMAR), (GRAMMAR, PARSER)}
    assert losses.relation.item() == pytest.approx(2 * math.log(labels.relations.class_count))
    gradient = recorder.relation.grad
    assert gradient is not None and (gradient[:2, 0] < 0).all() and not gradient[2:].any()


def test_in_a_done_layer_unnamed_pairs_have_no_relation(
    labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    recorder, _ = run(
        decided([Layer.RELATIONS], State.ACCEPTED, r1=State.UNDECIDED), labels, rules, config
    )
    undecided = {(TREES, PARSER), (PARSER, TREES)}
    assert len(recorder.pair_words) == 4 and not undecided & set(recorder.pair_words)
    classes = dict(zip(recorder.pair_words, _targets(recorder.relation.grad), strict=False))
    compare = labels.relations.forward_class("COMPARE")
    assert classes == {
        (PARSER, GRAMMAR): compare, (GRAMMAR, PARSER): compare,
        (GRAMMAR, TREES): 0, (TREES, GRAMMAR): 0,
    }  # fmt: skip


def _targets(gradient: Tensor | None) -> list[int]:
    """The class that each row is pulled to."""
    assert gradient is not None
    found: list[int] = gradient.argmin(dim=1).tolist()
    return found


@pytest.mark.parametrize("complete", [NOTHING, ALL_LAYERS])
def test_what_an_undecided_entity_takes_part_in_is_masked_in_any_layer(
    complete: frozenset[Layer], labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    recorder, _ = run(decided(complete, State.ACCEPTED, a=State.UNDECIDED), labels, rules, config)
    assert PARSER not in {word for pair in recorder.pair_words for word in pair}
    assert PARSER not in {word for pair in recorder.link_words for word in pair}
    assert (PARSER, 0) not in cells(recorder)


def test_a_rejected_link_is_pushed_down_and_an_undecided_one_is_not(
    labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    recorder, losses = run(
        decided(default=State.ACCEPTED, c0=State.REJECTED), labels, rules, config
    )
    assert recorder.link_words == [(GRAMMAR, PARSER)]
    assert losses.coreference.item() == pytest.approx(math.log(2))
    assert recorder.link.grad is not None and recorder.link.grad[0].item() == pytest.approx(0.5)
    recorder, losses = run(
        decided(default=State.ACCEPTED, c0=State.UNDECIDED), labels, rules, config
    )
    assert recorder.link_words == [] and losses.coreference.item() == 0.0


def test_an_accepted_link_stands_against_rejected_ones_only(
    labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    """Of the antecedents of the last mention only what is known shares the probability."""
    unknown, losses = run(decided(default=State.ACCEPTED), labels, rules, config)
    assert unknown.link_words == [(GRAMMAR, PARSER)]
    assert losses.coreference.item() == pytest.approx(math.log(2))
    done, losses = run(decided(ALL_LAYERS, State.ACCEPTED), labels, rules, config)
    assert done.link_words == [(GRAMMAR, PARSER), (TREES, PARSER), (TREES, GRAMMAR)]
    assert losses.coreference.item() == pytest.approx(math.log(2) + math.log(3))


@pytest.mark.parametrize("places", [{"a": State.ACCEPTED, "b": State.UNDECIDED}])
def test_an_undecided_place_in_a_cluster_is_masked_in_a_done_layer(
    places: Mapping[str, State], labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    item = decided(ALL_LAYERS, State.ACCEPTED)
    [cluster] = item.annotated.annotations.clusters
    states = tuple(places[mention] for mention in cluster.mentions)
    clusters = (replace(cluster, mention_states=states),)
    annotations = replace(item.annotated.annotations, clusters=clusters)
    item = replace(item, annotated=replace(item.annotated, annotations=annotations))
    recorder, _ = run(item, labels, rules, config)
    assert recorder.link_words == [(TREES, PARSER), (TREES, GRAMMAR)]


def test_a_positive_wins_over_a_rejected_item_on_the_same_words(labels: Labels) -> None:
    item = decided(ALL_LAYERS, State.ACCEPTED)
    first, *others = item.annotated.annotations.entities
    double = replace(first, id="z", label="Task", state=State.REJECTED)
    annotations = replace(item.annotated.annotations, entities=(double, first, *others))
    item = replace(item, annotated=replace(item.annotated, annotations=annotations))
    targets = decided_targets(item, labels)
    assert targets.types[0].argmax() == 1 + labels.entities.index("Method")
    assert targets.mask is not None and targets.mask.counted.all() and targets.mask.judged.all()


def test_labels_of_others_are_masked_until_the_layer_is_done(labels: Labels) -> None:
    odd = gold("odd", "A [thing|Gadget|a] and [more|Method|b].", [("a", "LIKES", "b")])
    annotations = replace(
        odd.annotations,
        entities=tuple(replace(e, state=State.ADDED) for e in odd.annotations.entities),
        relations=tuple(replace(r, state=State.ADDED) for r in odd.annotations.relations),
    )
    odd = replace(odd, annotations=annotations)
    unfinished = decided_targets(TrainingDocument(odd, NOTHING), labels)
    assert unfinished.mask is not None
    assert unfinished.mask.counted.tolist() == [False, True]
    assert unfinished.mask.known_pairs.tolist() == [False, False]
    done = decided_targets(TrainingDocument(odd), labels)
    assert done.mask is not None and done.mask.counted.all() and done.mask.known_pairs.all()
    assert not done.relations[:, 1:].any()


def test_complete_gold_gives_the_losses_of_plain_gold(
    labels: Labels, rules: SubwordRules, config: TrainConfig
) -> None:
    for item in TEN_SENTENCES:
        annotations = replace(
            item.annotations,
            entities=tuple(replace(e, state=State.IMPORTED) for e in item.annotations.entities),
            relations=tuple(replace(r, state=State.IMPORTED) for r in item.annotations.relations),
            clusters=tuple(replace(c, state=State.IMPORTED) for c in item.annotations.clusters),
        )
        masked, losses = run(
            TrainingDocument(replace(item, annotations=annotations)), labels, rules, config
        )
        plain = collate(
            list(examples_from([item], labels, rules.encoder(), rules.limit)), rules.pad
        )
        recorder = Recorder(len(plain.word_first), labels)
        expected = batch_losses(cast(JointNetwork, recorder), plain, config, labels.relations)
        assert losses.entity.item() == expected.entity.item()
        assert losses.relation.item() == expected.relation.item()
        assert losses.coreference.item() == expected.coreference.item()
        assert masked.link_words == recorder.link_words


def test_masks_follow_the_windows(labels: Labels, rules: SubwordRules) -> None:
    sentence = "The [parser|Method] reads the [lantern corpus|Material] at night. "
    long = gold("long", sentence * 40)
    states = (State.ACCEPTED, State.UNDECIDED)
    entities = tuple(
        replace(entity, id=str(row), state=states[row % 2])
        for row, entity in enumerate(long.annotations.entities)
    )
    item = TrainingDocument(
        replace(long, annotations=replace(long.annotations, entities=entities)), NOTHING
    )
    examples = list(decided_examples([item], labels, rules.encoder(), rules.limit))
    assert len(examples) > 2
    for example in examples:
        mask, spans = example.targets.mask, example.targets.spans
        assert mask is not None and len(mask.counted) == len(spans)
        widths = spans[:, 1] - spans[:, 0]
        np.testing.assert_array_equal(mask.counted, widths == 0)
