"""A plan's model in 4 bits, its wheel, and the installed wheel as the registry finds it; with a tiny encoder."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("models")

from research.models.plan import load_plan
from sciextract.inference.extractor import Extractor
from sciextract.workflows.models.registry import find_model
from tests.research.teaching.conftest import Run
from tests.shared_data import ROOT

STAGES_LEFT_OUT = ("mlm", "soft", "student", "links")
MODEL = """
[model.sci-base]
network = "teacher"
quantise = { kind = "weights4", block_size = 16, embeddings = 8 }
most_loss = %s
"""


@pytest.fixture
def teacher_plan(plan: Path) -> Path:
    """The plan with its teacher only, whose network is shipped in 4 bits."""
    parts = plan.read_text(encoding="utf-8").split("\n[")
    left_out = (*(f"stage.{name}]" for name in STAGES_LEFT_OUT), "model.")
    kept = "\n[".join(part for part in parts if not part.startswith(left_out))
    plan.write_text(kept.replace('"mlm"', '"tiny"') + MODEL % 100, encoding="utf-8")
    return plan


def test_from_a_plan_to_an_installed_model(
    run: Run,
    words: list[object],
    teacher_plan: Path,
    record: Callable[[], dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, events, err = run(*words)
    assert (code, events[-1]["event"]) == (0, "done"), err
    [compared] = [event for event in events if event["event"] == "compared"]
    assert {"ner", "relation", "coreference"} == set(compared["loss"])
    folder = tmp_path / "models" / "sci-base"
    config = find_model(folder).open().config
    assert config.name == "sci-base" and {"int4", "fp32"} <= config.scores.keys()
    assert not list(folder.glob("*int8*")) and not (folder / "model.safetensors").exists()
    assert record()["models"]["sci-base"]["scores"] == config.scores
    _, events, _ = run(*words)
    assert [event["event"] for event in events[-2:]] == ["model_kept", "done"]

    project = tmp_path / "project"
    shutil.copytree(ROOT / "models" / "sci-base", project)
    script = ROOT / "tools" / "model_wheel.py"
    tool = [sys.executable, *map(str, (script, project, folder, tmp_path / "dist"))]
    done = subprocess.run(tool, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    [wheel] = (tmp_path / "dist").glob("sciextract_sci_base-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    installed = find_model("sci-base")
    assert installed.distribution.startswith("sciextract-sci-base ")
    assert installed.hash == find_model(folder).hash
    [found] = Extractor.load("sci-base", threads=1)(["A parser finds trees."])
    assert found.model is not None and found.model.hash == installed.hash


def test_other_texts_for_quantisation_leave_the_training_alone(
    run: Run,
    words: list[object],
    teacher_plan: Path,
    record: Callable[[], dict[str, Any]],
    tmp_path: Path,
) -> None:
    scheme = 'quantise = { kind = "weights7" }\n'
    text = teacher_plan.read_text(encoding="utf-8").split("quantise = ")[0]
    teacher_plan.write_text(f"{text}{scheme}most_loss = 100\n", encoding="utf-8")
    graph = tmp_path / "models" / "sci-base" / "model.int8.onnx"
    code, _, err = run(*words)
    assert code == 0, err
    of_samples, trained = graph.read_bytes(), record()["stages"]["teacher"]

    texts = 'texts = ["invented-*.jsonl.gz"]\nmost = 2\n'
    teacher_plan.write_text(f"{text}{scheme}{texts}most_loss = 100\n", encoding="utf-8")
    code, events, err = run(*words)

    assert (code, record()["stages"]["teacher"]) == (0, trained), err
    assert "stage_kept" in {event["event"] for event in events}
    assert graph.read_bytes() != of_samples
    card = (graph.parent / "README.md").read_text(encoding="utf-8")
    assert "F1 lost by int8, each graph at its own thresholds: " in card
    assert "Largest logit difference" in card and "fp32: 0.0e+00" not in card
    origin = find_model(graph.parent).open().config.origin
    assert origin["texts for quantisation"].startswith("the first 2 of invented-000.jsonl.gz, sha")


def test_a_graph_that_loses_too_much_is_not_shipped(
    run: Run, words: list[object], teacher_plan: Path, tmp_path: Path
) -> None:
    text = teacher_plan.read_text(encoding="utf-8")
    teacher_plan.write_text(text.replace("most_loss = 100", "most_loss = -100"), encoding="utf-8")
    code, _, err = run(*words)
    assert code != 0 and "F1 on dev against fp32, more than -100" in err
    assert not (tmp_path / "models" / "sci-base").exists()


def test_the_shipped_plan_is_whole() -> None:
    plan = load_plan("sci-base")
    assert plan.models["sci-base"].scheme is not None
    assert plan.encoders["mpnet"].origin == "all-mpnet-base-v2 (Apache-2.0)"
