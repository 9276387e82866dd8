"""A machine on loopback, and a job on it that trains nothing but behaves as a training does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sciextract.retraining.remote.start import RemoteTarget, RemoteTask
from sciextract.retraining.run_folder import Run, new_run
from tests.ssh_server import Server, put_python, served


@pytest.fixture(scope="session")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from served(tmp_path_factory)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "own"))


@pytest.fixture
def server(_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The machine, reachable as ``gpubox``."""
    monkeypatch.setenv("SCIEXTRACT_SSH", _server.ssh)
    shutil.rmtree(_server.home / ".cache", ignore_errors=True)
    return _server


@pytest.fixture
def python(server: Server) -> str:
    """A Python there whose ``-m sciextract`` is the test's training."""
    return str(put_python(server, Path(__file__).with_name("training.py")))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    project = tmp_path / "parsing.sciextract"
    return new_run(project)


@pytest.fixture
def task(python: str, tmp_path: Path) -> Callable[..., RemoteTask]:
    """A job that sends a model folder, a small one without words, and takes words for the test's training."""
    small, notes = tmp_path / "sci", tmp_path / "notes.json"
    small.mkdir()
    (small / "note").write_text("no model, but quickly sent")
    notes.write_text("{}")

    def make(*words: str, model: Path = small) -> RemoteTask:
        command = ("-m", "training", *words)
        return RemoteTask(RemoteTarget("gpubox", python), model, [notes], command)

    return make
