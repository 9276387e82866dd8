"""Ctrl-C and ``--resume``: the file in the end equals that of a run without a stop."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sciextract.documents.document import ModelId
from sciextract.errors import ExitCode
from tests.cli.conftest import Command
from tests.cli.fakes import RuleExtractor

LINES = [
    json.dumps({"id": f"d{n}", "text": f"Parser number {n} reads lattices."}) for n in range(6)
]
INPUT = "".join(f"{line}\n" for line in LINES)


@pytest.fixture
def whole(command: Command, fake: RuleExtractor) -> bytes:
    """What a run without a stop writes."""
    return command("annotate", "--export", "jsonl", stdin=INPUT).out.encode()


def waited_for(path: Path, lines: int) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= lines:
            return True
        time.sleep(0.02)
    return False


def test_ctrl_c_leaves_complete_lines(command: Command, tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "out.jsonl"
    words = ["-m", "tests.cli.fake_main", "annotate", "-", "--output", str(path)]
    with subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write("".join(f"{line}\n" for line in LINES[:3]).encode())
        process.stdin.flush()
        assert waited_for(path, 3)
        process.send_signal(signal.SIGINT)
        _, narration = process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED
    assert b"--resume" in narration and b"Traceback" not in narration
    assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:3])
    result = command("annotate", "-", "--output", path, "--resume", "--json", stdin=INPUT)
    assert (result.code, path.read_bytes()) == (ExitCode.DONE, whole)
    assert (json.loads(result.out)["resumed"], json.loads(result.out)["documents"]) == (3, 3)


@pytest.mark.parametrize("kept", [0, 10, 900, 10**9])
def test_a_torn_file_is_made_whole(
    command: Command, tmp_path: Path, whole: bytes, kept: int
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole[:kept])
    result = command("annotate", "--output", path, "--resume", stdin=INPUT)
    assert (result.code, path.read_bytes()) == (ExitCode.DONE, whole)


def test_a_torn_line_after_the_last_document(
    command: Command, tmp_path: Path, whole: bytes
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole + b'{"schema_version"')
    assert command("annotate", "--output", path, "--resume", stdin=INPUT).code == ExitCode.DONE
    assert path.read_bytes() == whole


def test_resuming_without_a_file_starts(command: Command, tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "out.jsonl"
    assert command("annotate", "--output", path, "--resume", stdin=INPUT).code == ExitCode.DONE
    assert path.read_bytes() == whole


def test_bad_records_are_named_again(command: Command, tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    broken = "".join([f"{LINES[0]}\n", "{broken\n", *[f"{line}\n" for line in LINES[1:]]])
    result = command("annotate", "--output", path, "--resume", stdin=broken)
    assert (result.code, path.read_bytes()) == (ExitCode.PARTIAL, whole)
    assert "-:2:2: broken JSON" in result.err


def refused(command: Command, path: Path, stdin: str = INPUT, *words: str) -> str:
    """The message of a run that must leave the file alone."""
    before = path.read_bytes()
    result = command("annotate", "--output", path, "--resume", *words, stdin=stdin)
    assert (result.code, path.read_bytes()) == (ExitCode.FAILED, before)
    return result.err


def test_another_model_is_refused(
    command: Command, tmp_path: Path, whole: bytes, fake: RuleExtractor
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole[:-20])
    fake.model = ModelId("other", "0" * 64)
    message = refused(command, path)
    assert "fake@ffffffff" in message and "other@00000000" in message


def test_other_documents_are_refused(command: Command, tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole)
    assert "more than the 2 documents" in refused(command, path, INPUT[: len(LINES[0]) * 2 + 2])
    assert "out.jsonl:1: the line holds 'd0', the input has 'd1'" in refused(
        command, path, f"{LINES[1]}\n"
    )
    assert "a different text of 'd0'" in refused(command, path, LINES[0].replace("reads", "eats"))


def test_other_files_are_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("dear diary\n", encoding="utf-8")
    assert "out.jsonl:1: this is not a line of --to jsonl" in refused(command, path)
    path.write_text('{"doc_key": "d0"}\n', encoding="utf-8")
    assert "not a line of --to jsonl" in refused(command, path)


def test_other_formats_are_refused(command: Command, tmp_path: Path) -> None:
    words = ("annotate", "--export", "scierc", "--output", tmp_path / "out.json", "--resume")
    result = command(*words, stdin=INPUT)
    assert result.code == ExitCode.USAGE and "it can with jsonl" in result.err
