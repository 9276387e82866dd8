"""Several seeds of one recipe: their scores, and that a finished one is not trained again."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from sciextract import formats
from sciextract.documents.schema import LabelSchema
from sciextract.errors import UsageError
from sciextract.retraining.events import as_mappings
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.run import TrainingJob
from sciextract_trainer.seeds import SCORES, SeedScores, run_seeds
from tests.trainer.corpus import TEN_SENTENCES

Events = list[dict[str, Any]]


@pytest.fixture
def job(
    tmp_path: Path, schema: LabelSchema, make_config: Callable[..., TrainConfig]
) -> TrainingJob:
    data = tmp_path / "gold.jsonl"
    with closing(formats.open_writer("scierc", data)) as writer:
        for item in TEN_SENTENCES:
            writer.write(item)
    config = make_config(epochs=3, evaluate_every=3, network="dygie", coreference_weight=0.0)
    return TrainingJob(config, schema, data, data, tmp_path / "run", tmp_path / "out", "tiny")


def test_means_and_sample_deviations() -> None:
    scores = SeedScores({1: {"entity": 1.0, "relation": 7.0}, 5: {"entity": 3.0, "relation": 7.0}})
    assert scores.tasks == ("entity", "relation")
    assert scores.mean("entity") == 2.0 and scores.sd("entity") == pytest.approx(2**0.5)
    assert (scores.mean("relation"), scores.sd("relation")) == (7.0, 0.0)
    assert SeedScores({1: {"entity": 1.0}}).sd("entity") is None


def test_finished_seeds_are_not_trained_again(job: TrainingJob) -> None:
    first: Events = []
    scores = run_seeds(job, [3, 1], as_mappings(first.append))
    assert list(scores.by_seed) == [3, 1] and scores.tasks == ("entity", "relation", "strict")
    assert json.loads((job.output / SCORES).read_text(encoding="utf-8")) == scores.to_json()
    again: Events = []
    more = run_seeds(job, [1, 3, 2], as_mappings(again.append))
    assert {key: more.by_seed[key] for key in (3, 1)} == scores.by_seed
    assert {event["epoch"] for event in again if event["event"] == "step"} == {1, 2, 3}
    assert sum(event["event"] == "data" for event in again) == 1
    assert [event["seed"] for event in again if event["event"] == "seed"] == [1, 3, 2]


def test_a_stopped_seed_goes_on(job: TrainingJob) -> None:
    def stop(event: dict[str, Any]) -> None:
        if event["event"] == "step" and event["epoch"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_seeds(job, [1], as_mappings(stop))
    events: Events = []
    run_seeds(job, [1], as_mappings(events.append))
    assert {"event": "resumed", "epoch": 2} in events


def test_other_settings_are_refused(job: TrainingJob) -> None:
    run_seeds(job, [1], lambda event: None)
    other = replace(job, config=replace(job.config, epochs=4))
    with pytest.raises(UsageError, match="finished with epochs 3, now it is 4"):
        run_seeds(other, [1], lambda event: None)


@pytest.mark.parametrize("seeds", [[], [1, 1], [-1]])
def test_impossible_seeds_are_refused(job: TrainingJob, seeds: list[int]) -> None:
    with pytest.raises(UsageError, match="seed"):
        run_seeds(job, seeds, lambda event: None)


def test_a_model_folder_states_what_seeds_need(job: TrainingJob) -> None:
    joint = replace(job, config=replace(job.config, network="joint"))
    scores = run_seeds(joint, [1], lambda event: None)
    assert set(scores.by_seed[1]) == {"entity", "relation", "strict"}
    assert (job.output / "seed-1" / "config.json").is_file()
