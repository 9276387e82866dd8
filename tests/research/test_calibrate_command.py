"""``python -m research calibrate`` gives a model that predicts the same through every path."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from research.__main__ import main
from research.compression.opened import new_folder, write_like
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import CONFIG, open_folder
from sciextract.inference.settings import PerTask, Rescue
from sciextract_trainer.calibration import TaskCalibration, scale_settings
from sciextract_trainer.package import model_card
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.records import scierc_line

SCALE = TaskCalibration(1.6, -0.9, 500, 0.15, 0.02, 0.03)


pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def warm_folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with a scale for every task."""
    folder, output = open_folder(model_folder), tmp_path_factory.mktemp("warm") / "tiny"
    calibrations = dict.fromkeys(("entity", "relation", "coreference"), SCALE)
    settings = scale_settings(folder.config.settings, calibrations)
    scores = folder.config.scores | {
        "calibration": {task: calibration.to_json() for task, calibration in calibrations.items()}
    }
    with new_folder(output) as work:
        write_like(folder, work, replace(folder.config, settings=settings, scores=scores), ())
    return output


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Ten sentences to fit on."""
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(map(scierc_line, TEN_SENTENCES)), encoding="utf-8")
    return path


def test_the_command_writes_a_model(
    model_folder: Path, gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "new"
    words = ["calibrate", str(model_folder), "--dev", str(gold), "--output", str(output)]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event.get("task") for event in events] == ["entity", "relation", "coreference", None]
    config = open_folder(output).config
    assert config.settings.thresholds == open_folder(model_folder).config.settings.thresholds
    assert config.scores["calibration"]["entity"]["items"] == 20
    assert not config.settings.calibrated  # ten sentences do not tell a scale
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 1 and "exists already" in capsys.readouterr().err


def test_thresholds_are_fitted_to_other_gold(
    model_folder: Path, gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "new"
    words = ["thresholds", str(model_folder), "--dev", str(gold), "--output", str(output)]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    before, after = events[0]["scores"], events[1]["scores"]
    assert sum(after[key] for key in before) >= sum(before.values())
    old, new = (open_folder(folder) for folder in (model_folder, output))
    assert new.config.scores["int8"] == after and new.config.scores["documents"] == len(
        TEN_SENTENCES
    )
    assert new.config.scores["fp32"].keys() == after.keys()
    assert new.config.scores["parity"] == old.config.scores["parity"]
    assert new.graph("int8").read_bytes() == old.graph("int8").read_bytes()


def test_the_configuration_keeps_a_rescue(warm_folder: Path) -> None:
    config = open_folder(warm_folder).config
    settings = replace(config.settings, rescue=Rescue(0.2, 0.6))
    values = replace(config, settings=settings).to_json()
    assert values["rescue"] == {"entity": 0.2, "relation": 0.6}
    assert ModelConfig.from_json(values, "here").settings == settings
    moved = scale_settings(settings.plain, dict.fromkeys(("entity",), SCALE)).rescue
    assert moved is not None and moved.relation == settings.plain.rescue.relation  # type: ignore[union-attr]
    assert moved.entity == pytest.approx(0.2)


def test_the_configuration_comes_back(warm_folder: Path) -> None:
    values = json.loads((warm_folder / CONFIG).read_text(encoding="utf-8"))
    assert values["calibration"]["relation"] == 1.6
    assert values["calibration_shifts"]["relation"] == -0.9
    settings = ModelConfig.from_json(values, "here").settings
    assert settings.temperatures == PerTask(1.6, 1.6, 1.6) and settings.calibrated
    assert ModelConfig.from_json(values, "here").to_json() == values


def test_the_extractor_predicts_the_same(model_folder: Path, warm_folder: Path) -> None:
    cold, warm = (Extractor.load(folder, threads=1) for folder in (model_folder, warm_folder))
    for item in TEN_SENTENCES:
        left, right = (model.annotate(item.document).annotations for model in (cold, warm))
        assert [(e.fragments, e.label) for e in left.entities] == [
            (e.fragments, e.label) for e in right.entities
        ]
        assert [r.label for r in left.relations] == [r.label for r in right.relations]
        assert len(left.clusters) == len(right.clusters)
        scores = [[entity.score or 0.0 for entity in items.entities] for items in (left, right)]
        assert all(new < old for old, new in zip(*scores, strict=True))
    surest = warm.with_settings({"entity": 0.9999}).annotate(TEN_SENTENCES[0].document)
    assert not surest.annotations.entities  # a threshold is on the scale of what is shown


def test_given_entities_keep_and_relations_are_the_same(
    model_folder: Path, warm_folder: Path
) -> None:
    for item in TEN_SENTENCES[:2]:
        found = [
            Extractor.load(folder, threads=1).annotate_given(item).annotations
            for folder in (model_folder, warm_folder)
        ]
        labels = [[relation.label for relation in said.relations] for said in found]
        assert labels[0] == labels[1] != []


def test_the_card_states_errors_and_scale(warm_folder: Path) -> None:
    card = model_card(open_folder(warm_folder).config)
    assert "| relation | 500 | 15.0 | 2.0 | 3.0 | 1.60 | -0.90 |" in card
