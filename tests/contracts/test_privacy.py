"""Nothing is written outside of what the user names, and nothing leaves the machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sciextract.resources import bundled_models

_PREDICT = """
from sciextract import Extractor
print(len(list(Extractor.load()(["We parse graphs with a small network."]))))
"""
_LOCATE = "from sciextract.inference.model_folder import locate_model\n"
_SWITCHES = ("HF_HUB_DISABLE_TELEMETRY", "DISABLE_TELEMETRY", "DO_NOT_TRACK")


def test_predicting_leaves_no_files_in_the_users_folders(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("XDG_") and key != "ORT_DISABLE_TELEMETRY"
    }
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _PREDICT],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "1", done.stderr
    assert [str(path) for path in tmp_path.rglob("*")] == []


@pytest.mark.parametrize(
    ("before", "needed", "chosen", "off"),
    [
        (_LOCATE, "huggingface_hub", {}, "True"),
        (_LOCATE, "huggingface_hub", {_SWITCHES[0]: "0"}, "False"),
        ("import sciextract_trainer.encoders.loading\n", "transformers", {}, "True"),
    ],
)
def test_the_hub_is_asked_without_telemetry(
    before: str, needed: str, chosen: dict[str, str], off: str
) -> None:
    pytest.importorskip(needed)
    told = "from huggingface_hub.constants import HF_HUB_DISABLE_TELEMETRY as off; print(off)"
    environment = {key: value for key, value in os.environ.items() if key not in _SWITCHES}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", before + told],
        env=environment | chosen,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == off, done.stderr


def test_bundled_graphs_do_not_tell_where_they_were_made() -> None:
    graphs = sorted(bundled_models().glob("*/*.onnx"))
    for path in graphs:
        assert not re.search(rb'File "[^"]*"|/site-packages/', path.read_bytes()), path
