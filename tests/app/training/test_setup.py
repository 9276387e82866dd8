"""Where a training shall run: what is offered, what is refused, what the command is told."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.retraining.remote import jobs
from sciextract.retraining.remote.jobs import known_hosts
from sciextract.retraining.remote.ssh import check_host
from sciextract.retraining.run_folder import Run, RunStatus, new_run
from sciextract_app.training.plan import (
    TrainingOptions,
    earlier_runs,
    problem_of_epochs,
    problem_of_machine,
    read_epochs,
)
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


class TestSetup:
    def test_nothing_chosen_is_this_computer(self) -> None:
        assert TrainingOptions().words() == ["--device", "auto"]
        assert dict(TrainingOptions().lines())["where"].startswith("this computer")

    def test_the_command_is_told_all_of_it(self, tmp_path: Path) -> None:
        base = tmp_path / "scierc.jsonl"
        chosen = TrainingOptions(
            host="me@box", python="~/env/bin/python", device="cuda", base=base, epochs=3
        )
        told = dict(pairwise(chosen.words()))
        assert (told["--remote"], told["--remote-python"]) == ("me@box", "~/env/bin/python")
        assert (told["--device"], told["--base"], told["--epochs"]) == ("cuda", str(base), "3")
        lines = dict(chosen.lines())
        assert "me@box" in lines["where"] and "~/env/bin/python" in lines["its Python"]

    def test_devices_go_round(self) -> None:
        seen, setup = [], TrainingOptions()
        for _ in range(5):
            seen.append(setup.device)
            setup = TrainingOptions(device=setup.next_device)
        assert seen == ["auto", "cpu", "cuda", "mps", "auto"]

    @pytest.mark.parametrize("host", ["a b", "-oProxyCommand=x", "a;b", "gpübox", "user@"])
    def test_a_bad_host_is_refused_in_the_words_of_the_command(self, host: str) -> None:
        with pytest.raises(UsageError) as refused:
            check_host(host)
        assert problem_of_machine(host) == f"{refused.value.message}; {refused.value.hint}"

    def test_a_python_that_a_shell_would_read(self) -> None:
        assert "--remote-python" in problem_of_machine("gpubox", "$(x)")
        assert problem_of_machine("gpubox", "~/env/bin/python") == ""

    @pytest.mark.parametrize("typed", ["0", "-1", "x", "1.5", "²", "٣"])
    def test_what_is_no_number_of_epochs(self, typed: str) -> None:
        assert "not a number of epochs" in problem_of_epochs(typed)

    def test_epochs(self) -> None:
        assert (read_epochs(" 7 "), read_epochs("  "), problem_of_epochs("7")) == (7, None, "")


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
        assert live.lost == why and live.runs

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
