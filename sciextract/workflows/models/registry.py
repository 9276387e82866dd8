"""The models that there are: those in the package, and the user's own in one folder each; and models as one file to hand on.

Such a file is a ``.zip`` of a model folder, verified by its manifest.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sciextract import atomic
from sciextract.errors import (
    NOTHING_CHANGED,
    InputMissingError,
    ModelDamagedError,
    SciextractError,
    UsageError,
    explain_write_errors,
)
from sciextract.inference.model_folder import (
    BASE,
    CARD,
    HASH_CHARACTERS,
    KEPT_BASES,
    MANIFEST,
    InstalledModel,
    ModelFolder,
    bundled_folders,
    check_unchanged,
    folders_called,
    installed_models,
    listed_files,
    locate_model,
    manifest_hash,
    name_of,
    open_folder,
    registered_folders,
)
from sciextract.resources import bundled_models, user_models
from sciextract.workflows.output import check_target, whole_output

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STALE_SECONDS = 24 * 3600
WRITABLE_HOME = "set SCIEXTRACT_HOME to a writable folder"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model folder and what it is called.

    Attributes:
        name: What a person calls it.
        hash: Hex SHA-256 of its manifest; empty when that cannot be read.
        folder: Where it lies.
        problem: Why it cannot be used; empty when nothing is known against it.
        distribution: Name and version of the distribution that brings it; empty for other models, and bundled ones.
        hint: The next step when there is a problem.
    """

    name: str
    hash: str
    folder: Path
    problem: str = ""
    distribution: str = ""
    hint: str = "get the model again"

    @property
    def id(self) -> str:
        """``NAME-hash8``, which means this model and no other."""
        return f"{self.name}-{self.hash[:HASH_CHARACTERS]}"

    @property
    def bundled(self) -> bool:
        """Whether it came in the package."""
        return _lies_in(self.folder, bundled_models())

    @property
    def packaged(self) -> bool:
        """Whether it came in this package or in another distribution."""
        return self.bundled or bool(self.distribution)

    @property
    def registered(self) -> bool:
        """Whether it lies in the user's folder of models."""
        return _lies_in(self.folder, user_models())

    @property
    def since(self) -> str:
        """UTC time at which it was registered; empty for one of a package."""
        if self.packaged:
            return ""
        try:
            at = (self.folder / MANIFEST).stat().st_mtime
        except OSError:
            return ""
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def open(self) -> ModelFolder:
        """Its files, each held against its hash.

        Raises:
            ModelDamagedError: A file is missing or changed.
            ModelVersionError: It needs a newer version of the program.
            ModelMismatchError: It was trained on other features.
        """
        return open_folder(self.usable().folder)

    def usable(self) -> KnownModel:
        """Itself.

        Raises:
            ModelDamagedError: Something is known against it.
        """
        if self.problem:
            raise ModelDamagedError(f"model {self.name}: {self.problem}", self.hint)
        return self

    def card(self) -> str:
        """The text of its model card; empty when it has none."""
        try:
            return (self.folder / CARD).read_text("utf-8", errors="replace")
        except OSError:
            return ""

    def to_json(self) -> dict[str, Any]:
        """What ``models list --json`` says of it."""
        own = {"id": self.id, "name": self.name, "hash": self.hash, "folder": str(self.folder)}
        origin = {"bundled": self.bundled, "distribution": self.distribution or None}
        return own | origin | {"since": self.since or None, "problem": self.problem or None}


def known_models() -> list[KnownModel]:
    """All models: bundled ones, those of other distributions, registered ones, by name; damaged ones with what is wrong.

    Files are held against their sizes, not read: that is left to :meth:`KnownModel.open`.
    """
    atomic.remove_leftovers(user_models(), older_than=_STALE_SECONDS)
    others = [_of_distribution(installed) for installed in installed_models()]
    return [*map(known_at, bundled_folders()), *others, *map(known_at, registered_folders())]


