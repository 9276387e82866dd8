"""Commands on projects of an earlier version: those that read leave the file, those that write convert it and say so."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from sciextract.store.sqlite import VERSION
from tests.cli.conftest import Command
from tests.unit.store.released import SCRIPT, load

EARLIER = SCRIPT.with_name("version_2.sql")


@pytest.fixture
def old(work: Path) -> Path:
    """The only project here."""
    return load(work / "old.sciextract", EARLIER)


def _version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_reading_commands_leave_it(command: Command, old: Path) -> None:
    before = old.read_bytes()
    for words in ("status", "log", "search graph", "stats", "export --to jsonl --all", "doctor"):
        assert command(*words.split()).code == ExitCode.DONE, words
    assert old.read_bytes() == before


def test_writing_commands_convert_it_and_name_the_backup(
    command: Command, old: Path, work: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = load(work / "other.sciextract", EARLIER)
    merged = command("merge", other, "--project", old)
    assert merged.code == ExitCode.DONE, merged.err
    backup = next((work / "old.sciextract-backups").glob("*version-2*"))
    assert backup.name in caplog.text  # pytest takes what else goes to standard error
    assert (_version(old), _version(other)) == (VERSION, 2)
    restored = command("backup", "--restore", backup, "--project", old)
    assert (restored.code, _version(old)) == (ExitCode.DONE, 2)
    assert command("doctor", "--project", old).code == ExitCode.DONE
