"""Soft labels on disk: made once, never mixed up, never half written."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

pytest.importorskip("torch")

from torch import nn

from research.distillation.task import Texts
from research.distillation.teachers import describe_labels
from sciextract.documents.document import Document
from sciextract.errors import ModelDamagedError, OutputError, TrainingDataError, UsageError
from sciextract.inference.pipeline import Labels, Pipeline, RawPrediction
from sciextract.inference.settings import DecodeSettings
from sciextract.retraining.events import TrainingEvent
from sciextract_trainer.build import SubwordRules, as_joint
from sciextract_trainer.checkpoint import TimeIsUp
from sciextract_trainer.data import soft_labels
from sciextract_trainer.data.soft_labels import (
    ARRAYS,
    TEACHER_SETTINGS,
    SoftDocument,
    label_softly,
    load_targets,
    save_targets,
    soft_examples,
    targets_from,
)
from sciextract_trainer.network.joint import TorchNetwork
from tests.trainer.corpus import TEN_SENTENCES

DOCUMENTS = [item.document for item in TEN_SENTENCES]


class Killed(Exception):
    """Stands for the process being killed."""


class Counting:
    """A teacher that notes what it is asked, and may be killed at a document."""

    def __init__(self, teacher: Pipeline, killed_at: str = "") -> None:
        self.labels: Labels = teacher.labels
        self.asked: list[str] = []
        self._teacher, self._killed_at = teacher, killed_at

    def predict(self, document: Document, settings: DecodeSettings) -> RawPrediction:
        if document.doc_key == self._killed_at:
            raise Killed
        self.asked.append(document.doc_key)
        return self._teacher.predict(document, settings)


@pytest.fixture
def teacher(trained: nn.Module, labels: Labels, rules: SubwordRules) -> Pipeline:
    return Pipeline(TorchNetwork(as_joint(trained)), rules.encoder(), labels, rules.limit)


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soft_labels, "SHARD_DOCUMENTS", 2)


def quiet(event: TrainingEvent) -> None:
    """Hears nothing."""


def label(
    teacher: Any, folder: Path, documents: Sequence[Document] = DOCUMENTS, **words: Any
) -> list[SoftDocument]:
    return label_softly(teacher, documents, folder, quiet, **words)


def same(left: list[SoftDocument], right: list[SoftDocument]) -> bool:
    return [soft.document for soft in left] == [soft.document for soft in right] and all(
        np.array_equal(getattr(one.targets, name), getattr(other.targets, name))
        for one, other in zip(left, right, strict=True)
        for name in ARRAYS
    )


def test_soft_targets_survive_the_disk(
    teacher: Pipeline, labels: Labels, rules: SubwordRules, tmp_path: Path
) -> None:
    documents = [
        SoftDocument(
            document, targets_from(teacher.predict(document, TEACHER_SETTINGS), labels.relations)
        )
        for document in DOCUMENTS
    ]
    save_targets(tmp_path / "soft.npz", documents)
    loaded = load_targets(tmp_path / "soft.npz")
    assert loaded.keys == tuple(document.doc_key for document in DOCUMENTS)
    assert loaded.texts == tuple(document.text_sha256 for document in DOCUMENTS)
    for found, expected in zip(loaded.targets, documents, strict=True):
        for name in ARRAYS:
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected.targets, name), atol=1e-3
            )
        assert found.soft
    examples = list(soft_examples(documents, labels, rules.encoder(), rules.limit))
    assert [example.doc_key for example in examples] == list(loaded.keys)


def test_word_indices_beyond_sixteen_bits_are_kept(teacher: Pipeline, tmp_path: Path) -> None:
    raw = teacher.predict(DOCUMENTS[0], TEACHER_SETTINGS)
    targets = targets_from(raw, teacher.labels.relations)
    far = replace(targets, spans=targets.spans + 90_000)
    save_targets(tmp_path / "soft.npz", [SoftDocument(DOCUMENTS[0], far)])
    [found] = load_targets(tmp_path / "soft.npz").targets
    np.testing.assert_array_equal(found.spans, far.spans)


@pytest.mark.usefixtures("small_shards")
def test_a_killed_labelling_goes_on_behind_its_last_shard(
    teacher: Pipeline, tmp_path: Path
) -> None:
    whole = label(teacher, tmp_path / "whole")
    with pytest.raises(Killed):
        label(Counting(teacher, killed_at=DOCUMENTS[3].doc_key), tmp_path / "parts")
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["soft-0000.npz"]
    going_on = Counting(teacher)
    assert same(label(going_on, tmp_path / "parts"), whole)
    assert going_on.asked == [document.doc_key for document in DOCUMENTS[2:]]


@pytest.mark.usefixtures("small_shards")
def test_more_texts_go_on_behind_fewer(teacher: Pipeline, tmp_path: Path) -> None:
    """The last shard of three documents was half full: it alone is labelled anew."""
    label(teacher, tmp_path, DOCUMENTS[:3])
    counting = Counting(teacher)
    found = label(counting, tmp_path)
    assert counting.asked == [document.doc_key for document in DOCUMENTS[2:]]
    assert [soft.document for soft in found] == DOCUMENTS


@pytest.mark.usefixtures("small_shards")
def test_a_call_stops_after_a_shard_when_its_time_is_up(
    teacher: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter([1.0, 5.0, 11.0])
    monkeypatch.setattr("sciextract_trainer.checkpoint.time.monotonic", lambda: next(now))
    with pytest.raises(TimeIsUp):
        label(teacher, tmp_path, until=10.0)
    assert len(list(tmp_path.glob("soft-*.npz"))) == 2
    monkeypatch.undo()
    monkeypatch.setattr(soft_labels, "SHARD_DOCUMENTS", 2)
    assert len(label(teacher, tmp_path, until=float("inf"))) == len(DOCUMENTS)


def test_side_by_side_says_the_same_as_one_after_the_other(
    teacher: Pipeline, tmp_path: Path
) -> None:
    assert same(label(teacher, tmp_path / "two", workers=2), label(teacher, tmp_path / "one"))


@pytest.mark.parametrize("keep", [0, 10, 500, -30])
def test_a_damaged_shard_is_said_and_labelled_anew_when_it_is_gone(
    keep: int, teacher: Pipeline, tmp_path: Path
) -> None:
    whole = label(teacher, tmp_path)
    [shard] = tmp_path.glob("*.npz")
    content = shard.read_bytes()
    cut = content[:keep] if keep >= 0 else content[:600] + b"?" * 40 + content[640:]
    shard.write_bytes(cut)
    with pytest.raises(ModelDamagedError, match=r"soft-0000\.npz.*cannot be read") as caught:
        label(teacher, tmp_path)
    assert "remove this file" in caught.value.hint
    shard.unlink()
    assert same(label(teacher, tmp_path), whole)


def test_labels_of_other_texts_are_never_taken(teacher: Pipeline, tmp_path: Path) -> None:
    label(teacher, tmp_path)
    with pytest.raises(UsageError, match="where it has otters, now there is lanterns"):
        label(teacher, tmp_path, [DOCUMENTS[1], *DOCUMENTS[1:]])
    changed = replace(DOCUMENTS[1], doc_key=DOCUMENTS[0].doc_key)
    with pytest.raises(UsageError, match="otters with other words"):
        label(teacher, tmp_path, [changed, *DOCUMENTS[1:]])
    with pytest.raises(UsageError, match="labels of 5 texts, wanted are 4"):
        label(teacher, tmp_path, DOCUMENTS[:4])


def test_labels_of_other_classes_are_refused(teacher: Pipeline, tmp_path: Path) -> None:
    label(teacher, tmp_path)
    fewer = Counting(teacher)
    fewer.labels = replace(teacher.labels, entities=("Task",))
    with pytest.raises(ModelDamagedError, match=r"over 7 and 13 classes.*the teacher has 2 and 13"):
        label(fewer, tmp_path)


@pytest.mark.usefixtures("small_shards")
def test_a_full_disk_leaves_what_is_finished_and_says_how_to_go_on(
    teacher: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., None] = np.savez_compressed
    written: list[BinaryIO] = []

    def fills_up(stream: BinaryIO, **arrays: Any) -> None:
        written.append(stream)
        if len(written) == 2:
            stream.write(b"half of a shard")
            raise OSError(errno.ENOSPC, "No space left on device")
        real(stream, **arrays)

    monkeypatch.setattr(np, "savez_compressed", fills_up)
    with pytest.raises(OutputError, match=r"soft-0001\.npz.*the disk is full") as caught:
        label(teacher, tmp_path)
    assert "make room" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["soft-0000.npz"]
    assert len(label(teacher, tmp_path)) == len(DOCUMENTS)


def test_texts_may_begin_behind_others(shard: Path, tmp_path: Path) -> None:
    """Titles stay where they are when all abstracts are read: every second one has its title."""
    every = Texts([shard], 9).documents()
    assert Texts([shard], 2, skip=3).documents() == every[3:5]
    with pytest.raises(TrainingDataError, match="behind the first 7"):
        Texts([shard], 2, skip=7).documents()


def test_who_labels_is_noted_once_and_never_changed(tmp_path: Path) -> None:
    described = {"teachers": [{"name": "a", "hash": "1", "weight": 1.0}], "temperature": 1.0}
    describe_labels(tmp_path, described)
    describe_labels(tmp_path, described)
    with pytest.raises(UsageError, match=r"made with temperature 1\.0, now it is 2\.0"):
        describe_labels(tmp_path, {**described, "temperature": 2.0})
    (tmp_path / "labels.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelDamagedError, match="cannot be read"):
        describe_labels(tmp_path, described)