def find_model(word: str | Path) -> KnownModel:
    """The model that ``NAME``, ``NAME-hash8``, a folder or a hub id means.

    Raises:
        ModelNotFoundError: There is none; lists the known ones.
        UsageError: It is an encoder without heads.
    """
    folder = locate_model(word)
    for distribution in () if _lies_in(folder, bundled_models()) else installed_models():
        if distribution.folder == folder:
            return _of_distribution(distribution)
    return known_at(folder)


def known_at(folder: Path) -> KnownModel:
    """The model in a folder, damaged or not."""
    # Only folders of the registry carry the hash in their names, which must then be right.
    own = _lies_in(folder, user_models())
    name = name_of(folder.name) if own else folder.name
    try:
        hash_ = manifest_hash(folder)
        found = open_folder(check_unchanged(folder) if own else folder, hashes=False)
        found.base(hashes=False)
    except OSError as error:
        return KnownModel(name, "", folder, f"{folder / MANIFEST}: {error.strerror}")
    except SciextractError as error:
        hint = error.hint or "get the model again"
        return KnownModel(name, hash_, folder, error.message, hint=hint)
    if own or _lies_in(folder, bundled_models()):
        return KnownModel(name, hash_, folder)
    return KnownModel(found.config.name, hash_, folder)


def _of_distribution(model: InstalledModel) -> KnownModel:
    """A model that another distribution brings."""
    name, brought = model.name, model.distribution
    if model.problem:
        return KnownModel(name, "", model.folder, model.problem, brought, model.hint)
    return replace(known_at(model.folder), name=name, distribution=brought)


def register(folder: Path, name: str | None = None) -> KnownModel:
    """Copy a model folder into the user's folder of models, whole or not at all; before an adapter its base.

    A model that is registered already stays as it is, but is the newest of its name from now on; one that was damaged since
    is made whole.

    Args:
        folder: The model folder; only what its manifest lists is copied.
        name: What to call it; its own name when ``None``.

    Raises:
        UsageError: The name is none that a folder can have.
        ModelNotFoundError: The folder does not exist.
        ModelDamagedError: A file of it is missing or changed.
        ModelVersionError: It needs a newer version of the program.
        ModelMismatchError: It was trained on other features.
        OutputError: It cannot be written: no room, or read-only.
    """
    model = open_folder(folder)
    called = check_name(model.config.name if name is None else name)
    target = user_models() / f"{called}-{model.hash[:HASH_CHARACTERS]}"
    with_base = (folder / BASE).is_dir()
    if not with_base:
        keep_base(model)
    _copy_whole(_files(model, with_base=with_base), target, model.hash)
    if folders_called(called)[:1] != [target]:
        with suppress(OSError):  # where nothing can be written, it keeps its age
            os.utime(target / MANIFEST)
    return KnownModel(called, model.hash, target)


def keep_base(model: ModelFolder) -> None:
    """Copy the base of an adapter into the user's folder of models, once: the next edition in its package has another hash.

    Raises:
        ModelNotFoundError: The base is not here.
        OutputError: It cannot be written.
    """
    base = model.base()
    if base is model or base.path == model.path / BASE or _lies_in(base.path, user_models()):
        return
    target = user_models() / KEPT_BASES / base.hash
    _copy_whole(_files(base, with_base=False), target, base.hash)


def _copy_whole(files: list[tuple[str, Path]], target: Path, hash_: str) -> None:
    """Copy the files of a model, whole or not at all, unless they are there."""
    if _is_whole(target, hash_):
        return
    with explain_write_errors(target, WRITABLE_HOME, kept=NOTHING_CHANGED):
        target.parent.mkdir(parents=True, exist_ok=True)
        atomic.remove_leftovers(target.parent, older_than=_STALE_SECONDS)
        shutil.rmtree(target, ignore_errors=True)  # a damaged one
        # Of two processes that copy the same model one wins, and the other has nothing left to do.
        with suppress(FileExistsError), atomic.creating(target, durable=True) as fresh:
            fresh.mkdir()
            for place, file in files:
                (fresh / place).parent.mkdir(exist_ok=True)
                shutil.copyfile(file, fresh / place)


