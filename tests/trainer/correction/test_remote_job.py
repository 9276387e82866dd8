"""A correction round that is trained on another machine: a real sshd on loopback, the tiny model, real training."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from research.reporting import as_mappings
from sciextract.documents.schema import LabelSchema
from sciextract.errors import RemoteError, UsageError
from sciextract.inference.model_folder import open_folder
from sciextract.retraining.remote import jobs
from sciextract.retraining.remote.start import RemoteTarget
from sciextract.retraining.remote.trainer import RemoteTrainer, attach
from sciextract.retraining.run import RetrainResult, retrain
from sciextract.retraining.run_folder import METRICS, RetrainRequest, Run, runs_of
from sciextract.snapshot.documents import Split
from sciextract.workflows.models.registry import known_models
from tests.ssh_server import Server, served
from tests.trainer.correction.projects import corrected, new_project

pytestmark = [pytest.mark.full, pytest.mark.xdist_group("sshd")]
Events = list[dict[str, Any]]
THERE = RemoteTarget("gpubox", sys.executable, "cpu")


@pytest.fixture(scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from served(tmp_path_factory)


@pytest.fixture
def server(_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv("SCIEXTRACT_SSH", _server.ssh)
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "own"))
    shutil.rmtree(_server.home / ".cache", ignore_errors=True)
    return _server


@pytest.fixture
def project(tmp_path: Path, schema: LabelSchema) -> Path:
    documents = [*corrected(Split.TRAIN, 4), *corrected(Split.DEV, 2), *corrected(Split.GATE, 3)]
    return new_project(tmp_path / "otters.sciextract", schema, documents, [])


@pytest.fixture
def request_(project: Path, model_folder: Path) -> RetrainRequest:
    return RetrainRequest(project=str(project), model=str(model_folder), epochs=2)


def retrain_there(
    request: RetrainRequest,
    target: RemoteTarget,
    report: Callable[[dict[str, Any]], object],
    *,
    detach: bool = False,
) -> RetrainResult | Run:
    listener = as_mappings(report)
    trainer = RemoteTrainer.on(target, None, listener, detach=detach)
    return retrain(request, None, trainer, listener)


def _finished(result: RetrainResult | Run) -> RetrainResult:
    assert isinstance(result, RetrainResult)
    return result


def _kinds(events: Events) -> list[str]:
    return list(dict.fromkeys(event["event"] for event in events))


def test_a_round_is_trained_there_over_a_line_that_breaks_and_judged_here(
    server: Server, request_: RetrainRequest, project: Path
) -> None:
    events: Events = []
    cut: list[int] = []

    def listen(event: dict[str, Any]) -> None:
        events.append(event)
        if event["event"] == "dev" and not cut:
            cut.append(server.cut_lines())  # the line breaks in the middle of the training

    result = retrain_there(request_, THERE, listen)
    assert isinstance(result, RetrainResult) and cut and cut[0] >= 1
    assert result.model.id in [model.id for model in known_models()]
    [run] = runs_of(project)
    assert [kind for kind in _kinds(events) if kind != "warning"] == [
        "start", "snapshot", "forgetting", "step", "dev", "export", "gate", "done",
    ]  # fmt: skip
    told = run.record()
    assert told.device.startswith("cpu") and "torch" in told.versions
    assert told.config and told.config["epochs"] == 2 and told.forgetting
    status = run.status()
    assert status is not None and (status.state, status.verdict) == ("done", "too few")
    place = jobs.location_of(run)
    assert place is not None and place.state == "cleaned"
    assert not (server.home / place.folder).exists()
    steps = [(event["epoch"], event["documents"]) for event in events if event["event"] == "step"]
    assert steps == sorted(set(steps)) and steps[-1] == (2, 4)
    assert (run.folder / "there" / METRICS).read_bytes().count(b"\n") >= len(steps)


def test_a_closed_laptop_finds_its_model_later(
    server: Server, request_: RetrainRequest, project: Path
) -> None:
    run = retrain_there(request_, THERE, lambda event: None, detach=True)
    assert isinstance(run, Run)
    events: Events = []
    result = _finished(attach(run, as_mappings(events.append)))
    assert result.model.folder.is_dir() and open_folder(result.model.folder)
    assert _kinds(events)[-2:] == ["gate", "done"]
    again = _finished(attach(run, as_mappings(events.append)))
    assert again.model.id == result.model.id


def test_what_fails_there_is_said_in_its_own_words(
    server: Server, request_: RetrainRequest, project: Path
) -> None:
    with pytest.raises(RemoteError, match=r"gpubox: .*mps"):
        retrain_there(request_, RemoteTarget("gpubox", sys.executable, "mps"), lambda event: None)


def test_a_machine_without_a_gpu_is_refused_before_anything_is_sent(
    server: Server, request_: RetrainRequest, project: Path
) -> None:
    if shutil.which("nvidia-smi"):
        pytest.skip("this machine has a GPU")
    with pytest.raises(RemoteError, match="shows no NVIDIA GPU"):
        retrain_there(request_, RemoteTarget("gpubox", sys.executable, "cuda"), lambda event: None)
    assert not (server.home / ".cache").exists()
    assert runs_of(project) == [] and list(jobs.jobs()) == []


def test_a_host_with_shell_characters_makes_no_run(request_: RetrainRequest, project: Path) -> None:
    with pytest.raises(UsageError, match="not a host name"):
        retrain_there(request_, RemoteTarget("gpubox;reboot"), lambda event: None)
    assert runs_of(project) == []
