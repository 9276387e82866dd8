"""The models that there are: those in the package, and the user's own in one folder each."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sciextract import atomic
from sciextract.errors import (
    ModelDamagedError,
    OutputError,
    SciextractError,
    UsageError,
    no_room,
)
from sciextract.inference.installed_models import InstalledModel
from sciextract.inference.model_folder import (
    CARD,
    HASH_CHARACTERS,
    MANIFEST,
    ModelFolder,
    bundled_folders,
    installed,
    listed_files,
    locate_model,
    manifest_hash,
    name_of,
    open_folder,
    registered_folders,
    unchanged,
)
from sciextract.resources import bundled_models, user_models

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STALE_SECONDS = 24 * 3600


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
        return {
            "id": self.id,
            "name": self.name,
            "hash": self.hash,
            "folder": str(self.folder),
            "bundled": self.bundled,
            "distribution": self.distribution or None,
            "since": self.since or None,
            "problem": self.problem or None,
        }


def models_folder() -> Path:
    """``$SCIEXTRACT_HOME/models``, else where the platform keeps data of programs; it need not exist."""
    return user_models()


def known_models() -> list[KnownModel]:
    """All models: bundled ones, those of other distributions, registered ones, by name; damaged ones with what is wrong.

    Files are held against their sizes, not read: that is left to :meth:`KnownModel.open`.
    """
    others = [_of_distribution(each) for each in installed()]
    return [
        *map(known_at, bundled_folders()),
        *others,
        *map(known_at, registered_folders()),
    ]


def find_model(word: str | Path) -> KnownModel:
    """The model that ``NAME``, ``NAME-hash8``, a folder or a hub id means.

    Raises:
        ModelNotFoundError: There is none; lists the known ones.
        UsageError: Several have the name, or it is an encoder without heads.
    """
    folder = locate_model(word)
    for each in () if _lies_in(folder, bundled_models()) else installed():
        if each.folder == folder:
            return _of_distribution(each)
    return known_at(folder)


def known_at(folder: Path) -> KnownModel:
    """The model in a folder, damaged or not."""
    own = _lies_in(folder, user_models())
    name = name_of(folder.name) if own else folder.name
    try:
        hash_ = manifest_hash(folder)
        config = open_folder(unchanged(folder) if own else folder, hashes=False).config
    except OSError as error:
        return KnownModel(name, "", folder, f"{folder / MANIFEST}: {error.strerror}")
    except SciextractError as error:
        hint = error.hint or "get the model again"
        return KnownModel(name, hash_, folder, error.message, hint=hint)
    if own or _lies_in(folder, bundled_models()):
        return KnownModel(name, hash_, folder)
    return KnownModel(config.name, hash_, folder)


def _of_distribution(model: InstalledModel) -> KnownModel:
    """A model that another distribution brings."""
    distribution = " and ".join(model.distributions)
    if model.problem:
        return KnownModel(model.name, "", model.folder, model.problem, distribution, model.hint)
    return replace(known_at(model.folder), name=model.name, distribution=distribution)


def register(folder: Path, name: str | None = None) -> KnownModel:
    """Copy a model folder into the user's folder of models, whole or not at all.

    A model that is registered already stays as it is; one that was damaged since is made whole.

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
    called = checked_name(model.config.name if name is None else name)
    target = models_folder() / f"{called}-{model.hash[:HASH_CHARACTERS]}"
    if not _is_whole(target, model.hash):
        _copy(folder, target, model.hash)
    return KnownModel(called, model.hash, target)


def checked_name(name: str) -> str:
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


def _copy(source: Path, target: Path, hash_: str) -> None:
    """Copy a model folder; of two processes that copy the same one wins."""
    with written(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        atomic.remove_leftovers(target.parent, older_than=_STALE_SECONDS)
        copied = atomic.creating(
            target, durable=True, is_broken=lambda place: not _is_whole(place, hash_)
        )
        with suppress(FileExistsError), copied as fresh:
            fresh.mkdir()
            for name in listed_files(source):
                shutil.copyfile(source / name, fresh / name)


@contextmanager
def written(place: Path, hint: str = "set SCIEXTRACT_HOME to a writable folder") -> Iterator[None]:
    """Turns operating system errors into an :class:`OutputError` that names the place.

    Args:
        place: The file or folder that is written.
        hint: The next step when it cannot be.

    Raises:
        OutputError: The block raised an ``OSError``.
    """
    try:
        yield
    except OSError as error:
        if reason := no_room(error):
            problem = f"{place}: {reason}; nothing was changed"
            raise OutputError(problem, "free some space and repeat the command") from error
        raise OutputError(f"{place}: cannot be written: {error.strerror or error}", hint) from error


def _is_whole(folder: Path, hash_: str) -> bool:
    try:
        return open_folder(folder).hash == hash_
    except SciextractError:
        return False


def _lies_in(folder: Path, place: Path) -> bool:
    return folder.resolve().parent == place.resolve()
