"""A folder of parts behind a URL holds what one on the disk holds, and is gone on with as well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciextract.errors import ModelMismatchError, OutputError, UsageError
from sciextract.scale import parts
from sciextract.scale.manifest import PartsManifest
from sciextract.scale.run import annotate_into_parts
from sciextract.workflows.annotate import Listener
from sciextract.workflows.annotate_job import Report
from tests.unit.scale.support import InProcess, given, lines, request_for, work_of

fsspec = pytest.importorskip("fsspec")
URL = "memory://results/run"


@pytest.fixture(autouse=True)
def store() -> Iterator[Any]:
    memory = fsspec.filesystem("memory")
    yield memory
    if memory.exists("/results"):
        memory.rm("/results", recursive=True)


def run(source: str, place: str, engine: InProcess | None = None) -> Report:
    request = request_for(source)
    return annotate_into_parts(request, engine or InProcess(), place, "jsonl", Listener(), 4)


def held(store: Any) -> dict[str, bytes]:
    return {name.rpartition("/")[2]: store.cat(name) for name in store.ls("/results/run", False)}


def test_it_holds_what_a_folder_holds(tmp_path: Path, store: Any) -> None:
    source = given(tmp_path / "in.jsonl", lines(10))
    report = run(source, URL)
    run(source, (tmp_path / "local").as_uri())
    local = {path.name: path.read_bytes() for path in (tmp_path / "local").iterdir()}
    assert held(store) == {name: data for name, data in local.items() if name != ".lock"}
    assert (report.output, report.counts.documents) == (URL, 10)


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, store: Any) -> None:
    source = given(tmp_path / "in.jsonl", lines(10))
    with pytest.raises(KeyboardInterrupt):
        run(source, URL, InProcess(most=2))
    engine = InProcess()
    report = run(source, URL, engine)
    assert (engine.predicted, report.resumed) == ([(0, 2)], 8)
    assert len(held(store)["journal.log"].splitlines()) == 3


def test_a_machine_that_dies_costs_what_its_journal_did_not_tell(
    tmp_path: Path, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "UPLOAD_SECONDS", 0.0)
    source = given(tmp_path / "in.jsonl", lines(10))
    with pytest.raises(KeyboardInterrupt):
        run(source, URL, InProcess(most=2))
    journal = store.cat("/results/run/journal.log").splitlines(keepends=True)
    store.pipe("/results/run/journal.log", journal[0])
    engine = InProcess()
    run(source, URL, engine)
    assert engine.predicted == [(0, 1), (0, 2)]
    assert store.cat("/results/run/part-00000-000001.jsonl").count(b"\n") == 4


def test_a_folder_of_another_model_or_of_something_else_is_refused(
    tmp_path: Path, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = given(tmp_path / "in.jsonl", lines(2))
    run(source, URL)
    text = store.cat("/results/run/manifest.json").decode()
    store.pipe("/results/run/manifest.json", text.replace('"fake"', '"other"').encode())
    with pytest.raises(ModelMismatchError, match=r"memory://results/run holds .* other@"):
        run(source, URL)
    store.pipe("/results/notes/todo.txt", b"nothing")
    with pytest.raises(OutputError, match=r"is not a folder of parts: todo\.txt"):
        run(source, "memory://results/notes")


def test_parts_that_would_be_read_as_input_are_refused() -> None:
    manifest = PartsManifest.of(work_of([]), {}, "jsonl")
    with (
        pytest.raises(UsageError, match="would be read as part of the input"),
        parts.open_object_store(URL, manifest, ["memory://results/"]),
    ):
        pass
