"""Real worker processes around predictors that need no model."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from sciextract.scale import processes
from sciextract.scale.interface import ChunkResult, Work, WorkerRefusedError, WorkersFailedError
from sciextract.scale.processes import ProcessEngine
from sciextract.scale.worker import WorkerProcess
from tests.unit.scale.support import expected, given, lines, work_of


def children() -> Iterator[int]:
    """Worker processes of this process."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes()
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == os.getpid() and b"sciextract.scale.worker" in words:
            yield int(path.name)


@pytest.mark.parametrize(("workers", "ordered"), [(1, True), (3, True), (2, False)])
def test_the_same_bytes_as_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, ordered: bool
) -> None:
    monkeypatch.setattr(processes, "START_CHARACTERS", 100)
    bad = '{"id": "torn", \n'
    work = work_of([given(tmp_path / "in.jsonl", lines(30) + bad + lines(5))], ordered=ordered)
    results = list(ProcessEngine(workers).results(work, {}))
    data = [result.data for result in sorted(results, key=lambda result: result.key)]
    assert b"".join(data) == expected(work)
    assert sum(result.counts.bad for result in results) == 1
    if ordered:
        assert [result.key for result in results] == sorted(result.key for result in results)
    assert not list(children())


def test_ctrl_c_while_a_worker_starts_is_no_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: processes.Worker) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(processes.Worker, "start", interrupted)
    work = work_of([given(tmp_path / "in.jsonl", lines(3))])
    with pytest.raises(KeyboardInterrupt):
        list(ProcessEngine(1).results(work, {}))
    assert not list(children())


@pytest.mark.parametrize(("records", "most"), [(20, 1), (100, 3)])
def test_processes_start_as_far_as_the_text_pays_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: int, most: int
) -> None:
    """A process costs as much as some dozens of abstracts: twenty take one."""
    started: list[WorkerProcess] = []

    def counted(work: Work) -> WorkerProcess:
        started.append(WorkerProcess(work))
        return started[-1]

    monkeypatch.setattr(processes, "WorkerProcess", counted)
    for module in (processes, processes):
        monkeypatch.setattr(module, "START_CHARACTERS", 2_000)
    work = work_of([given(tmp_path / "in.jsonl", lines(records, "SLOW"))], "poisoned")
    results = [*ProcessEngine(3).results(work, {})]
    assert b"".join(result.data for result in results) == expected(work)
    assert len(started) == most


def test_poison_is_quarantined_and_costs_nothing_else(tmp_path: Path) -> None:
    healthy = work_of([given(tmp_path / "good.jsonl", lines(40))])
    text = lines(40, d5="CRASH", d17="RAISE", d39="HANG")
    work = work_of([given(tmp_path / "in.jsonl", text)], "poisoned")
    notes: list[str] = []
    results = list(ProcessEngine(2, timeout=2, note=notes.append).results(work, {}))
    lost = {problem.record["id"]: problem for result in results for problem in result.problems}
    assert list(lost) == ["d5", "d17", "d39"]
    assert {problem.kind for problem in lost.values()} == {"quarantined"}
    assert "exit code 7, 2 times" in lost["d5"].message and "in.jsonl:6" in lost["d5"].message
    assert "a tensor has no shape" in lost["d17"].message
    assert "exceeded the time limit" in lost["d39"].message
    assert len(notes) == 2 and all("tries again" in note for note in notes)
    whole = expected(healthy).splitlines()
    kept = [line for row, line in enumerate(whole) if row not in (5, 17, 39)]
    assert b"".join(result.data for result in results).splitlines() == kept


def test_a_worker_that_somebody_kills_costs_only_time(tmp_path: Path) -> None:
    text = lines(30, **{f"d{n}": "SLOW" for n in range(30)})
    work = work_of([given(tmp_path / "in.jsonl", text)], "poisoned")
    results: list[ChunkResult] = []
    for result in ProcessEngine(2).results(work, {}):
        if not results:
            os.kill(next(children()), signal.SIGKILL)
        results.append(result)
    assert b"".join(result.data for result in results) == expected(work)
    assert not any(result.problems for result in results)


def test_workers_that_cannot_start_end_the_run(tmp_path: Path) -> None:
    path = given(tmp_path / "in.jsonl", lines(9))
    with pytest.raises(WorkersFailedError, match=r"3 workers in a row .* exit code 9"):
        list(ProcessEngine(2).results(work_of([path], "dying"), {}))
    with pytest.raises(WorkerRefusedError, match="is cut") as refused:
        list(ProcessEngine(2).results(work_of([path], "refusing"), {}))
    assert refused.value.hint == "get the model again"
    assert refused.value.exit_code == ExitCode.FAILED
    assert not list(children())


def test_closing_ends_the_workers(tmp_path: Path) -> None:
    work = work_of([given(tmp_path / "in.jsonl", lines(50, "SLOW"))], "poisoned")
    results = ProcessEngine(2).results(work, {})
    next(results)
    assert list(children())
    results.close()
    assert not list(children())
