"""Ensembles, and the soft targets they leave on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch")

from torch import nn

from sciextract.errors import ModelDamagedError
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotate
from sciextract_trainer.build import PieceRules
from sciextract_trainer.data.soft import (
    ARRAYS,
    SoftDocument,
    load_targets,
    save_targets,
    soft_examples,
    targets_from,
)
from sciextract_trainer.distil import TEACHER_SETTINGS, label_softly
from sciextract_trainer.evaluate import DEV_SETTINGS
from sciextract_trainer.families import as_joint
from sciextract_trainer.network.ensemble import Ensemble
from sciextract_trainer.network.torch_network import TorchNetwork
from tests.trainer.corpus import TEN_SENTENCES

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels


def _pipelines(
    trained: nn.Module, labels: Labels, rules: PieceRules, members: int
) -> tuple[Pipeline, Pipeline]:
    single = TorchNetwork(as_joint(trained))
    ensemble = Ensemble([single] * members)
    return (
        Pipeline(single, rules.encoder(), labels, rules.limit),
        Pipeline(ensemble, rules.encoder(), labels, rules.limit),
    )


@pytest.mark.parametrize("members", [1, 3])
def test_an_ensemble_of_equals_predicts_as_each_does(
    members: int, trained: nn.Module, labels: Labels, rules: PieceRules
) -> None:
    single, ensemble = _pipelines(trained, labels, rules, members)
    for item in TEN_SENTENCES:
        mine = annotate(single, item.document, DEV_SETTINGS).annotations
        theirs = annotate(ensemble, item.document, DEV_SETTINGS).annotations
        assert [(e.span, e.label) for e in mine.entities] == [
            (e.span, e.label) for e in theirs.entities
        ]
        assert [(r.head, r.tail, r.label) for r in mine.relations] == [
            (r.head, r.tail, r.label) for r in theirs.relations
        ]
        assert [c.mentions for c in mine.clusters] == [c.mentions for c in theirs.clusters]
        for left, right in zip(mine.entities, theirs.entities, strict=True):
            assert left.score == pytest.approx(right.score, abs=1e-3)


def test_soft_targets_are_distributions_over_both_directions(
    trained: nn.Module, labels: Labels, rules: PieceRules
) -> None:
    teacher, _ = _pipelines(trained, labels, rules, 1)
    targets = targets_from(
        teacher.predict(TEN_SENTENCES[0].document, TEACHER_SETTINGS), labels.relations
    )
    np.testing.assert_allclose(targets.types.sum(axis=1), 1.0, rtol=1e-4)
    np.testing.assert_allclose(targets.relations.sum(axis=1), 1.0, rtol=1e-4)
    pairs = {(a, b): row for row, (a, b) in enumerate(targets.pairs.tolist())}
    assert pairs.keys() == {(b, a) for a, b in pairs}
    mirror = labels.relations.mirror()
    for (a, b), row in pairs.items():
        np.testing.assert_allclose(targets.relations[pairs[b, a]][mirror], targets.relations[row])


def test_soft_targets_survive_the_disk(
    trained: nn.Module, labels: Labels, rules: PieceRules, tmp_path: Path
) -> None:
    teacher, _ = _pipelines(trained, labels, rules, 1)
    documents = [item.document for item in TEN_SENTENCES]
    targets = [
        targets_from(teacher.predict(each, TEACHER_SETTINGS), labels.relations)
        for each in documents
    ]
    keys = [document.doc_key for document in documents]
    save_targets(tmp_path / "soft.npz", keys, targets)
    loaded = load_targets(tmp_path / "soft.npz")
    assert list(loaded) == keys
    for key, expected in zip(keys, targets, strict=True):
        for name in ARRAYS:
            np.testing.assert_allclose(
                getattr(loaded[key], name), getattr(expected, name), atol=1e-3
            )
        assert loaded[key].soft
    soft = [SoftDocument(each, loaded[each.doc_key]) for each in documents]
    examples = list(soft_examples(soft, labels, rules.encoder(), rules.limit))
    assert [example.doc_key for example in examples] == keys


def test_word_indices_beyond_sixteen_bits_are_kept(
    trained: nn.Module, labels: Labels, rules: PieceRules, tmp_path: Path
) -> None:
    from dataclasses import replace

    teacher, _ = _pipelines(trained, labels, rules, 1)
    raw = teacher.predict(TEN_SENTENCES[0].document, TEACHER_SETTINGS)
    targets = targets_from(raw, labels.relations)
    far = replace(targets, spans=targets.spans + 90_000)
    save_targets(tmp_path / "soft.npz", ["far"], [far])
    np.testing.assert_array_equal(load_targets(tmp_path / "soft.npz")["far"].spans, far.spans)


@pytest.mark.parametrize("keep", [0, 10, 500])
def test_a_cut_shard_is_said(
    keep: int, trained: nn.Module, labels: Labels, rules: PieceRules, tmp_path: Path
) -> None:
    teacher, _ = _pipelines(trained, labels, rules, 1)
    documents = [item.document for item in TEN_SENTENCES]
    label_softly(teacher, documents, tmp_path, lambda event: None)
    [shard] = tmp_path.glob("*.npz")
    shard.write_bytes(shard.read_bytes()[:keep])
    with pytest.raises(ModelDamagedError, match="soft targets cannot be read"):
        label_softly(teacher, documents, tmp_path, lambda event: None)


def test_labelling_again_reuses_finished_shards(
    trained: nn.Module, labels: Labels, rules: PieceRules, tmp_path: Path
) -> None:
    teacher, _ = _pipelines(trained, labels, rules, 1)
    documents = [item.document for item in TEN_SENTENCES]
    events: list[dict[str, Any]] = []
    first = label_softly(teacher, documents, tmp_path, events.append)
    [shard] = tmp_path.glob("*.npz")
    written = shard.stat().st_mtime_ns
    second = label_softly(teacher, documents, tmp_path, events.append)
    assert shard.stat().st_mtime_ns == written
    assert [d.document for d in first] == [d.document for d in second]
    assert events[-1] == {"event": "labelled", "documents": 5, "of": 5}
