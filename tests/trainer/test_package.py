"""A model folder that is written can be loaded and predicts; a damaged one says what is wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from sciextract.errors import (
    ModelDamagedError,
    ModelMismatchError,
    ModelNotFoundError,
    ModelVersionError,
    SciextractError,
)
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import (
    CONFIG,
    MANIFEST,
    TOKENIZER,
    open_folder,
    write_manifest,
)
from sciextract.workflows.evaluate import evaluate
from tests.trainer.corpus import TEN_SENTENCES


def test_the_folder_predicts_what_was_learnt(model_folder: Path) -> None:
    extractor = Extractor.load(model_folder, precision="fp32", threads=1)
    predicted = [extractor.annotate(item.document) for item in TEN_SENTENCES]
    symmetric = extractor.config.labels.relations.symmetric
    scores = evaluate(TEN_SENTENCES, predicted, symmetric, bootstrap=False)
    assert scores.ner.all.f1 == 100
    assert scores.relation.strict.ordered.f1 == 100
    assert scores.coreference.conll.f1 == 100


def test_plain_texts_work_in_both_precisions(model_folder: Path) -> None:
    text = TEN_SENTENCES[0].document.text
    for precision in ("fp32", "int8"):
        [result] = Extractor.load(model_folder, precision=precision, threads=1)([text])
        found = {entity.text_of(text) for entity in result.annotations.entities}
        assert "river model" in found


def test_configuration_and_card_state_the_scores(model_folder: Path) -> None:
    folder = open_folder(model_folder)
    scores = folder.config.scores
    assert scores["fp32"]["ner"] == 100 and scores["documents"] == 5 and scores["parity"] <= 1e-4
    card = (model_folder / "README.md").read_text(encoding="utf-8")
    assert "random weights" in card and "100.0" in card


def test_the_manifest_lists_every_file(model_folder: Path) -> None:
    listed = json.loads((model_folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    assert {*listed, MANIFEST} == {file.name for file in model_folder.iterdir()}


def test_others_may_read_the_folder(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "fresh").mkdir()
    assert model_folder.stat().st_mode == (tmp_path / "fresh").stat().st_mode


Damage = Callable[[Path], Any]


def _change_config(**values: Any) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / CONFIG
        config = json.loads(path.read_text(encoding="utf-8"))
        config.update(values)
        kept = {key: value for key, value in config.items() if value is not None}
        path.write_text(json.dumps(kept), encoding="utf-8")
        write_manifest(folder)

    return damage


def _change_manifest(change: Callable[[dict[str, Any]], Any]) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / MANIFEST
        manifest = json.loads(path.read_text(encoding="utf-8"))
        change(manifest["files"])
        path.write_text(json.dumps(manifest), encoding="utf-8")

    return damage


def _change_byte(folder: Path) -> None:
    content = bytearray((folder / TOKENIZER).read_bytes())
    content[100] ^= 1
    (folder / TOKENIZER).write_bytes(bytes(content))


def _truncate(folder: Path) -> None:
    content = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(content[: len(content) // 2])


def _leave(files: dict[str, Any]) -> None:
    files["../secret.txt"] = files[TOKENIZER]


def _plain_hash(files: dict[str, Any]) -> None:
    files[TOKENIZER] = files[TOKENIZER]["sha256"]


DAMAGES: dict[str, tuple[Damage, type[SciextractError], str]] = {
    "no manifest": (
        lambda folder: (folder / MANIFEST).unlink(), ModelDamagedError, r"manifest\.json is missing",
    ),
    "broken manifest": (
        lambda folder: (folder / MANIFEST).write_text("{"), ModelDamagedError, "cannot be read",
    ),
    "manifest is a list": (
        lambda folder: (folder / MANIFEST).write_text("[]"), ModelDamagedError, "not a JSON object",
    ),
    "nothing listed": (
        _change_manifest(lambda files: files.clear()), ModelDamagedError, "no files are listed",
    ),
    "entry without size": (_change_manifest(_plain_hash), ModelDamagedError, "lacks its size"),
    "tokenizer not listed": (
        _change_manifest(lambda files: files.pop(TOKENIZER)), ModelDamagedError, "is not listed",
    ),
    "path that leaves": (_change_manifest(_leave), ModelDamagedError, "leaves the folder"),
    "missing file": (
        lambda folder: (folder / "pairs.onnx").unlink(), ModelDamagedError, r"pairs\.onnx is missing",
    ),
    "truncated file": (_truncate, ModelDamagedError, "it is truncated or changed"),
    "changed byte": (_change_byte, ModelDamagedError, "differs from the hash"),
    "newer format": (_change_config(format_version=99), ModelVersionError, "format version 99"),
    "other features": (_change_config(feature_version=0), ModelMismatchError, "feature version 0"),
    "key missing": (_change_config(labels=None), ModelDamagedError, "'labels'"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named(name: str, model_folder: Path, tmp_path: Path) -> None:
    damage, error, words = DAMAGES[name]
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    damage(folder)
    with pytest.raises(error, match=words) as caught:
        open_folder(folder)
    assert type(caught.value) is error
    assert str(folder) in caught.value.message and caught.value.hint


def test_no_folder_and_no_such_precision(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="no model folder at"):
        open_folder(tmp_path / "nowhere")
    with pytest.raises(ModelNotFoundError, match="no fp16 graph") as caught:
        open_folder(model_folder).graph("fp16")
    assert "int8" in caught.value.hint
