"""Training in slices of time, and on a disk that fills up: a training goes on as if it had not been stopped."""

from __future__ import annotations

import errno
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from safetensors import SafetensorError

from research.reporting import as_mappings
from sciextract.errors import OutputError
from sciextract_trainer import checkpoint
from sciextract_trainer.build import SubwordRules, family_of
from sciextract_trainer.checkpoint import WEIGHTS, TimeIsUp, replacing, save_checkpoint
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.loop import BEST, TrainingData, train
from tests.trainer.corpus import TEN_SENTENCES

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

Events = list[dict[str, Any]]
Run = Callable[..., dict[str, torch.Tensor]]


@pytest.fixture
def run(make_config: Callable[..., TrainConfig], labels: Labels, rules: SubwordRules) -> Run:
    """Two epochs of three steps with dropout, and the weights after them."""

    def run(folder: Path, events: Events, until: float = float("inf")) -> dict[str, torch.Tensor]:
        config = make_config(epochs=2, evaluate_every=1, dropout=0.3, word_dropout=0.1, ema=0.9)
        examples = list(family_of(config).examples(TEN_SENTENCES, labels, rules))
        data = TrainingData(examples, TEN_SENTENCES)
        network = train(
            config, labels, rules, data, folder, as_mappings(events.append), until=until
        )
        return {name: value.clone() for name, value in network.state_dict().items()}

    return run


def _steps(events: Events) -> list[tuple[int, int, float]]:
    """Epoch, documents and entity loss of each step."""
    return [
        (event["epoch"], event["documents"], event["loss"]["entity"])
        for event in events
        if event["event"] == "step"
    ]


def _ticking() -> Iterator[float]:
    return itertools.count(start=0.0, step=1.0)


def test_slices_of_any_length_end_like_one_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: Events = []
    whole = run(tmp_path / "whole", events)
    told: Events = []
    stops = 0
    while stops < 20:
        ticks = _ticking()
        monkeypatch.setattr(time, "monotonic", lambda ticks=ticks: next(ticks))
        try:
            parts = run(tmp_path / "parts", told, until=6.0)
            break
        except TimeIsUp:
            stops += 1
    monkeypatch.undo()
    assert stops > 1
    assert _steps(told) == _steps(events)
    assert any(event.get("steps") for event in told if event["event"] == "resumed")
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_a_long_epoch_has_checkpoints_within(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "CHECKPOINT_SECONDS", 0.0)
    saved: list[int] = []
    real = save_checkpoint

    def counted(folder: Path, state: Any) -> None:
        saved.append(state.progress.steps)
        real(folder, state)

    monkeypatch.setattr(checkpoint, "save_checkpoint", counted)
    run(tmp_path, [])
    assert saved == [1, 2, 3, 1, 2, 3]


def test_no_time_at_all_trains_nothing(run: Run, tmp_path: Path) -> None:
    with pytest.raises(TimeIsUp):
        run(tmp_path, [], until=0.0)
    assert not (tmp_path / WEIGHTS).exists()


@pytest.mark.parametrize(("place", "failing"), [("checkpoint", 2), ("loop", 1)])
def test_a_full_disk_keeps_the_old_state_and_says_how_to_go_on(
    place: str, failing: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path / "whole", [])
    where = f"sciextract_trainer.{place}.save_file"
    real = __import__("safetensors.torch", fromlist=["save_file"]).save_file
    written: list[Path] = []

    def fills_up(tensors: Any, path: Path, **words: Any) -> None:
        written.append(path)
        if len(written) == failing:
            path.write_bytes(b"half")
            raise SafetensorError("Error while serializing: I/O error: No space (os error 28)")
        real(tensors, path, **words)

    monkeypatch.setattr(where, fills_up)
    with pytest.raises(OutputError, match="the disk is full") as caught:
        run(tmp_path / "parts", [])
    assert "make room" in caught.value.hint
    assert not list((tmp_path / "parts").glob("*.part*"))
    assert (tmp_path / "parts" / BEST).is_file() is (place == "checkpoint")
    again = run(tmp_path / "parts", [])
    assert all(torch.equal(whole[name], again[name]) for name in whole)


def test_other_errors_of_the_disk_name_the_file(tmp_path: Path) -> None:
    denied = pytest.raises(OutputError, match="file: cannot be written")
    with denied, replacing(tmp_path / "file"):
        raise PermissionError(errno.EACCES, "no")
    with pytest.raises(SafetensorError), replacing(tmp_path / "file"):
        raise SafetensorError("something else")
    assert not list(tmp_path.iterdir())
