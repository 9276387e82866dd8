"""The command itself: stopped with Ctrl-C, given again, and its table printed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")

from sciextract.errors import ExitCode
from tests.research.paper.test_run import GRID
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.records import scierc_line

MANY_EPOCHS = 3000


@pytest.fixture
def words(tmp_path: Path, encoder_folder: Path) -> list[str]:
    grid = GRID.replace("evaluate_every = 1", f"evaluate_every = {MANY_EPOCHS}")
    (tmp_path / "grid.toml").write_text(grid, encoding="utf-8")
    text = "".join(map(scierc_line, TEN_SENTENCES))
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return [
        *(sys.executable, "-m", "research", "recipe", "run", "grid.toml", "--data", "."),
        *("--encoder", f"Tiny={encoder_folder}", "--folder", "runs", "--runs", "1"),
        *("--only", "NER", "--device", "cpu", "--epochs", str(MANY_EPOCHS)),
    ]


def wait_for(path: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not list(path.glob(pattern)):
        assert process.poll() is None and time.monotonic() < until, process.communicate()
        time.sleep(0.05)


def test_ctrl_c_leaves_a_table_and_says_how_to_go_on(words: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_for(tmp_path, "runs/cells/*/training/checkpoint.safetensors", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, err
    assert "| Tiny | … |" in out and "Traceback" not in err
    assert "0 of 1 trainings finished" in err and "to resume, repeat the command" in err
    stored = json.loads((tmp_path / "runs" / "grid.json").read_text(encoding="utf-8"))
    assert [cell["result"] for cell in stored["cells"]] == [None]
