"""A job on another machine, from the first contact to the model and the broom."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.errors import RemoteError, UsageError
from sciextract.inference.model_folder import open_folder
from sciextract.resources import bundled_models
from sciextract.retraining.remote import jobs, results
from sciextract.retraining.remote.results import follow
from sciextract.retraining.remote.start import RemoteTask, job_script, start_again
from sciextract.retraining.remote.trainer import EventRelay
from sciextract.retraining.run_folder import JOBS, METRICS, JobLocation, Run
from sciextract.retraining.status import StatusWriter
from sciextract.workflows.models.compare import fold_file
from tests.remote.starting import start
from tests.ssh_server import Server

pytestmark = pytest.mark.xdist_group("sshd")
Make = Callable[..., RemoteTask]
PATIENCE_SECONDS = 30.0
STEP = {
    "event": "step",
    "epoch": 1,
    "documents": 1,
    "of": 1,
    "loss": {"entity": 1.0, "relation": 1.0, "coreference": 1.0},
    "documents_per_second": 0.5,
}
SCI = bundled_models() / "sci"


def _silent(*told: object) -> None:
    """Nobody listens."""


def _never(why: str, seconds: float) -> None:
    raise AssertionError(why)


def _numbers(run: Run) -> list[int]:
    return [event["number"] for event in run.metrics()]


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_job_brings_its_events_and_its_model_home(run: Run, task: Make) -> None:
    location = start(run, task("5", "0", model=SCI))
    assert location.state == "started"
    ended = follow(run, location, _silent, _never)
    assert (ended.exit, ended.runs) == (0, False)
    assert _numbers(run) == [0, 1, 2, 3, 4]
    model = results.fetch_model(run, location)
    assert open_folder(model).hash == open_folder(SCI).hash
    assert "step 4" in (run.folder / "there" / "log").read_text()
    assert jobs.find_job(run.name)[1].state == "fetched"


def test_predictions_of_a_cross_validation_come_with_the_model(run: Run, task: Make) -> None:
    run.note(folds=((0, 2),))
    location = start(run, task("1", "0", model=SCI))
    assert follow(run, location, _silent, _never).exit == 0
    results.fetch_model(run, location)
    assert fold_file(run.folder, 1).read_text() == "{}\n"


def test_the_package_of_this_machine_runs_there_without_its_models(
    run: Run, task: Make, server: Server
) -> None:
    location = start(run, task("1", "0"))
    package = server.home / location.folder / "package"
    assert (package / "sciextract" / "errors.py").is_file()
    assert (package / "sciextract_trainer" / "run.py").is_file()
    assert not (package / "sciextract" / "bundled").exists()
    assert not list(package.rglob("__pycache__"))
    assert (package / "schemas").is_dir() or (package / "sciextract" / "_data").is_dir()


def test_a_line_that_is_cut_costs_no_event_and_doubles_none(
    run: Run, task: Make, server: Server
) -> None:
    location = start(run, task("60", "0.05"))
    lost: list[str] = []

    def came() -> None:
        if len(run.metrics()) >= 5 and not lost:
            assert server.cut_lines() >= 1

    def note(why: str, seconds: float) -> None:
        lost.append(why)

    ended = follow(run, location, came, note, sleep=_silent)
    assert lost
    assert ended.exit == 0
    assert _numbers(run) == list(range(60))


def test_a_machine_that_is_away_for_a_while_is_waited_for(
    run: Run, task: Make, server: Server
) -> None:
    location = start(run, task("10", "0.01"))
    _until(lambda: jobs.job_state(location).exit == 0)
    server.down()
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            server.again()

    follow(run, location, _silent, _silent, sleep=sleep)
    assert waits == [1.0, 2.0, 5.0]
    assert _numbers(run) == list(range(10))


def test_whoever_follows_next_goes_on_behind_what_came(run: Run, task: Make) -> None:
    class Closed(Exception):
        """The laptop is closed."""

    def close() -> None:
        if len(run.metrics()) >= 3:
            raise Closed

    location = start(run, task("30", "0.05"))
    with pytest.raises(Closed):
        follow(run, location, close, _never)
    follow(Run(run.folder), location, _silent, _never)
    assert _numbers(run) == list(range(30))


def test_starting_again_starts_nothing_twice(run: Run, task: Make, server: Server) -> None:
    location = start(run, task("3", "0"))
    jobs.note(run, location, state="sending")  # as when the line broke before the answer came
    again = start(run, task("3", "0"))
    follow(run, again, _silent, _never)
    assert _numbers(run) == [0, 1, 2]


def test_a_job_that_fails_says_so(run: Run, task: Make) -> None:
    ended = follow(run, start(run, task("1", "0", "fail")), _silent, _never)
    assert ended.exit == 1
    assert "out of memory" in ended.log


def test_a_job_that_was_killed_there_is_told(
    run: Run, task: Make, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sciextract.retraining.remote.results.QUIET_SECONDS", 1.0)
    location = start(run, task("1", "0", "forever"))
    _until(lambda: "step 0" in jobs.job_state(location).log)
    started = json.loads((server.home / location.folder / "started.json").read_text())
    os.killpg(started["pid"], signal.SIGKILL)
    with pytest.raises(RemoteError, match="without an error message: step 0"):
        follow(run, location, _silent, _never)


def test_cancelling_interrupts_and_leaves_an_exit_code(run: Run, task: Make) -> None:
    location = start(run, task("1", "0", "forever"))
    assert jobs.job_state(location).runs
    _until(lambda: "step 0" in jobs.job_state(location).log)
    results.cancel(location)
    _until(lambda: jobs.job_state(location).exit is not None)
    assert jobs.job_state(location).exit == 130


def test_a_job_that_was_stopped_goes_on(run: Run, task: Make, server: Server) -> None:
    location = start(run, task("2", "0", "forever"))
    _until(lambda: "step 1" in jobs.job_state(location).log)
    results.cancel(location)
    assert follow(run, location, _silent, _never).exit == 130
    script = server.home / location.folder / "job.sh"
    script.write_text(script.read_text().replace(" forever", ""))
    assert follow(run, start_again(run, location), _silent, _never).exit == 0
    assert _numbers(run) == [0, 1, 0, 1]


def test_cleaning_removes_the_folder_there_but_no_running_job(
    run: Run, task: Make, server: Server
) -> None:
    location = start(run, task("1", "0", "forever"))
    with pytest.raises(RemoteError, match="still runs"):
        results.clean(run, location)
    results.cancel(location)
    results.clean(run, location)
    assert not (server.home / location.folder).exists()
    assert (run.folder / METRICS).parent.is_dir()
    assert jobs.find_job(run.name)[1].state == "cleaned"


def test_cleaning_removes_nothing_outside_the_folder_of_jobs(
    run: Run, task: Make, server: Server
) -> None:
    location = start(run, task("1", "0"))
    follow(run, location, _silent, _never)
    (server.home / "precious").mkdir(exist_ok=True)
    results.clean(run, replace(location, folder="precious"))
    results.clean(run, replace(location, folder=f"{JOBS}/.."))
    assert (server.home / "precious").is_dir()
    assert (server.home / location.folder).is_dir()


def test_a_model_that_arrives_changed_is_refused(run: Run, task: Make, server: Server) -> None:
    location = start(run, task("1", "0", model=SCI))
    follow(run, location, _silent, _never)
    graph = server.home / location.folder / "run" / "model" / "pairs.onnx"
    data = bytearray(graph.read_bytes())
    data[100] ^= 1
    graph.write_bytes(data)
    with pytest.raises(RemoteError, match="was not transferred completely"):
        results.fetch_model(run, location)
    assert jobs.find_job(run.name)[1].state == "started"


@pytest.mark.parametrize("name", ["$(touch owned)", "a'b;touch owned;'", "my run", "-x"])
def test_no_shell_reads_the_name_of_a_run_folder(
    name: str, tmp_path: Path, task: Make, server: Server
) -> None:
    run = Run(tmp_path / name)
    run.folder.mkdir()
    location = start(run, task("1", "0"))
    assert follow(run, location, _silent, _never).exit == 0
    assert re.fullmatch(r"[\w.-]+", location.folder.removeprefix(f"{JOBS}/"), re.ASCII)
    script = job_script(
        replace(location, folder=name), task("1", "0")
    )  # as an earlier version noted it
    subprocess.run(["sh", "-c", script], cwd=tmp_path, env={"HOME": str(tmp_path)}, check=False)
    assert not list(tmp_path.rglob("owned"))


def test_runs_with_odd_names_do_not_share_a_folder_there(tmp_path: Path) -> None:
    runs = [Run(tmp_path / name) for name in ("a b", "a;b", "..")]
    for run in runs:
        run.folder.mkdir(exist_ok=True)
    folders = {jobs.new_location(run, "gpubox", "python3", False).folder for run in runs}
    assert len(folders) == 3
    assert not any(folder.endswith("..") for folder in folders)


def test_nobody_else_reads_a_job_and_what_comes_back_is_plain(
    run: Run, task: Make, server: Server
) -> None:
    location = start(run, task("1", "0", model=SCI))
    follow(run, location, _silent, _never)
    folder = server.home / location.folder
    open_to_others = [file for file in (folder, *folder.rglob("*")) if file.stat().st_mode & 0o077]
    assert open_to_others == []
    model = folder / "run" / "model"
    (model / "link").symlink_to("/etc/hostname")
    (model / "README.md").chmod(0o6777)
    fetched = results.fetch_model(run, location)
    assert not (fetched / "link").is_symlink()
    assert (fetched / "README.md").stat().st_mode & 0o7133 == 0


def test_events_without_end_are_refused(
    run: Run, task: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sciextract.retraining.remote.results.MAX_EVENT_BYTES", 200)
    location = start(run, task("60", "0.01", "forever"))
    with pytest.raises(RemoteError, match="of events; no more are taken"):
        follow(run, location, _silent, _never)
    results.cancel(location)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"event": "run this"}', "'run this' found; expected start, step"),
        ("no JSON", "None found; expected"),
        ('{"event": "start", "epochs": "9", "device": "cpu"}', "epochs is '9'; expected int"),
        (json.dumps({**STEP, "loss": {}}), "'entity' is missing"),
        (json.dumps(STEP).replace("0.5", "1e999"), "documents_per_second is inf"),
        ('{"event": "dev", "epoch": 1, "entity": 1e99}', "entity is 1e+99"),
    ],
)  # fmt: skip
def test_events_that_are_none_are_refused_by_name(run: Run, line: str, problem: str) -> None:
    told: list[object] = []
    location = jobs.new_location(run, "gpubox", "python3", False)
    (run.folder / METRICS).write_text(f"{line}\n")
    relay = EventRelay(Run(run.folder / "own"), run, location, StatusWriter(run, told.append))
    with pytest.raises(RemoteError, match="event 1 of the job cannot be used") as refused:
        relay.pass_on()
    assert problem in refused.value.message and told == []


def test_jobs_are_found_by_a_part_of_their_name(run: Run, task: Make, tmp_path: Path) -> None:
    jobs.new_location(run, "gpubox", "python3", False)
    assert jobs.find_job(run.name[-4:])[0].name == run.name
    with pytest.raises(UsageError, match="no job is called 'nothing'"):
        jobs.find_job("nothing")
    assert [location for _, location in jobs.jobs()] == [
        JobLocation("gpubox", "python3", f"{JOBS}/{run.name}")
    ]
