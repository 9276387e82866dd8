"""One ordered file: the bytes of one process, without the records that cannot be predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import ExitCode, UsageError
from sciextract.scale.processes import ProcessEngine
from sciextract.scale.run import annotate_into_stream
from sciextract.workflows.annotate import Listener
from sciextract.workflows.annotate_job import Report, Target
from tests.unit.scale.support import (
    InProcess,
    expected,
    given,
    lines,
    request_for,
    work_of,
)


def run(source: str, path: Path, predictor: str = "rule", *, ordered: bool = True) -> Report:
    return annotate_into_stream(
        request_for(source, predictor=predictor),
        ProcessEngine(2),
        Target("jsonl", str(path)),
        ordered,
        Listener(),
    )


def test_what_is_missing_is_counted_and_kept_aside(tmp_path: Path) -> None:
    bad = '{"id": "torn", \n'
    source = given(tmp_path / "in.jsonl", lines(8, d2="RAISE") + bad + lines(9, d8="RAISE"))
    path, kept = tmp_path / "out.jsonl", tmp_path / "out.quarantine.jsonl"
    report = run(source, path, "poisoned")
    assert report.exit_code == ExitCode.PARTIAL and report.left_out == (1, 2)
    assert report.quarantine == str(kept) and kept.read_text().count("\n") == 2
    assert path.read_bytes() == expected(work_of([source], "poisoned"))


def test_any_order_has_the_same_lines(tmp_path: Path) -> None:
    source = given(tmp_path / "in.jsonl", lines(20, d0="SLOW"))
    run(source, tmp_path / "out.jsonl", "poisoned", ordered=False)
    found = (tmp_path / "out.jsonl").read_bytes().splitlines()
    assert sorted(found) == sorted(expected(work_of([source], "poisoned")).splitlines())


def test_without_results_no_file_is_left(tmp_path: Path) -> None:
    source = given(tmp_path / "in.jsonl", '{"id": "nothing"}\n')
    report = run(source, tmp_path / "out.jsonl")
    assert report.exit_code == ExitCode.FAILED and report.left_out == (1, 0)
    assert not (tmp_path / "out.jsonl").exists()


def test_what_does_not_fit_together(tmp_path: Path) -> None:
    source, path = given(tmp_path / "in.jsonl", lines(1)), tmp_path / "out.jsonl"
    with pytest.raises(UsageError, match="for one process"):
        target = Target("jsonl", str(path), resume=True)
        annotate_into_stream(request_for(source), InProcess(), target, True, Listener())
    target = Target("scierc", str(path))
    with pytest.raises(UsageError, match="several workers write lines"):
        annotate_into_stream(request_for(source), InProcess(), target, True, Listener())
