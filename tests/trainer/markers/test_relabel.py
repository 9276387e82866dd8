"""Soft labels with a second opinion on their relations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from sciextract.errors import UsageError
from sciextract.inference.candidates import relation_pairs, sentence_ends
from sciextract.inference.mentions import Mentions
from sciextract.inference.pipeline import Labels
from sciextract_trainer.build import PieceRules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Targets
from sciextract_trainer.data.soft import SoftDocument, load_targets
from sciextract_trainer.families import MARKERS
from sciextract_trainer.markers.relabel import Second, relabel_softly
from sciextract_trainer.markers.scoring import MarkerScorer
from sciextract_trainer.sessions import TimeIsUp
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.markers.test_marker_network import SETTINGS


@pytest.fixture(scope="module")
def scorer(
    make_config: Callable[..., TrainConfig], labels: Labels, rules: PieceRules
) -> MarkerScorer:
    """Nothing is learned: its opinions are those of random weights."""
    network = MARKERS.build(make_config(**SETTINGS, dropout=0.1), labels)
    return MarkerScorer(network, labels, rules)


def labelled(row: int, labels: Labels) -> SoftDocument:
    """A document whose gold mentions are likely ones, and of whose pairs nobody says anything."""
    from sciextract_trainer.data.examples import gold_targets

    item = TEN_SENTENCES[row]
    found = gold_targets(item, labels)
    ends = sentence_ends(item.document.tokens.sentences, len(item.document.tokens))
    pairs = relation_pairs(found.spans, ends[found.spans[:, 0]])
    relations = np.zeros((len(pairs), labels.relations.class_count), dtype=np.float32)
    relations[:, 0] = 1.0
    targets = replace(found, pairs=pairs, relations=relations, soft=True)
    return SoftDocument(item.document, targets)


def mentions_of(targets: Targets) -> Mentions:
    every = np.ones(len(targets.spans), dtype=np.bool_)
    return Mentions(targets.spans, targets.types, targets.types, every)


def test_a_share_of_one_says_what_the_teacher_says(labels: Labels, scorer: MarkerScorer) -> None:
    old = labelled(0, labels)
    new = Second([scorer], 1.0, 0.2).of(old.document, old.targets)
    said = scorer.pairs(old.document, mentions_of(old.targets))
    by_pair = dict(zip(map(tuple, said.pairs.tolist()), said.probabilities, strict=True))
    for (head, tail), relation in zip(new.pairs.tolist(), new.relations, strict=True):
        wanted = by_pair[head, tail] if head < tail else by_pair[tail, head][scorer.mirror]
        np.testing.assert_allclose(relation, wanted, atol=1e-6)


def test_a_share_is_a_mean_and_the_rest_stays(labels: Labels, scorer: MarkerScorer) -> None:
    old = labelled(1, labels)
    whole, half = (
        Second([scorer, scorer], share, 0.2).of(old.document, old.targets) for share in (1.0, 0.5)
    )
    np.testing.assert_allclose(
        half.relations, (whole.relations + old.targets.relations) / 2, atol=1e-6
    )
    np.testing.assert_allclose(half.relations.sum(axis=1), 1, atol=1e-5)
    assert half.types is old.targets.types and half.links is old.targets.links
    assert old.targets.relations[:, 0].min() == 1, "the old labels are not changed"


def test_unlikely_spans_keep_their_relations(labels: Labels, scorer: MarkerScorer) -> None:
    old = labelled(0, labels)
    types = old.targets.types.copy()
    types[0] *= 0.1
    unlikely = replace(old.targets, types=types)
    new = Second([scorer], 1.0, 0.2).of(old.document, unlikely)
    changed = np.abs(new.relations - unlikely.relations).max(axis=1) > 0
    assert changed.tolist() == [0 not in pair for pair in unlikely.pairs.tolist()]


def test_shards_are_made_once(
    labels: Labels, scorer: MarkerScorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sciextract_trainer.markers import relabel

    monkeypatch.setattr(relabel, "SHARD_DOCUMENTS", 2)
    documents = [labelled(row, labels) for row in range(5)]
    events: list[dict[str, Any]] = []
    second = Second([scorer], 0.5, 0.2)
    with pytest.raises(TimeIsUp):
        relabel_softly(second, documents, tmp_path, events.append, until=0.0)
    relabel_softly(second, documents, tmp_path, events.append)
    assert [event["documents"] for event in events] == [2, 4, 5]
    keys = [key for path in sorted(tmp_path.glob("*.npz")) for key in load_targets(path).keys]
    assert keys == [item.document.doc_key for item in TEN_SENTENCES]
    monkeypatch.setattr(Second, "of", None)
    relabel_softly(second, documents, tmp_path, events.append)


@pytest.mark.parametrize(("share", "least"), [(1.5, 0.2), (0.5, -0.1)])
def test_impossible_numbers_are_refused(scorer: MarkerScorer, share: float, least: float) -> None:
    with pytest.raises(UsageError, match="is not possible"):
        Second([scorer], share, least)


def test_a_teacher_is_needed() -> None:
    with pytest.raises(UsageError, match="no teacher with markers"):
        Second([], 0.5, 0.2)
