"""The DyGIE++ variant: its data, pruning, propagation, losses and decoding."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from research.dygie import FAMILY, build_dygie_network
from research.dygie.examples import (
    SentenceExample,
    collate_sentences,
    sentence_examples,
)
from research.dygie.network import (
    Antecedents,
    CoreferenceHead,
    RelationHead,
    best_rows,
    with_null,
)
from research.dygie.scoring import (
    best_classes,
    best_clusters,
    relation_classes,
    sentence_losses,
)
from research.recipes import find_recipe
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.metrics.counts import scorable
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.evaluate import DevScores
from sciextract_trainer.loop import selection_score
from tests.trainer.corpus import TEN_SENTENCES, gold

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

MAKE = Callable[..., TrainConfig]


def _example(item: AnnotatedDocument, labels: Labels, rules: SubwordRules) -> SentenceExample:
    [example] = sentence_examples([item], labels, rules.encoder(), rules.limit)
    return example


def test_spans_and_targets_of_a_document(labels: Labels, rules: SubwordRules) -> None:
    item = gold(
        "d",
        "A [parser|Method|a] beats [trees|Material|b]. [It|Generic|c] rests.",
        [("a", "COMPARE", "b")],
        [("a", "c")],
    )
    example = _example(item, labels, rules)
    assert example.sentences[:, 2].tolist() == [5, 3]
    assert example.word_count == 8 and len(example.frames) == 2
    spans = [tuple(span) for span in example.spans.tolist()]
    assert spans == sorted(spans) and len(spans) == (4 + 4 + 3 + 2 + 1) + (3 + 2 + 1)
    assert not [span for span in spans if span[0] < 5 <= span[1]]
    a, b, c = (spans.index(span) for span in ((1, 1), (3, 3), (5, 5)))
    named = {a: "Method", b: "Material", c: "Generic"}
    for row, label in enumerate(example.targets.types.tolist()):
        assert label == (1 + labels.entities.index(named[row]) if row in named else 0)
    compare = labels.relations.forward_class("COMPARE")
    assert example.targets.relations.tolist() == [[a, b, compare]]  # one direction only
    assert example.targets.clusters[[a, c]].tolist() == [0, 0]
    assert (np.delete(example.targets.clusters, [a, c]) == -1).all()


def test_gold_wider_than_the_limit_is_dropped(labels: Labels, rules: SubwordRules) -> None:
    item = gold(
        "d",
        "The [very very very wide thing|Task|a] and [it|Generic|b].",
        [("a", "COMPARE", "b")],
    )
    example = _example(item, labels, rules)
    assert np.count_nonzero(example.targets.types) == 1
    assert example.targets.relations.shape == (0, 3)


def test_words_are_the_mean_of_their_subwords(
    make_config: MAKE, labels: Labels, rules: SubwordRules
) -> None:
    network = build_dygie_network(make_config(network="dygie"), labels).eval()
    example = _example(gold("d", "zebra otters. Qq."), labels, rules)
    batch = collate_sentences([example], rules.pad)
    words = network.words(batch)
    assert words.shape == (example.word_count, 32)
    ids = torch.from_numpy(example.frames[0].input_ids)[None]
    states = network.words.encoder(ids, attention_mask=torch.ones_like(ids))[0][0]
    first, last = example.frames[0].word_first[0], example.frames[0].word_last[0]
    assert last > first
    torch.testing.assert_close(words[0], states[first : last + 1].mean(dim=0), atol=1e-5, rtol=1e-4)


def test_sentences_do_not_see_each_other(
    make_config: MAKE, labels: Labels, rules: SubwordRules
) -> None:
    network = build_dygie_network(make_config(network="dygie"), labels).eval()
    texts = ("The kettle parser. It rests.", "The kettle parser. Moss sleeps on garden data.")
    left, right = (
        network.words(collate_sentences([_example(gold("d", text), labels, rules)], rules.pad))
        for text in texts
    )
    torch.testing.assert_close(left[:4], right[:4], atol=1e-5, rtol=1e-4)


def test_long_sentences_are_encoded_in_parts(labels: Labels, rules: SubwordRules) -> None:
    example = _example(gold("d", "parser " * 300), labels, rules)
    assert len(example.sentences) == 1 and len(example.frames) > 1
    assert sum(len(frame.word_first) for frame in example.frames) == 300
    assert max(len(frame.input_ids) for frame in example.frames) <= rules.limit + 2
    batch = collate_sentences([example], rules.pad)
    assert sorted(set(batch.subword_word.tolist())) == list(range(300))


def test_the_best_spans_are_kept_in_text_order() -> None:
    assert best_rows(torch.tensor([0.1, 0.9, 0.3, 0.8]), 3).tolist() == [1, 2, 3]
    assert best_rows(torch.tensor([0.1, 0.9]), 5).tolist() == [0, 1]


def test_none_scores_zero() -> None:
    assert with_null(torch.tensor([[1.0, 2.0]])).tolist() == [[0.0, 1.0, 2.0]]


def test_relations_pair_half_a_span_a_word_of_each_sentence() -> None:
    head = RelationHead(6, 5, 2, 0.5, 0.0)
    pairs, logits = head(torch.randn(20, 6), [[0, 12, 5], [12, 20, 3]])
    assert len(pairs) == 3 * 3 + 2 * 2 and logits.shape == (13, 3)
    assert (logits[:, 0] == 0).all()
    first, second = pairs[:9], pairs[9:]
    assert first.max() < 12 <= second.min()
    assert {(a, b) for a, b in pairs.tolist()} == {(b, a) for a, b in pairs.tolist()}


def test_relation_scores_add_both_mention_scores() -> None:
    head = RelationHead(4, 5, 1, 9.0, 0.0)
    vectors = torch.randn(3, 4)
    pairs, logits = head(vectors, [[0, 3, 3]])
    scores = head.pruner(vectors)[:, 0]
    features = torch.cat([vectors[0], vectors[2], vectors[0] * vectors[2]])
    expected = head.pair(features)[0] + scores[0] + scores[2]
    row = pairs.tolist().index([0, 2])
    torch.testing.assert_close(logits[row, 1], expected)


def test_coreference_keeps_a_share_of_the_words_and_at_least_two() -> None:
    head = CoreferenceHead(6, 5, 0.3, 0, 0.0)
    vectors = torch.randn(40, 6)
    antecedents, updated = head(vectors, 10)
    assert len(antecedents.mentions) == 3 and antecedents.links.tolist() == [[1, 0], [2, 0], [2, 1]]
    torch.testing.assert_close(updated, vectors)
    antecedents, _ = head(vectors, 2)
    assert len(antecedents.mentions) == 2


def test_propagation_changes_kept_spans_only() -> None:
    head = CoreferenceHead(6, 5, 0.3, 2, 0.0)
    vectors = torch.randn(40, 6)
    antecedents, updated = head(vectors, 10)
    changed = (updated != vectors).any(dim=1).nonzero()[:, 0]
    assert changed.tolist() == antecedents.mentions.tolist()


def test_one_round_of_propagation_by_hand() -> None:
    head = CoreferenceHead(2, 3, 0.3, 1, 0.0)
    mentions = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    links, scores = torch.tensor([[1, 0]]), torch.tensor([math.log(3.0)])
    expected = torch.tensor([[0.0, 0.0], [0.75, 0.0]])  # three quarters of the first mention
    gate = torch.sigmoid(head.gate(torch.cat([mentions, expected], dim=1)))
    mixed = gate * mentions + (1 - gate) * expected
    torch.testing.assert_close(head._propagated(mentions, links, scores), mixed)


def test_gold_classes_of_pairs() -> None:
    pairs = torch.tensor([[0, 0], [0, 1], [1, 0]])
    assert relation_classes(pairs, torch.tensor([[1, 0, 4], [5, 6, 2]])).tolist() == [0, 0, 4]
    assert relation_classes(pairs, torch.zeros(0, 3, dtype=torch.int64)).tolist() == [0, 0, 0]


def test_losses_are_sums_over_documents(
    make_config: MAKE, labels: Labels, rules: SubwordRules
) -> None:
    network = build_dygie_network(make_config(network="dygie"), labels).eval()
    examples = [_example(item, labels, rules) for item in TEN_SENTENCES[:2]]
    both = sentence_losses(network, collate_sentences(examples, rules.pad))
    single = [
        sentence_losses(network, collate_sentences([example], rules.pad)) for example in examples
    ]
    for task in ("entity", "relation", "coreference"):
        parts = torch.stack([getattr(losses, task) for losses in single])
        torch.testing.assert_close(getattr(both, task), parts.sum(), rtol=1e-4, atol=1e-4)


def test_tasks_without_weight_have_no_head(
    make_config: MAKE, labels: Labels, rules: SubwordRules
) -> None:
    config = make_config(network="dygie", relation_weight=0.0, coreference_weight=0.0)
    network = build_dygie_network(config, labels)
    assert network.relation is None and network.coreference is None
    batch = collate_sentences([_example(TEN_SENTENCES[0], labels, rules)], rules.pad)
    losses = sentence_losses(network, batch)
    assert losses.entity.item() > 0
    assert losses.relation.item() == losses.coreference.item() == 0
    predicted = FAMILY.predictor(network, labels, rules)(TEN_SENTENCES[0].document)
    assert not predicted.annotations.relations and not predicted.annotations.clusters


def test_the_best_class_decides() -> None:
    logits = torch.tensor([[0.0, -1.0, 2.0], [0.0, -3.0, -0.1], [0.0, 0.5, 0.2]])
    found = best_classes(logits, ("A", "B"))
    assert [(row, label) for row, label, _ in found] == [(0, "B"), (2, "A")]
    assert found[0][2] == pytest.approx(math.exp(2) / (1 + math.exp(-1) + math.exp(2)), abs=1e-4)


def test_best_antecedents_above_zero_make_clusters() -> None:
    links = torch.tensor([[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]])
    scores = torch.tensor([1.0, 0.5, 2.0, -1.0, 0.0, -0.5])
    assert best_clusters(Antecedents(torch.arange(4), links, scores)) == [[0, 1, 2]]


def test_arguments_the_entity_head_denies_count_as_relations_only(
    make_config: MAKE, labels: Labels, rules: SubwordRules
) -> None:
    network = build_dygie_network(make_config(network="dygie"), labels)
    for head, bias in ((network.entity, -99.0), (network.relation.pair, 99.0)):  # type: ignore[union-attr]
        torch.nn.init.constant_(head[-1].bias, bias)  # type: ignore[arg-type]
    predicted = FAMILY.predictor(network, labels, rules)(TEN_SENTENCES[0].document)
    assert predicted.annotations.relations
    assert {entity.label for entity in predicted.annotations.entities} == {""}
    scored = scorable(predicted)
    assert not scored.entities and scored.relations


def test_odd_documents_are_predicted(
    make_config: MAKE, labels: Labels, rules: SubwordRules
) -> None:
    predict = FAMILY.predictor(
        build_dygie_network(make_config(network="dygie"), labels), labels, rules
    )
    empty = Document("empty", "", TokenTable((), ()))
    assert predict(empty) == AnnotatedDocument(empty)
    for text in ("Word", "Two words", "\x00 \x1b[31m 🧬"):
        document = gold("d", text).document
        assert predict(document).document == document


def test_predicting_twice_gives_the_same_ids(
    make_config: MAKE, labels: Labels, rules: SubwordRules
) -> None:
    network = build_dygie_network(make_config(network="dygie"), labels)
    predict = FAMILY.predictor(network, labels, rules)
    document = TEN_SENTENCES[1].document
    assert predict(document) == predict(document)


def test_selection_goes_by_the_named_task() -> None:
    scores = DevScores(entity=60.0, relation=40.0, strict=30.0, coreference=50.0)
    assert selection_score(scores, "mean") == 50
    assert selection_score(replace(scores, relation=45.0), "relation") == 45


def test_the_published_recipe_has_the_published_values() -> None:
    config = load_config(find_recipe("dygie-scierc"))
    assert (config.network, config.schedule, config.select_by) == (
        "dygie", "slanted_triangular", "relation",
    )  # fmt: skip
    assert (config.entity_weight, config.relation_weight, config.coreference_weight) == (0.2, 1, 1)
    assert (config.max_span_width, config.coref_propagation, config.epochs) == (8, 1, 50)
