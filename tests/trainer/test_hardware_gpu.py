"""Every path of the product on CUDA, once; ``make gpu-edition`` runs these tests where a GPU is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from sciextract import Extractor
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.inference.pipeline import Labels
from sciextract.retraining.run_folder import Run
from sciextract.snapshot.documents import Split
from sciextract_trainer.build import SubwordRules, as_joint
from sciextract_trainer.checkpoint import TimeIsUp
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import examples_from
from sciextract_trainer.hardware import choose_device, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.package import Packaging, write_model_folder
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.correction.projects import corrected, new_project, write_gold

pytestmark = [pytest.mark.gpu, pytest.mark.full]


def run(*words: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "sciextract", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def items(found: AnnotatedDocument) -> set[tuple[object, ...]]:
    """Entities and relations without their ids, which differ from call to call."""
    entities = {entity.id: (entity.span, entity.label) for entity in found.annotations.entities}
    relations = found.annotations.relations
    pairs = {
        (entities[relation.head], relation.label, entities[relation.tail]) for relation in relations
    }
    return {*entities.values(), *pairs}


def needs_cuda_of_onnx_runtime() -> None:
    import onnxruntime

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("no GPU in ONNX Runtime: onnxruntime-gpu is not installed")


def test_a_training_in_bfloat16_goes_on_after_a_stop_and_its_export_runs_on_the_processor(
    make_config: Callable[..., TrainConfig],
    schema: LabelSchema,
    labels: Labels,
    rules: SubwordRules,
    tmp_path: Path,
) -> None:
    device = choose_device("cuda")
    config = make_config(bf16=has_fast_bf16(device))
    examples = list(examples_from(TEN_SENTENCES, labels, rules.encoder(), rules.limit))
    data = TrainingData(examples, TEN_SENTENCES)

    def trained(until: float) -> object:
        return train(
            config,
            labels,
            rules,
            data,
            tmp_path / "run",
            lambda event: None,
            device=device,
            until=until,
        )

    with pytest.raises(TimeIsUp):
        trained(time.monotonic() + 0.5)
    network = as_joint(trained(float("inf")))  # type: ignore[arg-type]
    packaging = Packaging("tiny", schema, labels, rules, TEN_SENTENCES, {})
    scores = write_model_folder(network, packaging, tmp_path / "tiny").scores
    assert scores["int8"]["ner"] > 90


def test_retrain_trains_on_the_gpu(tmp_path: Path, schema: LabelSchema, model_folder: Path) -> None:
    documents = [*corrected(Split.TRAIN, 3), *corrected(Split.GATE, 1)]
    project = new_project(tmp_path / "otters.sciextract", schema, documents)
    words = ("--project", project, "--model", model_folder, "--run", tmp_path / "run", "--gpu")
    ended = run("retrain", *words, "--epochs", 1)
    assert ended.returncode == 0, ended.stderr
    assert "cpu" not in str(Run(tmp_path / "run").record().device)


def test_predictions_on_the_gpu_are_those_of_the_processor(model_folder: Path) -> None:
    needs_cuda_of_onnx_runtime()
    documents = [sentence.document for sentence in TEN_SENTENCES]
    here, there = (
        [items(found) for found in extractor.stream(documents)]
        for device in ("cpu", "cuda")
        if (extractor := Extractor.load(model_folder, device=device, precision="fp32"))
    )
    assert here == there


def test_workers_of_annotate_share_the_gpu(model_folder: Path, tmp_path: Path) -> None:
    needs_cuda_of_onnx_runtime()
    texts = write_gold(tmp_path / "texts.jsonl", TEN_SENTENCES)
    words = ("--model", model_folder, "--precision", "fp32", "--workers", 2, "--to", "jsonl")
    ended = run("annotate", texts, *words, "--device", "cuda", "--output", tmp_path / "out.jsonl")
    assert ended.returncode == 0, ended.stderr
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == len(TEN_SENTENCES)
