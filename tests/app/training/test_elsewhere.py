"""The panel over a job on another machine: a real sshd on loopback, the real command, a training that trains nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer
from sciextract.documents.schema_file import load_schema
from sciextract.errors import install_command
from sciextract.resources import data_root
from sciextract.retraining.remote.jobs import location_of
from sciextract.retraining.run_folder import runs_of
from sciextract.store import create_project
from sciextract.workflows.import_files import import_files
from sciextract_app.review.view import screen as review
from sciextract_app.training import screen as retraining
from sciextract_app.training import work as training
from sciextract_app.training.work import Training
from tests.app.screens_support import opened, shown, until_shown
from tests.app.training.children import newest, wait_for
from tests.ssh_server import Server, put_python, served

pytestmark = [pytest.mark.asyncio, pytest.mark.full, pytest.mark.xdist_group("sshd")]


@pytest.fixture(scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from served(tmp_path_factory)


@pytest.fixture
def server(_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The machine, with a Python whose trainings are those of the test; nothing is needed here to train."""
    monkeypatch.setenv("SCIEXTRACT_SSH", _server.ssh)
    monkeypatch.setattr(training, "NEEDED", ("no_such_package_here",))
    monkeypatch.setattr(review, "TRAINING_SECONDS", 0.2)
    monkeypatch.setattr(retraining, "POLL_SECONDS", 0.2)
    shutil.rmtree(_server.home / ".cache", ignore_errors=True)
    put_python(_server, Path(__file__).with_name("training_there.py"))
    return _server


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "p.sciextract"
    with create_project(path, load_schema("scierc"), "ann") as made:
        import_files(made, [str(data_root() / "sample_data" / "gold.jsonl")])
        for number in made.numbers():
            made.actions.mark_done(number, tuple(Layer))
    yield path
    for run in runs_of(path):
        Training(run).stop()
    wait_for(lambda: not any(run.is_alive() for run in runs_of(path)))


async def test_a_job_is_set_up_left_cancelled_and_brought_to_its_end(
    server: Server, project: Path
) -> None:
    async with opened(project) as (_, pilot):
        await pilot.press("f8")
        await until_shown(pilot, "trained on")
        assert install_command("train") in shown(pilot)  # not here
        await pilot.press("o")
        await until_shown(pilot, "Options of the training")
        await pilot.press(*"--remote gpubox", "enter")
        await until_shown(pilot, "--remote gpubox  (o)")
        assert "pip install" not in shown(pilot)
        await pilot.press("o", *f" --remote-python {server.home / 'python'}", "enter")
        await until_shown(pilot, "--remote-python")
        await pilot.press("enter")
        await until_shown(pilot, "training on gpubox: epoch 3 of 8")

        assert server.cut_lines()
        await until_shown(pilot, "no connection to gpubox; the job keeps running there")

        await pilot.press("x")
        await until_shown(pilot, "stop following")
        await pilot.press("w")
        await until_shown(pilot, "not followed: the job is on gpubox")
        await pilot.press("g")
        await until_shown(pilot, "training on gpubox: epoch 3 of 8")

        await pilot.press("x", "c")
        await until_shown(pilot, "was stopped on gpubox")
        place = location_of(newest(project))
        assert place is not None
        (server.home / place.folder / "go").touch()
        await pilot.press("g")
        await until_shown(pilot, "too few abstracts")
        assert len(runs_of(project)) == 1


async def test_a_machine_that_does_not_answer_says_why(server: Server, project: Path) -> None:
    async with opened(project) as (_, pilot):
        await pilot.press("f8")
        await until_shown(pilot, "trained on")
        await pilot.press("o")
        await until_shown(pilot, "Options of the training")
        await pilot.press(*"--remote closed", "enter")
        await until_shown(pilot, "--remote closed  (o)")
        await pilot.press("enter")
        await until_shown(pilot, "closed cannot be reached")
        assert "failed" in shown(pilot)
