"""Where a training shall run: what is offered, and jobs on other machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.retraining.remote import jobs
from sciextract.retraining.remote.jobs import known_hosts
from sciextract.retraining.run_folder import Run, RunStatus, new_run
from sciextract_app.training.plan import check_options, earlier_runs
from sciextract_app.training.progress import RunProgress, RunReader


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "own"))
    monkeypatch.delenv("SCIEXTRACT_SSH", raising=False)


def test_machines_of_earlier_trainings_are_offered_once() -> None:
    assert known_hosts() == []
    for host in ("old.example.org", "login", "login"):
        jobs.new_location(new_run(None), host, "python3", slurm=False)
    assert sorted(known_hosts()) == ["login", "old.example.org"]


def test_options_that_cannot_be_told_apart() -> None:
    with pytest.raises(UsageError) as error:
        check_options("--base 'my data.jsonl")
    assert "between two quotation marks" in error.value.hint
    check_options("--base 'my data.jsonl' --epochs 3")


class TestJobsElsewhere:
    @pytest.fixture
    def run(self) -> Run:
        run = new_run(None)
        jobs.note(run, jobs.new_location(run, "gpubox", "python3", slurm=False), state="started")
        return run

    def _live(self, run: Run, status: RunStatus | None, alive: bool = True) -> RunProgress:
        if status is not None:
            run.write_status(status)
        return RunReader(run).read(alive)

    def test_its_phases_name_the_machine(self, run: Run) -> None:
        sending = self._live(run, RunStatus("preparing", 1, "", message="sending to gpubox"))
        assert sending.phase == "sending to gpubox"
        training = self._live(run, RunStatus("training", 1, "", epoch=2, epochs=8))
        assert training.phase == "training on gpubox: epoch 2 of 8"
        fetching = RunStatus("exporting", 1, "", message="fetching the model from gpubox")
        assert self._live(run, fetching).phase == "fetching the model from gpubox"

    def test_a_line_that_is_down(self, run: Run) -> None:
        why = "gpubox cannot be reached: timeout; next try in 5 seconds, the job continues"
        live = self._live(run, RunStatus("training", 1, "", epoch=2, epochs=8, lost=why))
        assert live.phase == "no connection to gpubox; the job keeps running there"
        assert live.status.lost == why and live.runs

    def test_watching_that_was_stopped(self, run: Run) -> None:
        run.append({"event": "stopped", "message": "no longer following the job"})
        live = self._live(run, RunStatus("stopped", 1, ""), alive=False)
        assert live.unwatched and live.phase == "not followed: the job is on gpubox"

    def test_a_job_that_was_stopped_there(self, run: Run) -> None:
        run.append({"event": "error", "message": "was stopped on gpubox"})
        live = self._live(run, RunStatus("stopped", 1, ""), alive=False)
        assert not live.unwatched and live.phase == "stopped"

    def test_a_watcher_that_died_left_the_job(self, run: Run) -> None:
        live = self._live(run, RunStatus("training", 1, "", epoch=1, epochs=8), alive=False)
        assert live.unwatched and not live.runs
        assert earlier_runs([run]).unwatched_on == "gpubox"
        assert "g watches it" in earlier_runs([run]).words[0]

    def test_before_it_was_sent_there_is_nothing_to_watch(self, run: Run) -> None:
        place = jobs.location_of(run)
        assert place is not None
        jobs.note(run, place, state="sending")
        run.append({"event": "stopped", "message": "stopped"})
        assert not self._live(run, RunStatus("stopped", 1, ""), alive=False).unwatched
