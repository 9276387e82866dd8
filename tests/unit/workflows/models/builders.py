"""Model folders that are whole by their manifest, and hold no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from sciextract.inference.model_folder import write_manifest
from tests.cli.fakes import CONFIG
from tests.shared_data import ROOT


def model_folder(
    path: Path, name: str = "parsing", weights: str = "weights", **changes: Any
) -> Path:
    """A model folder; other weights give it another hash."""
    path.mkdir(parents=True)
    config = replace(CONFIG, name=name, **changes)
    (path / "config.json").write_text(json.dumps(config.to_json()), "utf-8")
    (path / "tokenizer.json").write_text("{}", "utf-8")
    (path / "README.md").write_text(
        f"# {name}\n\nA card that says [12] and \x1b[31mred.\n", "utf-8"
    )
    (path / "model.int8.onnx").write_text(weights, "utf-8")
    write_manifest(path)
    (path / "checkpoint.bin").write_text("not of the model", "utf-8")
    return path


def names_in(folder: Path) -> list[str]:
    """Names of everything in a folder, hidden ones too."""
    return sorted(file.name for file in folder.iterdir())


def at_once(script: str, *words: list[Any]) -> list[str]:
    """Processes that wait for a line, get it at one time, and end well; gives what each prints."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", f"import sys\n{script}", *map(str, word)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for word in words
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    printed = [process.communicate()[0].strip() for process in started]
    assert [process.returncode for process in started] == [0] * len(started)
    return printed
