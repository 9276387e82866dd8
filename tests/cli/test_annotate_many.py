"""The command with several workers around the bundled model: few real processes, many refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from tests.cli.conftest import Command
from tests.shared_data import ROOT

TEXTS = [
    {
        "id": "parser",
        "text": "We train a neural parser for dependency parsing on the Penn Treebank.",
    },
    {
        "id": "aspirin",
        "text": "Aspirin inhibits cyclooxygenase in patients with colorectal cancer.",
    },
    {"id": "nothing"},
    {"id": "search", "text": "Beam search improves translation quality, measured by BLEU."},
]


@pytest.fixture
def source(work: Path) -> str:
    (work / "in.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in TEXTS), "utf-8")
    return "in.jsonl"


def test_lines_of_two_workers_are_those_of_one_process(command: Command, source: str) -> None:
    words = ("annotate", source, "--export", "jsonl", "--json", "--model", "auto", "--candidates")
    one, two = command(*words), command(*words, "--workers", 2)
    assert two.out == one.out and two.out.count("\n") == 3
    assert two.code == one.code == ExitCode.PARTIAL
    assert "Bad record: in.jsonl:3" in two.err and "auto chose" in two.err
    summary = json.loads(two.err.splitlines()[-1])
    assert (summary["documents"], summary["bad"], summary["quarantined"]) == (3, 1, 0)


def test_parts_with_given_entities(command: Command, work: Path, source: str) -> None:
    command("annotate", source, "--output", "given.jsonl")
    words = ("annotate", "given.jsonl", "--given-entities", "--workers", 1, "--parts", "out")
    first = command(*words)
    assert first.code == ExitCode.DONE and "3 abstracts" in first.err
    one = command("annotate", "given.jsonl", "--given-entities", "--export", "jsonl")
    assert (work / "out" / "part-00000-000000.jsonl").read_text("utf-8") == one.out
    again = command(*words, "--json")
    assert json.loads(again.out)["resumed"] == 3 and json.loads(again.out)["documents"] == 0
    other = command(*words, "--model", "bio")
    assert other.code == ExitCode.FAILED
    assert "holds results of the model sci@" in other.err and "this run uses bio@" in other.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--workers", 2), "several workers write lines"),
        (("--unordered", "--export", "jsonl"), "--unordered is for several workers"),
        (("--timeout", 5), "--timeout is for several workers"),
        (("--workers", 2, "--threads", 2, "--export", "jsonl"), "a worker has one thread"),
        (("--parts", "out", "--output", "out.jsonl"), "--output and --parts cannot be combined"),
        (("--parts", "out", "--force"), "--force and --parts cannot be combined"),
        (("--parts", "out", "--unordered"), "--unordered and --parts cannot be combined"),
        (("--parts", "out", "--export", "brat"), "parts cannot be 'brat'"),
        (("--parts", "out", "--export", "parquet", "--candidates"), "needs a format that holds"),
        (("--workers", 2, "--address", "auto", "--export", "jsonl"), "add --engine ray"),
        (("--project", "p.sciextract", "--workers", 2), "--workers is not for projects"),
    ],
)
def test_options_that_do_not_fit(
    command: Command, source: str, words: tuple[object, ...], message: str
) -> None:
    if "--project" in words:
        assert command("init", "p.sciextract").code == ExitCode.DONE
    result = command("annotate", source, *words)
    assert result.code == ExitCode.USAGE and message in result.err
    assert not Path("out").exists()


def test_a_scheduler_that_ends_the_run(source: str, work: Path) -> None:
    path = work / source
    path.write_bytes(path.read_bytes() * 500)
    words = ["annotate", source, "--parts", "out", "--workers", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "sciextract", *words],
        stderr=subprocess.PIPE,
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        # A signal before the run has begun ends it without a word, so the start must be seen, however slow it is.
        deadline = time.monotonic() + 240
        while not (work / "out" / "manifest.json").exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        narration = process.communicate(timeout=120)[1].decode()
    assert process.returncode == ExitCode.INTERRUPTED
    assert "interrupted; the parts in out are whole" in narration
    assert "to resume, repeat the command" in narration and "Traceback" not in narration
