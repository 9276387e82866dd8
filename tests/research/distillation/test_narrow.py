"""Narrower students from the teacher's weights."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn

from research.distillation.student import StudentPlan, Widths, make_student, narrowed
from research.pretraining.network import MaskedLanguageModel, read_head
from sciextract.errors import ModelMismatchError
from sciextract_trainer.encoders.loading import empty_encoder, load_encoder

IDS = torch.tensor([[2, 5, 6, 7, 3]])


@pytest.fixture
def teacher(teacher_folder: Path) -> MaskedLanguageModel:
    network = MaskedLanguageModel(load_encoder(str(teacher_folder))).eval().requires_grad_(False)
    read_head(network, str(teacher_folder))
    return network


def test_a_student_of_all_widths_tells_the_same(teacher: MaskedLanguageModel) -> None:
    encoder = teacher.encoder
    same = empty_encoder(encoder.config.to_dict()).eval()
    widths = Widths.between(encoder.config, encoder.config.to_dict())
    assert narrowed(encoder, same, widths).tolist() == list(range(32))
    assert torch.allclose(encoder(IDS)[0], same(IDS)[0], atol=1e-6)


def test_neurons_without_weights_are_the_ones_that_go(teacher: MaskedLanguageModel) -> None:
    for layer in teacher.encoder.encoder.layer:
        dead = torch.randperm(64)[:40]
        layer.intermediate.dense.weight[dead] = 0
        layer.output.dense.weight[:, dead] = 0
    plan = StudentPlan(layers=(1, 2, 3, 4), intermediate=24)
    student = make_student(teacher, plan, head=True).eval()
    assert torch.allclose(teacher.encoder(IDS)[0], student.encoder(IDS)[0], atol=1e-5)


def test_a_narrower_head_attends_alike(teacher: MaskedLanguageModel) -> None:
    """Where half of each head is empty, halving it changes nothing: the scale of the scores is kept."""
    half = torch.cat([torch.arange(8, 16), torch.arange(24, 32)])  # of two heads of 16 numbers
    attention = teacher.encoder.encoder.layer[0].attention
    own = attention.self
    for layer in (own.query, own.key, own.value):
        layer.weight[half], layer.bias[half] = 0, 0
    attention.output.dense.weight[:, half] = 0
    student = make_student(teacher, StudentPlan(layers=(1,), hidden=16), head=True)
    kept = student.encoder.encoder.layer[0].attention.self
    random = torch.randn(3, 16)
    rows = [each for each in range(32) if each not in half.tolist()]
    dimensions = _kept(teacher, student)
    wide = torch.zeros(3, 32)
    wide[:, dimensions] = random
    scores = [
        (
            nn.functional.linear(x, q.weight)[:, :size]
            @ nn.functional.linear(x, k.weight)[:, :size].T
        )
        / size**0.5
        for x, q, k, size in ((wide, own.query, own.key, 16), (random, kept.query, kept.key, 8))
    ]
    assert torch.allclose(scores[0], scores[1], atol=1e-5)
    assert kept.query.weight.shape[0] == len(rows)


def _kept(teacher: MaskedLanguageModel, student: MaskedLanguageModel) -> list[int]:
    """The hidden numbers that stay, read off the embeddings."""
    wide, narrow = (each.encoder.embeddings.word_embeddings.weight for each in (teacher, student))
    return [int((wide == column[:, None]).all(0).nonzero()) for column in narrow.T]


def test_a_narrower_student_keeps_the_numbers_of_its_teacher(teacher: MaskedLanguageModel) -> None:
    plan = StudentPlan(layers=(2, 4), hidden=16, intermediate=40)
    student = make_student(teacher, plan, head=True)
    kept = _kept(teacher, student)
    assert len(kept) == 16 and kept == sorted(kept)
    assert torch.equal(student.norm.weight, teacher.norm.weight[kept])
    assert torch.equal(student.dense.weight, teacher.dense.weight[kept][:, kept])
    assert torch.equal(student.bias, teacher.bias)
    assert student.outputs(IDS, torch.tensor([1])).hidden[-1].shape == (1, 5, 16)


def test_other_kinds_are_refused(teacher: MaskedLanguageModel) -> None:
    settings = teacher.encoder.config
    settings.model_type = "distilbert"
    with pytest.raises(ModelMismatchError, match="'distilbert'"):
        Widths.between(settings, settings.to_dict())
