"""Model folders: their files, manifest and verification, and how a name leads to one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from sciextract import atomic
from sciextract.errors import (
    ModelDamagedError,
    ModelNotFoundError,
    SciextractError,
    UsageError,
    as_command,
)
from sciextract.inference.model_config import ModelConfig
from sciextract.resources import bundled_models, user_models

CONFIG, MANIFEST, TOKENIZER, CARD = "config.json", "manifest.json", "tokenizer.json", "README.md"
PAIRS_GRAPH = "pairs.onnx"
HEADS, STRINGS = "heads.safetensors", "strings.json"
"""What an adapter has instead of a tokenizer and graphs."""

BASE = "base"
"""The folder in an adapter's that holds its base, where that travels with it."""
KEPT_BASES = "bases"
"""The folder in the user's folder of models that holds the bases of adapters, each under its hash."""

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

    def base(self, *, hashes: bool = True) -> ModelFolder:
        """The verified folder of the model whose encoder it runs on: itself, unless it is an adapter.

        Args:
            hashes: As for :func:`open_folder`.

        Raises:
            ModelNotFoundError: The base is not here, or only in another edition.
            ModelDamagedError: The base is damaged, or itself an adapter.
        """
        wanted = self.config.adapter
        if wanted is None:
            return self
        place = self._find_base()
        if place is None:
            edition = f"{wanted.name}-{wanted.hash[:HASH_CHARACTERS]}"
            raise ModelNotFoundError(
                f"{self.config.name} is an adapter on {edition}, which is not here",
                f"learn again on a model that is here ({', '.join(known_words())}), or get the base: "
                "whoever has it writes both with sciextract models export NAME FILE --with-base",
            )
        found = open_folder(place, hashes=hashes)
        if found.config.adapter:
            raise _damaged(place / CONFIG, f": {place} is itself an adapter")
        return found

    @property
    def is_complete(self) -> bool:
        """Whether it is no adapter, or its base is here."""
        return self.config.adapter is None or self._find_base() is not None

    def _find_base(self) -> Path | None:
        hash_ = self.config.adapter.hash if self.config.adapter else ""
        others = [Path(model.folder) for model in installed_models() if not model.problem]
        known = [self.path / BASE, *bundled_folders(), *others, *registered_folders()]
        for path in (*known, user_models() / KEPT_BASES / hash_):
            with suppress(OSError):
                if manifest_hash(path) == hash_:
                    return path
        return None

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
        way = "none; export the model first"
        if present:
            way = ", ".join(present)
            if "fp16" in wanted:
                way += "; python -m research quantise MODEL --scheme fp16 in a checkout makes one for GPUs"
        raise ModelNotFoundError(
            f"{self.path} has no {' or '.join(wanted)} graph", f"it has: {way}"
        )


def open_folder(path: Path, *, hashes: bool = True) -> ModelFolder:
    """Verifies a model folder and reads its configuration.

    Args:
        path: The folder.
        hashes: Whether to read every file for its hash; else sizes are enough, for lists of many models.

    Raises:
        ModelNotFoundError: The folder does not exist.
        ModelDamagedError: The manifest is missing or broken, a listed file is missing, has another
            size, or another hash, or a graph is not listed.
        ModelVersionError: A newer program wrote it.
        ModelMismatchError: It was trained on other features.
    """
    if not path.is_dir():
        raise ModelNotFoundError(f"no model folder at {path}")
    manifest = path / MANIFEST
    listed = _read_json(manifest).get("files")
    if not isinstance(listed, dict) or not listed:
        raise _damaged(manifest, ": no files are listed")
    for name, expected in listed.items():
        file = path / name
        if not isinstance(expected, dict):
            raise _damaged(manifest, f": {name!r} lacks its size and hash")
        if Path(name).name != name:
            raise ModelDamagedError(
                f"{manifest}: {name!r} leaves the folder; expected names of files in it",
                "do not use this model",
            )
        if not file.is_file():
            raise _damaged(file, " is missing")
        size, right = file.stat().st_size, expected.get("size")
        if size != right:
            raise _damaged(
                file, f" has {size} bytes instead of {right}: it is truncated or changed"
            )
        if hashes and atomic.sha256_of(file) != expected.get("sha256"):
            raise _damaged(file, " differs from the hash in the manifest: it was changed")
    if CONFIG not in listed:
        raise _damaged(manifest, f": {CONFIG} is not listed")
    # A graph is code: `graph` takes the first one that exists, so none may exist that was not verified above.
    for file in sorted(path.glob("*.onnx*")):
        if file.name not in listed:
            raise ModelDamagedError(
                f"{file} is not listed in {MANIFEST}: a graph that nobody verified would be run",
                f"remove {file.name}, or get the model again",
            )
    config = ModelConfig.from_json(_read_json(path / CONFIG), str(path / CONFIG))
    for name in (HEADS, STRINGS) if config.adapter else (TOKENIZER,):
        if name not in listed:
            raise _damaged(manifest, f": {name} is not listed")
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
        file.name: {"sha256": atomic.sha256_of(file), "size": file.stat().st_size}
        for file in sorted(path.iterdir())
        if file.is_file() and file.name != MANIFEST
    }
    text = json.dumps({"files": files}, indent=2, sort_keys=True) + "\n"
    (path / MANIFEST).write_text(text, encoding="utf-8")


