"""What importing the core costs: a fresh interpreter imports modules, then tells what it loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.shared_data import ROOT

NEVER = {
    "accelerate",
    "app",
    "pandas",
    "ray",
    "sciextract_trainer",
    "spacy",
    "textual",
    "torch",
    "transformers",
}

BESIDE_AN_EXTRA = (
    "sciextract.interop",
    "sciextract.scale.ray",
)

_PROBE = """
import importlib, json, sys
loaded = []
for name in sys.argv[1:]:
    importlib.import_module(name)
    loaded.append(sorted({name.partition(".")[0] for name in sys.modules}))
print(json.dumps([loaded[0], loaded[-1]]))
"""


def loaded_by(modules: Iterable[str]) -> tuple[set[str], set[str]]:
    """Top-level names in ``sys.modules`` after a fresh interpreter imported the first module, and after all."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "trainer")])
    result = subprocess.run(
        [sys.executable, "-c", _PROBE, *modules],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    first, every = json.loads(result.stdout)
    return set(first), set(every)


def modules_of_the_core() -> list[str]:
    """All but those that stand for an extra: spaCy and Ray."""
    paths = sorted((ROOT / "sciextract").rglob("*.py"))
    names = [_module_name(path) for path in paths if path.name != "__main__.py"]
    return [name for name in names if not name.startswith(BESIDE_AN_EXTRA)]


def _module_name(path: Path) -> str:
    words = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


def test_the_core_loads_neither_training_nor_interface_packages() -> None:
    modules = modules_of_the_core()
    assert len(modules) > 100 and modules[0] == "sciextract"
    package, core = loaded_by(modules)
    assert not core & NEVER
    third_party = {"numpy", "onnxruntime", "tokenizers", "rich", "typer", "huggingface_hub"}
    assert not package & (NEVER | third_party)


def test_every_public_name_exists() -> None:
    import sciextract

    for name in sciextract.__all__:
        assert getattr(sciextract, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Extractors'"):
        _ = sciextract.Extractors
