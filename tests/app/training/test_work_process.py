"""Trainings as processes of their own: started, left, found again, stopped, taken up."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from sciextract.errors import MissingExtraError, OutputError, install_command
from sciextract.retraining.run_folder import RunStatus
from sciextract_app.training import work as training
from sciextract_app.training.work import Training, TrainingRequest, TrainingWatch
from tests.app.training.children import Use, newest, wait_for


def test_the_command_says_what_the_person_chose(tmp_path: Path) -> None:
    options = "--device cuda --base 'my data.jsonl'"
    order = TrainingRequest(tmp_path / "p.sciextract", "my-model", "ann", options)
    words = training.command(order, tmp_path / "run")
    assert words[:4] == [sys.executable, "-m", "sciextract", "retrain"]
    told = dict(pairwise(words))
    assert told["--project"] == str(order.project)
    assert told["--run"] == str(tmp_path / "run")
    assert (told["--model"], told["--device"]) == ("my-model", "cuda")
    assert told["--base"] == "my data.jsonl"
    assert "--json" in words


def test_without_a_choice_the_model_in_use_is_the_start(tmp_path: Path) -> None:
    assert "--model" not in training.command(TrainingRequest(tmp_path), tmp_path)


def test_it_is_a_session_of_its_own_and_writes_its_log(project: Path, child: Use) -> None:
    child("die")
    found = Training.start(TrainingRequest(project))
    assert found.pid is not None
    assert os.getsid(found.pid) == found.pid != os.getsid(0)
    wait_for(lambda: not found.is_alive())
    assert "libtorch" in (found.run.folder / "log").read_text()


def test_the_author_is_told_to_the_process(
    project: Path, child: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os; print(os.environ['SCIEXTRACT_USER'])"
    monkeypatch.setattr(training, "command", lambda *_: [sys.executable, "-c", code])
    found = Training.start(TrainingRequest(project, author="ann b"))
    wait_for(lambda: not found.is_alive())
    assert (found.run.folder / "log").read_text() == "ann b\n"


def test_another_desk_finds_it(project: Path, child: Use) -> None:
    Training.start(TrainingRequest(project))
    wait_for(lambda: Training.running(project) is not None)
    other = TrainingWatch(project)
    other.find()
    assert other.runs
    wait_for(lambda: other.look() or other.progress == (3, 8))
    (newest(project).folder / "go").touch()
    wait_for(other.look)
    found = other.outcome()
    assert found is not None
    assert found.offered


def test_a_stopped_one_goes_on(project: Path, child: Use) -> None:
    watch = TrainingWatch(project)
    watch.start(TrainingRequest(project))
    wait_for(lambda: watch.look() or watch.progress == (3, 8))
    assert watch.stop()
    wait_for(watch.look)
    assert watch.live is not None
    assert watch.live.state == "stopped"
    assert not watch.stop()
    watch.start(TrainingRequest(project), newest(project))
    assert (
        watch.live.state != "stopped"
    )  # the end of the earlier process is not the end of this one
    wait_for(watch.look)
    assert watch.outcome() is not None


@pytest.mark.parametrize(("kind", "words"), [("die", "libtorch"), ("silent", "Killed")])
def test_a_process_that_dies_leaves_its_last_words(
    project: Path, child: Use, kind: str, words: str
) -> None:
    child(kind)
    watch = TrainingWatch(project)
    watch.start(TrainingRequest(project))
    wait_for(lambda: watch.look() or not watch.runs)
    assert watch.live is not None
    assert watch.live.state == "died"
    assert words in watch.live.message
    assert "log" in watch.live.hint


def test_a_process_that_was_killed_is_told_from_one_that_works(project: Path, child: Use) -> None:
    Training.start(TrainingRequest(project))
    wait_for(lambda: Training.running(project) is not None)
    run = newest(project)
    status = run.status()
    assert status is not None
    other = TrainingWatch(project)
    other.find()
    os.kill(status.pid, 9)
    os.waitpid(status.pid, 0)
    wait_for(other.look)
    assert other.live is not None
    assert other.live.state == "died"
    assert Training.running(project) is None


def test_a_training_of_another_machine_is_not_ours(project: Path, child: Use) -> None:
    child("promote")
    found = Training.start(TrainingRequest(project))
    wait_for(lambda: not found.is_alive())
    found.run.write_status(RunStatus("training", os.getpid(), "another-host"))
    assert Training.running(project) is None


def test_a_folder_that_cannot_be_written(
    project: Path, child: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "file"))
    with pytest.raises(OutputError) as caught:
        Training.start(TrainingRequest(project))
    assert "SCIEXTRACT_HOME" in caught.value.hint


def test_a_program_that_is_not_there(
    project: Path, child: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "command", lambda *_: ["/nowhere/python"])
    with pytest.raises(OutputError, match="cannot begin"):
        Training.start(TrainingRequest(project))


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "NEEDED", ("no_such_package_here",))
    found = training.obstacle()
    assert isinstance(found, MissingExtraError)
    assert found.hint == install_command("train")
