"""Gold documents as training examples of the joint network."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch")

from sciextract.documents.annotations import State
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.data.examples import collate, epoch_batches, examples_from, gold_targets
from tests.trainer.corpus import TEN_SENTENCES, gold

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

SMALL = gold(
    "small",
    "Our [parser|Method|a] beats the [grammar|Method|b] on [trees|Material|c].",
    [("a", "COMPARE", "b"), ("c", "USED-FOR", "a")],
    [("a", "b")],
)


def test_targets_name_spans_relations_and_links(labels: Labels) -> None:
    targets = gold_targets(SMALL, labels)
    assert targets.spans.tolist() == [[1, 1], [4, 4], [6, 6]]
    method, material = (1 + labels.entities.index(name) for name in ("Method", "Material"))
    assert targets.types.argmax(axis=1).tolist() == [method, method, material]
    layout = labels.relations
    compare, used = layout.forward_class("COMPARE"), layout.forward_class("USED-FOR")
    inverse = int(layout.mirror()[used])
    classes = dict(
        zip(map(tuple, targets.pairs.tolist()), targets.relations.argmax(axis=1), strict=True)
    )
    assert classes == {(0, 1): compare, (1, 0): compare, (2, 0): used, (0, 2): inverse}
    assert targets.links.tolist() == [[1, 0]] and targets.link_weights.tolist() == [1.0]
    assert not targets.soft


def test_rejected_items_are_no_targets(labels: Labels) -> None:
    first, *others = SMALL.annotations.entities
    rejected = replace(SMALL.annotations, entities=(replace(first, state=State.REJECTED), *others))
    targets = gold_targets(replace(SMALL, annotations=rejected), labels)
    assert targets.spans.tolist() == [[4, 4], [6, 6]]
    assert not len(targets.pairs) and not len(targets.links)


def test_unknown_labels_are_left_out(labels: Labels) -> None:
    odd = gold("odd", "A [thing|Gadget|a] and [more|Method|b].", [("a", "LIKES", "b")])
    targets = gold_targets(odd, labels)
    assert targets.types[:, 0].tolist() == [1.0, 0.0]
    assert targets.relations[:, 0].tolist() == [1.0] * len(targets.pairs)


def test_a_document_without_gold_has_empty_targets(labels: Labels, rules: SubwordRules) -> None:
    [example] = examples_from([gold("plain", "Just words.")], labels, rules.encoder(), rules.limit)
    assert len(example.targets.spans) == 0
    assert example.allowed.shape == (3, labels.max_span_width)


def test_long_texts_become_windows_with_the_gold_inside(
    labels: Labels, rules: SubwordRules
) -> None:
    sentence = "The [parser|Method] reads the [lantern corpus|Material] at night. "
    long = gold("long", sentence * 40)
    examples = list(examples_from([long], labels, rules.encoder(), rules.limit))
    assert len(examples) > 2
    words = long.document.tokens.slices(long.document.text)
    covered = 0
    for example in examples:
        assert example.subword_count <= rules.limit + 2
        assert len(example.ends) == len(example.frame.word_first) == len(example.allowed)
        for first, last in example.targets.spans.tolist():
            assert words[first % len(words)] and last < len(example.ends)
        covered += len(example.targets.spans)
    assert covered >= 80


def test_batches_number_words_through(labels: Labels, rules: SubwordRules) -> None:
    examples = list(examples_from(TEN_SENTENCES[:3], labels, rules.encoder(), rules.limit))
    batch = collate(examples, rules.pad)
    flat = batch.input_ids.flatten()
    for row, example in enumerate(examples):
        words = slice(batch.offsets[row], batch.offsets[row + 1])
        expected = example.frame.input_ids[example.frame.word_first]
        np.testing.assert_array_equal(flat[batch.word_first[words]], expected)
    lengths = batch.attention_mask.sum(dim=1).tolist()
    assert lengths == [example.subword_count for example in examples]


def test_every_epoch_sees_every_document_once_in_its_own_order(
    labels: Labels, rules: SubwordRules
) -> None:
    examples = list(examples_from(TEN_SENTENCES, labels, rules.encoder(), rules.limit))

    def keys(epoch: int, seed: int = 1) -> list[list[str]]:
        return [[e.doc_key for e in batch] for batch in epoch_batches(examples, 2, seed, epoch)]

    assert sorted(key for batch in keys(1) for key in batch) == sorted(e.doc_key for e in examples)
    assert keys(1) == keys(1)
    assert len({str(keys(epoch)) for epoch in range(6)}) > 1
