"""The three objectives as weighted in their recipes, against numbers worked out by hand."""

from __future__ import annotations

from math import log

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor

from research.distillation.objectives import METHODS, LossInputs, weighted
from research.distillation.pair import DistilConfig, load_distil_config
from research.pretraining.network import EncoderOutputs

LN3 = log(3)
DIVERGENCE = 0.75 * log(3 / 2) + 0.25 * log(1 / 2)
FAR = torch.full((1, 2, 2), 100.0)

EMBEDDINGS = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])
"""Against zeros the mean square is 1/2."""
STUDENT_STATES = torch.tensor([[[3.0, 4.0], [1.0, 0.0]]])
TEACHER_STATES = torch.tensor([[[4.0, 3.0], [0.0, 1.0]]])
"""1 - cosine: 0.04 and 1; squares: 1, 1, 1, 1."""
EVEN = torch.tensor([[[[0.5, 0.5], [0.5, 0.5]]]])
MAPS = torch.tensor([[[[0.75, 0.25], [1.0, 0.0]]]])
"""Mean square 0.15625; divergences 0.130812 and log 2."""
FAR_MAPS = torch.tensor([[[[0.0, 1.0], [0.0, 1.0]]]])


def _config(recipe: str) -> DistilConfig:
    return load_distil_config(recipe, teacher="t", student="s")


def _inputs(student: Tensor, teacher: Tensor, temperature: float) -> LossInputs:
    """A student of one layer that follows the second layer of its teacher; the first one is far away."""
    return LossInputs(
        student=EncoderOutputs(student, (EMBEDDINGS, STUDENT_STATES), (EVEN,)),
        teacher=EncoderOutputs(
            teacher, (torch.zeros(1, 2, 2), FAR, TEACHER_STATES), (FAR_MAPS, MAPS)
        ),
        targets=torch.tensor([0]),
        layers=(2,),
        temperature=temperature,
    )


def _loss(recipe: str, inputs: LossInputs) -> tuple[float, dict[str, float]]:
    config = _config(recipe)
    assert config.temperature == inputs.temperature
    parts = METHODS[config.method].objective(inputs)
    assert tuple(parts) == METHODS[config.method].parts
    return float(weighted(parts, config.weights)), {n: float(p) for n, p in parts.items()}


def test_distilbio_weighs_two_five_one_at_temperature_two() -> None:
    inputs = _inputs(torch.zeros(1, 2), torch.tensor([[2 * LN3, 0.0]]), 2.0)
    loss, parts = _loss("distilbio", inputs)
    assert parts["mlm"] == pytest.approx(log(2), abs=1e-6)
    assert parts["output"] == pytest.approx(4 * DIVERGENCE, abs=1e-6)
    assert parts["hidden"] == pytest.approx(0.52, abs=1e-6)
    assert loss == pytest.approx(2 * log(2) + 5 * 4 * DIVERGENCE + 1 * 0.52, abs=1e-5)


def test_tinybio_adds_output_embedding_hidden_and_attention() -> None:
    inputs = _inputs(torch.tensor([[0.0, LN3]]), torch.tensor([[LN3, 0.0]]), 1.0)
    loss, parts = _loss("tinybio", inputs)
    crossed = 0.75 * log(4) + 0.25 * log(4 / 3)
    wanted = {"output": crossed, "embedding": 0.5, "hidden": 1.0, "attention": 0.15625}
    assert parts == pytest.approx(wanted, abs=1e-6)
    assert loss == pytest.approx(crossed + 0.5 + 1.0 + 0.15625, abs=1e-5)


def test_compactbio_weighs_one_five_and_three_for_both_parts_of_a_layer() -> None:
    inputs = _inputs(torch.zeros(1, 2), torch.tensor([[LN3, 0.0]]), 1.0)
    loss, parts = _loss("compactbio", inputs)
    attention = (DIVERGENCE + log(2)) / 2
    wanted = {"mlm": log(2), "output": DIVERGENCE, "hidden": 0.52, "attention": attention}
    assert parts == pytest.approx(wanted, abs=1e-6)
    assert loss == pytest.approx(log(2) + 5 * DIVERGENCE + 3 * (0.52 + attention), abs=1e-5)


@pytest.mark.parametrize("method", ["tinybio", "compactbio"])
def test_layers_add_up(method: str) -> None:
    one = _inputs(torch.zeros(1, 2), torch.tensor([[LN3, 0.0]]), 1.0)
    hidden, maps = one.student.hidden, one.student.attentions
    student = EncoderOutputs(one.student.logits, (*hidden, hidden[1]), maps * 2)
    teacher = one.teacher
    teacher = EncoderOutputs(
        teacher.logits,
        (*teacher.hidden, FAR, teacher.hidden[2]),
        (*teacher.attentions, FAR_MAPS, MAPS),
    )
    two = LossInputs(student, teacher, one.targets, (2, 4), 1.0)
    single, double = (METHODS[method].objective(pair) for pair in (one, two))
    for part in ("hidden", "attention"):
        assert float(double[part]) == pytest.approx(2 * float(single[part]), abs=1e-6)
    assert float(double["output"]) == pytest.approx(float(single["output"]))


@pytest.mark.parametrize("method", ["distilbio", "compactbio"])
def test_a_student_like_its_teacher_loses_by_hidden_subwords_only(method: str) -> None:
    told = EncoderOutputs(torch.zeros(1, 2), (EMBEDDINGS, TEACHER_STATES), (MAPS,))
    parts = METHODS[method].objective(LossInputs(told, told, torch.tensor([0]), (1,)))
    assert float(parts.pop("mlm")) == pytest.approx(log(2))
    assert {name: float(part) for name, part in parts.items()} == pytest.approx(
        dict.fromkeys(parts, 0.0), abs=1e-6
    )


def test_padding_counts_in_no_part_that_knows_of_it() -> None:
    whole = _inputs(torch.zeros(1, 2), torch.tensor([[LN3, 0.0]]), 1.0)
    first = torch.tensor([[True, False]])
    masked = LossInputs(whole.student, whole.teacher, whole.targets, whole.layers, 1.0, first)
    parts = METHODS["compactbio"].objective(masked)
    assert float(parts["hidden"]) == pytest.approx(0.04, abs=1e-6)
    assert float(parts["attention"]) == pytest.approx(DIVERGENCE, abs=1e-6)
