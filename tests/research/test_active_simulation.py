"""The simulation of active learning: a frozen encoder's states, curves that resume, what is read off them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import numpy as np
import torch

from research.simulations.active_learning import ALL, MEMBERS, Simulation
from research.simulations.frozen_encoder import LAYERS, KnownStates, freeze
from research.simulations.learning_curves import Curve, draw, needed, tables
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import collate
from sciextract_trainer.encoders.loading import load_encoder
from tests.trainer.corpus import TEN_SENTENCES

pytestmark = pytest.mark.full

RISING = [
    {"documents": 10.0, "words": 100.0, "mean": 20.0},
    {"documents": 20.0, "words": 300.0, "mean": 90.0},
    {"documents": 30.0, "words": 400.0, "mean": 100.0},
]


def config(encoder_folder: Path) -> TrainConfig:
    return TrainConfig(
        encoder=str(encoder_folder), epochs=1, batch_documents=2, span_width=16, hidden_width=8,
        max_span_width=4, bf16=False,
    )  # fmt: skip


@pytest.fixture
def simulation(encoder_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Simulation:
    monkeypatch.setattr("research.simulations.frozen_encoder.LAYERS", (-1, -2))
    frozen = freeze(TEN_SENTENCES, config(encoder_folder), tmp_path)
    named = {each.document.doc_key: each for each in TEN_SENTENCES[:3]}
    return Simulation(frozen, named, TEN_SENTENCES[3:], tmp_path, 1, 1)


def test_known_states_are_those_of_the_encoder(
    simulation: Simulation, encoder_folder: Path
) -> None:
    examples = [each for found in simulation.frozen.examples.values() for each in found]
    batch = collate(examples[:3], simulation.frozen.rules.pad)
    encoder = load_encoder(str(encoder_folder)).eval()
    with torch.inference_mode():
        layers = encoder(
            input_ids=batch.input_ids,
            attention_mask=batch.attention_mask,
            output_hidden_states=True,
        ).hidden_states
    expected = torch.cat([layers[-1], layers[-2]], dim=-1)
    [found] = KnownStates(simulation.frozen.states)(batch.input_ids, batch.attention_mask)
    inside = batch.attention_mask.bool()
    torch.testing.assert_close(found[inside], expected[inside], rtol=1e-4, atol=1e-4)
    assert not found[~inside].any() and len(LAYERS) == 2


def test_states_of_other_documents_are_refused(
    simulation: Simulation, encoder_folder: Path
) -> None:
    with pytest.raises(SystemExit, match="another --folder"):
        freeze(TEN_SENTENCES[:4], config(encoder_folder), simulation.folder)


@pytest.mark.parametrize("strategy", ALL)
def test_a_curve_asks_for_all_documents_once(simulation: Simulation, strategy: str) -> None:
    points = simulation.curve(strategy, 1).points
    assert [each["documents"] for each in points] == [1, 2, 3]
    words = sum(len(each.document.tokens) for each in TEN_SENTENCES[:3])
    assert points[-1]["words"] == words
    kept = [each.name for each in simulation.folder.iterdir()]
    assert f"{strategy}-1.json" in kept and not any(each.endswith(".part") for each in kept)
    assert len(list((simulation.folder / "trained").iterdir())) == (
        MEMBERS if strategy == "committee" else 1
    )


def test_an_interrupted_curve_goes_on_to_the_same_end(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = simulation.curve("entropy", 1)
    path = simulation.folder / "entropy-1.json"
    path.unlink()
    (simulation.folder / "all-1.json").unlink()
    real, rounds = Simulation._round, []

    def stopped(self: Simulation, strategy: str, seed: int, labelled: list[str]) -> object:
        rounds.append(len(labelled))
        if len(rounds) == 2:
            raise KeyboardInterrupt
        return real(self, strategy, seed, labelled)

    monkeypatch.setattr(Simulation, "_round", stopped)
    with pytest.raises(KeyboardInterrupt):
        simulation.curve("entropy", 1)
    assert simulation.curve("entropy", 1) == whole and rounds == [1, 2, 2, 3]
    assert simulation.curve("entropy", 1) == whole and len(rounds) == 4


def test_needed_is_read_off_a_straight_line() -> None:
    assert needed(RISING, "mean", "documents", 0.95) == pytest.approx(25)
    assert needed(RISING, "mean", "words", 0.55) == pytest.approx(200)
    assert needed(RISING, "mean", "documents", 0.1) == 10
    assert needed([{**RISING[0], "mean": 0.0}], "mean", "documents", 0.95) == 10


def test_tables_and_drawing(simulation: Simulation, tmp_path: Path) -> None:
    curves = [simulation.curve("random", seed) for seed in (1, 2)]
    other = Curve("margin", 1, curves[0].points)
    told = tables([*curves, other])
    assert "| F1, relations | 1 | 2 | 3 |" in told and told.count("| random |") == 5
    assert told.count("| margin |") == 5
    assert np.isfinite([each["mean"] for each in curves[1].points]).all()
    pytest.importorskip("matplotlib")
    draw([*curves, other], tmp_path / "c.svg")
    assert (tmp_path / "c.svg").read_text("utf-8").count("<svg") == 1
