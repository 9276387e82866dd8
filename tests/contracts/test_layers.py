"""The layers of the architecture, as import-linter reads them from pyproject.toml."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.shared_data import ROOT


def lint(config: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    if not program.exists():
        pytest.skip("lint-imports is not installed")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "app"), str(ROOT / "trainer")])
    return subprocess.run(
        [str(program), "--no-cache", "--no-logo", "--config", str(config)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_contract_is_kept() -> None:
    result = lint(ROOT / "pyproject.toml")
    assert result.returncode == 0, result.stdout + result.stderr
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    assert f"Contracts: {len(contracts['contracts'])} kept, 0 broken." in result.stdout


def test_a_forbidden_import_is_found(tmp_path: Path) -> None:
    config = tmp_path / "contracts.toml"
    config.write_text(
        "[tool.importlinter]\n"
        'root_packages = ["sciextract", "sciextract_trainer"]\n'
        "include_external_packages = true\n"
        "[[tool.importlinter.contracts]]\n"
        'name = "The trainer does without torch"\n'
        'type = "forbidden"\n'
        'source_modules = ["sciextract_trainer"]\n'
        'forbidden_modules = ["torch"]\n'
    )
    result = lint(config)
    assert result.returncode == 1
    assert "sciextract_trainer" in result.stdout
