"""Run folders: whole at every moment, read without surprises while another process writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.errors import OutputError
from sciextract.resources import user_runs
from sciextract.retraining.run_folder import (
    METRICS,
    RUN,
    STATUS,
    JobLocation,
    RetrainRequest,
    Run,
    RunRecord,
    RunStatus,
    WorkSession,
    new_run,
    runs_of,
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return new_run(tmp_path / "otters.sciextract")


def test_runs_lie_in_the_home_folder(run: Run, tmp_path: Path) -> None:
    assert run.folder.parent == user_runs() == Path(os.environ["SCIEXTRACT_HOME"]) / "runs"
    stamp, time, stem, tail = run.name.split("-")
    assert len(stamp) == 8 and len(time) == 6 and stem == "otters" and len(tail) == 4
    assert run.record().project == str(tmp_path / "otters.sciextract")


def test_without_a_home_the_platform_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCIEXTRACT_HOME")
    assert user_runs().name == "runs" and "sciextract" in user_runs().parts


@pytest.mark.parametrize("stem", ["a b/../c", "\x1b[31m", "ö" * 300, "[12]", "x.y"])
def test_hostile_project_names_make_plain_folders(stem: str, tmp_path: Path) -> None:
    run = new_run(tmp_path / f"{stem}.sciextract")
    assert run.folder.is_dir() and run.folder.parent == user_runs()
    assert run.name.replace("-", "").replace("_", "").isalnum()


def test_runs_of_a_project_newest_first(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.sciextract", tmp_path / "other.sciextract"
    first, foreign, second = new_run(mine), new_run(other), new_run(mine)
    new_run(None)
    assert runs_of(mine) == [second, first]
    assert runs_of(other) == [foreign]
    assert runs_of(tmp_path / "x" / ".." / "mine.sciextract") == [second, first]
    assert runs_of(tmp_path / "none.sciextract") == []


def test_a_damaged_run_folder_is_left_out(run: Run, tmp_path: Path) -> None:
    (run.folder / RUN).write_text("{torn", encoding="utf-8")
    assert runs_of(tmp_path / "otters.sciextract") == []
    assert run.record() == RunRecord()


def test_values_are_added_to_the_run(run: Run) -> None:
    record = run.note(
        device="cpu",
        request=RetrainRequest(project="p.sciextract", seed=3),
        schema={"entities": {"Method": ""}},
        folds=((0, 2), (1,)),
        sessions=(WorkSession("2026-01-01T00:00:00Z", 1.5, "cpu", 1),),
        remote=JobLocation("gpubox", "python3", "jobs/a"),
    )
    assert run.record() == record and record.project
    assert run.note(device="cuda") == replace(record, device="cuda") == run.record()


def test_a_record_with_a_wrong_value_is_none(run: Run) -> None:
    (run.folder / RUN).write_text('{"project": "a", "sessions": 3}', encoding="utf-8")
    assert run.record() == RunRecord()


def test_the_status_is_read_as_it_was_written(run: Run) -> None:
    assert run.status() is None
    status = RunStatus.of_this_process(
        "training", epoch=1, epochs=3, share=0.25, message="[12] \x1b"
    )
    run.write_status(status)
    assert run.status() == status
    run.write_status(replace(status, state="done", verdict="keep", promoted=False))
    assert run.status() == replace(status, state="done", verdict="keep", promoted=False)
    assert sorted(path.name for path in run.folder.iterdir()) == [RUN, STATUS]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '{"state": "flying", "pid": 1, "host": "h"}', "{}"]
)
def test_a_status_that_says_nothing_is_none(run: Run, text: str) -> None:
    (run.folder / STATUS).write_text(text, encoding="utf-8")
    assert run.status() is None
    assert not run.is_alive()


def test_a_status_of_a_later_version_is_read(run: Run) -> None:
    text = json.dumps({"state": "done", "pid": 1, "host": "h", "watts": 7})
    (run.folder / STATUS).write_text(text, encoding="utf-8")
    assert run.status() == RunStatus("done", 1, "h")


def test_only_whole_lines_are_events(run: Run) -> None:
    assert run.metrics() == []
    run.append({"event": "start"})
    run.append({"event": "step", "epoch": 1})
    with (run.folder / METRICS).open("ab") as stream:
        stream.write(b'{"event": "dev", "mea')
    assert run.metrics() == [{"event": "start"}, {"event": "step", "epoch": 1}]
    assert run.metrics(after=1) == [{"event": "step", "epoch": 1}]
    assert run.metrics(after=2) == run.metrics(after=9) == []


def test_a_torn_line_is_cut_before_the_next(run: Run) -> None:
    run.append({"event": "start"})
    with (run.folder / METRICS).open("ab") as stream:
        stream.write(b'{"event": "de')
    run.append({"event": "resumed"})
    assert run.metrics() == [{"event": "start"}, {"event": "resumed"}]
    (run.folder / METRICS).write_bytes(b"torn from the start")
    run.append({"event": "start"})
    assert run.metrics() == [{"event": "start"}]


def test_numbers_that_json_lacks_are_refused(run: Run) -> None:
    with pytest.raises(ValueError, match="JSON"):
        run.append({"loss": float("nan")})
    assert run.metrics() == []


def test_a_process_is_alive_until_it_ends(run: Run) -> None:
    run.write_status(RunStatus.of_this_process("training"))
    assert run.is_alive()
    code = (
        "import sys; from pathlib import Path; from sciextract.retraining.run_folder import Run, RunStatus;"
        "Run(Path(sys.argv[1])).write_status(RunStatus.of_this_process('training'));"
        "print('written', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(run.folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert child.stdout and child.stdin
    assert child.stdout.readline() == b"written\n"
    assert run.is_alive()
    child.kill()
    child.wait()
    assert not run.is_alive()
    child.stdin.close()
    child.stdout.close()


def test_another_machine_or_a_reused_pid_is_not_alive(run: Run) -> None:
    mine = RunStatus.of_this_process("training")
    run.write_status(replace(mine, host="elsewhere"))
    assert not run.is_alive()
    run.write_status(replace(mine, process="1"))
    assert not run.is_alive()
    run.write_status(replace(mine, pid=-1))
    assert not run.is_alive()
    run.write_status(replace(mine, process=""))
    assert run.is_alive()


def test_a_folder_that_cannot_be_made_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "file"))
    with pytest.raises(OutputError, match="cannot be written") as caught:
        new_run(None)
    assert "SCIEXTRACT_HOME" in caught.value.hint
    with pytest.raises(OutputError, match=r"metrics\.jsonl"):
        Run(tmp_path / "file").append({})
