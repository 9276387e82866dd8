"""The distillation loop and its command."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file, save_file

from research import __main__ as cli
from research.distillation.objectives import METHODS
from research.distillation.pair import (
    DistilConfig,
    load_distil_config,
    load_pair,
    losses_of,
    run_distillation,
)
from research.distillation.student import StudentPlan, write_student
from research.pretraining.network import HEAD
from research.pretraining.steps import Batch
from sciextract.errors import (
    InputMissingError,
    ModelMismatchError,
    ModelNotFoundError,
    OutputError,
    SciextractError,
    UsageError,
)
from sciextract_trainer.encoders.loading import load_encoder, read_settings

Settings = Callable[..., DistilConfig]


class Killed(Exception):
    """Stands for the process being killed."""


@pytest.fixture
def settings(teacher_folder: Path, tmp_path: Path) -> Settings:
    student = tmp_path / "student"
    write_student(str(teacher_folder), StudentPlan(layers=(2, 4)), student)
    base: dict[str, Any] = {"teacher": str(teacher_folder), "student": str(student)}
    base |= {"steps": 20, "batch_blocks": 2, "length": 32, "lr": 3e-3}
    base |= {"bf16": False, "checkpoint_steps": 10}

    def make(recipe: str = "compactbio", **changes: Any) -> DistilConfig:
        return load_distil_config(recipe, **{**base, **changes})

    return make


def _run(config: DistilConfig, shard: Path, folder: Path, **more: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    run_distillation(config, [shard], 40, folder, more.pop("report", told.append), **more)
    return told


def _steps(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in told if event["event"] == "step"]


def _weights(folder: Path) -> dict[str, Any]:
    return dict(load_file(folder / "encoder" / "model.safetensors"))


def _same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("recipe", sorted(METHODS))
def test_a_fresh_student_comes_closer_and_is_an_encoder(
    settings: Settings, shard: Path, tmp_path: Path, recipe: str
) -> None:
    fresh = tmp_path / "fresh"
    write_student(settings().teacher, StudentPlan(depth=2), fresh)
    config = settings(recipe, student=str(fresh), steps=60)
    first, *_, last = _steps(_run(config, shard, tmp_path / "run"))
    for part in ("loss", "output", "hidden"):
        assert last[part] < first[part], part
    folder = tmp_path / "run" / "encoder"
    assert load_encoder(str(folder))(torch.tensor([[2, 5, 3]]))[0].shape == (1, 3, 32)
    assert (folder / HEAD).is_file()


def test_a_narrower_student_is_projected_by_tinybio(
    settings: Settings, teacher_folder: Path, shard: Path, tmp_path: Path
) -> None:
    narrow = tmp_path / "narrow"
    write_student(str(teacher_folder), StudentPlan(depth=2, hidden=16), narrow)
    first, *_, last = _steps(
        _run(settings("tinybio", student=str(narrow)), shard, tmp_path / "run")
    )
    assert last["hidden"] < first["hidden"]
    assert read_settings(str(tmp_path / "run" / "encoder")).hidden_size == 16


def test_a_killed_distillation_goes_on_to_the_same_weights(
    settings: Settings, shard: Path, tmp_path: Path
) -> None:
    def kill(event: dict[str, Any]) -> None:
        if event.get("step") == 20:
            raise Killed

    _run(settings(), shard, tmp_path / "whole")
    with pytest.raises(Killed):
        _run(settings(), shard, tmp_path / "killed", report=kill)
    told = _run(settings(), shard, tmp_path / "killed")
    assert [event["step"] for event in _steps(told)] == [20]
    assert _same(_weights(tmp_path / "whole"), _weights(tmp_path / "killed"))


def test_a_full_disk_loses_nothing_and_says_how_to_go_on(
    settings: Settings, shard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(settings(), shard, tmp_path / "whole")
    save, times = save_file, []

    def full(*given: Any, **named: Any) -> None:
        times.append(given)
        if len(times) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(*given, **named)

    monkeypatch.setattr("sciextract_trainer.checkpoint.save_file", full)
    with pytest.raises(OutputError, match="disk is full") as caught:
        _run(settings(), shard, tmp_path / "full")
    assert "same command" in caught.value.hint
    assert not list((tmp_path / "full").glob("*part*"))
    monkeypatch.setattr("sciextract_trainer.checkpoint.save_file", save)
    assert _steps(_run(settings(), shard, tmp_path / "full"))[0]["step"] == 20
    assert _same(_weights(tmp_path / "whole"), _weights(tmp_path / "full"))


def test_damaged_blocks_are_named(settings: Settings, shard: Path, tmp_path: Path) -> None:
    _run(settings(), shard, tmp_path / "run", minutes=0.0)
    blocks = next((tmp_path / "run").glob("blocks-*.npy"))
    blocks.write_bytes(blocks.read_bytes()[:200])
    with pytest.raises(SciextractError, match="packed texts cannot be read") as caught:
        _run(settings(), shard, tmp_path / "run")
    assert "remove the file" in caught.value.hint


def test_stops_when_its_time_is_over_and_goes_on(
    settings: Settings, shard: Path, tmp_path: Path
) -> None:
    assert not _steps(_run(settings(), shard, tmp_path / "run", minutes=0.0))
    assert _run(settings(), shard, tmp_path / "run")[-1]["step"] == 20


@pytest.mark.parametrize("recipe", sorted(METHODS))
def test_only_the_student_learns(settings: Settings, recipe: str) -> None:
    config = settings(recipe)
    pair = load_pair(config)
    batch = Batch(torch.tensor([[2, 5, 6, 7, 3]]), torch.tensor([1, 2]), torch.tensor([5, 9]))
    losses_of(pair, config)(batch)["loss"].backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is None for parameter in pair.teacher.parameters())
    untouched = [n for n, p in pair.student.named_parameters() if p.grad is None]
    assert untouched == []
    assert not pair.teacher.training and pair.student.training


def test_the_whole_teacher_as_student_has_only_hidden_subwords_to_learn(
    settings: Settings, teacher_folder: Path
) -> None:
    config = settings(student=str(teacher_folder))
    pair = load_pair(config)
    pair.student.eval()
    batch = Batch(torch.tensor([[2, 5, 6, 7, 3]]), torch.tensor([1, 2]), torch.tensor([5, 9]))
    parts = losses_of(pair, config)(batch)
    assert float(parts["loss"].detach()) == pytest.approx(float(parts["mlm"].detach()), abs=1e-4)


def test_other_settings_or_networks_do_not_go_on(
    settings: Settings, make_encoder: Callable[..., Path], shard: Path, tmp_path: Path
) -> None:
    config = settings()
    _run(config, shard, tmp_path / "run")
    with pytest.raises(UsageError, match="output_weight was"):
        _run(settings(output_weight=1.0), shard, tmp_path / "run")
    other = make_encoder(num_hidden_layers=2)
    (other / "model.safetensors").replace(Path(config.student) / "model.safetensors")
    with pytest.raises(UsageError, match="student_weights was"):
        _run(config, shard, tmp_path / "run")


def test_a_teacher_without_a_head_is_refused(
    settings: Settings, make_encoder: Callable[..., Path], shard: Path, tmp_path: Path
) -> None:
    teacher = make_encoder(head=False, num_hidden_layers=4)
    with pytest.raises(ModelNotFoundError, match="no masked-language head") as caught:
        _run(settings(teacher=str(teacher)), shard, tmp_path / "run")
    assert "python -m research pretrain" in caught.value.hint


def _swapped(folder: Path) -> None:
    """Two subwords of a vocabulary change places."""
    path = folder / "tokenizer.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    subwords = values["model"]["vocab"]
    first, second = list(subwords)[8:10]
    subwords[first], subwords[second] = subwords[second], subwords[first]
    path.write_text(json.dumps(values), encoding="utf-8")


def test_other_subwords_are_refused(
    settings: Settings, make_encoder: Callable[..., Path], shard: Path, tmp_path: Path
) -> None:
    student = make_encoder(num_hidden_layers=2)
    _swapped(student)
    with pytest.raises(
        ModelMismatchError, match="is subword 8 of the teacher and 9 of the student"
    ):
        _run(settings(student=str(student)), shard, tmp_path / "run")


@pytest.mark.parametrize("recipe", ["distilbio", "compactbio"])
def test_another_width_is_refused_where_nothing_projects(
    settings: Settings, make_encoder: Callable[..., Path], recipe: str
) -> None:
    student = make_encoder(num_hidden_layers=2, hidden_size=16)
    with pytest.raises(ModelMismatchError, match="16 wide and the teacher 32") as caught:
        load_pair(settings(recipe, student=str(student)))
    assert "tinybio" in caught.value.hint


def test_other_heads_are_refused_where_maps_are_compared(
    settings: Settings, make_encoder: Callable[..., Path]
) -> None:
    student = str(make_encoder(num_hidden_layers=2, num_attention_heads=4))
    load_pair(settings("distilbio", student=student))
    with pytest.raises(ModelMismatchError, match="4 attention heads and the teacher 2"):
        load_pair(settings(student=student))


def test_layers_are_those_of_the_recipe_or_the_last_of_equal_blocks(
    settings: Settings, make_encoder: Callable[..., Path]
) -> None:
    assert load_pair(settings()).layers == (2, 4)
    assert load_pair(settings(layers=[1, 4])).layers == (1, 4)
    assert load_pair(settings("distilbio")).layers == ()
    three = str(make_encoder(num_hidden_layers=3))
    with pytest.raises(UsageError, match="do not make 3 equal blocks"):
        load_pair(settings(student=three))


@pytest.mark.parametrize(
    ("name", "value"),
    [("method", "bio"), ("temperature", 0.0), ("mlm_weight", -1.0), ("steps", 0), ("seed", "one")],
)
def test_values_that_cannot_work_are_refused(settings: Settings, name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        settings(**{name: value})
    with pytest.raises(UsageError, match="layers"):
        settings("distilbio", layers=[1, 2])


def test_recipes_name_what_they_do_not_know(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match="'bio'") as caught:
        load_distil_config("bio")
    assert caught.value.hint == "packaged recipes: compactbio, distilbio, tinybio"
    recipe = tmp_path / "r.toml"
    recipe.write_text("method = compactbio", encoding="utf-8")
    with pytest.raises(UsageError, match=r"r\.toml"):
        load_distil_config(str(recipe))


def test_the_command_distils(
    capsys: pytest.CaptureFixture[str], settings: Settings, shard: Path, tmp_path: Path
) -> None:
    config = settings()
    recipe = tmp_path / "small.toml"
    recipe.write_text('method = "compactbio"\nbatch_blocks = 4\nlength = 32\n', encoding="utf-8")
    pair = ["--teacher", config.teacher, "--student", config.student, "--steps", "10"]
    with pytest.raises(SystemExit) as ended:
        run = ["--run", str(tmp_path / "run"), "--recipe", str(recipe)]
        cli.main(["distill", "encoder", str(shard), *pair, *run])
    assert ended.value.code == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["event"] for event in told] == ["blocks", "pair", "step", "done"]
    assert Path(told[-1]["encoder"]).is_dir()


def test_the_command_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], settings: Settings, tmp_path: Path
) -> None:
    config = settings()
    with pytest.raises(SystemExit) as ended:
        pair = ["--teacher", config.teacher, "--student", config.student]
        cli.main(
            ["distill", "encoder", str(tmp_path / "no.gz"), *pair, "--run", str(tmp_path / "r")]
        )
    assert ended.value.code == InputMissingError("").exit_code
    assert "no.gz" in capsys.readouterr().err
