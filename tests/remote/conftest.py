"""A machine on loopback, and a job on it that trains nothing but behaves as a training does."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sciextract.workflows.remote.start import Task
from sciextract.workflows.runs import Run, new_run
from tests.ssh_server import Server, missing, serving

_PYTHON = """\
#!/bin/sh
# The other machine's Python: scripts run in it as they are, trainings are those of the test.
case "$1" in
-m) shift 2; exec {python} {training} "$@" ;;
*) exec {python} "$@" ;;
esac
"""


@pytest.fixture(scope="session")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if missing():
        pytest.skip(missing())
    with serving(tmp_path_factory.mktemp("gpubox")) as server:
        yield server


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
    training = Path(__file__).with_name("training.py")
    path = server.home / "python"
    path.write_text(_PYTHON.format(python=sys.executable, training=training))
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    project = tmp_path / "parsing.sciextract"
    return new_run(project)


@pytest.fixture
def task(python: str, tmp_path: Path) -> Callable[..., Task]:
    """A job that sends a model folder, a small one without words, and takes words for the test's training."""
    small, notes = tmp_path / "sci", tmp_path / "notes.json"
    small.mkdir()
    (small / "note").write_text("no model, but quickly sent")
    notes.write_text("{}")

    def make(*words: str, model: Path = small) -> Task:
        command = ("-m", "training", *words)
        return Task(
            "gpubox", python, slurm=False, gpu=False, model=model, run_files=[notes], words=command
        )

    return make
