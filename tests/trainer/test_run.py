"""From files to a model folder, and what stops on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from research.reporting import as_mappings
from sciextract import formats
from sciextract.documents.schema import LabelSchema
from sciextract.errors import FormatError, ModelNotFoundError, SciextractError, UsageError
from sciextract.inference.extractor import Extractor
from sciextract.retraining.run_folder import Run
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.run import REPORT, TrainingJob, run_training
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.records import scierc_line


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    path.write_text("".join(scierc_line(item) for item in TEN_SENTENCES), encoding="utf-8")
    return path


@pytest.fixture
def job(
    data: Path, tmp_path: Path, schema: LabelSchema, make_config: Callable[..., TrainConfig]
) -> Callable[..., TrainingJob]:
    def job(**changes: Any) -> TrainingJob:
        paths = {"data": changes.pop("data", data), "dev": changes.pop("dev", data)}
        config = make_config(**{"epochs": 2, "evaluate_every": 1, **changes})
        return TrainingJob(
            config, schema, **paths, run_folder=tmp_path / "run", output=tmp_path / "out", name="t"
        )

    return job


def test_files_become_a_model(job: Callable[..., TrainingJob], tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    scores = run_training(job(), as_mappings(events.append))
    assert scores["documents"] == 5 and {"int8", "fp32"} <= scores.keys()
    assert events[0] == {"event": "data", "train": 5, "dev": 5, "windows": 5}
    assert {event["event"] for event in events} == {"data", "warning", "step", "dev"}
    extractor = Extractor.load(tmp_path / "out", threads=1)
    assert extractor.config.origin["training data"].startswith("train.jsonl, sha256 ")
    kept = [event["event"] for event in Run(tmp_path / "run").metrics()]
    assert kept == ["step", "dev"] * 2
    stored = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert stored["scores"] == scores and stored["config"]["epochs"] == 2
    assert stored["seconds"] > 0 and "energy" not in stored
    assert extractor(["Kite networks fly."])


def test_the_dygie_network_leaves_a_report(job: Callable[..., TrainingJob], tmp_path: Path) -> None:
    scores = run_training(job(network="dygie"), lambda event: None)
    stored = json.loads((tmp_path / "out" / REPORT).read_text(encoding="utf-8"))
    assert round(stored["dev"]["ner"]["all"]["f1"], 2) == scores["fp32"]["ner"]
    assert stored["config"]["network"] == "dygie"
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_labels_outside_the_schema_are_named(
    job: Callable[..., TrainingJob], tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(scierc_line(TEN_SENTENCES[0]).replace('"Task"', '"Chore"'), encoding="utf-8")
    with pytest.raises(UsageError, match="does not know: Chore") as caught:
        run_training(job(data=other), lambda event: None)
    assert "Task" in caught.value.hint


def test_a_bad_record_stops_the_training(job: Callable[..., TrainingJob], tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(scierc_line(TEN_SENTENCES[0]) + "{oops\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"broken\.jsonl:2"):
        run_training(job(data=broken), lambda event: None)


def test_an_empty_file_is_said(job: Callable[..., TrainingJob], tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(SciextractError, match=r"empty\.jsonl"):
        run_training(job(dev=empty), lambda event: None)


def test_an_encoder_that_is_not_there_is_said(
    job: Callable[..., TrainingJob], tmp_path: Path
) -> None:
    with pytest.raises(ModelNotFoundError, match="can be loaded from"):
        run_training(job(encoder=str(tmp_path / "nowhere")), lambda event: None)


def test_the_written_records_are_read_as_they_were(data: Path) -> None:
    read = list(formats.read([data]))
    assert len(read) == 5
