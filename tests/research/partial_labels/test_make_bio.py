"""The biomedical model from data to folder, small: it resumes, states scores by set, and can be trained further."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file

from research.distillation.teachers import load_pipeline
from research.partial_labels import dev_scores, make_bio
from research.partial_labels.datasets import Continued
from research.partial_labels.scores import score_set
from research.reporting import as_mappings
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import open_folder
from sciextract.inference.pipeline import Labels
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.warm_start import open_start_model
from tests.research.partial_labels.records import record, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from sciextract_trainer.build import SubwordRules
    from sciextract_trainer.config import TrainConfig

PLAN = """
groups = [["Chemical"], ["Gene"], ["Disease"], ["Species"], ["protein", "DNA", "RNA", "cell_type", "cell_line"]]

[[sets]]
name = "chemprot"
teaches = ["Chemical", "Gene"]
relations = true
rename = { CHEMICAL = "Chemical", GENE = "Gene" }
licence = "invented"

[[sets]]
name = "plagues"
teaches = ["Disease"]
join = 2
licence = "invented"

[[sets]]
name = "unseen"
teaches = ["Species"]
train = false
licence = "invented"
"""
DRUGS = [
    record(
        f"d{row}",
        ["teapot model blocks river data", "the parser handles steam"],
        [[[0, 1, "CHEMICAL"], [3, 4, "GENE"]], [[6, 6, "GENE"]]],
        [[[0, 1, 3, 4, "CPR:4"]], []],
    )
    for row in range(8)
]
PLAGUES = [
    record(f"p{row}", ["night parsing needs glow"], [[[0, 1, "Disease"]]]) for row in range(9)
]
SMALL = {
    "epochs": 2, "parts": 2, "batch_documents": 2, "span_width": 16, "hidden_width": 16,
    "max_span_width": 4, "bf16": False, "freeze_embeddings": False,
}  # fmt: skip


@pytest.fixture
def context(
    tmp_path: Path, encoder_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> make_bio.BioContext:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    for name, found in (("chemprot", DRUGS), ("plagues", PLAGUES), ("unseen", PLAGUES)):
        for part in ("train", "dev"):
            write(tmp_path / "data" / name / f"{part}.jsonl", found)
    monkeypatch.setattr(make_bio, "PLAN", plan)
    monkeypatch.setattr(make_bio, "MINILM_SHA256", sha256(encoder_folder / "model.safetensors"))
    return make_bio.open_context(encoder_folder, tmp_path / "data", tmp_path / "runs", **SMALL)


def test_from_data_to_folder(context: make_bio.BioContext, tmp_path: Path) -> None:
    output = tmp_path / "bundled" / "bio"
    make_bio.build(context, output)
    folder = open_folder(output)
    assert folder.config.cuts_words and folder.config.labels.groups == context.plan.groups
    sets = folder.config.scores["sets"]
    assert "calibration" in folder.config.scores
    assert set(sets) == {"chemprot", "plagues", "unseen"}
    assert sets["chemprot"]["given"]["gold"] == 8 and not sets["unseen"]["trained"]
    card = (output / "README.md").read_text()
    assert [*folder.config.scores["graph"]["labels"]] == ["INHIBITS"] and "| INHIBITS |" in card
    assert "| plagues | 9 |" in card and "licence: invented" in card
    assert not (output / "model.onnx").exists()
    again = sha256(output / "config.json")
    make_bio.build(context, output)
    assert sha256(output / "config.json") == again
    start = open_start_model(folder)
    fewer = Labels(("Gene", "Tool"), start.labels.relations, False, 4)
    assert start.with_labels(fewer).labels.groups == (("Gene",), ("Tool",))
    [found] = Extractor.load(output, threads=1)(["teapot-model blocks"])
    assert found.document.text == "teapot-model blocks"


def test_continued_trainings_are_averaged(context: make_bio.BioContext, tmp_path: Path) -> None:
    rounds = [Continued(recipe="bio-continued", seeds=seeds) for seeds in ([4], [2, 3])]
    rounds[1].repeat["plagues"] = 2
    context = replace(context, plan=replace(context.plan, continued=tuple(rounds)))
    mean = dict(make_bio.trained_network(context, 2).named_parameters())
    before = open_start_model(open_folder(make_bio.start_folder(context, 2)))
    start = dict(before.network(context.config).named_parameters())
    one, two, three = (
        load_file(context.runs / f"seed-{seed}" / make_bio.LAST) for seed in (4, 2, 3)
    )
    for name, value in two.items():
        assert torch.allclose(mean[name], (value + three[name]) / 2)
        assert value.equal(three[name]) == value.equal(start[name])
        assert torch.allclose(start[name], one[name], atol=0.05)
    output = tmp_path / "bio"
    make_bio.build(context, output)
    assert open_folder(output).config.origin["seeds"] == [1, 4, 2, 3]


def test_types_of_other_sets_are_not_counted(context: make_bio.BioContext, tmp_path: Path) -> None:
    output = tmp_path / "bio"
    make_bio.build(context, output)
    pipeline, settings = load_pipeline(open_folder(output)), open_folder(output).config.settings
    [drugs, *_] = context.plan.sets
    always = settings.with_thresholds({"entity": 0.0})
    documents = context.dev()["chemprot"][:1]
    for competing in (False, True):
        scores = score_set(pipeline, always, documents, drugs, competing=competing)
        assert set(scores.labels) <= {"Chemical", "Gene"} and scores.entity.gold == 3


def test_two_models_are_compared_set_by_set(
    context: make_bio.BioContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output, report = tmp_path / "bio", tmp_path / "report.json"
    make_bio.build(context, output)
    monkeypatch.setattr(dev_scores, "PLAN", make_bio.PLAN)
    dev_scores.main(
        [
            "--data",
            str(context.data),
            "--model",
            str(output),
            "--against",
            str(output),
            "--json",
            str(report),
        ]
    )
    assert "| plagues | entity |" in capsys.readouterr().out
    found = json.loads(report.read_text())
    assert set(found) == {"chemprot", "plagues", "unseen"} and "relation" in found["chemprot"]
    assert {task["difference"] for tasks in found.values() for task in tasks.values()} == {0.0}


def test_dev_sentences_do_not_train(context: make_bio.BioContext) -> None:
    keys = {example.doc_key.split("/")[0] for example in context.examples()}
    assert {
        "d0",
        "p0+2",
        "p8",
    } <= keys  # short sentences are no leak; none of the unseen set is there
    assert len(keys) == 8 + 5


def test_another_encoder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--encoder", str(tmp_path), "--data", str(tmp_path), "--output", str(tmp_path / "o")]
    assert make_bio.main(words) == 1
    assert "not the official" in capsys.readouterr().err


def test_parts_see_every_example_once_a_pass(
    context: make_bio.BioContext, make_config: Callable[..., TrainConfig], rules: SubwordRules
) -> None:
    examples = context.examples()
    events: list[dict[str, object]] = []
    config = make_config(epochs=3, parts=3, coreference_weight=0.0, ema=0.5)
    data, report = TrainingData(examples, []), as_mappings(events.append)
    train(config, context.labels, rules, data, context.runs, report)
    seen = [event["of"] for event in events if event["event"] == "step"]
    sizes = list(
        dict.fromkeys(zip((e["epoch"] for e in events if e["event"] == "step"), seen, strict=True))
    )
    assert sum(int(str(size)) for _, size in sizes) == len(examples)
    assert json.dumps(config.to_json())
