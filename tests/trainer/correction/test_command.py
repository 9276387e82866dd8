"""The real command in a process of its own: JSON lines, Ctrl-C, and going on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from sciextract.cli.main import make_app
from sciextract.documents.annotations import Annotations, Layer
from sciextract.documents.schema import LabelSchema
from sciextract.inference.model_folder import CONFIG, write_manifest
from sciextract.learning.bases import BASES
from sciextract.retraining.run_folder import Run
from sciextract.snapshot.documents import Split
from tests.trainer.correction.projects import corrected, new_project

pytestmark = pytest.mark.full


def start(*words: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "sciextract", "retrain", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def event_of(line: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line)
    return found


def test_an_interrupted_command_goes_on_with_its_run_folder(
    tmp_path: Path, schema: LabelSchema, model_folder: Path
) -> None:
    documents = [*corrected(Split.TRAIN, 3), *corrected(Split.GATE, 1)]
    project = new_project(tmp_path / "otters.sciextract", schema, documents)
    folder = tmp_path / "run"
    words = ("--project", project, "--model", model_folder, "--run", folder, "--device", "cpu")
    first = start(*words, "--epochs", 500, "--json")
    assert first.stdout is not None
    while event_of(first.stdout.readline())["event"] != "step":
        pass
    assert Run(folder).is_alive()
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=300)
    assert first.returncode == 130
    last = event_of(out.splitlines()[-1])
    assert last["event"] == "stopped" and last["hint"] == f"sciextract retrain --run {folder}"
    status = Run(folder).status()
    assert status is not None and status.state == "stopped" and not Run(folder).is_alive()
    assert "Traceback" not in err

    run = Run(folder)
    record = run.record()
    assert record.request and record.config
    run.note(request=replace(record.request, epochs=1), config={**record.config, "epochs": 1})
    for file in (folder / "training").glob("*"):
        file.unlink()
    second = start("--run", folder, "--device", "cpu")
    out, err = second.communicate(timeout=300)
    assert second.returncode == 0, err
    assert "before" in out and "too few" in out
    assert "training on from" in err and "models use" in err
    status = run.status()
    assert status is not None and status.state == "done"


def test_own_labels_are_trained_on_from_the_base_that_folds_choose(
    tmp_path: Path, schema: LabelSchema, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editions = tmp_path / "editions"
    for name in BASES:
        shutil.copytree(model_folder, editions / name)
        config = editions / name / CONFIG
        config.write_text(json.dumps({**json.loads(config.read_text()), "name": name}))
        write_manifest(editions / name)
    for place in ("inference.model_folder", "workflows.models.choice", "workflows.models.registry"):
        monkeypatch.setattr(f"sciextract.{place}.bundled_models", lambda: editions)
    own = replace(
        schema,
        name="own",
        entities=tuple(replace(e, label=f"own {e.label}") for e in schema.entities),
        relations=(),
        coreference=False,
    )
    documents = [
        replace(
            document,
            annotations=Annotations(
                tuple(replace(e, label=f"own {e.label}") for e in document.annotations.entities)
            ),
        )
        for document in [*corrected(Split.TRAIN, 6), *corrected(Split.DEV, 1)]
    ]
    project = new_project(tmp_path / "own.sciextract", own, documents, done=(Layer.ENTITIES,))
    words = ["--project", project, "--epochs", 1, "--device", "cpu", "--no-cross-validation"]
    result = CliRunner().invoke(make_app(), ["retrain", *map(str, words)])
    assert result.exit_code == 0, result.output
    [line] = [line for line in result.stderr.splitlines() if "training on from" in line]
    assert "folds over 7 finished abstracts" in line
    assert any(f"from {name}-" in line for name in BASES)
