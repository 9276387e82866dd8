"""Teachers with different tokenizers and sizes: their mean, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch")

from torch import nn

from research.distillation.ensemble import Ensemble, Member
from sciextract.documents.document import Document
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.network import Floats, PairInput, PairScores, WordStates
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.results import annotate_raw
from sciextract.inference.settings import DecodeSettings, PerTask, Rescue
from sciextract.inference.tokenization import EncoderInput
from sciextract.text.analyse import make_document
from sciextract_trainer.build import SubwordRules, as_joint
from sciextract_trainer.data.soft_labels import TEACHER_SETTINGS, targets_from
from sciextract_trainer.evaluate import DEV_SETTINGS
from sciextract_trainer.network.joint import TorchNetwork
from tests.trainer.corpus import TEN_SENTENCES

if TYPE_CHECKING:
    from collections.abc import Mapping

TINY = Labels(("Task", "Tool"), RelationLayout(("USES", "LIKE"), frozenset({"LIKE"})), True, 2)
TEXT = make_document("kites", "Kites carry lanterns upward.")
KITES, LANTERNS = 0, 2
EVERYTHING = DecodeSettings(PerTask(0.3, 0.3, 0.3), candidates=True, candidate_score=0.05)


@dataclass
class Says:
    """Stands for a network: it says what it is told to, by words, whatever its subwords and its size are."""

    hidden: int
    spans: Mapping[tuple[int, int], Sequence[float]]
    pairs: Mapping[tuple[int, int], Sequence[float]] = field(default_factory=dict)
    link: float = 0.0
    width: int = 2
    seen: list[Floats] = field(default_factory=list)
    subwords: list[int] = field(default_factory=list)

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        return [self._window(window) for window in windows]

    def _window(self, window: EncoderInput) -> WordStates:
        self.subwords.append(len(window.input_ids))
        words = len(window.word_first)
        states = np.zeros((words, self.hidden), dtype=np.float32)
        states[:, 0] = np.arange(words)
        logits = np.zeros((words, self.width, 3), dtype=np.float32)
        logits[:, :, 0] = 30.0
        for (start, end), probabilities in self.spans.items():
            logits[start, end - start] = np.log(probabilities)
        return WordStates(states, states, logits)

    def score_pairs(self, pairs: PairInput) -> PairScores:
        self.seen.append(pairs.span_types)
        words = pairs.span_first[:, 0].astype(int)
        relations = [
            np.log(self.pairs[words[head], words[tail]]) for head, tail in pairs.relation_pairs
        ]
        classes = TINY.relations.class_count
        return PairScores(
            np.array(relations, dtype=np.float32).reshape(-1, classes),
            np.full(len(pairs.link_pairs), self.link, dtype=np.float32),
        )


def _member(
    network: Says, rules: SubwordRules, weight: float = 1.0, labels: Labels = TINY
) -> Member:
    return Member(Pipeline(network, rules.encoder(), labels, rules.limit), weight)


def _two() -> tuple[Says, Says]:
    """Classes of pairs: none, USES, LIKE, USES backwards."""
    sure = Says(
        8,
        {(KITES, KITES): (0.2, 0.2, 0.6), (LANTERNS, LANTERNS): (0.1, 0.8, 0.1)},
        {(0, 2): (0.2, 0.6, 0.1, 0.1), (2, 0): (0.2, 0.1, 0.1, 0.6)},
        link=np.log(3.0),
    )
    other = Says(
        5,
        {(KITES, KITES): (0.6, 0.2, 0.2), (LANTERNS, LANTERNS): (0.5, 0.4, 0.1)},
        {(0, 2): (0.6, 0.2, 0.1, 0.1), (2, 0): (0.6, 0.1, 0.1, 0.2)},
        link=0.0,
    )
    return sure, other


def test_distributions_of_two_tokenizers_are_averaged_over_words(
    rules: SubwordRules, other_rules: SubwordRules
) -> None:
    sure, other = _two()
    ensemble = Ensemble([_member(sure, rules), _member(other, other_rules)])
    said = ensemble.predict(TEXT, EVERYTHING)
    assert sure.subwords != other.subwords  # the same words are another number of subwords
    assert said.mentions.spans.tolist() == [[KITES, KITES], [LANTERNS, LANTERNS]]
    np.testing.assert_allclose(said.mentions.types, [[0.4, 0.2, 0.4], [0.3, 0.6, 0.1]], atol=1e-6)
    np.testing.assert_allclose(said.pairs.probabilities, [[0.4, 0.4, 0.1, 0.1]], atol=1e-6)
    np.testing.assert_allclose(said.links.probabilities, [(3 / 4 + 1 / 2) / 2], atol=1e-6)
    assert [(r.head, r.tail, r.label) for r in said.relations] == [(0, 1, "USES")]
    assert [cluster.mentions for cluster in said.clusters] == [(0, 1)]
    for network in (sure, other):  # the pair heads see the mean opinion on types
        np.testing.assert_allclose(network.seen[0], said.mentions.types, atol=1e-6)


def test_weights_say_how_much_each_counts(rules: SubwordRules, other_rules: SubwordRules) -> None:
    sure, other = _two()
    ensemble = Ensemble([_member(sure, rules, 3.0), _member(other, other_rules, 1.0)])
    said = ensemble.predict(TEXT, EVERYTHING)
    np.testing.assert_allclose(said.mentions.types, [[0.3, 0.2, 0.5], [0.2, 0.7, 0.1]], atol=1e-6)
    np.testing.assert_allclose(said.pairs.probabilities, [[0.3, 0.5, 0.1, 0.1]], atol=1e-6)
    np.testing.assert_allclose(said.links.probabilities, [0.75 * 3 / 4 + 0.25 / 2], atol=1e-6)


def test_a_temperature_flattens_what_is_said_and_not_what_is_considered(
    rules: SubwordRules,
) -> None:
    """At temperature 2 probabilities go as their square roots."""
    sure, _ = _two()
    said = Ensemble([_member(sure, rules)], 2.0).predict(TEXT, EVERYTHING)
    plain = np.array([[0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
    roots = np.sqrt(plain) / np.sqrt(plain).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(said.mentions.types, roots, atol=1e-6)
    np.testing.assert_allclose(sure.seen[0], plain, atol=1e-6)  # what the pair heads learned on
    root = np.sqrt([0.2, 0.6, 0.1, 0.1])
    np.testing.assert_allclose(said.pairs.probabilities, [root / root.sum()], atol=1e-6)
    np.testing.assert_allclose(said.links.probabilities, [3**0.5 / (1 + 3**0.5)], atol=1e-6)


def test_a_span_that_one_member_is_too_narrow_for_is_none_to_it(rules: SubwordRules) -> None:
    wide = Says(4, {(0, 1): (0.1, 0.9, 1e-9)})
    narrow = Says(4, {}, width=1)
    members = [
        _member(wide, rules),
        _member(narrow, rules, labels=replace(TINY, max_span_width=1)),
    ]
    ensemble = Ensemble(members)
    assert ensemble.labels.max_span_width == 2
    said = ensemble.predict(TEXT, EVERYTHING)
    assert said.mentions.spans.tolist() == [[0, 1]]
    np.testing.assert_allclose(said.mentions.types, [[0.55, 0.45, 0.0]], atol=1e-6)


def test_groups_of_labels_keep_their_own_probabilities(rules: SubwordRules) -> None:
    """Per group a softmax over "none" and its labels; a span may be both."""
    grouped = replace(TINY, groups=(("Task",), ("Tool",)))
    one, two = Says(4, {(0, 0): (1.0, 3.0, 1.0)}), Says(4, {(0, 0): (1.0, 1.0, 9.0)})
    members = [_member(one, rules, labels=grouped), _member(two, rules, labels=grouped)]
    said = Ensemble(members).predict(TEXT, EVERYTHING)
    np.testing.assert_allclose(
        said.mentions.types[:, 1:], [[(3 / 4 + 1 / 2) / 2, (1 / 2 + 9 / 10) / 2]], atol=1e-6
    )


def test_a_text_without_words_says_nothing(rules: SubwordRules) -> None:
    said = Ensemble([_member(_two()[0], rules)]).predict(make_document("empty", " "), EVERYTHING)
    assert not len(said.mentions) and not said.relations and not said.clusters


def test_long_texts_are_read_in_windows_that_cover_every_word_once(
    trained: nn.Module, labels: Labels, rules: SubwordRules
) -> None:
    sentence = TEN_SENTENCES[0].document.text
    document = make_document("long", " ".join([sentence] * 12))
    pipeline = Pipeline(TorchNetwork(as_joint(trained)), rules.encoder(), labels, rules.limit)
    mine = Ensemble([Member(pipeline)]).predict(document, DEV_SETTINGS)
    theirs = pipeline.predict(document, DEV_SETTINGS)
    assert mine.mentions.spans.tolist() == theirs.mentions.spans.tolist()
    np.testing.assert_allclose(mine.mentions.types, theirs.mentions.types, atol=1e-5)
    assert [(r.head, r.tail, r.label) for r in mine.relations] == [
        (r.head, r.tail, r.label) for r in theirs.relations
    ]


RESCUING = replace(DEV_SETTINGS.with_thresholds({"entity": 0.9985}), rescue=Rescue(0.1, 0.5))


@pytest.mark.parametrize(
    ("members", "settings"), [(1, DEV_SETTINGS), (3, DEV_SETTINGS), (3, RESCUING)]
)
def test_an_ensemble_of_equals_predicts_as_each_does(
    members: int, settings: DecodeSettings, trained: nn.Module, labels: Labels, rules: SubwordRules
) -> None:
    single = Pipeline(TorchNetwork(as_joint(trained)), rules.encoder(), labels, rules.limit)
    ensemble = Ensemble([Member(single)] * members)

    def said(teacher: Pipeline | Ensemble, document: Document) -> tuple[list[object], list[float]]:
        raw = teacher.predict(document, settings)
        found = annotate_raw(document, raw, labels, settings, None).annotations
        items: list[object] = [(e.span, e.label) for e in found.entities]
        items += [(r.head, r.tail, r.label) for r in found.relations]
        items += [c.mentions for c in found.clusters]
        return items, [e.score or 0.0 for e in found.entities]

    every: list[float] = []
    for item in TEN_SENTENCES:
        (mine, scores), (theirs, expected) = (
            said(model, item.document) for model in (ensemble, single)
        )
        assert mine == theirs
        np.testing.assert_allclose(scores, expected, atol=1e-4)
        every += scores
    assert (min(every) < settings.thresholds.entity) == (settings.rescue is not None)


def test_soft_targets_are_distributions_over_both_directions(
    trained: nn.Module, labels: Labels, rules: SubwordRules
) -> None:
    single = Pipeline(TorchNetwork(as_joint(trained)), rules.encoder(), labels, rules.limit)
    raw = Ensemble([Member(single)]).predict(TEN_SENTENCES[0].document, TEACHER_SETTINGS)
    targets = targets_from(raw, labels.relations)
    np.testing.assert_allclose(targets.types.sum(axis=1), 1.0, rtol=1e-4)
    np.testing.assert_allclose(targets.relations.sum(axis=1), 1.0, rtol=1e-4)
    pairs = {(a, b): row for row, (a, b) in enumerate(targets.pairs.tolist())}
    assert pairs.keys() == {(b, a) for a, b in pairs}
    mirror = labels.relations.mirror()
    for (a, b), row in pairs.items():
        np.testing.assert_allclose(targets.relations[pairs[b, a]][mirror], targets.relations[row])
