"""Folders of parts: whatever ends a run, the same call goes on, and does and writes nothing twice."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.documents.document import ModelId
from sciextract.errors import (
    ExitCode,
    InputMissingError,
    ModelMismatchError,
    OutputError,
    SciextractError,
    UsageError,
)
from sciextract.formats import read
from sciextract.scale.interface import Engine, InputChangedError
from sciextract.scale.parts import lock_folder
from sciextract.scale.processes import ProcessEngine
from sciextract.scale.run import Request, annotate_into_parts
from sciextract.workflows.annotate import Listener
from sciextract.workflows.annotate_job import Report
from tests.unit.scale.predictors import IDENTIFIED
from tests.unit.scale.support import (
    InProcess,
    expected,
    given,
    lines,
    request_for,
    work_of,
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    return given(tmp_path / "in.jsonl", lines(22) + '{"id": "torn", \n')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


def run(request: Request, folder: Path, engine: Engine | None = None) -> Report:
    return annotate_into_parts(
        request, engine or InProcess(), str(folder), "jsonl", Listener(), chunk_size=5
    )


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


def test_parts_joined_are_the_one_file(source: str, folder: Path) -> None:
    report = run(request_for(source), folder)
    assert b"".join(parts(folder).values()) == expected(work_of([source]))
    assert list(parts(folder))[1] == "part-00000-000001.jsonl"
    assert (report.counts.documents, report.left_out) == (22, (1, 0))
    assert report.exit_code == ExitCode.PARTIAL
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["complete"] and manifest["totals"]["parts"] == 5
    assert len(list(read([folder]))) == 22  # neither the manifest nor the journal is read as data


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_stopped_run_goes_on_and_does_nothing_twice(source: str, folder: Path, most: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(request_for(source), folder, InProcess(most))
    first = {name: (folder / name).stat().st_mtime_ns for name in parts(folder)}
    assert len(first) == most
    engine = InProcess()
    report = run(request_for(source), folder, engine)
    assert engine.predicted == [(0, number) for number in range(most, 5)]
    assert report.resumed + report.counts.documents == 22
    assert b"".join(parts(folder).values()) == expected(work_of([source]))
    assert {name: (folder / name).stat().st_mtime_ns for name in first} == first
    again = InProcess()
    assert run(request_for(source), folder, again).resumed == 22
    assert not again.predicted


def test_a_torn_journal_a_lost_part_and_litter(source: str, folder: Path) -> None:
    run(request_for(source), folder)
    whole = parts(folder)
    journal = folder / "journal.log"
    journal.write_bytes(journal.read_bytes()[:-20])
    (folder / "part-00000-000001.jsonl").write_bytes(b"torn")
    altered = folder / "part-00000-000002.jsonl"
    altered.write_bytes(bytes([altered.read_bytes()[0] ^ 1]) + altered.read_bytes()[1:])
    (folder / ".part-00000-000009.jsonl.partial").write_bytes(b"half")
    engine = InProcess()
    run(request_for(source), folder, engine)
    assert engine.predicted == [(0, 1), (0, 2), (0, 4)]
    assert parts(folder) == whole and not list(folder.glob(".*.partial"))
    journal.write_bytes(b"no journal\n" + journal.read_bytes())
    with pytest.raises(OutputError, match=r"journal\.log:1: the journal is damaged"):
        run(request_for(source), folder)


def test_results_of_something_else_are_refused(source: str, folder: Path) -> None:
    request = request_for(source)
    run(request, folder)
    before = parts(folder)
    other = replace(IDENTIFIED, model=ModelId("other", "e" * 64))
    with pytest.raises(
        ModelMismatchError, match="of the model fake@ffffffff, this run uses other@eeee"
    ):
        run(replace(request, identified=other), folder)
    choice = replace(IDENTIFIED.choice, thresholds={"entity": 0.4})
    with pytest.raises(OutputError, match=r"thresholds \{\}, this run has \{\"entity\": 0.4\}"):
        run(replace(request, identified=replace(IDENTIFIED, choice=choice)), folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "version": "0.0.1"}))
    with pytest.raises(OutputError, match=r"sciextract version 0\.0\.1, this run has"):
        run(request, folder)
    (folder / "manifest.json").write_text(json.dumps({"format_version": 99}))
    with pytest.raises(OutputError, match="version 99 of the folder"):
        run(request, folder)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(OutputError, match="not a manifest"):
        run(request, folder)
    assert parts(folder) == before


def test_an_input_that_changed(tmp_path: Path, source: str, folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(request_for(source), folder, InProcess(2))
    os.utime(source, ns=(1, 1))
    run(request_for(source), folder)  # the same text, another time
    given(Path(source), lines(22, d7="now"))
    with pytest.raises(InputChangedError, match=r"in\.jsonl:6 on are not those"):
        run(request_for(source), folder)
    given(tmp_path / "more.jsonl", lines(1))
    with pytest.raises(OutputError, match=r"other inputs: new: .*more\.jsonl"):
        run(request_for(source, str(tmp_path / "more.jsonl")), folder)
    with pytest.raises(OutputError, match=r"new: .*more\.jsonl; missing: .*in\.jsonl"):
        run(request_for(str(tmp_path / "more.jsonl")), folder)


def test_a_folder_with_files_that_grows(tmp_path: Path, folder: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    given(papers / "a.txt", "Parser a reads lattices.")
    run(request_for(str(papers)), folder)
    given(papers / "b.txt", "Parser b reads lattices.")
    with pytest.raises(OutputError, match=r"new: .*b\.txt"):
        run(request_for(str(papers)), folder)


def test_places_that_cannot_be(tmp_path: Path, source: str) -> None:
    (tmp_path / "mine").mkdir()
    given(tmp_path / "mine" / "thesis.tex", "...")
    cases: list[tuple[Path, type[SciextractError], str]] = [
        (tmp_path / "mine", OutputError, "is not a folder of parts: thesis.tex"),
        (Path(source), OutputError, "is a file"),
        (tmp_path / "no" / "where", OutputError, "no such folder"),
    ]
    for place, kind, words in cases:
        with pytest.raises(kind, match=words):
            run(request_for(source), place)
    with pytest.raises(UsageError, match="read as part of the input"):
        run(request_for(str(tmp_path)), tmp_path / "out")
    with pytest.raises(InputMissingError):
        run(request_for(str(tmp_path / "none")), tmp_path / "out")
    with pytest.raises(UsageError, match="parts cannot be 'brat'"):
        annotate_into_parts(
            request_for(source), InProcess(), str(tmp_path / "out"), "brat", Listener()
        )
    assert not (tmp_path / "out").exists()


def test_two_runs_at_once(source: str, folder: Path) -> None:
    folder.mkdir()
    with (
        lock_folder(folder),
        pytest.raises(OutputError, match=rf"another run .*process {os.getpid()}"),
    ):
        run(request_for(source), folder)
    run(request_for(source), folder)


@contextmanager
def small_disk(size: int) -> Iterator[None]:
    """No file can grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize("size", [1, 500, 1000, 4000])
