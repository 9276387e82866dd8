"""The words of ``sciextract retrain``: what fits together, and what is said before any work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from tests.cli.conftest import Command

FILES = ("--data", "train.jsonl", "--dev", "dev.jsonl", "--output", "model")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((*FILES, "--project", "p.sciextract"), "--data is for training from files"),
        ((*FILES, "--base", "b.jsonl"), "--data is for training from files"),
        ((*FILES, "--model", "sci"), "--model for a project"),
        (("--data", "train.jsonl"), "--dev is missing"),
        (("--data", "t.jsonl", "--dev", "d.jsonl"), "--output is missing"),
        (("--encoder", "somewhere"), "--data is missing"),
        (("--gpu", "--device", "cpu"), "cannot be combined"),
    ],
)
def test_words_that_do_not_fit_together(words: Sequence[str], told: str, command: Command) -> None:
    outcome = command("retrain", *words)
    assert outcome.code == ExitCode.USAGE and told in outcome.err
    assert outcome.out == ""


def test_a_folder_without_a_validation_split_needs_dev(command: Command, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("{}\n")
    outcome = command("retrain", "--data", tmp_path, "--output", tmp_path / "model")
    assert outcome.code == ExitCode.USAGE and "--dev is missing" in outcome.err
    (tmp_path / "validation.jsonl").write_text("{}\n")
    outcome = command("retrain", "--data", tmp_path)
    assert outcome.code == ExitCode.USAGE and "--output is missing" in outcome.err


@pytest.mark.parametrize("epochs", ["0", "1000001"])
def test_epochs_out_of_range_are_refused_before_any_host_is_asked(
    epochs: str, command: Command, tmp_path: Path
) -> None:
    project = tmp_path / "p.sciextract"
    project.touch()
    outcome = command("retrain", "--remote", "box", "--epochs", epochs, "--project", project)
    assert outcome.code == ExitCode.USAGE and "--epochs" in outcome.err
    assert "1 to 1000000" in outcome.err


def test_gpu_and_cuda_say_the_same(command: Command) -> None:
    outcome = command("retrain", "--gpu", "--device", "cuda", "--data", "x")
    assert "--dev is missing" in outcome.err


class TestWithTrainer:
    """What is said once the trainer is loaded."""

    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        pytest.importorskip("torch")

    def test_a_missing_project_is_named(
        self, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        outcome = command("retrain")
        assert outcome.code == ExitCode.MISSING and "--project" in outcome.err
        outcome = command("retrain", "--project", "gone.sciextract")
        assert outcome.code == ExitCode.MISSING and "gone.sciextract" in outcome.err

    def test_a_missing_gpu_is_said_before_anything_else(
        self, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import torch

        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        outcome = command("retrain", "--gpu", "--project", tmp_path / "any.sciextract")
        assert outcome.code == ExitCode.FAILED
        assert "no GPU" in outcome.err and "--device cpu" in outcome.err
        assert not (tmp_path / "home" / "runs").exists()

    @pytest.mark.parametrize("device", ["gpu", "tpu", ""])
    def test_an_unknown_device_names_the_known_ones(
        self, device: str, command: Command, tmp_path: Path
    ) -> None:
        outcome = command("retrain", "--device", device, "--project", tmp_path / "x.sciextract")
        assert outcome.code == ExitCode.USAGE and "auto, cpu, cuda, mps" in outcome.err

    def test_one_of_several_processes_takes_no_project(
        self, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RANK", "0")
        monkeypatch.setenv("WORLD_SIZE", "2")
        outcome = command("retrain", "--project", "any.sciextract")
        assert outcome.code == ExitCode.USAGE
        assert "2 processes cannot train on a project together" in outcome.err

    def test_files_that_are_not_there(self, command: Command, tmp_path: Path) -> None:
        words = [word.replace("model", str(tmp_path / "model")) for word in FILES]
        outcome = command("retrain", *words)
        assert outcome.code == ExitCode.MISSING and "train.jsonl: no such file" in outcome.err


def test_a_project_that_does_not_exist(command: Command, tmp_path: Path) -> None:
    outcome = command("retrain", "--project", tmp_path / "none.sciextract", "--remote", "box")
    assert outcome.code == ExitCode.MISSING
    assert "there is no such project" in outcome.err and "--project" in outcome.err
