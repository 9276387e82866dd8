"""The way of a model to the machines of a cluster: by its name, on a shared path, or through the object store."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sciextract.inference.folder import MANIFEST, listed_files, manifest_hash
from sciextract.inference.locate import AUTO, locate_model
from sciextract.inference.registered import bundled_folders
from sciextract.workflows.model_choice import ModelChoice


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """A model on its way to other machines.

    Attributes:
        word: What names it there: a bundled name, ``auto``, or the folder that it has here.
        hash: Hex SHA-256 of its manifest; empty where the name is enough.
        files: Its files in the object store, by name; none where the name is enough.
    """

    word: str | None
    hash: str = ""
    files: Mapping[str, object] = field(default_factory=dict)


def ship(choice: ModelChoice) -> ShippedModel:
    """Puts the files of a model into the object store, unless every machine has them with sciextract itself.

    Raises:
        ModelNotFoundError: There is no such model here.
    """
    import ray

    if choice.model is None or choice.model == AUTO:
        return ShippedModel(choice.model)
    folder = locate_model(choice.model)
    if any(folder.samefile(each) for each in bundled_folders()):
        return ShippedModel(folder.name)
    files = {name: ray.put((folder / name).read_bytes()) for name in listed_files(folder)}
    return ShippedModel(str(folder.resolve()), manifest_hash(folder), files)


def received(shipped: ShippedModel, choice: ModelChoice) -> ModelChoice:
    """The choice as this machine can load it; files that it lacks are fetched once for all its actors."""
    if not shipped.files:
        return replace(choice, model=shipped.word)
    here = Path(shipped.word or "")
    if not _is_same(here, shipped.hash):
        here = _fetched(shipped)
    return replace(choice, model=str(here))


def _is_same(folder: Path, wanted: str) -> bool:
    """Whether a shared file system shows the same model here; its files are verified when it is loaded."""
    return (folder / MANIFEST).is_file() and manifest_hash(folder) == wanted


def _fetched(shipped: ShippedModel) -> Path:
    """The folder of the files, put in place as a whole, so that an actor beside this one finds all or nothing."""
    import ray

    place = Path(tempfile.gettempdir()) / f"sciextract-models-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    folder = place / shipped.hash
    if _is_same(folder, shipped.hash):
        return folder
    partial = Path(tempfile.mkdtemp(dir=place))
    for name, content in shipped.files.items():
        (partial / name).write_bytes(ray.get(content))
    try:
        partial.rename(folder)
    except OSError:  # another actor was faster
        shutil.rmtree(partial)
    return folder
