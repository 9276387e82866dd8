"""Where the package's data lies: the only place that knows wheel from checkout."""

from __future__ import annotations

import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def data_root() -> Traversable:
    """Folder that holds ``schemas/`` and ``sample_data/``, in a wheel or a checkout."""
    packaged = files("sciextract") / "_data"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parent.parent


def bundled_models() -> Path:
    """Folder with one model folder per bundled model."""
    return Path(__file__).resolve().parent / "bundled"


def user_models() -> Path:
    """Folder of the user's own models: ``$SCIEXTRACT_HOME/models``, else where the platform keeps data of
    programs. It need not exist.
    """
    home = os.environ.get("SCIEXTRACT_HOME")
    if home:
        return Path(home).expanduser() / "models"
    from platformdirs import user_data_path

    return user_data_path("sciextract", appauthor=False) / "models"
