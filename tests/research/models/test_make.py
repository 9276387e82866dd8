"""``python -m research.models``: stages once each, recorded, and gone on with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("models")

from safetensors.torch import load_file, save_file

from research.distillation.teachers import load_pipeline
from research.models.network_stages import half_precision
from research.models.stage import NetworkArtifact
from research.pretraining.command import write_encoder
from research.pretraining.network import MaskedLanguageModel
from sciextract.inference.model_folder import locate_model, open_folder
from sciextract.text.analyse import make_document
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.encoders.loading import load_encoder
from sciextract_trainer.loop import BEST
from sciextract_trainer.warm_start import open_start_model
from tests.research.teaching.conftest import Run

STAGES = ["mlm", "teacher", "soft", "student"]


def _events(events: list[dict[str, Any]], name: str) -> list[str]:
    return [event["stage"] for event in events if event["event"] == name]


def test_a_plan_is_made_stage_by_stage_and_only_once(
    run: Run,
    words: list[object],
    record: Callable[[], dict[str, Any]],
    data: Path,
    plan: Path,
    recipe: Path,
    tmp_path: Path,
) -> None:
    code, events, err = run(*words, "--minutes", 0)
    assert (code, events[-1]["event"]) == (0, "stopped"), err
    code, events, err = run(*words)
    assert (code, events[-1]["event"]) == (0, "done"), err
    assert _events(events, "stage_finished") == STAGES
    made, runs = record(), tmp_path / "runs"
    assert list(made["stages"]) == STAGES and made["plan_sha256"] == sha256(plan)
    teacher = made["stages"]["teacher"]
    assert teacher["inputs"]["gold.jsonl"] == sha256(data / "gold.jsonl")
    assert teacher["inputs"]["mlm"] == sha256(runs / "mlm" / "encoder" / "model.safetensors")
    assert teacher["sha256"] == sha256(runs / "teacher" / "best.safetensors")
    assert teacher["seed"] == 1 and teacher["seconds"] > 0 and "int8" in teacher["scores"]
    assert made["stages"]["soft"]["abstracts"] == 6
    config = open_folder(tmp_path / "models" / "small").config
    assert config.name == "small" and config.origin["licence"] == "none: it is a test"
    assert config.origin["encoder tiny"].startswith("a tiny encoder with random weights, model")
    assert config.origin["stage student"].startswith("Train: encoder mlm, recipe ")
    student = open_folder(runs / "student" / "model")
    small = tmp_path / "models" / "small"
    assert (small / "model.int8.onnx").read_bytes() == student.graph("int8").read_bytes()
    assert (small / "pairs.onnx").read_bytes() == (student.path / "pairs.onnx").read_bytes()
    assert not (small / "model.onnx").exists() and not (small / "model.safetensors").exists()
    _, events, _ = run(*words)
    assert _events(events, "stage_kept") == STAGES
    assert [event["event"] for event in events[-2:]] == ["model_kept", "done"]
    _require_close_in_half_precision(runs, recipe)
    _require_refused_changes(run, words, plan, data)


def _require_close_in_half_precision(runs: Path, recipe: Path) -> None:
    """A teacher labels in bfloat16 nearly as its fp32 graph would."""
    config = load_config(recipe, encoder=str(runs / "mlm" / "encoder"))
    made = NetworkArtifact(runs / "teacher" / BEST, config, runs / "teacher" / "model")
    folder, document = open_folder(made.model), make_document("a", "A parser finds trees.")
    exact, half = (
        pipeline.word_states([document])[0].span_logits
        for pipeline in (
            load_pipeline(folder),
            half_precision(made, folder.config.labels, torch.device("cpu")),
        )
    )
    assert 0 < abs(exact - half).max() < 0.05


def _require_refused_changes(run: Run, words: list[object], plan: Path, data: Path) -> None:
    """Stages of other settings or data are never taken for those of the plan."""
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text.replace("epochs = 1", "epochs = 2"), encoding="utf-8")
    code, _, err = run(*words)
    assert code == 2
    assert "teacher was made with settings change = {'epochs': 1}, now it is {'epochs': 2}" in err
    plan.write_text(text, encoding="utf-8")
    gold = data / "gold.jsonl"
    gold.write_text(gold.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    code, _, err = run(*words)
    assert code == 2 and "teacher was made with inputs gold.jsonl = " in err and "remove" in err


def test_a_stage_made_by_hand_is_taken_over(
    run: Run,
    words: list[object],
    record: Callable[[], dict[str, Any]],
    encoder_folder: Path,
    tmp_path: Path,
) -> None:
    by_hand = tmp_path / "by-hand"
    shutil.copytree(encoder_folder, by_hand / "encoder")
    code, events, err = run(*words, "--adopt", f"mlm={by_hand}", "--minutes", 0)
    assert (code, _events(events, "stage_adopted")) == (0, ["mlm"]), err
    assert events[-1]["event"] == "stopped"
    mlm = record()["stages"]["mlm"]
    assert mlm["adopted"] == "by-hand"
    assert mlm["sha256"] == sha256(encoder_folder / "model.safetensors")
    code, events, _ = run(*words, "--minutes", 0)
    assert _events(events, "stage_kept") == ["mlm"]
    code, _, err = run(*words, "--adopt", f"teacher={by_hand}")
    assert code == 4 and "holds no best.safetensors, which stage teacher makes" in err
    code, _, err = run(*words, "--adopt", f"cake={by_hand}")
    assert code == 2 and "no stage 'cake'" in err


BUNDLED = """
schema = "scierc"
dev = "gold.jsonl"
[encoder.mini]
sha256 = "{encoder}"
origin = "an encoder with the shape of the bundled one"
[stage.sci]
kind = "bundled"
model = "sci"
manifest = "{manifest}"
encoder = "mini"
[stage.soft]
kind = "label"
teachers = ["sci"]
texts = ["invented-*.jsonl.gz"]
most = 2
[stage.student]
kind = "train"
encoder = "mini"
start = "sci"
recipe = "sci-student"
labels = ["soft"]
change = {{ epochs = 1 }}
"""


def test_the_bundled_model_teaches_a_student_that_goes_on_from_its_weights(
    run: Run, data: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    bundled, encoder = open_folder(locate_model("sci")), tmp_path / "mini"
    start = open_start_model(bundled)
    network = start.network(TrainConfig(encoder="none"))
    embeddings = "words.encoder.embeddings.word_embeddings.weight"
    with torch.no_grad():
        own = network.get_parameter(embeddings).clone()
        network.get_parameter(
            embeddings
        ).zero_()  # the encoder that the model began with had others
        network.get_submodule("words.encoder").save_pretrained(encoder)  # type: ignore[operator]
        network.get_parameter(embeddings).copy_(own)
    start.rules.tokenizer.save(str(encoder / "tokenizer.json"))
    plan, found = tmp_path / "plan.toml", sha256(encoder / "model.safetensors")
    words = [
        plan, "--data", data, "--encoder", f"mini={encoder}", "--output", tmp_path / "models", "--runs",
    ]  # fmt: skip
    plan.write_text(BUNDLED.format(encoder=found, manifest="0" * 64), encoding="utf-8")
    code, _, err = run(*words, tmp_path / "wrong")
    assert code == 1 and f"found was {bundled.hash[:12]}" in err
    away = BUNDLED.replace('"mini"\n[stage.soft]', f'"mini"\ncommit = "{"0" * 40}"\n[stage.soft]')
    plan.write_text(away.format(encoder=found, manifest="0" * 64), encoding="utf-8")
    code, _, err = run(*words, tmp_path / "away")
    assert code == 1 and "is needed and not in the history of" in err
    tiny = sha256(encoder_folder / "model.safetensors")
    plan.write_text(BUNDLED.format(encoder=tiny, manifest=bundled.hash), encoding="utf-8")
    others = [f"mini={encoder_folder}" if str(word).startswith("mini=") else word for word in words]
    code, _, err = run(*others, tmp_path / "wrong-encoder")
    assert code == 1 and "the encoder mini has other sizes than that of the model sci" in err
    plan.write_text(BUNDLED.format(encoder=found, manifest=bundled.hash), encoding="utf-8")
    code, events, err = run(*words, tmp_path / "runs")
    assert (code, events[-1]["event"]) == (0, "done"), err
    weights = load_file(tmp_path / "runs" / "sci" / BEST)
    assert weights.keys() == dict(network.named_parameters()).keys()
    assert all(torch.equal(weights[name], value) for name, value in network.named_parameters())
    student = load_file(tmp_path / "runs" / "student" / BEST)
    assert student.keys() == weights.keys() and torch.equal(student[embeddings], own)
    _, events, _ = run(*words, tmp_path / "runs")
    assert _events(events, "stage_kept") == ["sci", "soft", "student"]


def test_labels_of_other_texts_are_not_taken_over(
    run: Run, words: list[object], tmp_path: Path
) -> None:
    code, _, err = run(*words)
    assert code == 0, err
    by_hand, runs = tmp_path / "by-hand", tmp_path / "others"
    shutil.copytree(tmp_path / "runs" / "soft" / "labels", by_hand)
    words[words.index("--runs") + 1] = runs
    made = tmp_path / "runs"
    first = ["--adopt", f"mlm={made / 'mlm'}", "--adopt", f"teacher={made / 'teacher'}"]
    shutil.copy(by_hand / "soft-0000.npz", by_hand / "soft-0009.npz")

    code, _, err = run(*words, *first, "--adopt", f"soft={by_hand}")

    assert code == 2 and "has labels of 12 texts, wanted are 6" in err
    assert not (runs / "soft" / "labels").exists()
    (by_hand / "soft-0009.npz").unlink()
    code, events, err = run(*words, "--adopt", f"soft={by_hand}")
    assert (code, _events(events, "stage_adopted")) == (0, ["soft"]), err


def test_an_adopted_encoder_has_the_head_that_a_later_stage_learns_from(
    run: Run, words: list[object], plan: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    reader = """
