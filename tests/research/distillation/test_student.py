"""Students before their distillation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file

from research import __main__ as cli
from research.distillation.student import StudentPlan, every_of, write_student
from research.pretraining.network import HEAD
from sciextract.errors import ModelNotFoundError, OutputError, UsageError
from sciextract_trainer.build import load_subword_rules
from sciextract_trainer.encoders.loading import load_encoder, read_settings


def _weights(folder: Path) -> dict[str, Any]:
    return dict(load_file(folder / "model.safetensors"))


def test_layers_and_embeddings_are_those_of_the_teacher(
    teacher_folder: Path, tmp_path: Path
) -> None:
    told = write_student(str(teacher_folder), StudentPlan(layers=(1, 3)), tmp_path / "s")
    assert told["num_hidden_layers"] == 2
    teacher, student = _weights(teacher_folder), _weights(tmp_path / "s")
    for name, value in student.items():
        origin = name.replace("layer.1.", "layer.2.")
        assert torch.equal(value, teacher[origin]), name
    assert sum(value.numel() for value in student.values()) == told["parameters"]


def test_the_whole_teacher_is_a_student_that_tells_the_same(
    teacher_folder: Path, tmp_path: Path
) -> None:
    write_student(str(teacher_folder), StudentPlan(layers=(1, 2, 3, 4)), tmp_path / "s")
    ids = torch.tensor([[2, 5, 6, 7, 3]])
    teacher, student = (
        load_encoder(str(folder)).eval() for folder in (teacher_folder, tmp_path / "s")
    )
    assert torch.equal(teacher(ids)[0], student(ids)[0])


def test_tokenizer_and_head_come_along(teacher_folder: Path, tmp_path: Path) -> None:
    write_student(str(teacher_folder), StudentPlan(layers=(2, 4)), tmp_path / "s")
    own, other = (load_subword_rules(str(folder)) for folder in (tmp_path / "s", teacher_folder))
    assert own.tokenizer.get_vocab() == other.tokenizer.get_vocab()
    heads = [load_file(folder / HEAD) for folder in (tmp_path / "s", teacher_folder)]
    assert all(torch.equal(heads[0][name], heads[1][name]) for name in heads[1])


def test_a_fresh_student_has_its_own_sizes_and_no_head(
    teacher_folder: Path, tmp_path: Path
) -> None:
    plan = StudentPlan(depth=3, hidden=16, heads=4, intermediate=24)
    told = write_student(str(teacher_folder), plan, tmp_path / "s")
    settings = read_settings(str(tmp_path / "s"))
    load_encoder(str(tmp_path / "s"))
    assert (settings.num_hidden_layers, settings.hidden_size) == (3, 16)
    assert (settings.num_attention_heads, settings.intermediate_size) == (4, 24)
    assert told["parameters"] == sum(v.numel() for v in _weights(tmp_path / "s").values())
    assert not (tmp_path / "s" / HEAD).exists()


def test_the_seed_decides_fresh_weights(teacher_folder: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_student(str(teacher_folder), StudentPlan(depth=1, seed=seed), tmp_path / name)
    first, again, other = (_weights(tmp_path / name) for name in "abc")
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_every_counts_the_teachers_layers(teacher_folder: Path) -> None:
    assert every_of(str(teacher_folder), 2, 2) == (2, 4)
    assert every_of(str(teacher_folder), 2, 1) == (1, 3)


def test_a_folder_with_something_in_it_stays(teacher_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="is not empty"):
        write_student(str(teacher_folder), StudentPlan(layers=(1,)), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (StudentPlan(layers=(2, 9)), "no layer 9"),
        (StudentPlan(layers=(3, 1)), "do not ascend"),
        (StudentPlan(depth=2, hidden=30, heads=4), "4 heads do not divide a hidden size of 30"),
        (StudentPlan(depth=2, hidden=0), "hidden_size = 0"),
        (StudentPlan(layers=(1,), hidden=16), "hidden_size = 16 is not the teacher's 32"),
    ],
)
def test_plans_that_do_not_fit_are_refused(
    teacher_folder: Path, tmp_path: Path, plan: StudentPlan, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        write_student(str(teacher_folder), plan, tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_a_teacher_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError):
        write_student(str(tmp_path / "none"), StudentPlan(depth=1), tmp_path / "s")


def _command(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(["student", *words])
    return int(str(ended.value.code))


def test_the_command_writes_a_student_and_tells_its_sizes(
    capsys: pytest.CaptureFixture[str], teacher_folder: Path, tmp_path: Path
) -> None:
    place = ["--encoder", str(teacher_folder), "--output", str(tmp_path / "s")]
    assert _command(*place, "--every", "2") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["num_hidden_layers"] == 2 and told["encoder"] == str(tmp_path / "s")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "needs one of --layers"),
        (["--every", "2", "--layers", "1"], "needs one of --layers"),
        (["--layers", "one,two"], "not a list of numbers"),
        (["--layers", ","], "not a list of numbers"),
        (["--every", "9"], "of a teacher with 4 layers"),
    ],
)
def test_the_command_says_what_does_not_fit(
    capsys: pytest.CaptureFixture[str],
    teacher_folder: Path,
    tmp_path: Path,
    words: list[str],
    told: str,
) -> None:
    place = ["--encoder", str(teacher_folder), "--output", str(tmp_path / "s")]
    assert _command(*place, *words) == UsageError("").exit_code
    assert told in capsys.readouterr().err
