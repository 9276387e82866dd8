"""The models that a name can mean: those in the package, and the user's own, ``<name>-<hash8>`` each."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from sciextract.errors import ModelDamagedError
from sciextract.inference.folder import MANIFEST, manifest_hash
from sciextract.resources import bundled_models, user_models

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
    """The model's name in the name of a registered folder; empty when it is no such folder.

    >>> name_of("parsing-1a2b3c4d"), name_of("parsing"), name_of(".parsing-1a2b3c4d")
    ('parsing', '', '')
    """
    found = _FOLDER.fullmatch(folder)
    return found[1] if found else ""


def folders_called(word: str) -> list[Path]:
    """The folders that ``NAME`` or ``NAME-hash8`` may mean.

    A bundled model has its name for itself. Own models of that name are told apart by their hash.
    """
    bundled = [path for path in bundled_folders() if word in (path.name, _full_name(path))]
    exact = [path for path in registered_folders() if path.name == word]
    return bundled or exact or [path for path in registered_folders() if name_of(path.name) == word]


def known_words() -> list[str]:
    """What can be said for every model that there is."""
    return [path.name for path in (*bundled_folders(), *registered_folders())]


def unchanged(folder: Path) -> Path:
    """The folder of a bundled or registered model.

    Raises:
        ModelDamagedError: Its manifest is not the one that a registered folder is named after.
    """
    if not name_of(folder.name) or folder.parent == bundled_models():
        return folder
    try:
        found = manifest_hash(folder)[:HASH_CHARACTERS]
    except OSError as error:
        raise _damaged(folder, f"cannot be read: {error.strerror}") from error
    if not folder.name.endswith(f"-{found}"):
        raise _damaged(folder, f"has the hash {found}: it was changed")
    return folder


def _damaged(folder: Path, problem: str) -> ModelDamagedError:
    return ModelDamagedError(f"{folder / MANIFEST} {problem}", "get the model again")


def _full_name(bundled: Path) -> str:
    return f"{bundled.name}-{manifest_hash(bundled)[:HASH_CHARACTERS]}"