[stage.reader]
kind = "distil-encoder"
teacher = "mlm"
student = "mlm"
texts = ["invented-*.jsonl.gz"]
most = 6
recipe = "compactbio"
"""
    plan.write_text(plan.read_text(encoding="utf-8") + reader, encoding="utf-8")
    by_hand = tmp_path / "by-hand"
    shutil.copytree(encoder_folder, by_hand / "encoder")
    code, _, err = run(*words, "--adopt", f"mlm={by_hand}", "--minutes", 0)
    assert code == 4 and "has no masked-language head" in err
    assert "which stage reader learns from as that of mlm" in err
    assert not (tmp_path / "runs" / "mlm").exists()
    network = MaskedLanguageModel(load_encoder(str(encoder_folder)))
    write_encoder(network, str(encoder_folder), by_hand / "encoder")
    code, events, err = run(*words, "--adopt", f"mlm={by_hand}", "--minutes", 0)
    assert (code, _events(events, "stage_adopted")) == (0, ["mlm"]), err


def test_a_wrong_encoder_is_refused_before_anything_is_made(
    run: Run, words: list[object], plan: Path, tmp_path: Path
) -> None:
    code, _, err = run(*words[:3], "--runs", tmp_path / "runs", "--output", tmp_path / "models")
    assert code == 4 and "no folder of it is given" in err and "--encoder tiny=DIR" in err
    text = plan.read_text(encoding="utf-8")
    at = text.index('sha256 = "') + len('sha256 = "')
    plan.write_text(f"{text[:at]}{'0' * 64}{text[at + 64 :]}", encoding="utf-8")
    code, _, err = run(*words)
    assert code == 1 and "is not the encoder 'tiny'" in err and "let the test make it" in err
    code, _, err = run(*words, "--encoder", "tiny")
    assert code == 2 and "not NAME=DIR" in err


def test_missing_data_is_said(run: Run, words: list[object], data: Path) -> None:
    for file in data.glob("invented-*"):
        file.unlink()
    code, _, err = run(*words)
    assert code == 4 and "no file invented-*.jsonl.gz in" in err and "--data" in err


def test_a_damaged_shard_of_texts_is_named(run: Run, words: list[object], data: Path) -> None:
    [shard] = data.glob("invented-*")
    shard.write_bytes(shard.read_bytes()[:200])
    code, _, err = run(*words)
    assert code == 1 and "invented-000.jsonl.gz" in err and "the shard is damaged" in err


def test_a_network_goes_on_from_that_of_another_stage(
    run: Run, words: list[object], plan: Path, recipe: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    still = "{ epochs = 1, encoder_lr = 1e-12, head_lr = 1e-12 }"
    again = f"""
