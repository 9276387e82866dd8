"""What travels to a GPU and back, and stages whose processes fail or outlast their time."""

from __future__ import annotations

import subprocess
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from safetensors.numpy import load_file, save_file

from research.gpu_edition import __main__ as edition
from research.gpu_edition.parts import STEPS, read_coarse, write_coarse, write_parts


def test_parts_are_small_and_unpack_to_what_was_packed(tmp_path: Path) -> None:
    noise, folder = np.random.default_rng(0).bytes(50_000), tmp_path / "code"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "a.py").write_bytes(noise)
    (folder / "__pycache__" / "a.pyc").write_bytes(noise)
    parts = tmp_path / "parts"
    write_parts({"of-before": folder}, parts, 4_000)
    paths = write_parts({"code": folder}, parts, 20_000, without=("__pycache__",))
    assert sorted(parts.iterdir()) == paths and len(paths) == 3
    assert max(path.stat().st_size for path in paths) <= 20_000
    (tmp_path / "there").mkdir()
    subprocess.run(f"cat {parts}/part-* | tar xz -C {tmp_path}/there", shell=True, check=True)
    unpacked = [path for path in (tmp_path / "there").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in unpacked] == [noise]


def test_coarse_weights_are_within_half_a_step(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    matrix = random.standard_normal((9, 40), dtype=np.float32) * np.logspace(-3, 2, 9)[:, None]
    weights: dict[str, np.ndarray] = {
        "matrix": matrix.astype(np.float32),
        "norm": random.random(40, dtype=np.float32),
    }
    weights["matrix"][4] = 0  # a row of padding has no scale
    weights["positions"] = np.arange(40)[None]
    save_file(weights, tmp_path / "model.safetensors")
    write_coarse(tmp_path / "model.safetensors", tmp_path / "coarse.z")
    read_coarse(tmp_path / "coarse.z", tmp_path / "again.safetensors")
    again = load_file(tmp_path / "again.safetensors")
    most = np.abs(weights["matrix"]).max(axis=1, keepdims=True) / STEPS
    assert (np.abs(again["matrix"] - weights["matrix"]) <= most * 0.501).all()
    np.testing.assert_allclose(again["norm"], weights["norm"], rtol=1e-3)
    assert (again["positions"] == weights["positions"]).all()


def test_a_stage_keeps_what_is_made_when_a_process_fails_or_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edition, "GRACE", 0.2)

    def made(name: str, until: float) -> None:
        with (tmp_path / f"{name}.json").open("x") as file:  # a second time would fail
            file.write("{}")

    def failing(until: float) -> None:
        raise ValueError("an otter")

    jobs: dict[str, edition.Stage] = {
        "quick": partial(made, "quick"),
        "broken": failing,
        "slow": lambda until: time.sleep(60),
    }
    for _ in range(2):
        began = time.monotonic()
        edition._together(tmp_path, jobs, began + 2)
        assert time.monotonic() - began < 30
    assert not (tmp_path / "quick.error").exists() and (tmp_path / "quick.json").exists()
    assert "an otter" in (tmp_path / "broken.error").read_text("utf-8")
    assert "outlasted" in (tmp_path / "slow.error").read_text("utf-8")