def _read_json(file: Path) -> dict[str, Any]:
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelDamagedError(
            f"{file} is missing", "a model folder has a manifest; export or get the model again"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(file, f" cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise _damaged(file, " is not a JSON object")
    return values


GROUP = "sciextract.models"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VALUE = re.compile(r"([A-Za-z_]\w*):([A-Za-z_]\w*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model folder that an installed distribution brings.

    Attributes:
        name: What the entry point calls the model.
        distribution: Name and version of the distribution.
        folder: Where the folder lies, or should lie.
        problem: Why it cannot be used; empty when nothing is known against it. What is in the folder is not looked at.
        hint: The next step when there is a problem.
    """

    name: str
    distribution: str
    folder: Path
    problem: str = ""
    hint: str = ""


HASH_CHARACTERS = 8
_FOLDER = re.compile(rf"([^.].*)-([0-9a-f]{{{HASH_CHARACTERS}}})", re.DOTALL)


def bundled_folders() -> list[Path]:
    """The model folders in the package, by name."""
    return sorted(path.parent for path in bundled_models().glob(f"*/{MANIFEST}"))


def registered_folders() -> list[Path]:
    """The model folders of the user, by name; nothing in a folder that cannot be read."""
    with suppress(OSError):
        return sorted(
            path for path in user_models().iterdir() if path.is_dir() and name_of(path.name)
        )
    return []


def name_of(folder: str) -> str:
    """The model's name in the name of a registered folder; empty when it is not such a folder.

    >>> name_of("parsing-1a2b3c4d"), name_of("parsing"), name_of(".parsing-1a2b3c4d")
    ('parsing', '', '')
    """
    found = _FOLDER.fullmatch(folder)
    return found[1] if found else ""


def installed_models() -> list[InstalledModel]:
    """The models that other distributions bring, by name, unusable ones with what is wrong.

    A distribution whose metadata say

    .. code-block:: toml

        [project.entry-points."sciextract.models"]
        sci-base = "sciextract_sci_base:model"

    brings the model ``sci-base``: the folder ``model`` of its package ``sciextract_sci_base``. Nothing of the
    package is imported.
    """
    from importlib.metadata import entry_points  # 20 ms, which bundled models need not pay

    models: list[InstalledModel] = []
    taken = {*bundled_names(), AUTO}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        name, version = (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "")
        value = _VALUE.fullmatch(entry.value)
        # A finder of paths runs nothing of the package, unlike importlib.util.find_spec of a module within one.
        spec = PathFinder.find_spec(value[1]) if value else None
        within = spec.submodule_search_locations if spec else None
        folder = Path(next(iter(within))) / value[2] if value and within else Path(entry.value)
        problem = ""
        if not _NAME.fullmatch(entry.name) or entry.name in taken:
            problem = (
                f"calls its model {entry.name!r}, which another model is called or none may be"
            )
        elif not within or not folder.is_dir():
            problem = f"says that model {entry.name!r} is {entry.value!r}, which is not an installed PACKAGE:FOLDER"
        taken.add(entry.name)
        distribution = f"{name} {version}"
        if problem:
            problem = f"{distribution} {problem}"
        hint = f"{as_command('pip', 'uninstall', name)} removes it, installing it again may mend it"
        models.append(InstalledModel(entry.name, distribution, folder, problem, hint))
    return models


def folders_called(word: str) -> list[Path]:
    """The folders that ``NAME`` or ``NAME-hash8`` may mean, the newest first.

    A model of a distribution has its name for itself. Older models of a name are distinguished by their hash.

    Raises:
        ModelNotFoundError: A distribution brings it, and it cannot be used.
    """
    bundled = [path for path in bundled_folders() if word in _words_for(path.name, path)]
    if bundled:
        return bundled
    others = [model for model in installed_models() if word in _words_for(model.name, model.folder)]
    usable = [model.folder for model in others if not model.problem]
    if others and not usable:
        raise ModelNotFoundError(others[0].problem, others[0].hint)
    if usable:
        return usable
    exact = [path for path in registered_folders() if path.name == word]
    called = [path for path in registered_folders() if name_of(path.name) == word]
    return exact or sorted(called, key=_registered_at, reverse=True)


def _registered_at(folder: Path) -> int:
    try:
        return (folder / MANIFEST).stat().st_mtime_ns
    except OSError:  # damaged: whoever opens it says so
        return 0


def known_words() -> list[str]:
    """A name for each model that can be used, as commands take it."""
    folders = {path.name: path for path in bundled_folders()}
    folders |= {model.name: model.folder for model in installed_models() if not model.problem}
    folders |= {path.name: path for path in registered_folders()}
    return [name for name, folder in folders.items() if _is_usable(folder)]


def _is_usable(folder: Path) -> bool:
    try:
        return open_folder(folder, hashes=False).is_complete
    except SciextractError:
        return False


def check_unchanged(folder: Path) -> Path:
    """The folder of a bundled or registered model.

    Raises:
        ModelDamagedError: Its manifest is not the one that a registered folder is named after.
    """
    if not name_of(folder.name) or folder.parent == bundled_models():
        return folder
    try:
        found = manifest_hash(folder)[:HASH_CHARACTERS]
    except OSError as error:
        raise _damaged(folder / MANIFEST, f" cannot be read: {error.strerror}") from error
    if not folder.name.endswith(f"-{found}"):
        raise _damaged(folder / MANIFEST, f" has the hash {found}: it was changed")
    return folder


def _damaged(file: Path, problem: str) -> ModelDamagedError:
    bundled = bundled_models() in file.parents
    hint = "install sciextract again, which brings this model" if bundled else "get the model again"
    return ModelDamagedError(f"{file}{problem}", hint)


def _words_for(name: str, folder: Path) -> tuple[str, ...]:
    """``NAME``, and ``NAME-hash8`` where there is a manifest."""
    try:
        return name, f"{name}-{manifest_hash(folder)[:HASH_CHARACTERS]}"
    except OSError:
        return (name,)


DEFAULT_MODEL = "sci"
BIOMEDICAL_MODEL = "bio"
SCIENCE_MODEL = "science"
AUTO = "auto"
"""No model, but the word for choosing one of the two above by the words of a text."""
_TRAINING = ("--data", "train.jsonl", "--dev", "dev.jsonl")
_WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json")


def locate_model(name: str | Path) -> Path:
    """The model folder that a name means: a folder, a bundled or registered model, or one of the hub.

    Args:
        name: A path, the name of a bundled model or of one that another distribution brings, ``NAME`` or
            ``NAME-hash8`` of a registered model (of several that are called so, the newest), or a Hugging Face id (``owner/model``). A name of a bundled
            model or of a distribution always means that model, else a path wins: ``./sci`` is a folder, ``sci`` is not.

    Raises:
        ModelNotFoundError: Nothing of that name can be had; says what there is.
        ModelDamagedError: A registered model is not the one that it was.
        UsageError: It is an encoder without trained heads; says what to do.
    """
    # A folder that happens to be called like a bundled model must not replace it.
    if isinstance(name, str) and name in bundled_names():
        return _locate_name(name)
    path = Path(name).expanduser()
    if path.is_dir():
        if isinstance(name, str) and name in [model.name for model in installed_models()]:
            return _locate_name(name)
        return _with_heads(path, str(name))
    if path.is_file():
        raise UsageError(f"{path} is a file", "give the model folder that holds manifest.json")
    if "/" not in str(name) and "\\" not in str(name):
        return _locate_name(str(name))
    if str(name).count("/") == 1 and not str(name).startswith((".", "/", "~")):
        return _with_heads(_from_hub(str(name)), str(name))
    raise ModelNotFoundError(f"no model folder at {name}", _known())


def bundled_names() -> list[str]:
    return [path.name for path in bundled_folders()]


def _locate_name(name: str) -> Path:
    if name == AUTO:
        raise UsageError(
            f"{AUTO!r} is not a model: it chooses a model by the words of a text",
            f"it works with annotate, evaluate and tui; choose a model here: {', '.join(known_words())}",
        )
    found = folders_called(name)
    if not found:
        raise ModelNotFoundError(f"no model is called {name!r}", _known())
    return check_unchanged(found[0])


def _known() -> str:
    return f"known models: {', '.join(known_words()) or 'none'}; or give a model folder"


def _with_heads(folder: Path, name: str) -> Path:
    """Refuses a bare encoder, with the command that makes a model of it."""
    encoder = (folder / "config.json").is_file() and any(
        (folder / file).is_file() for file in _WEIGHT_FILES
    )
    if (folder / MANIFEST).is_file():
        return folder
    if encoder:
        raise UsageError(
            f"{name} is an encoder without trained heads; it cannot annotate yet",
            f"train it first: {as_command('sciextract', 'retrain', '--encoder', name, *_TRAINING)}",
        )
    raise ModelNotFoundError(f"{name} is not a model folder: it has no {MANIFEST}", _known())


def _from_hub(hub_id: str) -> Path:
    """Downloads a repository without pickled weights, or finds it in the cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        patterns = ["*.json", "*.onnx", "*.toml", "README.md", "model.safetensors"]
        return Path(snapshot_download(hub_id, allow_patterns=patterns))
    except (OSError, ValueError) as error:
        reason = str(error)
        if isinstance(error, LocalEntryNotFoundError):
            reason = "the network cannot be reached and nothing is cached"
        elif isinstance(error, HfHubHTTPError):
            reason = f"the hub responds: {error}"
        raise ModelNotFoundError(
            f"{hub_id} cannot be fetched: {reason}",
            f"without a network use a bundled model ({', '.join(bundled_names()) or 'none'}) "
            "or the folder of a model you already have",
        ) from error
