"""The model folder: files, manifest, verification."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciextract.errors import ModelDamagedError, ModelNotFoundError
from sciextract.inference.model_config import ModelConfig

CONFIG, MANIFEST, TOKENIZER, CARD = "config.json", "manifest.json", "tokenizer.json", "README.md"
PAIRS_GRAPH = "pairs.onnx"
GRAPHS = {
    "int8": "model.int8.onnx",
    "int4": "model.int4.onnx",
    "fp32": "model.onnx",
    "fp16": "model.fp16.onnx",
}
"""Encoder and entity head by precision, what a processor prefers first; ``int4`` has weights of 4 bits, real activations."""
GPU_PRECISIONS = ("fp16", "fp32")
"""What a GPU prefers; int8 graphs measure each input on the way, which is work for the processor."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A verified model folder.

    Attributes:
        path: The folder.
        config: Its configuration.
        hash: Hex SHA-256 of its manifest, which names every other file's hash.
    """

    path: Path
    config: ModelConfig
    hash: str

    def graph(self, precision: str | None, preferred: Sequence[str] = tuple(GRAPHS)) -> Path:
        """The encoder graph of a precision, or the first preferred one that is present.

        Raises:
            ModelNotFoundError: The folder has no graph of that precision.
        """
        wanted = [precision] if precision else preferred
        for name in wanted:
            if (self.path / GRAPHS.get(name, "")).is_file():
                return self.path / GRAPHS[name]
        present = [name for name, file in GRAPHS.items() if (self.path / file).is_file()]
        raise ModelNotFoundError(
            f"{self.path} has no {' or '.join(wanted)} graph",
            _ways(present, wanted),
        )


def _ways(present: Sequence[str], wanted: Sequence[str]) -> str:
    if not present:
        return "it has: none; export the model first"
    way = "; sciextract-trainer quantise MODEL --scheme fp16 makes one for GPUs"
    return f"it has: {', '.join(present)}{way if 'fp16' in wanted else ''}"


def open_folder(path: Path, *, hashes: bool = True) -> ModelFolder:
    """Verifies a model folder and reads its configuration.

    Args:
        path: The folder.
        hashes: Whether to read every file for its hash; else sizes are enough, for lists of many models.

    Raises:
        ModelNotFoundError: The folder does not exist.
        ModelDamagedError: The manifest is missing or broken, or a listed file is missing, has another
            size, or another hash.
        ModelVersionError: A newer program wrote it.
        ModelMismatchError: It was trained on other features.
    """
    if not path.is_dir():
        raise ModelNotFoundError(f"no model folder at {path}")
    manifest = path / MANIFEST
    listed = _read_json(manifest).get("files")
    if not isinstance(listed, dict) or not listed:
        raise ModelDamagedError(f"{manifest}: no files are listed", "get the model again")
    for name, expected in listed.items():
        if not isinstance(expected, dict):
            raise ModelDamagedError(
                f"{manifest}: {name!r} lacks its size and hash", "get the model again"
            )
        _verify(path, str(name), expected, hashes)
    for name in (CONFIG, TOKENIZER):
        if name not in listed:
            raise ModelDamagedError(f"{manifest}: {name} is not listed", "get the model again")
    config = ModelConfig.from_json(_read_json(path / CONFIG), str(path / CONFIG))
    return ModelFolder(path, config, manifest_hash(path))


def manifest_hash(path: Path) -> str:
    """Hex SHA-256 of a folder's manifest: the identity of the model.

    Raises:
        OSError: There is none that can be read.
    """
    return hashlib.sha256((path / MANIFEST).read_bytes()).hexdigest()


def listed_files(path: Path) -> list[str]:
    """Names of the files of a verified model folder, its manifest last."""
    return [*sorted(_read_json(path / MANIFEST)["files"]), MANIFEST]


def write_manifest(path: Path) -> None:
    """Records size and hash of every file of a model folder; the last step of writing one."""
    files = {
        file.name: {"sha256": _sha256(file), "size": file.stat().st_size}
        for file in sorted(path.iterdir())
        if file.is_file() and file.name != MANIFEST
    }
    text = json.dumps({"files": files}, indent=2, sort_keys=True) + "\n"
    (path / MANIFEST).write_text(text, encoding="utf-8")


def _verify(folder: Path, name: str, expected: dict[str, Any], hashes: bool) -> None:
    file = folder / name
    if Path(name).name != name:
        raise ModelDamagedError(
            f"{folder / MANIFEST}: {name!r} leaves the folder; allowed are names of files in it",
            "do not use this model",
        )
    if not file.is_file():
        raise ModelDamagedError(f"{file} is missing", "get the model again")
    size = file.stat().st_size
    if size != expected.get("size"):
        raise ModelDamagedError(
            f"{file} has {size} bytes instead of {expected.get('size')}: it is cut or changed",
            "get the model again",
        )
    if hashes and _sha256(file) != expected.get("sha256"):
        raise ModelDamagedError(
            f"{file} does not have the hash of the manifest: it was changed", "get the model again"
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_json(file: Path) -> dict[str, Any]:
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelDamagedError(
            f"{file} is missing", "a model folder has a manifest; export or get the model again"
        ) from error
    except (OSError, ValueError) as error:
        raise ModelDamagedError(f"{file} cannot be read: {error}", "get the model again") from error
    if not isinstance(values, dict):
        raise ModelDamagedError(f"{file} is not a JSON object", "get the model again")
    return values
