"""The outermost frame."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from sciextract import __version__
from sciextract.cli.main import make_app
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ExitCode
from tests.cli.conftest import Command
from tests.cli.fakes import RuleExtractor

SECRET = "unpublished finding"


def test_version_and_module(command: Command) -> None:
    assert command("--version").out == f"sciextract {__version__}\n"
    result = subprocess.run(
        [sys.executable, "-m", "sciextract", "--version"], capture_output=True, check=True
    )
    assert result.stdout.decode().split() == ["sciextract", __version__]


def test_commands_are_listed(command: Command) -> None:
    result = command("--help")
    assert result.code == ExitCode.DONE
    assert "annotate" in result.out and "evaluate" in result.out
    assert command().code == ExitCode.USAGE
    wrong = command("nosuch\x1b")
    assert wrong.code == ExitCode.USAGE
    assert "No such command" in wrong.err and "\x1b" not in wrong.err


def test_bash_completes_commands_options_and_values(tmp_path: Path) -> None:
    shim = tmp_path / "sciextract"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sciextract "$@"\n')
    shim.chmod(0o755)
    script = """
        eval "$(sciextract --show-completion)"
        completed() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _sciextract_completion sciextract
            echo "${COMPREPLY[@]}"
        }
        completed sciextract anno
        completed sciextract graph build --sym
        completed sciextract convert in.jsonl --to pub
        completed sciextract annotate --model b
        completed sciextract annotate pap
    """
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}
    bash = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    *found, file = bash.stdout.split("\n")[:-1]
    assert found == ["annotate", "--symmetric", "pubtator", "bio"], bash.stderr
    assert file == ""  # nothing from the program: bash completes the names of files


class BrokenExtractor(RuleExtractor):
    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        for document in documents:
            raise RuntimeError(document.text)
        return iter(())


class InterruptedExtractor(RuleExtractor):
    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        yield from super().stream([next(iter(documents))])
        raise KeyboardInterrupt


def test_a_crash_report_holds_no_text(
    command: Command, fake: RuleExtractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "stream", BrokenExtractor().stream)
    result = command("annotate", "--export", "jsonl", stdin=SECRET)
    assert (result.code, result.out) == (ExitCode.FAILED, "")
    assert "RuntimeError" in result.err and SECRET not in result.err
    [report] = (tmp_path / "home" / "crashes").iterdir()
    assert str(report) in result.err
    text = report.read_text("utf-8")
    assert "RuntimeError" in text and "in annotate" in text and SECRET not in text


def test_a_crash_report_that_cannot_be_written(
    command: Command, fake: RuleExtractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "stream", BrokenExtractor().stream)
    (tmp_path / "home").write_text("a file")
    result = command("annotate", stdin=SECRET)
    assert result.code == ExitCode.FAILED
    assert "no crash report could be written" in result.err


def test_interrupted(
    command: Command, fake: RuleExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "stream", InterruptedExtractor().stream)
    result = command("annotate", "--export", "jsonl", stdin="Lattice.")
    assert result.code == ExitCode.INTERRUPTED
    assert len(result.out.splitlines()) == 1
    assert "interrupted after 1 abstract" in result.err


def test_a_place_that_cannot_be_written_is_named(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, *_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", path)

    monkeypatch.setattr("sciextract.store.create_project", refuse)
    done = command("init", "away/p.sciextract")
    assert done.code == ExitCode.FAILED
    assert "away/p.sciextract cannot be used: Read-only file system" in done.err


def test_help_shows_every_command_once_in_sections(command: Command) -> None:
    text = command("--help").out
    assert "\nProjects:\n" in text and "\nCommands:" not in text
    first = [
        line.split()[0] for line in text.splitlines() if line.startswith("  ") and line[2:3] != " "
    ]
    names = get_command(make_app()).commands  # type: ignore[attr-defined]
    assert all(first.count(name) == 1 for name in names)
