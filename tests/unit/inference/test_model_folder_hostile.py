"""Model folders from elsewhere: what nobody verified is not run, and a tokenizer cannot take the machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from sciextract.errors import ModelDamagedError
from sciextract.inference.model_folder import open_folder
from sciextract.inference.tokenization import read_tokenizer
from sciextract.resources import bundled_models

BUNDLED = bundled_models() / "sci"


def test_a_graph_that_the_manifest_does_not_list_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(BUNDLED, folder)
    (folder / "model.int8.onnx").rename(folder / "model.onnx")
    manifest = folder / "manifest.json"
    values = json.loads(manifest.read_text())
    values["files"]["model.onnx"] = values["files"].pop("model.int8.onnx")
    manifest.write_text(json.dumps(values))
    open_folder(folder)
    (folder / "model.int8.onnx").write_bytes(b"another graph, preferred by its name")
    with pytest.raises(ModelDamagedError, match=r"model\.int8\.onnx is not listed"):
        open_folder(folder)


def written(tmp_path: Path, **changes: Any) -> Path:
    values = json.loads((BUNDLED / "tokenizer.json").read_text())
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**values, **changes}))
    return path


def test_the_bundled_tokenizer_is_read_as_it_is(tmp_path: Path) -> None:
    found, wanted = (
        read_tokenizer(written(tmp_path)),
        Tokenizer.from_file(str(BUNDLED / "tokenizer.json")),
    )
    assert found.encode("Graph-based parsers.").ids == wanted.encode("Graph-based parsers.").ids


def test_steps_that_make_a_text_longer_are_refused(tmp_path: Path) -> None:
    grow = {"type": "Replace", "pattern": {"Regex": "[a-z]"}, "content": "x" * 30}
    chain = {"type": "Sequence", "normalizers": [grow] * 12}
    with pytest.raises(ModelDamagedError, match="longer"):
        read_tokenizer(written(tmp_path, normalizer=chain))


def test_patterns_that_never_end_and_unknown_parts_are_refused(tmp_path: Path) -> None:
    for pattern in ("(x+x+)+y", "(a|a)*$"):
        split = {
            "type": "Split",
            "pattern": {"Regex": pattern},
            "behavior": "Isolated",
            "invert": False,
        }
        with pytest.raises(ModelDamagedError, match="very long"):
            read_tokenizer(written(tmp_path, pre_tokenizer=split))
    with pytest.raises(ModelDamagedError, match="'Unheard'"):
        read_tokenizer(written(tmp_path, pre_tokenizer={"type": "Unheard"}))
    with pytest.raises(ModelDamagedError, match="components"):
        many = {"type": "Sequence", "normalizers": [{"type": "NFC"}] * 40}
        read_tokenizer(written(tmp_path, normalizer=many))


def test_nesting_and_what_the_library_panics_at_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for text in ('{"a":' * 100_000, "{}", "[]", '{"model": {"type": "WordPiece", "vocab": 3}}'):
        path.write_text(text)
        with pytest.raises(ModelDamagedError):
            read_tokenizer(path)


def test_a_configuration_that_is_nested_too_deep_is_damage(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(BUNDLED, folder)
    (folder / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(ModelDamagedError):
        open_folder(folder)
