"""What a user feels of whole processes: peak memory, cold start, ``--help``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.annotate_child import run_child

FORBIDDEN = (*("torch", "numpy", "pandas", "spacy", "textual", "onnxruntime", "pydantic"),)
LONG_TEXT_WORDS = 100_000
_IMPORT = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s+([\w.]+)", re.MULTILINE)


def annotate_command(path: Path, model: str, threads: int) -> list[str]:
    """The command line of a whole run."""
    words = ["annotate", str(path), "--export", "jsonl", "--model", model]
    return [sys.executable, "-m", "sciextract", *words, "--threads", str(threads)]


def peak_memory(path: Path, model: str, threads: int) -> float:
    """Peak resident memory of annotating a file, in MB."""
    return float(run_child(annotate_command(path, model, threads))["peak_mb"])


def long_text(texts: Sequence[str], folder: Path) -> Path:
    """One text of 100,000 words, made of the given ones."""
    words: list[str] = []
    while len(words) < LONG_TEXT_WORDS:
        for text in texts:
            words.extend(text.split())
    path = folder / "long.jsonl"
    record = {"id": "long", "text": " ".join(words[:LONG_TEXT_WORDS])}
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


def cold_start(text: str, folder: Path, model: str, threads: int, repeats: int) -> float:
    """Wall seconds from nothing to the first annotated abstract and out again; the best run."""
    path = folder / "one.txt"
    path.write_text(text, encoding="utf-8")
    command = annotate_command(path, model, threads)
    return min(float(run_child(command)["seconds"]) for _ in range(repeats))


def help_times(repeats: int) -> tuple[float, float]:
    """Best wall seconds of ``sciextract --help`` and of a Python that does nothing, in turns."""
    own, bare = [], []
    for _ in range(repeats):
        own.append(run_child([sys.executable, "-m", "sciextract", "--help"])["seconds"])
        bare.append(run_child([sys.executable, "-c", "pass"])["seconds"])
    return min(own), min(bare)


def forbidden_modules() -> list[str]:
    """Which of the modules that ``--help`` must not load it loads."""
    command = [sys.executable, "-X", "importtime", "-m", "sciextract", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in _IMPORT.findall(result.stderr)}
    return [name for name in FORBIDDEN if name in loaded]