def test_a_full_disk_damages_nothing(source: str, folder: Path, size: int) -> None:
    with small_disk(size), pytest.raises(OutputError, match="larger than is allowed") as error:
        run(request_for(source), folder)
    assert "repeat the command to resume" in error.value.hint
    run(request_for(source), folder)
    assert b"".join(parts(folder).values()) == expected(work_of([source]))


def test_quarantined_records_can_be_tried_again(tmp_path: Path, folder: Path) -> None:
    source = given(tmp_path / "in.jsonl", lines(12, d3="RAISE", d11="RAISE"))
    with pytest.raises(KeyboardInterrupt):
        run(request_for(source, predictor="poisoned"), folder, InProcess(1))
    kept = folder / "quarantine.jsonl"
    kept.write_bytes(kept.read_bytes() + b'{"id": "x", "quarantine": {"chunk": [0, 2]}}\n{"id')
    report = run(request_for(source, predictor="poisoned"), folder)
    assert report.exit_code == ExitCode.PARTIAL and report.left_out == (0, 2)
    assert [json.loads(line)["id"] for line in kept.read_text().splitlines()] == ["d3", "d11"]
    again = tmp_path / "again"
    assert run(request_for(str(kept)), again).exit_code == ExitCode.DONE
    [first, _] = read([again])
    assert "a tensor has no shape" in first.document.fields["quarantine"]["reason"]  # type: ignore[union-attr]


def test_parquet_parts_hold_the_same_documents(source: str, folder: Path) -> None:
    pytest.importorskip("pyarrow")
    annotate_into_parts(request_for(source), InProcess(), str(folder), "parquet", Listener())
    [part] = folder.glob("part-*.parquet")
    assert [item.document.doc_key for item in read([part])] == [f"d{n}" for n in range(22)]  # type: ignore[union-attr]


def started(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while len(parts(folder)) < count and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    assert process.poll() is None and len(parts(folder)) >= count


def alive(parent: int) -> list[int]:
    """Workers that were started by a process, also when it is gone."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"sciextract.scale.worker" in words and str(parent).encode() in words:
            found.append(int(path.name))
    return found


def test_killing_the_parent_ends_its_workers_and_costs_only_time(
    tmp_path: Path, folder: Path
) -> None:
    slow = {f"d{n}": "SLOW" for n in range(60)}
    source = given(tmp_path / "in.jsonl", lines(60, **slow))
    words = [sys.executable, "-m", "tests.unit.scale.run_parts", source, str(folder)]
    with subprocess.Popen(words) as process:
        started(folder, 2, process)
        assert alive(process.pid)
        process.kill()
    deadline = time.monotonic() + 10
    while alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(process.pid)
    before = {name: (folder / name).stat().st_mtime_ns for name in parts(folder)}
    report = run(request_for(source, predictor="poisoned"), folder, ProcessEngine(1))
    assert 0 < report.resumed < 60 and report.counts.documents == 60 - report.resumed
    assert b"".join(parts(folder).values()) == expected(work_of([source], "poisoned"))
    journal = [json.loads(line) for line in (folder / "journal.log").read_text().splitlines()]
    assert sorted(entry["number"] for entry in journal) == list(range(13))
    after = {name: (folder / name).stat().st_mtime_ns for name in parts(folder)}
    assert sum(after[name] == before[name] for name in before) >= report.resumed // 5