[stage.again]
kind = "train"
encoder = "mlm"
start = "teacher"
recipe = "{recipe}"
gold = "gold.jsonl"
change = {still}
"""
    before, _, _ = plan.read_text(encoding="utf-8").partition("[stage.soft]")
    plan.write_text(before + again, encoding="utf-8")
    code, _, err = run(*words)
    assert code == 0, err
    runs = tmp_path / "runs"
    first, then = (load_file(runs / name / "best.safetensors") for name in ("teacher", "again"))
    assert first.keys() == then.keys()
    assert all(torch.allclose(first[name], then[name], atol=1e-6) for name in first)


def test_what_was_changed_after_its_stage_is_named_and_what_is_gone_is_made_again(
    run: Run, words: list[object], record: Callable[[], dict[str, Any]], tmp_path: Path
) -> None:
    code, _, err = run(*words)
    assert code == 0, err
    before, teacher = record(), tmp_path / "runs" / "teacher"
    weights = load_file(teacher / BEST)
    save_file({name: value + 1 for name, value in weights.items()}, teacher / BEST)
    for _ in range(2):  # what is changed does not become what is known
        code, _, err = run(*words)
        assert code == 1 and "runs/teacher has the sha256" in err and "soft" not in err
        assert record()["stages"]["teacher"]["sha256"] == before["stages"]["teacher"]["sha256"]
    (teacher / BEST).unlink()
    code, _, err = run(*words)
    assert code == 1 and "remove the stage's folder and give the same command again" in err
    shutil.rmtree(teacher)
    code, events, err = run(*words)
    assert (code, _events(events, "stage_finished")) == (0, ["teacher"]), err
    shard = next((tmp_path / "runs" / "soft" / "labels").glob("soft-*.npz"))
    shard.write_bytes(shard.read_bytes()[:300])
    code, _, err = run(*words)
    assert code == 1 and f"{shard.name}: the soft targets cannot be read" in err
    shard.unlink()
    code, events, err = run(*words)
    assert (code, _events(events, "stage_finished")) == (0, ["soft"]), err
