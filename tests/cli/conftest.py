from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import typer.main

from sciextract.cli.main import main
from sciextract.documents.schema_file import load_schema
from sciextract.inference.extractor import Extractor
from sciextract.store import create_project, open_project
from sciextract.workflows.import_files import import_files
from tests.cli.fakes import RuleExtractor, install
from tests.cli.projects import GOLD, PLAIN, write_lines


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Command = Callable[..., Outcome]


@pytest.fixture(autouse=True, scope="session")
def commands_built_once() -> Iterator[None]:
    """Typer builds all commands anew at each call, which takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(autouse=True)
def user_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("SCIEXTRACT_PROJECT", raising=False)
    monkeypatch.setenv("SCIEXTRACT_USER", "ann")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> RuleExtractor:
    """The fake model, in the place of every model."""
    monkeypatch.setattr(Extractor, "load", Extractor.__dict__["load"])  # so that it comes back
    extractor = RuleExtractor()
    install(extractor)
    return extractor


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the whole command line in this process: words in; exit code, stdout and stderr out."""

    def run(*words: object, stdin: str | bytes = b"") -> Outcome:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        out, err = io.BytesIO(), io.BytesIO()
        with monkeypatch.context() as patched:
            pipe = io.BufferedReader(io.BytesIO(data))
            patched.setattr(sys, "stdin", io.TextIOWrapper(pipe, "utf-8"))
            stdout = io.TextIOWrapper(out, "utf-8", write_through=True)
            stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True)
            patched.setattr(sys, "stdout", stdout)
            patched.setattr(sys, "stderr", stderr)
            with pytest.raises(SystemExit) as leaving:
                main([str(word) for word in words])
            stdout.flush()
            stderr.flush()
            return Outcome(
                int(leaving.value.code or 0), out.getvalue().decode(), err.getvalue().decode()
            )

    return run


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one annotated and one plain abstract, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    path = folder / "p.sciextract"
    create_project(path, load_schema("scierc"), "ann").close()
    papers = write_lines(folder / "papers.jsonl", GOLD, PLAIN)
    with open_project(path, "ann") as project:
        import_files(project, [str(papers)])
    return path


@pytest.fixture
def project(work: Path, made: Path) -> Path:
    """The only project of the folder: an annotated abstract and a plain one."""
    return Path(shutil.copy(made, work))