def _files(model: ModelFolder, *, with_base: bool) -> list[tuple[str, Path]]:
    """The files of a model by their names in its folder; its base's lie in a folder of their own there."""
    found = [(name, model.path / name) for name in listed_files(model.path)]
    if with_base and model.config.adapter:
        base = model.base().path
        found += [(f"{BASE}/{name}", base / name) for name in listed_files(base)]
    return found


def check_name(name: str) -> str:
    """The name, if a model can be called so.

    Raises:
        UsageError: It cannot.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a model name; use up to 64 letters, digits, dots, hyphens and "
            "underscores, a letter or digit first",
            "give it another one with --name",
        )
    return name


def _is_whole(folder: Path, hash_: str) -> bool:
    try:
        return open_folder(folder).hash == hash_
    except SciextractError:
        return False


def _lies_in(folder: Path, place: Path) -> bool:
    return folder.resolve().parent == place.resolve()


_ELSEWHERE = "choose another file"


def export(word: str, target: Path, *, force: bool = False, with_base: bool = False) -> KnownModel:
    """Write a model into one file; the same model gives the same bytes.

    Args:
        word: ``NAME``, ``NAME-hash8``, a folder or a hub id.
        target: A file whose name ends in ``.zip``.
        force: Whether a file that is there already may be replaced.
        with_base: Whether the base of an adapter goes with it.

    Raises:
        ModelNotFoundError: There is no such model; lists the known ones.
        ModelDamagedError: A file of it is missing or changed.
        UsageError: The file is called otherwise.
        OutputError: It cannot be written, or is there already.
    """
    if target.suffix != ".zip":
        raise UsageError(f"{target} does not end in .zip", f"name it {target}.zip")
    import zipfile

    model = find_model(word)
    files = _files(model.open(), with_base=with_base)
    check_target(target, force=force, kept=[model.folder])
    # Neither times nor owners go in, so that the same model gives the same bytes everywhere.
    with (
        explain_write_errors(target, _ELSEWHERE, kept=NOTHING_CHANGED),
        whole_output(target) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, file in files:
            entry = zipfile.ZipInfo(f"{model.id}/{name}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            entry.file_size = file.stat().st_size
            with file.open("rb") as content, archive.open(entry, "w") as packed:
                shutil.copyfileobj(content, packed, 1 << 20)
    return model


def import_(path: Path, name: str | None = None) -> KnownModel:
    """Register a model from an archive or a model folder.

    Nothing is registered unless every file has the hash of the manifest.

    Args:
        path: A ``.zip`` or a model folder.
        name: What to call it; its own name when ``None``.

    Raises:
        InputMissingError: There is no such file or folder.
        FormatError: It is not an archive, is damaged, or has a member that is a link, a device, or leads out of
            it.
        ModelDamagedError: It holds no model, a changed one, or one that cannot predict.
        ModelNotFoundError: It is an adapter, and its base is not here.
        ModelVersionError: It needs a newer version of the program.
        ModelMismatchError: It was trained on other features.
        UsageError: The name is none that a folder can have.
        OutputError: It cannot be written: no room, or read-only.
    """
    if name is not None:
        check_name(name)
    if path.is_dir():
        try_model(path)
        return register(path, name)
    if not path.is_file():
        raise InputMissingError(f"{path}: no such file or folder")
    from sciextract.formats.archive import open_archive

    with open_archive(str(path)) as folder:
        # At the top of the archive, or in the only folder below: people pack either way.
        found = [
            file for file in (folder / MANIFEST, *folder.glob(f"*/{MANIFEST}")) if file.is_file()
        ]
        if len(found) != 1:
            raise ModelDamagedError(
                f"{path} holds {len(found) or 'no'} model folder{'s' * (len(found) != 1)}, "
                f"a folder with {MANIFEST}; it has to hold one",
                "sciextract models export writes such a file",
            )
        try_model(found[0].parent)
        return register(found[0].parent, name)


def try_model(folder: Path) -> None:
    """Predict a sentence: hashes say nothing about what was in the files to begin with.

    Raises:
        SciextractError: The model, or the base of an adapter, cannot be used.
    """
    from sciextract.inference.extractor import Extractor

    Extractor.load(folder)("Tree kernels rank proteins.")
